import 'reflect-metadata';
import { compareAccess } from '../../lib/cli/access-changes.js';
import { shapesOf } from '../../lib/routes/route-shape.js';
import { ACCESS_BY_NAME, AUTHENTICATED, decide } from '../../lib/access/access.js';
import { type AccessRow, accessRows } from '../../lib/access/access-rows.js';
import { parsePattern } from '../../lib/access/pattern.js';
import { compileRouteAccess } from '../../lib/access/route-access.js';
import { type Effect, refuseContradictions, type Rule } from '../../lib/access/rules.js';
import { seeded } from '../access/random.js';

/** Random changes of rules; a longer run: `ACCESS_CHANGES=50000 ACCESS_SEED=7`. */
const CHANGES = Number(process.env['ACCESS_CHANGES'] ?? 1_000);
const SEED = Number(process.env['ACCESS_SEED'] ?? 1);

/** `GET /api/x | ADMIN`, and the deciding rule behind a second bar where it matters. */
const rowOf = (line: string): AccessRow => {
  const [route = '', access = '', rule = 'R'] = line.split(' | ');
  const [, method = '', path = ''] = /^(.+) (\/\S*)$/.exec(route) ?? [];
  return { method, path, access, rule };
};

/** `wider GET /api/x: ADMIN -> public`, as the command tells it but shorter. */
function changes(before: string[], after: string[], fallback = 'any token'): string[] {
  return compareAccess(before.map(rowOf), after.map(rowOf), fallback).map(
    ({ kind, route, before, after }) =>
      `${kind} ${route.method} ${route.path}: ${before?.access ?? '-'} -> ${after?.access ?? '-'}`,
  );
}

describe('a route that was there before', () => {
  it.each<[before: string, after: string, told: string[]]>([
    // Nothing changed.
    ['GET /x | ADMIN', 'GET /x | ADMIN', []],
    // More people, or other people, get in.
    ['GET /x | ADMIN', 'GET /x | public', ['wider GET /x: ADMIN -> public']],
    ['GET /x | any token', 'GET /x | public', ['wider GET /x: any token -> public']],
    ['GET /x | ADMIN', 'GET /x | any token', ['wider GET /x: ADMIN -> any token']],
    ['GET /x | ADMIN', 'GET /x | ADMIN or EDITOR', ['wider GET /x: ADMIN -> ADMIN or EDITOR']],
    ['GET /x | ADMIN, and EDITOR', 'GET /x | EDITOR', ['wider GET /x: ADMIN, and EDITOR -> EDITOR']],
    ['GET /x | ADMIN', 'GET /x | EDITOR', ['wider GET /x: ADMIN -> EDITOR']],
    ['GET /x | nobody', 'GET /x | ADMIN', ['wider GET /x: nobody -> ADMIN']],
    ['GET /x | policy owner', 'GET /x | policy friend', ['wider GET /x: policy owner -> policy friend']],
    // Fewer get in.
    ['GET /x | public', 'GET /x | any token', ['narrower GET /x: public -> any token']],
    ['GET /x | any token', 'GET /x | ADMIN', ['narrower GET /x: any token -> ADMIN']],
    ['GET /x | ADMIN', 'GET /x | nobody', ['narrower GET /x: ADMIN -> nobody']],
    // The same people get in, by another rule.
    ['GET /x | ADMIN | A', 'GET /x | ADMIN | B', ['rule GET /x: ADMIN -> ADMIN']],
    // Another method is another row.
    ['GET /x | ADMIN', 'POST /x | ADMIN', ['new POST /x: - -> ADMIN', 'removed GET /x: ADMIN -> -']],
  ])('[3.2] `%s`, now `%s`', (before, after, told) => {
    expect(changes([before], [after])).toEqual(told);
  });
});

