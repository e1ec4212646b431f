/** Checks the values that a client sent for a record against the schema. Pure; reports every wrong field. */
import { fieldError, type FieldError } from '../http/failure.js';
import type { JsonObject } from '../http/json-body.js';
import { toDatabase } from './column-types.js';
import type { EntityDescription, Field } from './entity-schema.js';
import { isKnownTo, type Permissions } from './permissions.js';
import type { ValueType } from './value-types.js';

/** The values that are sent or written, by field. A field that is absent keeps its value or gets its default. */
export type Values = ReadonlyMap<Field, unknown>;

/** Stands for the default of the column, which the database sets. */
export const DATABASE_DEFAULT = Symbol('declarest.databaseDefault');

export type WriteKind = 'create' | 'update' | 'patch';

export interface CheckResult {
  readonly values: Values;
  readonly errors: readonly FieldError[];
}

/**
 * Finds the field of each value of a body. `checkValues` checks the values. In a patch, `null` instead of an embedded
 * object clears its fields.
 * @param others names that a body may also have, which are no columns
 */
export function compileInput({ fields }: EntityDescription, others: readonly string[] = []) {
  const fieldByName = new Map(fields.map((field) => [field.name, field]));
  const embedded = new Map<string, Field[]>();
  for (const field of fields)
    for (let depth = 1; depth < field.path.length; depth += 1) {
      const name = field.path.slice(0, depth).join('.');
      embedded.set(name, [...(embedded.get(name) ?? []), field]);
    }
  return (body: JsonObject, operation: WriteKind, permissions: Permissions): CheckResult => {
    const values = new Map<Field, unknown>();
    const unknownNames: string[] = [];
    const errors: FieldError[] = [];
    const collect = (sent: JsonObject, prefix: string): void => {
      for (const [key, value] of Object.entries(sent)) {
        if (value === undefined) continue;
        const name = prefix + key;
        // A name with a dot is the path of a field, and no name in a body.
        const field = key.includes('.') ? undefined : fieldByName.get(name);
        const within = key.includes('.') ? undefined : embedded.get(name);
        if (field) values.set(field, value);
        else if (!within) {
          if (!others.includes(name)) unknownNames.push(name);
        } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
          collect(value as JsonObject, `${name}.`);
        } else if (value === null && operation === 'patch') {
          for (const each of within) if (isKnownTo(each, permissions)) values.set(each, null);
        } else errors.push({ field: name, message: `must be an object, got ${describeJson(value)}` });
      }
    };
    collect(body, '');
    for (const field of values.keys()) {
      // A field that the entity itself hides is reported as not writable.
      if (!field.readable || isKnownTo(field, permissions)) continue;
      values.delete(field);
      unknownNames.push(field.name);
    }
    const mayWrite = (field: Field): boolean =>
      operation === 'create' ? permissions.canInsert(field) : permissions.canUpdate(field);
    const accepted = (): string => [...fields.filter(mayWrite).map(({ name }) => name), ...others].join(', ');
    // Repeating the list for each unknown field would make the response far larger than the request.
    const hint = unknownNames.length > 0 ? `, expected one of ${accepted()}` : '';
    const unknown = unknownNames.map((field, index) => fieldError(field, 'unknown field', index === 0 ? hint : ''));
    return { values, errors: [...unknown, ...errors] };
  };
}

export interface CheckContext {
  readonly permissions: Permissions;
  /** The values of fields that a body need not have. */
  readonly given: Values;
  /** The fields whose stored value takes part in the result. */
  readonly merged: readonly Field[];
  /** The value of the stored record; `undefined` where it was not read. */
  currentOf(field: Field): unknown;
  /** The default of a field that has one; may be `DATABASE_DEFAULT`. */
  defaultOf(field: Field): unknown;
}

/**
 * Checks the values of a record. Fixed fields, and values that no client may send, are accepted unchanged, so that what GET
 * returned can be sent back.
 */
