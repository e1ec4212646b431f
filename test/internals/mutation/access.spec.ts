import {
  type Access,
  ACCESS_BY_NAME,
  AUTHENTICATED,
  checkPolicies,
  decide,
  DENIED,
  describeAccess,
  describeDecision,
  describeRequirements,
  hasPolicy,
  PUBLIC,
  type Refusal,
  type Requirement,
} from '../../../lib/access/decide.js';
import { BASE_ROLE } from '../../../lib/http/caller.js';
import { AuthenticationRequired } from '../../../lib/http/refusal.js';
import { policyOf, roles, rule } from './declared.js';

const needing = (...requirements: Requirement[]): Access => ({ kind: 'authenticated', requirements, rules: [] });
const anyOf = (...roles: string[]): Requirement => ({ anyOf: roles });
const OWNER: Requirement = { policy: policyOf('owner') };

const UNAUTHENTICATED: Refusal = { reason: 'unauthenticated' };
const forbidden = (...missing: string[]): Refusal => ({ reason: 'forbidden', missing });

describe('the decision on roles', () => {
  it.each<[who: string, access: Access, roles: string[] | undefined, refusal: Refusal | undefined]>([
    ['public requires nothing', PUBLIC, undefined, undefined],
    ['public accepts a token', PUBLIC, [], undefined],
    ['public ignores requirements', { ...needing(anyOf('A')), kind: 'public' }, [], undefined],
    ['a token is required', AUTHENTICATED, undefined, UNAUTHENTICATED],
    ['any token is enough', AUTHENTICATED, [], undefined],
    ['denied without a token is unauthenticated', DENIED, undefined, UNAUTHENTICATED],
    ['denied with a token is forbidden', DENIED, ['A'], { reason: 'forbidden' }],
    ['a role needs a token', needing(anyOf('A')), undefined, UNAUTHENTICATED],
    ['a role is missing', needing(anyOf('A')), ['B'], forbidden('A')],
    ['a role is compared exactly', needing(anyOf('A')), ['a', 'AA', ''], forbidden('A')],
    ['the role is present', needing(anyOf('A')), ['B', 'A'], undefined],
    ['one of several roles is enough', needing(anyOf('A', 'B')), ['B'], undefined],
    ['none of several roles', needing(anyOf('A', 'B')), ['C'], forbidden('A', 'B')],
    ['all requirements hold', needing(anyOf('A'), anyOf('B')), ['A', 'B'], undefined],
    ['the second requirement refuses', needing(anyOf('A'), anyOf('B')), ['A'], forbidden('B')],
    ['the first requirement refuses first', needing(anyOf('A'), anyOf('B')), [], forbidden('A')],
    ['any token has the base role', needing(anyOf('USER')), [], undefined],
    ['the base role among others is enough', needing(anyOf('A', 'USER')), ['B'], undefined],
    ['policies are checked later', needing(OWNER), [], undefined],
    ['a role behind a policy is checked', needing(OWNER, anyOf('A')), [], forbidden('A')],
  ])('[3.2] %s', (_, access, roles, refusal) => {
    expect(decide(access, roles)).toEqual(refusal);
  });

  it('[3.4] the defaults have names and are frozen', () => {
    expect(ACCESS_BY_NAME).toEqual({
      public: { kind: 'public', requirements: [], rules: [] },
      authenticated: { kind: 'authenticated', requirements: [], rules: [] },
      denied: { kind: 'denied', requirements: [], rules: [] },
    });
    expect(Object.values(ACCESS_BY_NAME).every((access) => Object.isFrozen(access))).toBe(true);
    expect(BASE_ROLE).toBe('USER');
  });
});

describe('the description of an access', () => {
  const includersOf = (role: string): string[] => ({ EDITOR: ['ADMIN'], READER: ['ADMIN', 'EDITOR'] })[role] ?? [];

  it.each<[access: Access, words: string]>([
    [PUBLIC, 'public'],
    [DENIED, 'nobody'],
    [AUTHENTICATED, 'any token'],
    [{ ...needing(anyOf('A')), kind: 'denied' }, 'nobody'],
    [needing(anyOf('A')), 'A'],
    [needing(anyOf('A', 'B')), 'A or B'],
    [needing(anyOf('A'), anyOf('B')), 'A, and B'],
    [needing(anyOf('EDITOR')), 'EDITOR or ADMIN'],
    [needing(anyOf('READER', 'EDITOR')), 'READER or EDITOR or ADMIN'],
    [needing(anyOf('A', 'USER')), 'any token'],
    [needing(anyOf('USER'), anyOf('A')), 'A'],
    [needing(OWNER), 'policy owner'],
    [needing(anyOf('A', 'B'), OWNER), 'A or B, and policy owner'],
    [needing({ policy: policyOf('same team') }), 'policy "same team"'],
    [needing(anyOf('public')), '"public"'],
    [needing(anyOf('nobody')), '"nobody"'],
    [needing(anyOf('any token')), '"any token"'],
    [needing(anyOf('A or B')), '"A or B"'],
    [needing(anyOf('A,')), '"A,"'],
    [needing(anyOf(',A')), '",A"'],
    [needing(anyOf('')), '""'],
    [needing(anyOf('aZ_09.:@/-b')), 'aZ_09.:@/-b'],
    [needing(anyOf('publications')), 'publications'],
  ])('[3.4] %j is described as %s', (access, words) => {
    expect(describeAccess(access, includersOf)).toBe(words);
  });

  it('[3.4] a role that the base role includes is open to any token', () => {
    expect(describeAccess(needing(anyOf('A')), () => ['USER'])).toBe('any token');
  });

  it('[3.4] as data: a list of names for each requirement, with the roles that include them', () => {
    const access = needing(anyOf('A', 'B or C'), anyOf('USER', 'D'), OWNER, anyOf('E'));
    const requirements = [['A', '"B or C"', 'BOSS'], ['policy owner'], ['E']];
    expect(describeRequirements(access, (role) => (role === 'A' ? ['BOSS'] : []))).toEqual(requirements);
    expect([PUBLIC, AUTHENTICATED, DENIED].map((each) => describeRequirements(each, () => []))).toEqual([[], [], []]);
  });
});

