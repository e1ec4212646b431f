/** Times of a scope by their distance from the present. */
import { setTimeout } from 'node:timers/promises';
import { MoreThan, Raw } from 'typeorm';
import { compileTimeNames, type Evaluation } from '../../../../lib/reach/present-time.js';
import { describeRows } from '../../../../lib/reach/rows.js';
import { changesOf, clinic } from './clinic.js';

const DAY = 86_400_000;
const midnight = (days = 0): Date => {
  const date = new Date();
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() + days);
  return date;
};

const rowsOf = async (scope: () => unknown): Promise<string> => {
  const { resources } = await clinic({ options: { Appointment: { scope } } });
  const { rows } = resources.find(({ entity }) => entity === 'Appointment')!;
  return describeRows(rows['GET /api/appointments']!['USER']!);
};

const FIXED = new Date('2026-11-01T00:00:00.000Z');
const SOON = new Date(Date.now() + 5);
let calls = 0;

it.each<[name: string, scope: () => unknown, rows: string]>([
  ['the present', () => ({ at: MoreThan(new Date()) }), 'at > :now'],
  ['a week ago', () => ({ at: MoreThan(new Date(Date.now() - 7 * DAY)) }), 'at > :now - 7 d'],
  ['in 90 minutes', () => ({ at: MoreThan(new Date(Date.now() + 5_400_000)) }), 'at > :now + 90 min'],
  ['a time in between', () => ({ at: MoreThan(new Date(Date.now() - 1_234)) }), 'at > :now - 1 s'],
  ['today', () => ({ at: MoreThan(midnight()) }), 'at > :today'],
  [
    'the day a week ago',
    () => ({ at: MoreThan(new Date(new Date().setHours(0, 0, 0, 0) - 7 * DAY)) }),
    'at > :today - 7 d',
  ],
  ['a fixed day', () => ({ at: MoreThan(new Date('2026-11-01')) }), 'at > 2026-11-01T00:00:00.000Z'],
  [
    'a fixed day beside the present',
    () => ({ at: MoreThan(new Date('2026-11-01')), id: Number(new Date() > FIXED) }),
    'at > 2026-11-01T00:00:00.000Z and id = 1',
  ],
  ['a fixed day of another file', () => ({ at: MoreThan(FIXED) }), 'at > 2026-11-01T00:00:00.000Z'],
  ['a fixed time near the present', () => ({ at: MoreThan(SOON) }), `at > ${SOON.toISOString()}`],
  ['milliseconds', () => ({ doctorId: MoreThan(Date.now() - DAY) }), 'doctorId > :now - 1 d'],
  ['seconds', () => ({ doctorId: MoreThan(Math.floor(Date.now() / 1_000)) }), 'doctorId > :now'],
  [
    'an ISO text',
    () => ({ at: Raw((at) => `${at} > :since`, { since: new Date().toISOString() }) }),
    'at > :since {"since":":now"}',
  ],
  [
    'a date in SQL',
    () => ({ at: Raw((at) => `${at} > :since`, { since: new Date() }) }),
    'at > :since {"since":":now"}',
  ],
  ['an id that looks like seconds', () => ({ doctorId: 1_700_000_000 }), 'doctorId = 1700000000'],
])('names %s', async (_name, scope, rows) => {
  expect(await rowsOf(scope)).toBe(rows);
});

it.each<[hour: number, name: string]>([
  [10, ':now by h'],
  [0, ':today'], // the first hour of a day is the day as well
])('names the hour that has begun at %i:30', (hour, name) => {
  const [now, begun] = [new Date(2026, 10, 30, hour, 30).getTime(), new Date(2026, 10, 30, hour)];
  const evaluation: Evaluation = { from: now, to: now, values: [begun] };
  expect(compileTimeNames(evaluation, evaluation, 'new Date(new Date().setMinutes(0))')(evaluation)(begun)).toBe(name);
});

it('is code where a value moves in another way than the clock', async () => {
  expect(await rowsOf(() => ({ at: MoreThan(new Date(Date.now() + (calls += 1) * DAY)) }))).toMatch(
    /^code: scope of Appointment#/,
  );
});

it('finds an application with times the same at the next check', async () => {
  const before = await clinic();
  await setTimeout(20);
  expect(changesOf(before, await clinic())).toEqual([]);
});

it('names the same distance for any duration of an evaluation', () => {
  const started = Date.parse('2026-11-29T10:00:00.123Z');
  const evaluation = (from: number, lasts: number, read: number): Evaluation => ({
    from: started + from,
    to: started + from + lasts,
    values: [new Date(started + from + read - 3 * DAY)],
  });
  for (const [lasts, read] of [
    [0, 0],
    [1, 0],
    [40, 40],
    [400, 200],
  ] as const) {
    const [first, second] = [evaluation(0, lasts, read), evaluation(lasts + 3, lasts, read)];
    const nameOf = compileTimeNames(first, second, '');
    expect([nameOf(first)(first.values[0]), nameOf(second)(second.values[0])]).toEqual([':now - 3 d', ':now - 3 d']);
  }
});
