import 'reflect-metadata';
import type { Route } from '../../lib/routes/route.js';
import { AUTHENTICATED as ANY_TOKEN, PUBLIC as ANYBODY } from '../../lib/access/access.js';
import { compileRoleHierarchy, type RoleHierarchy } from '../../lib/access/role-hierarchy.js';
import { compileRouteAccess } from '../../lib/access/route-access.js';
import { doubtsAbout } from '../../lib/access/rule-doubts.js';
import type { Rule } from '../../lib/access/rules.js';
import { AUTHENTICATED, policy, PUBLIC, roles, route, rule } from './declared.js';

const READING = { caseSensitive: false, ignoreTrailingSlash: true };

interface Declared {
  readonly routes?: readonly string[];
  readonly outside?: readonly string[];
  readonly rules: readonly Rule[];
  readonly hierarchy?: RoleHierarchy;
  readonly onlyDefault?: boolean;
}

function doubts({ routes = [], outside = [], rules, hierarchy = {}, onlyDefault = false }: Declared): string[] {
  const read = (lines: readonly string[]): Route[] => lines.map((line) => route(line));
  return doubtsAbout(
    {
      rules,
      inside: compileRouteAccess(read(routes), { rules, fallback: ANY_TOKEN }, READING),
      outside: compileRouteAccess(read(outside), { rules, fallback: ANYBODY }, READING),
    },
    compileRoleHierarchy(hierarchy),
    onlyDefault,
  );
}

const ungoverned = (names: string): string => `No rule speaks of ${names}: the default decides there.`;
const ungovernedOutside = (names: string): string =>
  `No rule speaks of ${names}, which is beside Nest's routes: anybody gets in there.`;
const idle = (words: string): string =>
  `${words} matches no route: correct the pattern (global prefix and version included) or remove it.`;
const partly = (words: string): string =>
  `${words} opens a part of a route only: declare a route for it, or open the whole.`;
const impossible = (name: string, ...words: string[]): string =>
  `${name} asks for roles that no user has together: ${words.join(', ')}.`;

const A = 'Shop.roles("A", "/**")';
const B = 'Shop.roles("B", "/a")';
const TWO = [rule('/**', roles('A')), rule('/a', roles('B'))];

describe('what makes rules doubtful', () => {
  it.each<[what: string, declared: Declared, doubts: string[]]>([
    [
      'nothing where the default was meant for everything',
      { routes: ['GET /a'], outside: ['GET /b'], rules: [], onlyDefault: true },
      [],
    ],
    [
      'every route and handler, where no rule is left',
      { routes: ['GET /a'], outside: ['GET /b'], rules: [] },
      [ungoverned('GET /a'), ungovernedOutside('GET /b')],
    ],
    [
      'nothing where every route is governed',
      { routes: ['GET /a'], outside: ['GET /b'], rules: [rule('/*', PUBLIC)] },
      [],
    ],
    [
      'routes that no rule speaks of',
      { routes: ['GET /a', 'GET /b', 'POST /b'], rules: [rule('/a', PUBLIC)] },
      [ungoverned('GET /b, POST /b')],
    ],
    [
      'handlers outside that no rule speaks of',
      { outside: ['GET /a', 'GET /b', 'GET /c'], rules: [rule('/a', PUBLIC)] },
      [ungovernedOutside('GET /b, GET /c')],
    ],
    [
      'rules that speak of nothing',
      { routes: ['GET /a'], outside: ['GET /b'], rules: ['/a', '/b', '/c', '/d'].map((path) => rule(path, PUBLIC)) },
      [idle('Shop.public("/c")'), idle('Shop.public("/d")')],
    ],
    [
      'a public rule for a part of a route, said once',
      { routes: ['GET /a/:id', 'POST /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [partly('Shop.public("/a/me")')],
    ],
    [
      'a public rule for a part of a handler outside',
      { outside: ['GET /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [partly('Shop.public("/a/me")')],
    ],
    [
      'no public rule for a part of what is mounted',
      { outside: ['GET /a/*rest'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [],
    ],
    [
      'no restriction for a part of a route',
      { routes: ['GET /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', roles('A'))] },
      [],
    ],
    [
      'no public rule that has a route of its own',
      { routes: ['GET /a/me', 'GET /a/:id'], rules: [rule('/a/**', AUTHENTICATED), rule('/a/me', PUBLIC)] },
      [],
    ],
    [
      'no public rule that has a handler of its own outside',
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
      'no role beside the one that any token has',
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
      'all of it at once',
      {
        routes: ['GET /a', 'GET /b', 'GET /c/:id'],
        outside: ['GET /d'],
        rules: [rule('/a', roles('A')), rule('GET /a', roles('B')), rule('/c/me', PUBLIC), rule('/e', PUBLIC)],
      },
      [
        ungoverned('GET /b, GET /c/:id'),
        ungovernedOutside('GET /d'),
        idle('Shop.public("/e")'),
        partly('Shop.public("/c/me")'),
        impossible('GET /a', 'Shop.roles("A", "/a")', 'Shop.roles("B", "GET /a")'),
      ],
    ],
  ])('[3.4] %s', (_, declared, expected) => {
    expect(doubts(declared)).toEqual(expected);
  });
});
