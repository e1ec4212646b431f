import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import {
  type Access,
  AUTHENTICATED as ANY_TOKEN,
  DENIED as NOBODY,
  PUBLIC as ANYBODY,
  type Rule,
} from '../../../lib/access/decide.js';
import type { CompiledAccess } from '../../../lib/access/compiled-access.js';
import { compileRoleHierarchy, type RoleHierarchy } from '../../../lib/access/role-hierarchy.js';
import { compileRouteAccess } from '../../../lib/access/route-access.js';
import { findCachedRoutes, findRuleWarnings } from '../../../lib/access/rule-warnings.js';
import { declareRoute, type DeclaredRoute } from '../../../lib/routes/declared-route.js';
import { makeRoute, type Route } from '../../../lib/routes/route.js';
import { AUTHENTICATED, DENIED, policy, PUBLIC, roles, route, rule } from './declared.js';

const IS_CASE_SENSITIVE = false;

interface Declared {
  readonly routes?: readonly string[];
  readonly outside?: readonly string[];
  readonly rules: readonly Rule[];
  readonly hierarchy?: RoleHierarchy;
  readonly hasNoRules?: boolean;
}

/** The copies among generated routes, and what each is a copy of, by the paths below that of the controller. */
const COPIES: Readonly<Record<string, string>> = {
  'GET search': 'GET /',
  'GET count': 'GET /',
  'GET aggregate': 'GET /',
  'GET export': 'GET /',
  'POST batch': 'POST /',
  'PATCH batch': 'PATCH :id',
  'DELETE batch': 'DELETE :id',
  'POST :id/restore': 'DELETE :id',
};

/** What a generated route declares of its copies. */
function copyOf(line: string) {
  const found = Object.entries(COPIES).find(([copy]) => {
    const [method = '', path = ''] = copy.split(' ');
    return line.startsWith(`${method} `) && line.endsWith(`/${path}`);
  });
  return found && { path: found[0].replace(/^\w+ /, ''), copyOf: [found[1]] };
}

/** A route with the handler of a generated operation. */
function generatedRoute(line: string, more: Partial<DeclaredRoute> = {}): Route {
  const handler = (): void => undefined;
  declareRoute(handler, { declaredBy: 'a test', ...copyOf(line), ...more });
  return route(line, handler);
}

function warningsOf({ routes = [], outside = [], rules, hierarchy = {}, hasNoRules = false }: Declared): string[] {
  const read = (lines: readonly string[]): Route[] =>
    lines.map((line) => (line.endsWith('/batch') ? generatedRoute(line) : route(line)));
  const inside = compileRouteAccess(read(routes), { rules, fallback: ANY_TOKEN }, IS_CASE_SENSITIVE);
  const beside = compileRouteAccess(read(outside), { rules, fallback: ANYBODY }, IS_CASE_SENSITIVE);
  const names = rules.flatMap(({ effect }) => (effect.kind === 'roles' ? effect.anyOf : []));
  const compiled = {
    policy: { rules },
    table: { controllerRoutes: read(routes) },
    inside,
    outsideRoutes: beside,
    entries: [...inside.entries, ...beside.entries],
    roles: compileRoleHierarchy(hierarchy),
    roleNames: new Set(['USER', ...names]),
  };
  return findRuleWarnings(compiled as unknown as CompiledAccess, hasNoRules);
}

const ungoverned = (names: string): string => `No rule matches ${names}: the default access applies.`;
const ungovernedOutside = (names: string): string =>
  `No rule matches ${names}, outside Nest's routes: access is public.`;
const unused = (words: string): string =>
  `${words} matches no route. Correct the pattern (with global prefix and version) or remove it.`;
const partly = (words: string): string =>
  `${words} opens only a part of a route. Declare a route for that part, or open the whole route.`;
const impossible = (name: string, ...words: string[]): string =>
  `${name} requires roles that no user has together: ${words.join(', ')}.`;

const unrestricted = (words: string, ...paths: string[]): string => {
  const [puts, patches] = ['PUT', 'PATCH'].map((method) => paths.map((path) => `${method} ${path}`));
  const patterns = patches?.map((name) => `"${name.replace(':id', '*')}"`).join(', ');
  const problem = `${words} restricts ${puts?.join(', ')} but not ${patches?.join(', ')}`;
  return `${problem}. Restrict ${patterns} too, or declare a rule of its own for it.`;
};