describe('a route that is new', () => {
  it.each<[after: string, fallback: string, told: string]>([
    ['GET /x | any token', 'any token', 'new'],
    ['GET /x | ADMIN', 'any token', 'new'],
    ['GET /x | nobody', 'nobody', 'new'],
    // Whoever opens to all says so twice: in the rule, and in the snapshot.
    ['GET /x | public', 'any token', 'wider'],
    ['GET /x | public', 'public', 'wider'],
    // The default lets nobody in, and this route somebody.
    ['GET /x | any token', 'nobody', 'wider'],
    ['GET /x | ADMIN', 'nobody', 'wider'],
  ])('[3.4] `%s` where the default is `%s` is told as `%s`', (after, fallback, kind) => {
    const { access } = rowOf(after);
    expect(changes([], [after], fallback)).toEqual([`${kind} GET /x: - -> ${access}`]);
  });

  // Its path was answered by another route, and another handler; what is new is this one.
  it('[3.4] is compared with the default, and not with a route that had served its path by a parameter', () => {
    const search = ['GET /x/search | any token', 'GET /x/:id | ADMIN'];
    expect(changes(search.slice(1), search)).toEqual(['new GET /x/search: - -> any token']);
  });
});

describe('a route that is gone', () => {
  it('[3.4] is told, and nothing is wider', () => {
    expect(changes(['GET /x | ADMIN', 'GET /y | public'], ['GET /y | public'])).toEqual(['removed GET /x: ADMIN -> -']);
  });

  it('[3.4] also where a route with a parameter, or one for everything, serves its path from now on', () => {
    const rows = ['GET /x/search | ADMIN', 'GET /x/:id | public', 'GET /*path | public'];
    expect(changes(rows, rows.slice(1))).toEqual(['removed GET /x/search: ADMIN -> -']);
  });
});

describe('a part of a route that a rule tells apart', () => {
  const whole = (access: string): string => `GET /users/:id | ${access}`;
  const me = (access: string): string => `GET /users/me | ${access}`;

  it.each<[what: string, before: string[], after: string[], told: string[]]>([
    [
      'a restriction of it that is taken away opens it',
      [whole('any token'), me('ADMIN')],
      [whole('any token')],
      ['wider GET /users/me: ADMIN -> any token'],
    ],
    [
      'a permission of it that is taken away closes it',
      [whole('ADMIN'), me('public')],
      [whole('ADMIN')],
      ['removed GET /users/me: public -> -'],
    ],
    [
      'a rule that lets in more than the whole did opens it, though it is no looser than the default',
      [whole('ADMIN')],
      [whole('ADMIN'), me('any token')],
      ['wider GET /users/me: ADMIN -> any token'],
    ],
    [
      'a rule that lets in fewer',
      [whole('any token')],
      [whole('any token'), me('ADMIN')],
      ['new GET /users/me: - -> ADMIN'],
    ],
    [
      'a rule for all below it that is taken away opens what the whole serves of it',
      ['GET /files/:name | any token', 'GET /files/private/** | ADMIN'],
      ['GET /files/:name | any token'],
      ['wider GET /files/private/**: ADMIN -> any token'],
    ],
    [
      'of two routes, the one that it is a part of is opened',
      ['GET /a | public', whole('any token'), me('ADMIN'), 'GET /*path | public'],
      ['GET /a | public', whole('any token'), 'GET /*path | public'],
      ['wider GET /users/me: ADMIN -> any token'],
    ],
    [
      'a part of two routes, in both of which it is opened or only in one',
      [whole('any token'), me('ADMIN'), 'GET /*path | public', me('ADMIN')],
      [whole('any token'), me('ADMIN'), 'GET /*path | public', me('public')],
      ['wider GET /users/me: ADMIN -> public'],
    ],
    [
      'a part of two routes that is one of one only, and not the narrower',
      [whole('any token'), me('public'), 'GET /*path | public', me('ADMIN')],
      [whole('any token'), 'GET /*path | public', me('public')],
      ['wider GET /users/me: ADMIN -> public', 'removed GET /users/me: public -> -'],
    ],
    [
      'one that is gone where another part around it says the same',
      ['GET /f/*path | any token', 'GET /f/a/** | ADMIN', 'GET /f/a/x | ADMIN', 'GET /f/* | ADMIN', 'GET /f/y | ADMIN'],
      ['GET /f/*path | any token', 'GET /f/a/** | ADMIN', 'GET /f/* | ADMIN'],
      ['removed GET /f/a/x: ADMIN -> -', 'removed GET /f/y: ADMIN -> -'],
    ],
    [
      'the narrowest of the parts around it is what serves it',
      ['GET /f/*path | any token', 'GET /f/a/** | A', 'GET /f/a/b/** | A, and B', 'GET /f/a/b/c | A, and B'],
      ['GET /f/*path | any token', 'GET /f/a/** | A', 'GET /f/a/b/** | A, and B'],
      ['removed GET /f/a/b/c: A, and B -> -'],
    ],
    [
      'one that is written like its route, of a wildcard on Fastify',
      ['GET /f/* | any token', 'GET /f/* | ADMIN'],
      ['GET /f/* | any token', 'GET /f/* | ADMIN'],
      [],
    ],
    [
      'the same, which is gone',
      ['GET /f/* | any token', 'GET /f/* | ADMIN'],
      ['GET /f/* | any token'],
      ['wider GET /f/*: ADMIN -> any token'],
    ],
    // None of these is a part: of another method, with a parameter, not among what the route before it serves.
    [
      'a route of another method',
      [whole('any token'), 'POST /users/me | ADMIN'],
      [whole('any token')],
      ['removed POST /users/me: ADMIN -> -'],
    ],
    [
      'a route with a parameter behind one for everything',
      ['GET /*path | public', 'GET /users/:id | ADMIN'],
      ['GET /*path | public'],
      ['removed GET /users/:id: ADMIN -> -'],
    ],
    [
      'a wildcard of Fastify behind a parameter',
      ['GET /f/:name | any token', 'GET /f/* | ADMIN'],
      ['GET /f/:name | any token'],
      ['removed GET /f/*: ADMIN -> -'],
    ],
  ])('[3.5] %s', (_what, before, after, told) => {
    expect(changes(before, after)).toEqual(told);
  });
});

