import {
  asEnforced,
  assertNotOpened,
  AUTHENTICATED as ANY_TOKEN,
  broadestFirst,
  decidingRule,
  DENIED as NOBODY,
  describeRule,
  fold,
  refuseContradictions,
  restricts,
  type Access,
  type Effect,
  type Refusal,
  type Rule,
} from '../../../lib/access/decide.js';
import { AUTHENTICATED, DENIED, policy, PUBLIC, refusalOf, roles, rule } from './declared.js';

describe('effects of rules', () => {
  it.each<[effect: Effect, restricts: boolean]>([
    [PUBLIC, false],
    [AUTHENTICATED, true],
    [roles('A'), true],
    [policy('owner'), true],
    [DENIED, true],
  ])('[3.2] %j restricts: %s', (effect, closes) => {
    expect(restricts(rule('/a', effect))).toBe(closes);
  });
});

describe('enforcedRoles', () => {
  it.each<[effect: Effect, enforced: readonly string[] | undefined, is: boolean]>([
    [roles('A'), undefined, true],
    [roles('A'), ['A'], true],
    [roles('B', 'A'), ['A'], true],
    [roles('B'), ['A'], false],
    [roles('B'), [], false],
    [AUTHENTICATED, [], true],
    [policy('owner'), [], true],
    [DENIED, [], true],
    [PUBLIC, [], true],
  ])('[3.2] %j under %j is enforced: %s', (effect, enforced, is) => {
    const written = rule('/a', effect);
    expect(asEnforced(written, enforced)).toEqual(
      is ? written : { ...written, effect: AUTHENTICATED, written: effect },
    );
  });

  it('[3.3] a role that is not enforced is still not opened by @Public()', () => {
    const reduced = asEnforced(rule('/a', roles('B')), ['A']);
    expect(refusalOf(() => assertNotOpened(rule('/a', PUBLIC), [reduced], 'GET /a'))).toContain(
      'Shop.roles("B", "/a")',
    );
  });
});

describe('what @Public() may not open', () => {
  it.each<[effects: Effect[], opened: Effect, refused: boolean]>([
    [[], PUBLIC, false],
    [[AUTHENTICATED, PUBLIC], PUBLIC, false],
    [[roles('A')], PUBLIC, true],
    [[DENIED, PUBLIC], PUBLIC, true],
    [[policy('owner')], PUBLIC, true],
    [[roles('A')], roles('B'), false],
  ])('[3.3] of broader %j, %j is refused: %s', (effects, opened, refused) => {
    const [narrow, ...broader] = [opened, ...effects].map((effect) => rule('/a', effect)) as [Rule, ...Rule[]];
    const sentence = refusalOf(() => assertNotOpened(narrow, broader, 'GET /a'));
    if (refused)
      expect(sentence).toMatch(
        /^The route of Shop\.public must be without a broader rule that requires a role or a policy, or denies everyone, got GET \/a, restricted by Shop\.\w+\(.+\)\. Remove one of the two\.$/,
      );
    else expect(sentence).toBe('accepted');
  });
});

it('[3.2] the deciding one of two policies is the one that refuses', () => {
  const by = [rule('/a', policy('owner')), rule('/a', policy('hours'))];
  const access: Access = { kind: 'authenticated', requirements: [], rules: by };
  const decided = (name: string) => decidingRule(access, { reason: 'forbidden', missing: [name], byPolicy: true });
  expect(['owner', 'hours', 'ownerhours', 'other'].map(decided)).toEqual([by[0], by[1], undefined, undefined]);
});

