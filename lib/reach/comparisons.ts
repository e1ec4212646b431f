/** Comparisons of a field with a value, as texts such as `dose < 5`, and which of them imply others. */

type Value = number | boolean;

/** Times by their distance from the present only: `:now - 7 d`. */
interface Comparison {
  readonly field: string;
  readonly sign: string;
  readonly value: Value;
  readonly scale: string;
}

const TIME = /^:(now|today)(?: ([+-]) (\d+) (d|h|min|s))?$/;
const SECONDS: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, min: 60, s: 1 };
const DATE = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function valueOf(text: string): Pick<Comparison, 'value' | 'scale'> | undefined {
  if (/^(true|false)$/.test(text)) return { value: text === 'true', scale: 'boolean' };
  if (/^-?\d+(\.\d+)?$/.test(text)) return { value: Number(text), scale: 'number' };
  if (DATE.test(text)) return { value: Date.parse(text), scale: 'date' };
  const [, name = '', sign, count = '0', unit = ''] = TIME.exec(text) ?? [];
  return name === ''
    ? undefined
    : { value: (sign === '-' ? -1 : 1) * Number(count) * (SECONDS[unit] ?? 0), scale: name };
}

/** `undefined` for a text whose value has no known order, such as `name < "b"`: it depends on the collation. */
function readComparison(text: string): Comparison | undefined {
  const [, field = '', sign = '', value = ''] = /^(\S+) (=|!=|<|<=|>|>=) (\S+(?: [+-] \d+ \w+)?)$/.exec(text) ?? [];
  const known = valueOf(value);
  return known && { field, sign, ...known };
}

const HOLDS: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** By the sign of the first one: the signs that follow, and how the values must relate. */
const FOLLOWS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '<': { '<': '<=', '<=': '<=', '!=': '<=' },
  '<=': { '<': '<', '<=': '<=', '!=': '<' },
  '>': { '>': '>=', '>=': '>=', '!=': '>=' },
  '>=': { '>': '>', '>=': '>=', '!=': '>' },
};

/** `ward (id = 1)`, and `not (dose < 5)`, which is true for NULL too. */
const NESTED = /^(\S+) \((.+)\)$/;

/** Whether every record that meets the first condition surely meets the second one. */
export function implies(text: string, other: string): boolean {
  if (text === other) return true;
  const [[, name, inner = ''], [, otherName, otherInner = '']] = [NESTED.exec(text) ?? [], NESTED.exec(other) ?? []];
  if (name !== undefined && name === otherName)
    return name === 'not' ? implies(otherInner, inner) : otherInner === 'all' || implies(inner, otherInner);
  const [field = '', sign] = text.split(' ');
  if (other === `${field} is not null`) return sign !== undefined && '= < <= > >='.split(' ').includes(sign);
  const [a, b] = [readComparison(text), readComparison(other)];
  if (text === `${b?.field} is null`) return b?.sign === '!=';
  if (!a || !b || a.field !== b.field || a.scale !== b.scale) return false;
  const needed = a.sign === '=' ? b.sign : FOLLOWS[a.sign]?.[b.sign];
  return needed !== undefined && (HOLDS[needed]?.(a.value, b.value) ?? false);
}