const A = 'Shop.roles("A", "/**")';
const B = 'Shop.roles("B", "/a")';
const TWO = [rule('/**', roles('A')), rule('/a', roles('B'))];

describe('warnings about rules', () => {
  it.each<[what: string, declared: Declared, warnings: string[]]>([
    ['nothing where no rule is declared', { routes: ['GET /a'], outside: ['GET /b'], rules: [], hasNoRules: true }, []],
    [
      'every route where all rules are missing',
      { routes: ['GET /a'], outside: ['GET /b'], rules: [] },
      [ungoverned('GET /a'), ungovernedOutside('GET /b')],
    ],
    [
      'nothing where a rule matches every route',
      { routes: ['GET /a'], outside: ['GET /b'], rules: [rule('/*', PUBLIC)] },
      [],
    ],
    [
      'routes that no rule matches',
      { routes: ['GET /a', 'GET /b', 'POST /b'], rules: [rule('/a', PUBLIC)] },
      [ungoverned('GET /b, POST /b')],
    ],
    [
      'outside routes that no rule matches',
      { outside: ['GET /a', 'GET /b', 'GET /c'], rules: [rule('/a', PUBLIC)] },
      [ungovernedOutside('GET /b, GET /c')],
    ],
    [
      'rules that match no route',
      { routes: ['GET /a'], outside: ['GET /b'], rules: ['/a', '/b', '/c', '/d'].map((path) => rule(path, PUBLIC)) },
      [unused('Shop.public("/c")'), unused('Shop.public("/d")')],
    ],
    [
      'a public rule for a part of a route, once',
      { routes: ['GET /a/:id', 'POST /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [partly('Shop.public("/a/me")')],
    ],
    [
      'a public rule for a part of an outside route',
      { outside: ['GET /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [partly('Shop.public("/a/me")')],
    ],
    [
      'no public rule for a part of a mount',
      { outside: ['GET /a/*rest'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [],
    ],
    [
      'no restriction for a part of a route',
      { routes: ['GET /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', roles('A'))] },
      [],
    ],
    [
      'a rule for PUT of routes, but not for PATCH',
      {
        routes: ['PUT /a/:id', 'PATCH /a/:id', 'PUT /b', 'PATCH /b'],
        rules: [rule('/**', AUTHENTICATED), rule('PUT /**', roles('A'))],
      },
      [unrestricted('Shop.roles("A", "PUT /**")', '/a/:id', '/b')],
    ],
    [
      'a rule for PUT of a part of a route',
      {
        routes: ['PUT /a/:id', 'PATCH /a/:id'],
        rules: [rule('/**', AUTHENTICATED), rule('PUT /a/me', roles('A'))],
      },
      [unrestricted('Shop.roles("A", "PUT /a/me")', '/a/me')],
    ],
    [
      'no rule for PUT and PATCH of a part of a route',
      {
        routes: ['PUT /a/:id', 'PATCH /a/:id'],
        rules: [rule('/**', AUTHENTICATED), rule('PUT,PATCH /a/me', roles('A'))],
      },
      [],
    ],
    [
      'no rule for PUT where there is no PATCH, or another rule restricts it or opens it',
      {
        routes: ['PUT /a', 'PUT /b', 'PATCH /b', 'PUT /c', 'PATCH /c', 'PUT /d', 'PATCH /d'],
        rules: [
          rule('/**', AUTHENTICATED),
          rule('PUT /a', roles('A')),
          rule('PUT /b', roles('A')),
          rule('PATCH /b', roles('B')),
          rule('PUT,PATCH /c', roles('A')),
          rule('PUT /d', roles('A')),
          rule('PATCH /d', PUBLIC),
        ],
      },
      [],
    ],
    [
      'a rule for the routes of one record, but not for those of batches',
      {
        routes: ['POST /a', 'POST /a/batch', 'PATCH /a/:id', 'PATCH /a/batch', 'DELETE /a/:id', 'DELETE /a/batch'],
        rules: [
          rule('/**', AUTHENTICATED),
          rule('POST /a', roles('A')),
          rule('PATCH /a/:id', roles('A')),
          rule('DELETE /a/:id', roles('A')),
          rule('DELETE /a/batch', roles('A')),
        ],
      },
      [
        'Shop.roles("A", "POST /a") restricts POST /a but not POST /a/batch. Restrict "POST /a/batch" too, or declare a rule of its own for it.',
        'Shop.roles("A", "PATCH /a/:id") restricts PATCH /a/:id but not PATCH /a/batch. Restrict "PATCH /a/batch" too, or declare a rule of its own for it.',
      ],
    ],
    [
      'a rule for the routes of one record below another one',
      {
        routes: ['PATCH /a/:aId/b/:id', 'PATCH /a/:aId/b/batch'],
        rules: [rule('/**', AUTHENTICATED), rule('PATCH /a/:aId/b/:id', roles('A'))],
      },
      [
        'Shop.roles("A", "PATCH /a/:aId/b/:id") restricts PATCH /a/:aId/b/:id but not PATCH /a/:aId/b/batch. Restrict "PATCH /a/**" too, or declare a rule of its own for it.',
      ],
    ],
    [
      'no rule for one record beside a batch that is denied',
      {
        routes: ['POST /a', 'POST /a/batch'],
        rules: [rule('POST /a', roles('A')), rule('POST /a/batch', DENIED)],
      },
      [],
    ],
    [
      'no rule for PUT beside POST of the same path',
      { routes: ['PUT /a', 'POST /a'], rules: [rule('/**', AUTHENTICATED), rule('PUT /a', roles('A'))] },
      [],
    ],
    [
      'a rule for PUT of the root, but not for PATCH',
      { routes: ['PUT /', 'PATCH /'], rules: [rule('/**', AUTHENTICATED), rule('PUT /', roles('A'))] },
      [unrestricted('Shop.roles("A", "PUT /")', '/')],
    ],
    [
      'no rule for PUT beside PATCH of another resource',
      {
        routes: ['PUT /a/:id', 'PATCH /b/:id'],
        rules: [rule('/**', AUTHENTICATED), rule('PUT /a/**', roles('A'))],
      },
      [],
    ],
    [
      'no rule for one record that covers batches too, or that a public rule opens again',
      {
        routes: ['POST /a', 'POST /a/:id', 'POST /a/batch', 'POST /b', 'POST /b/batch', 'POST /c/batch'],
        rules: [
          rule('/**', AUTHENTICATED),
          rule('POST /a/**', roles('A')),
          rule('POST /a/:id', roles('A')),
          rule('POST /b', PUBLIC),
        ],
      },
      [],
    ],
    [
      'no rule for PUT that a public rule opens again',
      {
        routes: ['PUT /a/b', 'PATCH /a/b'],
        rules: [rule('/**', AUTHENTICATED), rule('PUT /a/**', roles('A')), rule('PUT /a/b', PUBLIC)],
      },
      [],
    ],
    [
      'no public rule that has a route of its own',
      { routes: ['GET /a/me', 'GET /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [],
    ],
    [
      'no public rule that has an outside route of its own',
      {
        routes: ['GET /a/:id', 'GET /b'],
        outside: ['GET /a/me'],
        rules: [rule('/**', AUTHENTICATED), rule('/a/me', PUBLIC)],
      },
      [],
    ],
    ['roles that nobody has together', { routes: ['GET /a'], rules: TWO }, [impossible('GET /a', A, B)]],
    [
      'roles that nobody has together, outside',
      { outside: ['GET /a', 'GET /b'], rules: TWO },
      [impossible('GET /a', A, B)],
    ],
    [
      'no role beside that of keys',
      { routes: ['GET /a'], rules: [rule('/**', roles('A')), rule('/a', roles('KEY'))] },
      [],
    ],
    ['no roles of which one includes the other', { routes: ['GET /a'], rules: TWO, hierarchy: { A: ['B'] } }, []],
    ['no roles that a third includes', { routes: ['GET /a'], rules: TWO, hierarchy: { C: ['A', 'B'] } }, []],
    [
      'roles of which a third includes one only',
      { routes: ['GET /a'], rules: TWO, hierarchy: { C: ['A'] } },
      [impossible('GET /a', A, B)],
    ],
    [
      'no sets of roles that share one',
      { routes: ['GET /a'], rules: [rule('/**', roles('A', 'C')), rule('/a', roles('B', 'C'))] },
      [],
    ],
    [
      'no role beside the base role',
      { routes: ['GET /a'], rules: [rule('/**', roles('A')), rule('/a', roles('USER'))] },
      [],
    ],
    [
      'no role beside a policy',
      { routes: ['GET /a'], rules: [rule('/**', policy('owner')), rule('/a', roles('A'))] },
      [],
    ],
    ['no two policies', { routes: ['GET /a'], rules: [rule('/**', policy('owner')), rule('/a', policy('team'))] }, []],
    [
      'three roles, two of which go together',
      {
        routes: ['GET /a'],
        rules: [...TWO, rule('GET /a', roles('C'))],
        hierarchy: { A: ['B'] },
      },
      [impossible('GET /a', A, B, 'Shop.roles("C", "GET /a")')],
    ],
    [
      'roles that differ only in case',
      {
        routes: ['GET /a', 'GET /b', 'GET /c'],
        rules: [rule('/a', roles('ADMIN')), rule('/b', roles('Admin')), rule('/c', roles('user'))],
      },
      [
        'The roles USER and user differ only in case. Roles compare exactly: use one spelling.',
        'The roles ADMIN and Admin differ only in case. Roles compare exactly: use one spelling.',
      ],
    ],
    [
      'no roles that differ in letters',
      { routes: ['GET /a'], rules: [rule('/a', roles('GROSSKUNDE', 'GROßKUNDE'))] },
      [],
    ],
    [
      'all warnings at once',
      {
        routes: ['GET /a', 'GET /b', 'GET /c/:id'],
        outside: ['GET /d'],
        rules: [rule('/a', roles('A')), rule('GET /a', roles('B')), rule('/c/me', PUBLIC), rule('/e', PUBLIC)],
      },
      [
        ungoverned('GET /b, GET /c/:id'),
        ungovernedOutside('GET /d'),
        unused('Shop.public("/e")'),
        partly('Shop.public("/c/me")'),
        impossible('GET /a', 'Shop.roles("A", "/a")', 'Shop.roles("B", "GET /a")'),
      ],
    ],
  ])('[3.4] %s', (_, declared, expected) => {
    expect(warningsOf(declared)).toEqual(expected);
  });
});

describe('warnings about generated routes', () => {
  interface Generated {
    readonly endpoint: string;
    /** Some with what they declare. */
    readonly routes: readonly (string | readonly [line: string, declared: Partial<DeclaredRoute>])[];
    readonly needsUser?: string;
    readonly fallback?: Access;
  }

  function warningsOfGenerated(
    { endpoint, routes, needsUser, fallback = ANYBODY }: Generated,
    rules: readonly Rule[],
  ): string[] {
    const declared = routes.map((each) => {
      const [line, more] = typeof each === 'string' ? [each] : each;
      return generatedRoute(line, { controllerPath: endpoint, ...(needsUser && { needsUser }), ...more });
    });
    const inside = compileRouteAccess(declared, { rules, fallback }, IS_CASE_SENSITIVE);
    const outsideRoutes = compileRouteAccess([], { rules, fallback: ANYBODY }, IS_CASE_SENSITIVE);
    const compiled = {
      policy: { rules },
      table: { controllerRoutes: declared },
      inside,
      outsideRoutes,
      entries: inside.entries,
      roles: compileRoleHierarchy({}),
      roleNames: new Set<string>(),
    };
    const warnings = findRuleWarnings(compiled as unknown as CompiledAccess, false);
    return warnings.filter((warning) => !warning.startsWith('No rule matches'));
  }

  const left = (words: string, restricted: string, open: string, patterns: string): string =>
    `${words} restricts ${restricted} but not ${open}. Restrict ${patterns} too, or declare a rule of its own for it.`;

  it.each<[what: string, routes: Generated['routes'], rule: Rule, warnings: string[]]>([
    [
      'PUT, but not PATCH, where both know their path',
      ['PUT', 'PATCH'].map((verb) => [`${verb} /a/:id`, { path: ':id' }] as const),
      rule('PUT /a/*', roles('A')),
      [left('Shop.roles("A", "PUT /a/*")', 'PUT /a/:id', 'PATCH /a/:id', '"PATCH /a/*"')],
    ],
    [
      'POST, but not a copy with the same path',
      ['POST /a', ['GET /a', { path: '/', copyOf: ['POST /'] }]],
      rule('POST /a', roles('A')),
      [left('Shop.roles("A", "POST /a")', 'POST /a', 'GET /a', '"GET /a"')],
    ],
    [
      'POST, but not a copy whose path begins with a slash',
      ['POST /a', ['GET /a/b', { path: '/b', copyOf: ['POST /'] }]],
      rule('POST /a', roles('A')),
      [left('Shop.roles("A", "POST /a")', 'POST /a', 'GET /a/b', '"GET /a/b"')],
    ],
    [
      'PUT, but not a PATCH whose path in the declaration is another one',
      ['PUT /a/b', ['PATCH /a/b', { path: 'c', copyOf: ['POST /'] }]],
      rule('PUT /a/b', roles('A')),
      [left('Shop.roles("A", "PUT /a/b")', 'PUT /a/b', 'PATCH /a/b', '"PATCH /a/b"')],
    ],
    [
      'DELETE of a record, and another operation below it',
      ['DELETE /a/:id', 'DELETE /', 'POST /a/:id/publish'],
      rule('DELETE /a/*', roles('A')),
      [],
    ],
    [
      'a list, but not its copies',
      ['GET /a', 'GET /a/search', 'GET /a/count', 'GET /a/aggregate', 'GET /a/export'],
      rule('GET /a', roles('A')),
      [
        left(
          'Shop.roles("A", "GET /a")',
          'GET /a',
          'GET /a/search, GET /a/count, GET /a/aggregate, GET /a/export',
          '"GET /a/search", "GET /a/count", "GET /a/aggregate", "GET /a/export"',
        ),
      ],
    ],
    ['a list with all of its copies', ['GET /a', 'GET /a/search'], rule('GET /a/**', roles('A')), []],
    ['another method than that of the copy', ['POST /a', 'GET /a/search'], rule('POST /a', roles('A')), []],
    ['a list, and a route of another word', ['GET /a', 'GET /a/exists'], rule('GET /a', roles('A')), []],
    [
      'DELETE, but not restore',
      ['DELETE /a/:id', 'POST /a/:id/restore'],
      rule('DELETE /a/*', roles('A')),
      [left('Shop.roles("A", "DELETE /a/*")', 'DELETE /a/:id', 'POST /a/:id/restore', '"POST /a/**"')],
    ],
    ['PUT, and restore', ['PUT /a/:id', 'POST /a/:id/restore'], rule('PUT /a/*', roles('A')), []],
    [
      'POST, but not its batch',
      ['POST /a', 'POST /a/batch'],
      rule('POST /a', roles('A')),
      [left('Shop.roles("A", "POST /a")', 'POST /a', 'POST /a/batch', '"POST /a/batch"')],
    ],
    [
      'PATCH, by a pattern that covers its batch',
      ['PATCH /a/:id', 'PATCH /a/batch'],
      rule('PATCH /a/*', roles('A')),
      [],
    ],
  ])('[3.2] %s', (_what, routes, declared, warnings) => {
    expect(warningsOfGenerated({ endpoint: '/a', routes }, [declared])).toEqual(warnings);
  });

  it('[3.2] a list is no reason to warn of copies that the default denies', () => {
    const routes = ['GET /a', 'GET /a/search'];
    expect(warningsOfGenerated({ endpoint: '/a', routes, fallback: NOBODY }, [rule('GET /a', roles('A'))])).toEqual([]);
  });

  it('[3.2] a record, but not the records of a nested endpoint below it', () => {
    const routes = ['PUT /a/:id', 'PATCH /a/:id', 'DELETE /a/:id', 'GET /a/:aId/b', 'POST /a/:aId/b'];
    const warnings = warningsOfGenerated({ endpoint: '/a/:aId/b', routes }, [
      rule('PUT,PATCH,DELETE /a/*', roles('A')),
    ]);
    expect(warnings).toEqual([
      left(
        'Shop.roles("A", "PUT,PATCH,DELETE /a/*")',
        'PUT /a/:id, PATCH /a/:id, DELETE /a/:id',
        'POST /a/:aId/b',
        '"POST /a/**"',
      ),
    ]);
  });

  it('[3.2] a route of a controller without an endpoint is no copy', () => {
    const routes = ['GET /a', 'GET /a/search'];
    expect(warningsOf({ routes, rules: [rule('GET /a', roles('A')), rule('/b', roles('A'))] })).toEqual([
      ungoverned('GET /a/search'),
      unused('Shop.roles("A", "/b")'),
    ]);
  });

  it.each<[what: string, rules: Rule[], isWarned: boolean]>([
    ['public', [rule('/**', PUBLIC)], true],
    ['for users', [rule('/**', AUTHENTICATED)], false],
    ['for users, beside a public GET', [rule('GET /**', PUBLIC), rule('POST /**', AUTHENTICATED)], false],
  ])('[8.6] a POST that needs a user is %s', (_what, rules, isWarned) => {
    const routes = ['GET /a', 'POST /a', 'PUT /a/:id'];
    const needsUser = 'enableIdempotency of Thing';
    const sentence =
      'POST /a is public, but enableIdempotency of Thing requires a user. Restrict the route, or remove the option.';
    expect(warningsOfGenerated({ endpoint: '/a', routes, needsUser }, rules)).toEqual(isWarned ? [sentence] : []);
    expect(warningsOfGenerated({ endpoint: '/a', routes }, rules)).toEqual([]);
  });

  it('[8.6] a POST that needs a user is compared with its own route', () => {
    const routes = ['POST /b', ['POST /a', { needsUser: 'enableIdempotency of Thing' }]] as const;
    const rules = [rule('POST /a', AUTHENTICATED), rule('POST /b', PUBLIC)];
    expect(warningsOfGenerated({ endpoint: '/a', routes }, rules)).toEqual([]);
  });
});

describe('[3.4] warnings about cached routes', () => {
  class Caching {
    constructor(
      @Inject('CLOCK') readonly clock?: unknown,
      @Inject('CACHE_MANAGER') readonly cache?: unknown,
    ) {}
  }
  class Timing {
    constructor(@Inject('CLOCK') readonly clock?: unknown) {}
  }
  /** Injects nothing. */
  class Logging {
    intercept = (): void => undefined;
  }

  function warningsOfCache(
    routes: readonly Route[],
    rules: readonly Rule[],
    interceptors: readonly object[] = [new Caching()],
  ): string[] {
    const inside = compileRouteAccess(routes, { rules, fallback: ANY_TOKEN }, IS_CASE_SENSITIVE);
    return findCachedRoutes({ table: { controllerRoutes: routes }, inside } as unknown as CompiledAccess, interceptors);
  }
  const cached = (names: string): string =>
    `A global interceptor injects CACHE_MANAGER: if it caches by URL, users get the answers of others at ${names}. Add @CacheKey() with a function that returns a key for each user, or undefined.`;

  it.each<[what: string, routes: Route[], rules: Rule[], warnings: string[]]>([
    ['a restricted GET', [route('GET /a')], [rule('/a', roles('A'))], [cached('GET /a')]],
    ['a GET for all users', [route('GET /a')], [], [cached('GET /a')]],
    ['no public GET', [route('GET /a')], [rule('/a', PUBLIC)], []],
    ['no other method', [route('POST /a'), route('DELETE /a')], [], []],
    ['no route whose key depends on the request', [generatedRoute('GET /a')], [], []],
    ['no route without a handler', [makeRoute('GET', '/a')], [], []],
    [
      'no public GET beside a restricted one',
      [route('GET /a'), route('GET /b')],
      [rule('/a', PUBLIC)],
      [cached('GET /b')],
    ],
    ['no public GET beside a restricted POST', [route('GET /a'), route('POST /a')], [rule('GET /a', PUBLIC)], []],
    [
      'a restricted GET beside a public POST',
      [route('GET /a'), route('POST /a')],
      [rule('POST /a', PUBLIC)],
      [cached('GET /a')],
    ],
    [
      'a GET of which a part is public',
      [route('GET /a/:id')],
      [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)],
      [cached('GET /a/:id')],
    ],
  ])('name %s', (_, routes, rules, warnings) => {
    expect(warningsOfCache(routes, rules)).toEqual(warnings);
  });

  it.each<[what: string, interceptors: object[], isWarned: boolean]>([
    ['no interceptor', [], false],
    ['interceptors that inject no cache', [new Timing(), new Logging()], false],
    ['one interceptor among others that injects a cache', [new Logging(), new Caching(), new Timing()], true],
  ])('with %s', (_, interceptors, isWarned) => {
    expect(warningsOfCache([route('GET /a')], [], interceptors)).toEqual(isWarned ? [cached('GET /a')] : []);
  });

  it.each<[count: number, names: string]>([
    [5, 'GET /1, GET /2, GET /3, GET /4, GET /5'],
    [7, 'GET /1, GET /2, GET /3, GET /4, GET /5 and 2 more'],
  ])('name at most five of %d routes', (count, names) => {
    const routes = Array.from({ length: count }, (_, index) => route(`GET /${index + 1}`));
    expect(warningsOfCache(routes, [])).toEqual([cached(names)]);
  });
});
