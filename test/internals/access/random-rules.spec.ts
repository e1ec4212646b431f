/** Random rules, decided as the contract says. */
import { match } from 'path-to-regexp';
import { compileRouteAccess } from '../../../lib/access/route-access.js';
import { type Access, AUTHENTICATED, decide, type Effect, PUBLIC, type Rule } from '../../../lib/access/decide.js';
import { parsePattern } from '../../../lib/access/pattern.js';
import { makeRoute } from '../../../lib/routes/route.js';
import { seeded } from '../../access/random.js';

/** `public /a/**`, `auth GET /a`, `ADMIN /a/*`: one declaration in one line. */
type Line = string;

const ruleOf = (line: Line): Rule => {
  const [kind = '', ...rest] = line.split(' ');
  const effect: Effect =
    kind === 'public' ? { kind } : kind === 'auth' ? { kind: 'authenticated' } : { kind: 'roles', anyOf: [kind] };
  return { pattern: parsePattern(rest.join(' '), 'Test'), effect, declaredBy: 'Test' };
};

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}

// The contract's rules, implemented once more and independently.

interface Oracle {
  allows: (method: string, path: string, roles: readonly string[] | undefined) => boolean;
}

function oracle(lines: readonly Line[], open: boolean): Oracle {
  const rules = lines.map((line) => {
    const [, kind = '', methods, path = ''] = /^(\S+) (?:([A-Z,]+) )?(\/\S*)$/.exec(line) ?? [];
    const regex =
      path === '/**'
        ? /^\/.*$/
        : path.endsWith('/**')
          ? new RegExp(`^${path.slice(0, -3)}(/.*)?$`)
          : path.endsWith('/*')
            ? new RegExp(`^${path.slice(0, -2)}/[^/]+$`)
            : new RegExp(`^${path}$`);
    const literals = path.split('/').filter((segment) => segment !== '' && !segment.includes('*')).length;
    const form = path.endsWith('**') ? 0 : path.endsWith('*') ? 1 : 2;
    return { kind, regex, methods: methods?.split(','), order: [literals, form, methods ? 1 : 0] };
  });
  return {
    allows: (method, path, roles) => {
      const matching = rules
        .filter(
          ({ regex, methods }) =>
            regex.test(path) && (!methods || methods.includes(method === 'HEAD' ? 'GET' : method)),
        )
        .toSorted((a, b) => a.order[0]! - b.order[0]! || a.order[1]! - b.order[1]! || a.order[2]! - b.order[2]!);
      let token = !open;
      let needed: string[] = [];
      for (const { kind } of matching) {
        if (kind === 'public') [token, needed] = [false, []];
        else [token, needed] = [true, kind === 'auth' ? needed : [...needed, kind]];
      }
      if (!token) return true;
      return roles !== undefined && needed.every((role) => role === 'USER' || roles.includes(role));
    },
  };
}

const TEMPLATES = ['/', '/a', '/a/b', '/a/:x', '/a/:x/c', '/a/b/c', '/:x', '/w/*path', '/o{/:y}'];
const CONCRETE: Record<string, string[]> = {
  '/': ['/'],
  '/a': ['/a'],
  '/a/b': ['/a/b'],
  '/a/:x': ['/a/b', '/a/c', '/a/z'],
  '/a/:x/c': ['/a/b/c', '/a/z/c'],
  '/a/b/c': ['/a/b/c'],
  '/:x': ['/a', '/b', '/w'],
  '/w/*path': ['/w/a', '/w/a/b', '/w/z/z/z'],
  '/o{/:y}': ['/o', '/o/a', '/o/b'],
};
const PATHS = [
  '/',
  '/*',
  '/**',
  '/a',
  '/a/*',
  '/a/**',
  '/a/b',
  '/a/b/*',
  '/a/b/**',
  '/a/b/c',
  '/a/c',
  '/w/*',
  '/w/**',
  '/w/a',
  '/w/a/**',
  '/o',
  '/o/*',
  '/o/a',
  '/b',
];
const KINDS = ['public', 'auth', 'ADMIN', 'AGENT', 'USER'];
const METHOD_LISTS = ['', '', 'GET ', 'POST ', 'GET,POST '];
const ROLE_SETS = [undefined, [], ['ADMIN'], ['AGENT'], ['ADMIN', 'AGENT']];

const routes = TEMPLATES.flatMap((path) => ['GET', 'POST'].map((method) => makeRoute(method, path, () => {})));

function deciderOf(lines: readonly Line[], fallback: Access) {
  const compiled = compileRouteAccess(routes, { rules: lines.map(ruleOf), fallback }, true);
  return ({ template, method, path, params, roles }: Request): boolean =>
    decide(compiled.of(template, method)!({ path, params }), roles) === undefined;
}

/** Without contradictions, which refuse to boot. */
function randomRules(random: ReturnType<typeof seeded>, most: number): Line[] {
  const isPublic = new Map<string, boolean>();
  const lines: Line[] = [];
  for (let count = random.below(most + 1); count > 0; count--) {
    const [kind, methods, path] = [random.of(KINDS), random.of(METHOD_LISTS), random.of(PATHS)];
    const keys = (methods.trim() || 'ANY').split(',').map((method) => `${method} ${path}`);
    if (keys.some((key) => isPublic.has(key) && isPublic.get(key) !== (kind === 'public'))) continue;
    for (const key of keys) isPublic.set(key, kind === 'public');
    lines.push(`${kind} ${methods}${path}`);
  }
  return lines;
}

interface Request {
  readonly template: string;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly roles: readonly string[] | undefined;
}

const REQUESTS: readonly Request[] = TEMPLATES.flatMap((template) =>
  CONCRETE[template]!.flatMap((path) => {
    const found = match(template)(path);
    if (!found) throw new Error(`${path} is no path of ${template}`);
    return ['GET', 'HEAD', 'POST'].flatMap((method) =>
      ROLE_SETS.map((roles) => ({ template, method, path, params: found.params, roles })),
    );
  }),
);

describe('the fold', () => {
  const random = seeded(33);

  it('[3.3] decides as the contract says, for 400 random sets of rules', () => {
    for (let round = 0; round < 400; round++) {
      const lines = randomRules(random, 8);
      const open = random.below(2) === 0;
      const [decides, expected] = [deciderOf(lines, open ? PUBLIC : AUTHENTICATED), oracle(lines, open)];
      for (const asked of REQUESTS) {
        const { template, method, path, roles } = asked;
        const got = decides(asked);
        if (got !== expected.allows(method, path, roles))
          throw new Error(
            `${method} ${path} of ${template} as ${String(roles)}: ${got}, with ${lines.join('; ')}; open=${open}`,
          );
      }
    }
  });

  it('[3.3] all 120 permutations of five overlapping rules give the same decisions', () => {
    const lines = ['public /a/**', 'ADMIN /a/b/**', 'auth GET /a/*', 'AGENT /a/b/c', 'public GET /a/b'];
    const decisions = new Set(
      permutations(lines).map((order) => {
        const decides = deciderOf(order, AUTHENTICATED);
        return REQUESTS.map((each) => (decides(each) ? '1' : '0')).join('');
      }),
    );
    expect(decisions.size).toBe(1);
  });
});