describe('policies', () => {
  it('[3.2] are known without calling them', () => {
    expect([needing(), needing(anyOf('A')), needing(anyOf('A'), OWNER)].map(hasPolicy)).toEqual([false, false, true]);
  });

  const principal = { id: 7, email: 'ann@example.com', roles: ['USER'] };
  const request = { method: 'GET', headers: {} };
  const refusedBy = (name: string): Refusal => ({ reason: 'forbidden', missing: [name], byPolicy: true });
  const ask = (...requirements: Requirement[]) => checkPolicies(requirements, [principal], request, () => undefined);
  const answering = (name: string, answer: unknown): Requirement => ({
    policy: policyOf(name, () => answer as boolean),
  });

  it.each<[what: string, answer: unknown]>([
    ['true', true],
    ['a promise of true', Promise.resolve(true)],
  ])('[3.2] %s gives access', async (_, answer) => {
    expect(await ask(answering('owner', answer))).toBeUndefined();
  });

  it.each<[what: string, answer: unknown]>([
    ['false', false],
    ['undefined', undefined],
    ['the number 1', 1],
    ['the text "true"', 'true'],
    ['an object', {}],
    ['a promise of 1', Promise.resolve(1)],
  ])('[3.2] %s refuses', async (_, answer) => {
    expect(await ask(answering('owner', answer))).toEqual(refusedBy('owner'));
  });

  it('[3.2] an exception and a rejection refuse', async () => {
    const thrown = policyOf('owner', () => {
      throw new Error('down');
    });
    const rejected = policyOf('team', async () => {
      throw new Error('down');
    });
    expect(await ask({ policy: thrown })).toEqual(refusedBy('owner'));
    expect(await ask({ policy: rejected })).toEqual(refusedBy('team'));
  });

  it('[3.2] one may ask for another login, and the error of another is told', async () => {
    const exception = new AuthenticationRequired(true);
    const asking = policyOf('factor', () => {
      throw exception;
    });
    const failing = policyOf('owner', () => {
      throw new Error('down');
    });
    const told: unknown[] = [];
    const check = (policy: typeof asking) =>
      checkPolicies([{ policy }], [principal], request, (name, error) => told.push([name, (error as Error).message]));
    expect(await check(asking)).toEqual({ reason: 'unauthenticated', exception });
    expect([await check(failing), told]).toEqual([refusedBy('owner'), [['owner', 'down']]]);
  });

  it('[3.2] policies are checked in turn, and the first that refuses is named', async () => {
    expect(await ask()).toBeUndefined();
    expect(await ask(anyOf('A'))).toBeUndefined();
    expect(await ask(anyOf('A'), answering('one', true), answering('two', false), answering('three', false))).toEqual(
      refusedBy('two'),
    );
  });

  it.each<[what: string, principals: (typeof principal | undefined)[], called: unknown[]]>([
    ['no user', [undefined], []],
    ['one of two users unknown', [principal, undefined], [principal]],
  ])('[3.2] a policy that allows everybody refuses a request with %s', async (_, principals, called) => {
    const seen: unknown[] = [];
    const open: Requirement = { policy: policyOf('open', (user) => seen.push(user) > 0) };
    expect(await checkPolicies([open], principals, request, () => undefined)).toEqual(refusedBy('open'));
    expect(seen).toEqual(called);
  });

  it('[3.2] a policy receives the principal and the request', async () => {
    const seen: unknown[] = [];
    await ask({ policy: policyOf('owner', (...args) => seen.push(...args) > 0) });
    expect(seen).toEqual([principal, request]);
  });
});

it('[3.3] a decision is described by its rule, or as the default', () => {
  const rules = [rule('/a/**', roles('A')), rule('/a', roles('B'))];
  expect(describeDecision(needing(), undefined)).toBe('default');
  expect(describeDecision({ ...needing(), rules }, { reason: 'forbidden', missing: ['A'] })).toContain('/a/**');
});