describe('a route of every method', () => {
  it.each<[what: string, before: string[], after: string[], told: string[]]>([
    [
      'a method whose restriction is taken away is one of the others',
      ['DELETE /x | ADMIN', 'any other method /x | any token'],
      ['any other method /x | any token'],
      ['wider DELETE /x: ADMIN -> any token'],
    ],
    [
      'a method that a rule names now was one of the others',
      ['any other method /x | ADMIN'],
      ['DELETE /x | any token', 'any other method /x | ADMIN'],
      ['wider DELETE /x: ADMIN -> any token'],
    ],
    [
      'one that serves fewer methods now',
      ['GET /x | public', 'any other method /x | ADMIN'],
      ['GET /x | public'],
      ['removed any other method /x: ADMIN -> -'],
    ],
  ])('[3.5] %s', (_what, before, after, told) => {
    expect(changes(before, after)).toEqual(told);
  });
});

// The proof of all of the above: two random sets of rules over the same routes. Where nothing is told as wider, no
// request of anybody gets in that did not get in before.
it('[3.5] tells whatever lets in anybody new, in random changes of rules', () => {
  const templates = [
    'GET /a',
    'GET /a/:id',
    'ALL /a/:id/:sub',
    'POST /a/b/c',
    'GET /f/*path',
    'DELETE /a/:id',
    'GET /:x',
  ];
  const routes = templates.map((line) => {
    const [method = '', path = ''] = line.split(' ');
    return { method, path, handler: {}, shapes: shapesOf(path) };
  });
  const paths = ['/a', '/a/b', '/a/z', '/a/b/c', '/a/b/z', '/a/z/c', '/f', '/f/b', '/f/b/c', '/f/b/c/d', '/b'];
  const patterns = [
    '/**',
    '/*',
    '/a',
    '/b',
    '/a/*',
    '/a/**',
    '/a/b',
    '/a/b/*',
    '/a/b/**',
    '/a/b/c',
    '/f/b',
    '/f/b/**',
    '/f/b/c/d',
  ];
  const effects: Effect[] = [
    { kind: 'public' },
    { kind: 'authenticated' },
    { kind: 'roles', anyOf: ['A'] },
    { kind: 'roles', anyOf: ['A', 'B'] },
    { kind: 'denied' },
  ];
  const { below, of: pick } = seeded(SEED);
  const chance = (percent: number): boolean => below(100) < percent;
  const randomRule = (): Rule => {
    const pattern = parsePattern(`${pick(['', '', 'GET ', 'DELETE ', 'GET,POST '])}${pick(patterns)}`, 'R');
    return { pattern, effect: pick(effects), declaredBy: 'R' };
  };
  const isConsistent = (rules: readonly Rule[]): boolean => {
    try {
      refuseContradictions(rules);
      return true;
    } catch {
      return false;
    }
  };
  const who = [undefined, [], ['A'], ['B'], ['A', 'B']];
  const requests = routes.flatMap(({ method, path: template }) =>
    (method === 'ALL' ? ['GET', 'POST', 'DELETE', 'PATCH'] : [method]).flatMap((verb) =>
      paths.flatMap((path) => {
        const params = paramsOf(template, path);
        return params ? [{ verb, template, path, params }] : [];
      }),
    ),
  );

  const counted = { wider: 0, same: 0, needless: 0 };
  while (counted.wider + counted.same < CHANGES) {
    const rules = Array.from({ length: below(6) }, randomRule);
    const changed = rules.flatMap((rule) => (chance(15) ? [] : chance(10) ? [randomRule()] : [rule]));
    if (chance(40)) changed.push(randomRule());
    if (!isConsistent(rules) || !isConsistent(changed)) continue;
    const compiled = [rules, changed].map((rules) =>
      compileRouteAccess(
        routes,
        { rules, fallback: AUTHENTICATED },
        { caseSensitive: true, ignoreTrailingSlash: false },
      ),
    );
    const [before = [], after = []] = compiled.map(({ entries }) => accessRows(entries, () => []));
    const told = compareAccess(before, after, 'any token').some(({ kind }) => kind === 'wider');
    const opened = requests.find(({ verb, template, path, params }) =>
      who.some((roles) => {
        const [was, is] = compiled.map(
          ({ of }) => decide(of(template, verb)?.({ path, params }) ?? ACCESS_BY_NAME.denied, roles) === undefined,
        );
        return is && !was;
      }),
    );
    if (opened && !told)
      throw new Error(`Not told, seed ${SEED}: ${JSON.stringify({ opened, before, after }, undefined, 1)}`);
    counted[told ? 'wider' : 'same'] += 1;
    if (told && !opened) counted.needless += 1;
  }
  expect(Math.min(counted.wider, counted.same)).toBeGreaterThan(CHANGES / 6);
  // A new part that is public is told also where the whole is; that is about all that is told and opens nothing.
  if (CHANGES > 1_000) console.log(counted);
  expect(counted.needless).toBeLessThan(counted.wider / 5);
}, 600_000);

/** What Express would find for the parameters of a template; `undefined` where it does not serve the path. */
function paramsOf(template: string, path: string): Record<string, unknown> | undefined {
  const [wanted, levels] = [template, path].map((text) => text.split('/').slice(1)) as [string[], string[]];
  const params: Record<string, unknown> = {};
  for (const [index, name] of wanted.entries()) {
    const level = levels[index];
    if (level === undefined) return undefined;
    if (name.startsWith('*')) {
      params[name.slice(1)] = levels.slice(index);
      return params;
    }
    if (name.startsWith(':')) params[name.slice(1)] = level;
    else if (name !== level) return undefined;
  }
  return levels.length === wanted.length ? params : undefined;
}
