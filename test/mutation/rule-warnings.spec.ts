import 'reflect-metadata';
import { AUTHENTICATED as ANY_TOKEN, PUBLIC as ANYBODY } from '../../lib/access/access.js';
import type { CompiledAccess } from '../../lib/access/compiled-access.js';
import { compileRoleHierarchy, type RoleHierarchy } from '../../lib/access/role-hierarchy.js';
import { compileRouteAccess } from '../../lib/access/route-access.js';
import type { Rule } from '../../lib/access/access.js';
import { findRuleWarnings } from '../../lib/access/rule-warnings.js';
import type { Route } from '../../lib/routes/route.js';
import { AUTHENTICATED, DENIED, policy, PUBLIC, roles, route, rule } from './declared.js';

const READING = { caseSensitive: false, ignoreTrailingSlash: true };

interface Declared {
  readonly routes?: readonly string[];
  readonly outside?: readonly string[];
  readonly rules: readonly Rule[];
  readonly hierarchy?: RoleHierarchy;
  readonly hasNoRules?: boolean;
}

function warningsOf({ routes = [], outside = [], rules, hierarchy = {}, hasNoRules = false }: Declared): string[] {
  const read = (lines: readonly string[]): Route[] => lines.map((line) => route(line));
  const inside = compileRouteAccess(read(routes), { rules, fallback: ANY_TOKEN }, READING);
  const beside = compileRouteAccess(read(outside), { rules, fallback: ANYBODY }, READING);
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

const unrestricted = (words: string, paths: string): string =>
  `${words} restricts PUT but not PATCH of ${paths}. Restrict PATCH too, or declare a rule of its own for it.`;

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
      [unrestricted('Shop.roles("A", "PUT /**")', '/a/:id, /b')],
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
        'Shop.roles("A", "PATCH /a/:aId/b/:id") restricts PATCH /a/:aId/b/:id but not PATCH /a/:aId/b/batch. Restrict "PATCH /a/*/b/batch" too, or declare a rule of its own for it.',
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
