/** Explains random requests to random applications, and compares each explanation with what happens. */
import { Authenticated, InvalidOptionError, Public, Roles } from 'declarest';
import type { Explanation } from '../../../lib/reach/explain.js';
import { type App, ask, type Declarations, observe, type Parts, start } from '../access/explained-app.js';
import { type Random, seeded } from '../../access/random.js';
import { wildcard } from '../../access/ruled-app.js';
import { type Platform, PLATFORMS } from '../../harness/platforms.js';

/** Ten random requests for each application; another run: `EXPLAIN_TRIPLES=50000 EXPLAIN_SEED=7`. */
const TRIPLES = Number(process.env['EXPLAIN_TRIPLES'] ?? 500);
const SEED = Number(process.env['EXPLAIN_SEED'] ?? 1);
const TRIPLES_OF_APP = 10;

/** Few names, so that rules and routes of a random application overlap. */
const LEVELS = ['a', 'b', 'c'];
const ROLES = ['USER', 'ADMIN', 'EDITOR', 'AUDITOR'];
const METHODS = ['GET', 'GET', 'POST', 'PUT', 'DELETE', 'ALL'];
const ASKED = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

const some = <T>(random: Random, least: number, most: number, make: () => T): T[] =>
  Array.from({ length: least + random.below(most - least + 1) }, make);

function randomRoutes(random: Random, platform: Platform): string[] {
  return some(random, 3, 8, () => {
    const levels = some(random, 0, 3, () => random.of([...LEVELS, ...LEVELS, ':x']));
    const named = levels.map((level, index) => (level === ':x' ? `:p${index}` : level));
    const path = named.join('/');
    const optional = platform === 'express' ? '{/:last}' : '/:last?';
    const end = [() => path, () => wildcard(platform, `/${path}`).replace(/^\/+/, ''), () => `${path}${optional}`];
    return `${random.of(METHODS)} ${end[random.of([0, 0, 0, 0, 0, 1, 2])]!()}`;
  });
}

/** Most rules match the beginning of a route, so that several match one route. */
function randomRules(random: Random, routes: readonly string[]): (rules: Declarations) => void {
  const lines = some(random, 3, 10, () => {
    const route = random.of(routes).replace(/^\S+ /, '').replace(/[{}?]/g, '');
    const onTheWay = route.split('/').map((level) => (LEVELS.includes(level) ? level : random.of(LEVELS)));
    const levels =
      random.below(5) === 0
        ? some(random, 0, 3, () => random.of(LEVELS))
        : onTheWay.slice(0, random.below(onTheWay.length + 1));
    const tail = random.of([[], ['*'], ['**'], ['**']]);
    const methods = random.below(4) === 0 ? `${random.of(['GET', 'POST', 'PUT,DELETE', 'PATCH,GET'])} ` : '';
    const pattern = `${methods}/${[...levels, ...tail].join('/')}`;
    return { kind: random.below(12), pattern, roles: some(random, 1, 2, () => random.of(ROLES)) };
  });
  return ({ public: open, auth, role, all, deny }) => {
    for (const { kind, pattern, roles } of lines) {
      if (kind < 4) open(pattern);
      else if (kind < 6) auth(pattern);
      else if (kind < 10) role(roles, pattern);
      else if (kind < 11) all(roles, pattern);
      else deny(pattern);
    }
  };
}

function randomParts(random: Random, platform: Platform): Parts {
  const routes = randomRoutes(random, platform);
  const decorators = [Public(), Authenticated(), Roles('EDITOR'), Roles('ADMIN', 'AUDITOR')];
  const decorated = new Map([...Array(8).keys()].map((index) => [index, random.of([...decorators, ...Array(20)])]));
  const defaultAccess = random.of(['authenticated', 'public', 'denied', undefined, undefined] as const);
  return {
    routes,
    ...(random.below(12) > 0 && { declare: randomRules(random, routes) }),
    decorate: (index) => decorated.get(index) as MethodDecorator | undefined,
    auth: {
      ...(defaultAccess && { defaultAccess }),
      ...(random.below(3) === 0 && { roleHierarchy: { ADMIN: ['EDITOR'], CHIEF: ['ADMIN', 'AUDITOR'] } }),
      ...(random.below(6) === 0 && { enforcedRoles: ['ADMIN'] }),
    },
    outside: random.below(3) === 0 ? ['/a/outside'] : [],
  };
}

/** A method and a path that a route may serve, sometimes with the path spelled oddly. */
function randomRequest(random: Random, { routes, outside = [] }: Parts): [method: string, path: string] {
  const served = outside.map((path) => `GET ${path.slice(1)}`);
  const [verb = '', template = ''] = random.of([...routes, ...routes, ...served, 'GET nowhere/a']).split(' ');
  const method = random.below(4) === 0 || verb === 'ALL' ? random.of(ASKED) : verb;
  return [method, randomPath(random, `/${template}`)];
}