describe('combining rules from broad to narrow', () => {
  const owner = policy('owner');
  const asked = (effects: Effect[], start: Access = ANY_TOKEN) =>
    fold(
      start,
      effects.map((effect) => rule('/a', effect)),
    );
  const words = ({ kind, requirements }: Access): string =>
    [kind, ...requirements.map((each) => ('anyOf' in each ? each.anyOf.join('|') : `policy ${each.policy.name}`))].join(
      ' ',
    );

  it.each<[effects: Effect[], access: string]>([
    [[PUBLIC], 'public'],
    [[AUTHENTICATED], 'authenticated'],
    [[DENIED], 'denied'],
    [[roles('A')], 'authenticated A'],
    [[owner], 'authenticated policy owner'],
    [[roles('A', 'B'), roles('C')], 'authenticated A|B C'],
    [[roles('A'), roles('A')], 'authenticated A'],
    [[roles('A'), roles('A', 'B')], 'authenticated A A|B'],
    [[roles('AB'), roles('A', 'B')], 'authenticated AB A|B'],
    [[owner, owner], 'authenticated policy owner'],
    [[owner, policy('owner')], 'authenticated policy owner policy owner'],
    [[roles('A'), AUTHENTICATED, owner], 'authenticated A policy owner'],
    [[roles('A'), PUBLIC], 'public'],
    [[PUBLIC, roles('A')], 'authenticated A'],
    [[roles('A'), PUBLIC, roles('B')], 'authenticated B'],
    [[PUBLIC, roles('A'), PUBLIC, AUTHENTICATED], 'authenticated'],
    [[DENIED, PUBLIC], 'public'],
    [[DENIED, PUBLIC, AUTHENTICATED], 'authenticated'],
    [[DENIED, roles('A')], 'denied'],
    [[roles('A'), DENIED], 'denied'],
    [[DENIED, AUTHENTICATED], 'denied'],
  ])('[3.3] %j are combined into %s', (effects, access) => {
    expect(words(asked(effects))).toBe(access);
    expect(words(asked(effects, NOBODY))).toBe(access);
  });

  it('[3.4] without rules the default decides', () => {
    expect(asked([], NOBODY)).toBe(NOBODY);
  });

  it('[3.3] an access lists its rules', () => {
    const rules = [rule('/**', PUBLIC), rule('/a', roles('A'))];
    expect(fold(ANY_TOKEN, rules).rules).toEqual(rules);
  });
});

describe('the deciding rule', () => {
  const RULES = [
    rule('/**', AUTHENTICATED),
    rule('/a/**', roles('A')),
    rule('/a/b/**', roles('B', 'C')),
    rule('/a/b/*', policy('owner')),
    rule('/a/b/c/**', roles('A')),
    rule('/a/b/c', AUTHENTICATED),
  ];
  const forbidden = (...missing: string[]): Refusal => ({ reason: 'forbidden', missing });
  const refusedBy = (policyName: string): Refusal => ({ reason: 'forbidden', missing: [policyName], byPolicy: true });

  it.each<[what: string, refusal: Refusal | undefined, index: number]>([
    ['the last where access is given', undefined, 5],
    ['the last where there is no token', { reason: 'unauthenticated' }, 5],
    ['the narrowest that requires the missing role', forbidden('A'), 4],
    ['the one that requires any of the missing roles', forbidden('B', 'C'), 2],
    ['the policy that refused', refusedBy('owner'), 3],
  ])('[3.3] is %s', (_, refusal, index) => {
    expect(decidingRule(fold(ANY_TOKEN, RULES), refusal)).toBe(RULES[index]);
  });

  it('[3.3] is the narrowest rule that denies', () => {
    const rules = [rule('/**', DENIED), rule('/a', DENIED), rule('/a', policy('owner')), rule('/a', roles('A'))];
    expect(decidingRule(fold(ANY_TOKEN, rules), { reason: 'forbidden' })).toBe(rules[1]);
    expect(decidingRule(fold(ANY_TOKEN, rules), forbidden('B'))).toBeUndefined();
  });

  it('[3.3] is the rule that denies, also where a narrower one requires a token', () => {
    const rules = [rule('/**', DENIED), rule('/a', AUTHENTICATED)];
    expect(decidingRule(fold(ANY_TOKEN, rules), { reason: 'forbidden' })).toBe(rules[0]);
  });

  it('[3.3] distinguishes several roles from a policy of a similar name', () => {
    const rules = [rule('/**', roles('B', 'C')), rule('/a', policy('BC'))];
    expect(decidingRule(fold(ANY_TOKEN, rules), forbidden('B', 'C'))).toBe(rules[0]);
  });

  it('[3.3] distinguishes a role from a policy of the same name', () => {
    const rules = [rule('/**', roles('owner')), rule('/a', policy('owner'))];
    expect(decidingRule(fold(ANY_TOKEN, rules), forbidden('owner'))).toBe(rules[0]);
    expect(decidingRule(fold(ANY_TOKEN, rules), refusedBy('owner'))).toBe(rules[1]);
    const turned = [rule('/**', policy('owner')), rule('/a', roles('owner'))];
    expect(decidingRule(fold(ANY_TOKEN, turned), forbidden('owner'))).toBe(turned[1]);
    expect(decidingRule(fold(ANY_TOKEN, turned), refusedBy('owner'))).toBe(turned[0]);
  });

  it('[3.3] is undefined for a role that no rule requires', () => {
    const rules = [rule('/a', DENIED)];
    expect(decidingRule(fold(ANY_TOKEN, rules), forbidden('A'))).toBeUndefined();
  });

  it('[3.4] is undefined where the default decides', () => {
    expect(decidingRule(ANY_TOKEN, undefined)).toBeUndefined();
    expect(decidingRule(NOBODY, { reason: 'forbidden' })).toBeUndefined();
  });
});