export function checkValues(
  { fields }: EntityDescription,
  kind: WriteKind,
  sent: Values,
  context: CheckContext,
): CheckResult {
  const errors: FieldError[] = [];
  const values = new Map<Field, unknown>();
  const check = kind === 'create' ? checkNew : checkChange;
  for (const field of fields) {
    const value = sent.get(field);
    const outcome = value === undefined ? absentValue(field, kind, context) : check(field, value, context);
    if (outcome === ABSENT) continue;
    if ('value' in outcome) values.set(field, outcome.value);
    else errors.push({ field: field.name, message: outcome.message });
  }
  return { values, errors };
}

type Outcome = { readonly value: unknown } | { readonly message: string } | undefined;
const ABSENT = undefined;
const wrong = (message: string) => ({ message });

/** A replacement gives an absent field its default or `null`, but for one that clients cannot read; a patch keeps it. */
function absentValue(field: Field, kind: WriteKind, { permissions, given, defaultOf }: CheckContext): Outcome {
  const { canRead, canInsert, canUpdate } = permissions;
  if (kind === 'patch') return ABSENT;
  if (given.has(field)) return { value: given.get(field) };
  if (kind === 'create') return field.nullable || field.hasDefault || !canInsert(field) ? ABSENT : wrong('is required');
  if (!canUpdate(field) || !canRead(field)) return ABSENT;
  if (field.hasDefault) return { value: defaultOf(field) };
  return field.nullable ? { value: null } : wrong('is required');
}

function checkNew(field: Field, value: unknown, { permissions }: CheckContext): Outcome {
  if (permissions.canInsert(field)) return readValue(field, value);
  return wrong(field.insertable ? 'you may not write this field' : 'is set by the server; leave it out');
}

function checkChange(field: Field, value: unknown, { permissions, merged, currentOf }: CheckContext): Outcome {
  const isWritable = permissions.canUpdate(field);
  if (isWritable && merged.includes(field) && isKept(field, value, currentOf(field))) return ABSENT;
  const outcome = isWritable ? readValue(field, value) : wrong('cannot be changed; leave it out');
  if ('value' in outcome || !permissions.canRead(field)) return outcome;
  const current = currentOf(field);
  if (isSame(field, value, current)) return ABSENT;
  if (isWritable) return outcome;
  return wrong(`cannot be changed: must be ${describeJson(toJson(current))} or nothing, got ${describeJson(value)}`);
}

/** As answered, whatever would be stored for it, or where a transformer leaves the value to the database. */
function isKept(field: Field, value: unknown, current: unknown): boolean {
  if (current !== undefined && isSame(field, value, current)) return true;
  const reading = value === null ? { expected: 'null' } : field.type.read(value);
  return 'value' in reading && toDatabase(field.column, reading.value) === undefined;
}

export function readValue(field: Field, value: unknown): NonNullable<Outcome> {
  if (value === null) return field.nullable ? { value } : wrong('must not be null');
  const reading = field.type.read(value);
  if ('value' in reading) return reading;
  // Messages do not repeat the value of a field that clients cannot read.
  return wrong(`must be ${reading.expected}, got ${field.readable ? describeJson(value) : `a ${typeof value}`}`);
}

/** Whether two values of a field are the same, however they are written: `1.5` and `"1.50"`, a Date and its text. */
export const isSame = ({ type }: Field, value: unknown, other: unknown): boolean =>
  canonical(type, value) === canonical(type, other);

function canonical(type: ValueType, value: unknown): string {
  const reading = value == null ? undefined : type.read(value);
  if (!reading || !('value' in reading)) return JSON.stringify(value ?? null);
  const held = type.write(reading.value);
  if (type.comparison !== 'exact number') return JSON.stringify(held);
  const digits = String(held);
  return /^-?\d+\.\d+$/.test(digits) ? digits.replace(/\.?0+$/, '') : digits;
}

export const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

export function describeJson(value: unknown): string {
  if (typeof value === 'string')
    return value.length <= 40 ? JSON.stringify(value) : `text of ${[...value].length} characters`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
