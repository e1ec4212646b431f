/** A law: where conditions are within others, every row that meets them meets the others. */
import type { Field } from '../../../../lib/entities/entity-schema.js';
import type { Condition } from '../../../../lib/crud/sql/condition.js';
import { and, compare, or } from '../../../../lib/crud/sql/condition.js';
import { describeRows, isWithin, rowsMeeting } from '../../../../lib/reach/rows.js';
import { seeded } from '../../../access/random.js';

const PAIRS = Number(process.env['ROW_PAIRS'] ?? 30_000);
const SEED = Number(process.env['ROW_SEED'] ?? 1);

type Value = number | null;
interface Row {
  readonly a: Value;
  readonly b: Value;
  readonly ward: Row | undefined;
}

const VALUES: readonly Value[] = [null, 0, 1, 2, 3];
const FLAT: readonly Row[] = VALUES.flatMap((a) => VALUES.map((b) => ({ a, b, ward: undefined })));
const ROWS: readonly Row[] = FLAT.flatMap((row) => [row, { ...row, ward: FLAT[7] }, { ...row, ward: FLAT[18] }]);

const fieldOf = (name: 'a' | 'b'): Field => ({ name, column: {}, type: { comparison: 'number' } }) as never;
const FIELDS = [fieldOf('a'), fieldOf('b')];
const relation = { propertyPath: 'ward', isManyToOne: true, isOneToOne: false } as never;

/** As SQL does it: NULL is neither equal nor unequal, and `ne` and `nin` count NULL as another value. */
const HOLDS: Readonly<Record<string, (value: Value, ...given: number[]) => boolean>> = {
  eq: (value, given) => value === given,
  ne: (value, given) => value !== given,
  gt: (value, given) => value !== null && value > (given as number),
  gte: (value, given) => value !== null && value >= (given as number),
  lt: (value, given) => value !== null && value < (given as number),
  lte: (value, given) => value !== null && value <= (given as number),
  between: (value, low, high) => value !== null && value >= (low as number) && value <= (high as number),
  in: (value, ...all) => value !== null && all.includes(value),
  nin: (value, ...all) => value === null || !all.includes(value),
  isNull: (value) => value === null,
  isNotNull: (value) => value !== null,
};

function meets(where: Condition, row: Row): boolean {
  if (where.kind === 'and') return where.parts.every((part) => meets(part, row));
  if (where.kind === 'or') return where.parts.some((part) => meets(part, row));
  if (where.kind === 'unless') return !meets(where.part, row);
  if (where.kind === 'related') return row.ward !== undefined && meets(where.part, row.ward);
  if (where.kind !== 'compare') throw new Error(where.kind);
  return HOLDS[where.operator.name]!(row[where.field.name as 'a'], ...(where.values as number[]));
}

const { below, of: pick } = seeded(SEED);
const ONE = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const;

function randomComparison(): Condition {
  const [field, value] = [pick(FIELDS), below(4)];
  const kind = below(10);
  if (kind < 6) return compare(field, pick([...ONE]), value);
  if (kind === 6) return compare(field, 'between', value, value + below(3));
  if (kind === 7) return compare(field, pick(['in', 'nin']), value, below(4));
  return compare(field, pick(['isNull', 'isNotNull']));
}

function randomCondition(depth: number): Condition {
  const kind = depth === 0 ? 0 : below(7);
  const part = (): Condition => randomCondition(depth - 1);
  if (kind < 2) return randomComparison();
  if (kind === 2) return and(part(), part());
  if (kind === 3) return or(part(), part());
  if (kind === 4) return { kind: 'unless', part: part() };
  if (kind === 5) {
    const parts = [randomComparison(), randomComparison()] as const;
    return { kind: 'related', relation, part: pick([or(...parts), and(...parts), parts[0]]) };
  }
  return and(part(), part(), part());
}

it(`holds for ${PAIRS} random pairs`, () => {
  const counted = { within: 0, missed: 0 };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const inner = randomCondition(below(3));
    // Two of three are like the first one, with one more or one other part.
    const outer =
      below(3) === 0
        ? randomCondition(below(3))
        : pick([or(inner, randomComparison()), and(inner, randomComparison()), randomCondition(1)]);
    const [a, b] = [inner, outer].map((each) => rowsMeeting(each, () => undefined));
    const counter = ROWS.find((row) => meets(inner, row) && !meets(outer, row));
    const isSaid = isWithin(a!, b!);
    if (isSaid && counter) throw new Error(`Seed ${SEED}: ${JSON.stringify({ a, b, counter })}`);
    if (isSaid) counted.within += 1;
    else if (!counter) counted.missed += 1;
  }
  expect(counted.within).toBeGreaterThan(PAIRS / 5);
  // Conservative: contradictions, and alternatives that cover a condition only together, are not seen.
  expect(counted.missed).toBeLessThan(PAIRS / 4);
});

it.each<[string, Condition, string]>([
  [
    'none of several related records',
    { kind: 'unless', part: wardWith('or') },
    'not (ward (a = 1)) and not (ward (b = 2))',
  ],
  ['no related record with both', { kind: 'unless', part: wardWith('and') }, 'not (ward (a = 1 and b = 2))'],
  ['a related record with both', wardWith('and'), 'ward (a = 1) and ward (b = 2)'],
  ['none of several values', { kind: 'unless', part: compare(fieldOf('a'), 'in', 1, 2) }, 'a != 1 and a != 2'],
  ['what is not outside', { kind: 'unless', part: { kind: 'unless', part: compare(fieldOf('a'), 'lt', 1) } }, 'a < 1'],
])('says %s', (_name, condition, expected) => {
  expect(describeRows(rowsMeeting(condition, () => undefined))).toBe(expected);
});

function wardWith(kind: 'or' | 'and'): Condition {
  const parts = [compare(fieldOf('a'), 'eq', 1), compare(fieldOf('b'), 'eq', 2)] as const;
  return { kind: 'related', relation, part: kind === 'or' ? or(...parts) : and(...parts) };
}

it.each([
  ['name < "b"', 'name < "c"', false],
  ['name = "b"', 'name != "c"', false],
  ['at > :now', 'at > :now - 7 d', true],
  ['at > :now - 30 d', 'at > :now - 7 d', false],
  ['at > :now + 90 min', 'at > :now + 1 h', true],
  ['at > :today', 'at > :now', false],
  ['at > 2026-03-01T00:00:00.000Z', 'at > 2026-02-01T00:00:00.000Z', true],
  ['code < 5 as stored', 'code < 6 as stored', false],
  ['ward (id = 1)', 'ward (all)', true],
  ['ward (id = 1)', 'unit (id = 1)', false],
  ['not (dose < 5)', 'not (dose < 3)', true],
  ['not (dose < 3)', 'not (dose < 5)', false],
  ['code: a#1', 'code: a#2', false],
])('says that %s is within %s: %s', (inner, outer, expected) => {
  expect(isWithin([[inner]], [[outer]])).toBe(expected);
});