describe('the order of rules', () => {
  it('[3.3] is by breadth, then by role', () => {
    const ordered = [
      rule('/**', roles('Z')),
      rule('/a', AUTHENTICATED),
      rule('/a', roles('A', 'B')),
      rule('/a', roles('B')),
    ];
    expect(ordered.toReversed().toSorted(broadestFirst)).toEqual(ordered);
    expect([ordered[2], ordered[0], ordered[3], ordered[1]].map((each) => each!).toSorted(broadestFirst)).toEqual(
      ordered,
    );
  });

  it('[3.3] joins the roles of one rule by a comma', () => {
    const ordered = [rule('/a', roles('A', 'C')), rule('/a', roles('AB'))];
    expect(ordered.toReversed().toSorted(broadestFirst)).toEqual(ordered);
  });

  it('[3.3] is equal for rules without a role', () => {
    expect(broadestFirst(rule('/a', AUTHENTICATED), rule('/a', DENIED))).toBe(0);
  });
});

describe('contradictions', () => {
  const check = (...rules: Rule[]): string => refusalOf(() => refuseContradictions(rules));

  it('[3.3] the same pattern public and restricted is refused with both declarations', () => {
    expect(check(rule('/a/*', PUBLIC, 'Shop.publicEndpoints'), rule('/A/*', roles('A'), 'Shop.requireRole'))).toBe(
      'The pattern of Shop.requireRole("/A/*") must be either public or restricted, got both, because of ' +
        'Shop.publicEndpoints("/a/*"). Remove one of the two rules.',
    );
  });

  it.each<[what: string, rules: Rule[]]>([
    ['restricted, then public', [rule('/a', DENIED), rule('/a', PUBLIC)]],
    ['for one method of several', [rule('GET,POST /a', PUBLIC), rule('PUT,POST /a', AUTHENTICATED)]],
    ['with others between', [rule('/a', PUBLIC), rule('/b', DENIED), rule('/a', PUBLIC), rule('/a', DENIED)]],
  ])('[3.3] %s is refused', (_, rules) => {
    expect(check(...rules)).toContain('got both, because of');
  });

  it.each<[what: string, rules: Rule[]]>([
    ['nothing', []],
    ['the same twice', [rule('/a', PUBLIC), rule('/a', PUBLIC)]],
    ['two restrictions', [rule('/a', roles('A')), rule('/a', DENIED)]],
    ['other levels', [rule('/a', PUBLIC), rule('/b', DENIED)]],
    ['another tail', [rule('/a', PUBLIC), rule('/a/*', DENIED), rule('/a/b/**', PUBLIC)]],
    ['other methods', [rule('GET /a', PUBLIC), rule('POST /a', DENIED)]],
    ['a method beside every method', [rule('GET /a', PUBLIC), rule('/a', DENIED)]],
  ])('[3.3] %s is no contradiction', (_, rules) => {
    expect(check(...rules)).toBe('accepted');
  });
});

describe('the description of a rule', () => {
  const ofList = rule('/a', roles('A'), '@Roles on Shop.list');
  it.each<[rule: Rule, words: string]>([
    [rule('GET /a/**', PUBLIC, 'Shop.publicEndpoints'), 'Shop.publicEndpoints("GET /a/**")'],
    [rule('/a', roles('A', 'B'), 'Shop.requireRole'), 'Shop.requireRole("A", "B", "/a")'],
    [rule('/a', policy('owner'), 'Shop.requirePolicy'), 'Shop.requirePolicy("owner", "/a")'],
    [rule('/a', DENIED, 'Shop.denyAll'), 'Shop.denyAll("/a")'],
    [{ ...ofList, pattern: { ...ofList.pattern, text: '' } }, '@Roles on Shop.list'],
    [rule('/a', PUBLIC, 'Shop@home'), 'Shop@home("/a")'],
  ])('[3.4] %j is %s', (declared, words) => {
    expect(describeRule(declared)).toBe(words);
  });
});
