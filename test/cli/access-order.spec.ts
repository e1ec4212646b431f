import { isWithin } from '../../lib/cli/access-order.js';
import { type Access, AUTHENTICATED, decide, DENIED, describeAccess, PUBLIC } from '../../lib/access/access.js';
import { seeded } from '../access/random.js';

// From the widest to the narrowest: each lets in all whom the next one does, and not the other way round.
const CHAINS = [
  ['public', 'any token', 'ADMIN or EDITOR', 'ADMIN', 'ADMIN, and EDITOR', 'nobody'],
  ['public', 'any token', 'policy owner', 'policy owner, and ADMIN', 'nobody'],
  ['any token', 'A or B or C', 'A or C', 'A or C, and B or D', 'A, and B or D', 'A, and D', 'A, and D, and policy x'],
  ['any token', '"A or B"', '"A or B", and "C, and D"'],
  // A role of that name is a role.
  ['public', 'any token', '"public"', 'nobody'],
  ['public', 'any token', '"nobody"', 'nobody'],
];

const inChains = CHAINS.flatMap((chain) =>
  chain.flatMap((outer, index) => chain.slice(index + 1).map((inner) => [inner, outer] as const)),
);

it.each(inChains)('[3.2] `%s` is narrower than `%s`', (inner, outer) => {
  expect([isWithin(inner, outer), isWithin(outer, inner)]).toEqual([true, false]);
});

it.each([
  // Written in another order, they are the same.
  ['ADMIN or EDITOR', 'EDITOR or ADMIN'],
  ['ADMIN, and EDITOR', 'EDITOR, and ADMIN'],
  // Any token has the base role.
  ['USER', 'any token'],
  ['ADMIN or USER', 'any token'],
  ['ADMIN, and USER', 'ADMIN'],
])('[3.2] `%s` and `%s` let in the same', (a, b) => {
  expect([isWithin(a, b), isWithin(b, a)]).toEqual([true, true]);
});

it.each([
  // Somebody new gets in, so that neither is within the other.
  ['ADMIN', 'EDITOR'],
  ['ADMIN or EDITOR', 'EDITOR or OWNER'],
  ['ADMIN', 'policy owner'],
  ['policy owner', 'policy editor'],
  ['ADMIN, and A', 'ADMIN, and B'],
  // A name in quotes is a role of that name, whatever it reads like.
  ['"A or B"', 'A or B'],
  ['ADMIN', '"X or ADMIN or Y"'],
  ['"X, and ADMIN, and Y"', 'ADMIN'],
  ['"A, and B"', 'A, and B'],
  ['"say \\"A or B\\""', 'A or B'],
])('[3.2] neither of `%s` and `%s` is narrower', (a, b) => {
  expect([isWithin(a, b), isWithin(b, a)]).toEqual([false, false]);
});

// The texts are those that the report writes, and the order is the one of the decisions: tried for every set of roles.
it('[3.2] agrees with the decisions, for 5,000 random pairs', () => {
  const ROLES = ['A', 'B', 'C', 'public'];
  const { below, of: pick } = seeded(1);
  const random = (): Access => {
    if (below(5) === 0) return pick([PUBLIC, AUTHENTICATED, DENIED]);
    const clause = () => ({ anyOf: [...new Set(Array.from({ length: 1 + below(2) }, () => pick(ROLES)))] });
    return { ...AUTHENTICATED, requirements: Array.from({ length: 1 + below(2) }, clause) };
  };
  const principals = [undefined, ...subsets(ROLES)];
  const counted = { within: 0, not: 0 };
  for (let round = 0; round < 5_000; round += 1) {
    const [inner, outer] = [random(), random()];
    const expected = principals.every(
      (roles) => decide(inner, roles) !== undefined || decide(outer, roles) === undefined,
    );
    const texts = [inner, outer].map((access) => describeAccess(access, () => []));
    expect([texts, isWithin(texts[0]!, texts[1]!)]).toEqual([texts, expected]);
    counted[expected ? 'within' : 'not'] += 1;
  }
  expect(Math.min(counted.within, counted.not)).toBeGreaterThan(500);
});

function subsets<T>(values: readonly T[]): T[][] {
  return values.reduce<T[][]>((sets, value) => [...sets, ...sets.map((set) => [...set, value])], [[]]);
}
