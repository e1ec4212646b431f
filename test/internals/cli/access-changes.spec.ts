import 'reflect-metadata';
import { match } from 'path-to-regexp';
import { compareAccess, isWithin, type RowAccess } from '../../../lib/cli/access-changes.js';
import { makeRoute } from '../../../lib/routes/route.js';
import {
  AUTHENTICATED,
  decide,
  DENIED,
  refuseContradictions,
  type Effect,
  type Rule,
} from '../../../lib/access/decide.js';
import { type AccessRow, accessRows } from '../../../lib/access/access-rows.js';
import { parsePattern } from '../../../lib/access/pattern.js';
import { compileRouteAccess } from '../../../lib/access/route-access.js';
import { seeded } from '../../access/random.js';

/** Random changes of rules. A longer run: `ACCESS_CHANGES=50000 ACCESS_SEED=7`. */
const CHANGES = Number(process.env['ACCESS_CHANGES'] ?? 1_000);
const SEED = Number(process.env['ACCESS_SEED'] ?? 1);

/** `ADMIN or EDITOR, and policy owner`; or the names themselves, which may contain these words. */
const accessOf = (words: string | string[][]): RowAccess => {
  if (typeof words !== 'string') return { access: JSON.stringify(words), requirements: words };
  const names = ['public', 'any token', 'nobody'].includes(words) ? [] : words.split(', and ');
  return { access: words, requirements: names.map((text) => text.split(' or ')) };
};

/** `GET /api/x | ADMIN | rule`, or `GET /api/x of /api/:id | ADMIN` for a part of a route */
const rowOf = (line: string): AccessRow => {
  const [route = '', access = '', rule = 'R'] = line.split(' | ');
  const [, method = '', path = '', template = path] = /^(.+?) (\/\S*)(?: of (\/\S*))?$/.exec(route) ?? [];
  return { method, path, template, ...accessOf(access), rules: [rule] };
};

/** `wider GET /api/x: ADMIN -> public` */
const changesOf = (before: string[], after: string[], fallback = 'any token'): string[] =>
  compareAccess(before.map(rowOf), after.map(rowOf), accessOf(fallback)).map(
    ({ kind, route, before, after }) =>
      `${kind} ${route.method} ${route.path}: ${before?.access ?? '-'} -> ${after?.access ?? '-'}`,
  );

it.each<(string | string[][])[]>([
  // From the widest to the narrowest.
  ['public', 'any token', 'ADMIN or EDITOR', 'ADMIN', 'ADMIN, and EDITOR', 'nobody'],
  ['any token', 'policy owner', 'policy owner, and ADMIN', 'nobody'],
  ['any token', 'A or C', 'A or C, and B or D', 'A, and B or D', 'A, and D', 'A, and D, and policy x'],
  ['any token', [['A or B']], [['A or B'], ['C, and D']]],
  ['public', 'any token', [['public']], 'nobody'],
])('[3.2] orders %s > %s > %s …', (...chain) => {
  chain.map(accessOf).forEach((outer, index, all) =>
    all.slice(index + 1).forEach((inner) => {
      expect([outer, inner, isWithin(inner, outer), isWithin(outer, inner)]).toEqual([outer, inner, true, false]);
    }),
  );
});

it.each<[a: string | string[][], b: string, within: boolean]>([
  ['ADMIN', 'EDITOR', false],
  ['policy owner', 'policy editor', false],
  [[['A or B']], 'A or B', false],
  ['EDITOR or ADMIN', 'ADMIN or EDITOR', true],
])('[3.2] %s and %s are within each other: %s', (a, b, within) => {
  const [one, other] = [accessOf(a), accessOf(b)];
  expect([isWithin(one, other), isWithin(other, one)]).toEqual([within, within]);
});

it.each<[before: string, after: string, changes: string[]]>([
  ['GET /x | ADMIN', 'GET /x | ADMIN', []],
  ['GET /x | ADMIN', 'GET /x | public', ['wider GET /x: ADMIN -> public']],
  ['GET /x | ADMIN', 'GET /x | EDITOR', ['wider GET /x: ADMIN -> EDITOR']],
  ['GET /x | any token', 'GET /x | ADMIN', ['narrower GET /x: any token -> ADMIN']],
  ['GET /x | ADMIN | A', 'GET /x | ADMIN | B', ['rules GET /x: ADMIN -> ADMIN']],
  ['GET /x | ADMIN', 'POST /x | ADMIN', ['new POST /x: - -> ADMIN', 'removed GET /x: ADMIN -> -']],
])('[3.2] compares `%s` with `%s`', (before, after, expected) => {
  expect(changesOf([before], [after])).toEqual(expected);
});

it.each([
  ['GET /x | ADMIN', 'any token', 'new'],
  ['GET /x | any token', 'any token', 'new'],
  ['GET /x | public', 'public', 'wider'],
  ['GET /x | ADMIN', 'nobody', 'wider'],
])('[3.4] reports the new route `%s`, where the default is %s, as %s', (after, fallback, kind) => {
  expect(changesOf([], [after], fallback)).toEqual([`${kind} GET /x: - -> ${rowOf(after).access}`]);
});

const BOTH = ['/:x/:y', '/*path'].flatMap((path) => [`GET ${path} | any token`, `GET /a/** of ${path} | public`]);
const whole = (access: string): string => `GET /users/:id | ${access}`;
const me = (access: string, template = '/users/:id'): string => `GET /users/me of ${template} | ${access}`;

