/** What a client sent for a record, checked against the schema. Pure: every wrong field is named at once. */
import type { FieldError } from '../http/failure.js';
import type { EntitySchema, Field } from './entity-schema.js';

type JsonRecord = Readonly<Record<string, unknown>>;

/** A value for each field of the schema, in their order; `undefined` where there is none, as JSON has no such. */
export type Values = readonly unknown[];

/** Fields as the entity holds them, and what is wrong. */
export interface Checked {
  readonly values: Values;
  readonly errors: readonly FieldError[];
}

/** Compiled once: the names that a body may have, level by level, and each one's place among the fields. */
type Names = ReadonlyMap<string, number | Names>;

export function compileInput(
  schema: EntitySchema,
): (body: JsonRecord) => { readonly sent: Values; readonly errors: readonly FieldError[] } {
  const { fields } = schema;
  const names = namesOf([...fields.entries()]);
  const none = fields.map((): unknown => undefined);
  return (body) => {
    const sent = [...none];
    const errors: FieldError[] = [];
    collect(names, body, [], sent, errors);
    return { sent, errors };
  };
}

function namesOf(fields: readonly [place: number, field: Field][], depth = 0): Names {
  const names = new Map<string, number | Names>();
  for (const [place, field] of fields) {
    const name = field.path[depth] ?? '';
    if (names.has(name)) continue;
    const within = fields.filter(([, { path }]) => path[depth] === name && path.length > depth + 1);
    names.set(name, within.length > 0 ? namesOf(within, depth + 1) : place);
  }
  return names;
}

function collect(names: Names, body: JsonRecord, path: readonly string[], sent: unknown[], errors: FieldError[]): void {
  for (const key of Object.keys(body)) {
    const value = body[key];
    const known = names.get(key);
    if (typeof known === 'number') {
      sent[known] = value;
      continue;
    }
    const within = [...path, key];
    const field = within.join('.');
    if (known === undefined)
      errors.push({ field, message: `unknown field, expected one of ${[...names.keys()].join(', ')}` });
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      collect(known, value as JsonRecord, within, sent, errors);
    else errors.push({ field, message: `expected an object, got ${describeJson(value)}` });
  }
}

/** What a replacement is compared with, and filled up from. */
export interface KnownValues {
  /** As GET returns it now. */
  current(field: Field): unknown;
  /** Of a field that has a default. */
  default(field: Field): unknown;
}

/** For a new record: what is generated may not be given, what has no default must be. */
export function checkNew(schema: EntitySchema, sent: Values): Checked {
  return check(schema, sent, (field, value) => {
    if (value === undefined)
      return field.nullable || field.hasDefault || !field.insertable ? ABSENT : wrong('required');
    return field.insertable ? readValue(field, value) : wrong('is set by the server, leave it out');
  });
}

/**
 * For a full replacement. What GET returned may be sent back: fields that cannot be changed are accepted when they are
 * unchanged. What is absent gets its default, then `null`; fields that the client cannot read keep their values.
 */
export function checkReplacement(schema: EntitySchema, sent: Values, known: KnownValues): Checked {
  return check(schema, sent, (field, value) => {
    if (value !== undefined) {
      if (field.updatable) return readValue(field, value);
      if (!field.readable) return wrong('cannot be changed, leave it out');
      const current = known.current(field);
      const same = sameJson(value, current);
      return same
        ? ABSENT
        : wrong(`cannot be changed: expected ${describeJson(toJson(current))} or nothing, got ${describeJson(value)}`);
    }
    if (!field.updatable || !field.readable) return ABSENT;
    if (field.hasDefault) return { value: known.default(field) };
    return field.nullable ? { value: null } : wrong('required');
  });
}

/** Of one field; `undefined` where it is left as it is. */
type Outcome = { readonly value: unknown } | { readonly message: string } | undefined;
const ABSENT = undefined;
const wrong = (message: string): Outcome => ({ message });

function check({ fields }: EntitySchema, sent: Values, outcomeOf: (field: Field, value: unknown) => Outcome): Checked {
  const errors: FieldError[] = [];
  const values = fields.map((field, place) => {
    const outcome = outcomeOf(field, sent[place]);
    if (outcome === ABSENT || 'value' in outcome) return outcome?.value;
    errors.push({ field: field.name, message: outcome.message });
    return undefined;
  });
  return { values, errors };
}

function readValue(field: Field, value: unknown): Outcome {
  if (value === null) return field.nullable ? { value } : wrong('must not be null');
  const reading = field.kind.read(value);
  // A field that never leaves does not come back in a message either.
  return 'value' in reading
    ? reading
    : wrong(`expected ${reading.expected}, got ${field.readable ? describeJson(value) : `a ${typeof value}`}`);
}

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Short values are shown, long ones described. */
export function describeJson(value: unknown): string {
  if (typeof value === 'string')
    return value.length <= 40 ? JSON.stringify(value) : `text of ${[...value].length} characters`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
