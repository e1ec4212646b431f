/** Names times by their distance from the present, so that a scope with the time has the same rows at each check. */

/** When an expression was evaluated, in milliseconds, and the values of its result. */
export interface Evaluation {
  readonly from: number;
  readonly to: number;
  readonly values: readonly unknown[];
}

const DAY = 86_400_000;
const UNITS = Object.entries({ d: DAY, h: 3_600_000, min: 60_000, s: 1_000 });
const ISO = /^\d{4}-\d\d-\d\d([T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/;

/** Reads a `Date`, an ISO 8601 text, or a number of milliseconds or seconds since 1970. */
export function timeOf(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime();
  if (typeof value === 'string' && ISO.test(value)) return Date.parse(value);
  const number = /^\d{10,13}$/.test(String(value)) ? Number(value) : 0;
  return number > 1e12 ? number : number > 1e9 ? number * 1_000 : undefined;
}

/**
 * @param first and the same expression a few milliseconds later: what has moved with the clock depends on the time
 * @param source of the code: where it reads the clock, and does not write a year, a day or hour that has begun counts too
 * @returns names such as `:now - 7 d` for values of one of the evaluations, and `:today` for its beginning
 */
export function compileTimeNames(first: Evaluation, second: Evaluation, source: string) {
  const offsets = first.values.flatMap((value, index) => {
    const [a, b] = [timeOf(value), timeOf(second.values[index])];
    if (a === undefined || b === undefined || a === b) return [];
    const [low, high] = [Math.max(a - first.to, b - second.to), Math.min(a - first.from, b - second.from)];
    return low <= high ? [{ low, high, name: nameOf('now', roundest(low, high)) }] : [];
  });
  return ({ from, to }: Pick<Evaluation, 'from' | 'to'>) =>
    (value: unknown): string | undefined => {
      const time = timeOf(value);
      if (time === undefined) return undefined;
      const moved = offsets.find(({ low, high }) => time - to <= high && low <= time - from);
      return moved?.name ?? truncated(time, from, source, value);
    };
}

/** The one of the distances that people write: of whole days, hours, minutes or seconds. */
function roundest(low: number, high: number): number {
  const multiples = UNITS.map(([, unit]) => Math.floor(high / unit) * unit);
  // Half seconds are more frequent than others.
  return multiples.find((each) => each >= low) ?? Math.floor(high / 1_000 + 0.63) * 1_000;
}

function nameOf(name: string, distance: number): string {
  const [unit, length] = UNITS.find((each) => distance % each[1] === 0) ?? ['ms', 1];
  return distance === 0 ? `:${name}` : `:${name} ${distance < 0 ? '-' : '+'} ${Math.abs(distance) / length} ${unit}`;
}

/** The beginning of the day in this time zone or in UTC, or of the hour, minute or second. */
function truncated(time: number, now: number, source: string, value: unknown): string | undefined {
  const date = new Date(time);
  if ([date.getFullYear(), date.getUTCFullYear()].some((year) => source.includes(String(year)))) return undefined;
  const readsClock = /\bnew Date(\(\)|(?!\())|\bDate\.now\b/.test(source);
  const isLocal = time % 1_000 === 0 && date.toTimeString().startsWith('00:00:00');
  if (isLocal || time % DAY === 0) {
    const today = isLocal ? new Date(now).setHours(0, 0, 0, 0) : now - (now % DAY);
    const days = Math.round((time - today) / DAY);
    return days === 0 || readsClock ? nameOf('today', days * DAY) : undefined;
  }
  const [name, unit] = UNITS.find((each) => time % each[1] === 0) ?? [];
  if (unit === undefined || !readsClock) return undefined;
  const distance = time - (now - (now % unit));
  if (value instanceof Date) return nameOf(`now by ${name}`, distance);
  return Math.abs(distance) <= 1_000 ? ':now' : undefined;
}