it.each<[what: string, before: string[], after: string[], changes: string[]]>([
  [
    'another route that serves the path of a removed route',
    ['GET /x/search | ADMIN', 'GET /x/:id | public'],
    ['GET /x/:id | public'],
    ['removed GET /x/search: ADMIN -> -'],
  ],
  [
    'a restriction of a part that is removed',
    [whole('any token'), me('ADMIN')],
    [whole('any token')],
    ['wider GET /users/me: ADMIN -> any token'],
  ],
  [
    'a new part that is wider than its route, though not than the default',
    [whole('ADMIN')],
    [whole('ADMIN'), me('any token')],
    ['wider GET /users/me: ADMIN -> any token'],
  ],
  [
    'a part of two routes that becomes wider in one of them',
    [whole('any token'), me('ADMIN'), 'GET /*path | public', me('ADMIN', '/*path')],
    [whole('any token'), me('ADMIN'), 'GET /*path | public', me('public', '/*path')],
    ['wider GET /users/me: ADMIN -> public'],
  ],
  [
    'a removed part within a part of two routes',
    [...BOTH, 'GET /a/b of /*path | ADMIN'],
    BOTH,
    ['wider GET /a/b: ADMIN -> public'],
  ],
  [
    'a removed part within another part of the same access',
    [
      'GET /f/*path | any token',
      ...['/f/a/**', '/f/a/x', '/f/*', '/f/y'].map((path) => `GET ${path} of /f/*path | ADMIN`),
    ],
    ['GET /f/*path | any token', ...['/f/a/**', '/f/*'].map((path) => `GET ${path} of /f/*path | ADMIN`)],
    ['removed GET /f/a/x: ADMIN -> -', 'removed GET /f/y: ADMIN -> -'],
  ],
  [
    'a removed part that has the path of its route, a wildcard of Fastify',
    ['GET /f/* | any token', 'GET /f/* | ADMIN'],
    ['GET /f/* | any token'],
    ['wider GET /f/*: ADMIN -> any token'],
  ],
  [
    'a method that no rule restricts any more, of a route of every method',
    ['DELETE /x | ADMIN', 'any other method /x | any token'],
    ['any other method /x | any token'],
    ['wider DELETE /x: ADMIN -> any token'],
  ],
])('[3.5] compares %s', (_what, before, after, expected) => {
  expect(changesOf(before, after)).toEqual(expected);
});

// Two random sets of rules for the same routes: an access that no change reports as wider opens no request.
it('[3.5] reports every random change of rules that lets another user in', () => {
  const routes = [
    'GET /a',
    'GET /a/:id',
    'ALL /a/:id/:sub',
    'POST /a/b/c',
    'GET /f/*path',
    'DELETE /a/:id',
    'GET /:x',
  ].map((line) => makeRoute(...(line.split(' ') as [string, string])));
  const paths = ['/a', '/a/b', '/a/z', '/a/b/c', '/a/b/z', '/a/z/c', '/f', '/f/b', '/f/b/c', '/f/b/c/d', '/b'];
  const patterns = '/** /* /a /b /a/* /a/** /a/b /a/b/* /a/b/** /a/b/c /f/b /f/b/** /f/b/c/d'.split(' ');
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
  const users = [undefined, [], ['A'], ['B'], ['A', 'B']];
  const requests = routes.flatMap(({ method, path: template }) =>
    (method === 'ALL' ? ['GET', 'POST', 'DELETE', 'PATCH'] : [method]).flatMap((verb) =>
      paths.flatMap((path) => {
        const found = match(template)(path);
        return found ? [{ verb, template, path, params: found.params }] : [];
      }),
    ),
  );
  const counted = { wider: 0, same: 0, needless: 0 };
  while (counted.wider + counted.same < CHANGES) {
    const rules = Array.from({ length: below(6) }, randomRule);
    const changed = rules.flatMap((rule) => (chance(15) ? [] : chance(10) ? [randomRule()] : [rule]));
    if (chance(40)) changed.push(randomRule());
    if (!isConsistent(rules) || !isConsistent(changed)) continue;
    const reading = true;
    const compiled = [rules, changed].map((each) =>
      compileRouteAccess(routes, { rules: each, fallback: AUTHENTICATED }, reading),
    );
    const [before = [], after = []] = compiled.map(({ entries }) => accessRows(entries, () => []));
    const isReported = compareAccess(before, after, accessOf('any token')).some(({ kind }) => kind === 'wider');
    const opened = requests.find(({ verb, template, path, params }) =>
      users.some((roles) => {
        const [was, is] = compiled.map(
          ({ of }) => decide(of(template, verb)?.({ path, params }) ?? DENIED, roles) === undefined,
        );
        return is && !was;
      }),
    );
    if (opened && !isReported)
      throw new Error(`Not reported, seed ${SEED}: ${JSON.stringify({ opened, before, after }, undefined, 1)}`);
    counted[isReported ? 'wider' : 'same'] += 1;
    if (isReported && !opened) counted.needless += 1;
  }
  expect(Math.min(counted.wider, counted.same)).toBeGreaterThan(CHANGES / 6);
  // A new public part of a public route is reported although it opens nothing.
  expect(counted.needless).toBeLessThan(counted.wider / 4);
}, 600_000);