function randomPath(random: Random, template: string): string {
  const shown = template.replace(/\{(.*)\}|(\/:last)\?/, (_, group?: string, last?: string) =>
    random.below(2) === 0 ? '' : (group ?? last ?? ''),
  );
  const levels = shown.split('/').flatMap((level) => {
    if (level.startsWith('*')) return some(random, 1, 3, () => random.of([...LEVELS, 'z']));
    return level.startsWith(':') ? [random.of([...LEVELS, '7', 'x%20y'])] : [level];
  });
  const path = levels.join('/') || '/';
  const at = 1 + random.below(path.length);
  const char = path.charAt(at).replace('%', '');
  const isEscape = path.slice(at - 2, at).includes('%');
  return random.of([
    ...Array<() => string>(14).fill(() => path),
    () => `${path}?page=2`,
    () => `${path}/`,
    () => path.toUpperCase(),
    () => path.replace(/\/(?=.)/g, '//'),
    () => `${path}/a`,
    () =>
      char === '' || isEscape ? path : `${path.slice(0, at)}%${char.charCodeAt(0).toString(16)}${path.slice(at + 1)}`,
    () => `${path};v=1`,
  ])();
}

/** The next random application that starts: rules may contradict each other, and Fastify takes no route twice. */
async function startRandom(random: Random, platform: Platform): Promise<{ app: App; parts: Parts }> {
  for (;;) {
    const parts = randomParts(random, platform);
    try {
      return { parts, app: await start(platform, parts) };
    } catch (error) {
      if (!(error instanceof InvalidOptionError) && (error as { code?: string }).code !== 'FST_ERR_DUPLICATED_ROUTE')
        throw error;
    }
  }
}

describe('random applications', () => {
  it(
    `[3.5] the explanation of a request is what happens, in ${TRIPLES} of ${TRIPLES} requests`,
    async () => {
      const random = seeded(SEED);
      const differences: unknown[] = [];
      const verdicts: Record<string, number> = {};
      let [asked, applications, governed] = [0, 0, 0];
      while (asked < TRIPLES) {
        const platform = PLATFORMS[applications % PLATFORMS.length]!;
        const { app, parts } = await startRandom(random, platform);
        applications += 1;
        for (const last = Math.min(asked + TRIPLES_OF_APP, TRIPLES); asked < last; asked += 1) {
          const [method, path] = randomRequest(random, parts);
          const roles = random.of([
            undefined,
            undefined,
            ['USER'],
            ['ADMIN'],
            ['EDITOR'],
            ['AUDITOR'],
            ['ADMIN', 'AUDITOR'],
            ['CHIEF'],
            [],
          ]);
          const explained = ask(app, method, path, roles);
          const observed = await observe(app, method, path, roles);
          const expected = expectedOf(explained);
          verdicts[explained.verdict] = (verdicts[explained.verdict] ?? 0) + 1;
          if (explained.steps.length > 1) governed += 1;
          if (JSON.stringify(summaryOf(observed)) !== JSON.stringify(expected))
            differences.push({ platform, method, path, roles, explained, observed, parts });
        }
        await app.close();
      }
      console.log(
        `${asked} triples, ${applications} applications, ${governed} under several rules: ${JSON.stringify(verdicts)}`,
      );
      expect(differences).toEqual([]);
      // Otherwise little was tried.
      for (const verdict of ['allowed', 'unauthenticated', 'forbidden', 'unrouted'])
        expect(verdicts[verdict] ?? 0).toBeGreaterThan(TRIPLES / 20);
      expect(governed).toBeGreaterThan(TRIPLES / 5);
    },
    Math.max(60_000, TRIPLES * 100),
  );
});

interface Summary {
  happened: string;
  route: string | undefined;
  rule: string | undefined;
}

function expectedOf({ verdict, route, decidedBy }: Explanation): Summary {
  const happened = { allowed: 'entered', unauthenticated: '401', forbidden: '403', unrouted: '404' } as const;
  const refused = verdict === 'unauthenticated' || verdict === 'forbidden';
  return {
    happened: happened[verdict as keyof typeof happened],
    route: verdict === 'allowed' ? `${route!.method} ${route!.path.replace(/^\//, '')}` : undefined,
    rule: refused ? decidedBy : undefined,
  };
}

function summaryOf({ status, entered, rule }: Awaited<ReturnType<typeof observe>>): Summary {
  const [entry] = entered;
  return {
    happened: entry ? 'entered' : String(status),
    route: entry?.route.replace(' /', ' '),
    rule,
  };
}
