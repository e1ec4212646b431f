/**
 * The primary key of an entity. Entities hold a key of several columns as the array of its values, and clients see it as
 * one text: the values in the order of the entity, each percent-encoded, separated by commas.
 */
import { decodePath } from '../http/http-request.js';
import { sameSchemas } from './json-schema.js';
import { allOf, type Reading, type ValueType } from './value-types.js';

type KeyField = { readonly name: string; readonly type: ValueType };
export type EntityKey<F extends KeyField = KeyField> = Readonly<ReturnType<typeof keyOfSeveral<F>>>;

export function entityKey<F extends KeyField>(fields: readonly F[]): EntityKey<F> {
  const [only, ...others] = fields;
  return Object.freeze(only && others.length === 0 ? keyOfOne(only) : keyOfSeveral(fields));
}

/** The text of a value that clients see. */
export const keyText = (value: unknown): string => (value instanceof Date ? value.toJSON() : String(value));

const valueIn = (record: object, { name }: KeyField): unknown => (record as Readonly<Record<string, unknown>>)[name];

const keyOfOne = <F extends KeyField>(field: F): EntityKey<F> => ({
  ...field.type,
  fields: [field],
  of: (record) => valueIn(record, field),
  segment: (written) => encodeURIComponent(keyText(written)),
  join: ([value]) => value,
  split: (text) => [text],
  hold: ([value]) => value,
  parts: (held) => [held],
});

/** A view may have no key: then there are no fields. */
function keyOfSeveral<F extends KeyField>(fields: readonly F[]) {
  const names = fields.map(({ name }) => name).join(',');
  const expected = `the values of ${names}, each percent-encoded, separated by commas`;
  const pattern = `^${fields.map(() => '[^,;/?#]+').join(',')}$`;
  const schema = { type: 'string', pattern, description: `\`${names}\`, each percent-encoded.` };
  /** The key that clients see, of the values of its fields as clients see them. */
  const join = (values: readonly unknown[]): unknown =>
    values.map((value) => encodeURIComponent(keyText(value))).join(',');
  /** The texts of the values in a text of the key; `undefined` for another text. */
  const split = (text: string): readonly string[] | undefined => {
    const parts = text.split(',').flatMap((part) => decodePath(part) ?? []);
    return parts.length === fields.length && text.split(',').length === parts.length ? parts : undefined;
  };
  const readText = (text: string): Reading => {
    const parts = split(text);
    return parts ? allOf(fields.map(({ type }, index) => type.readText(parts[index] ?? ''))) : { expected };
  };
  return {
    fields,
    schemas: sameSchemas(schema),
    read: (value: unknown): Reading => (typeof value === 'string' ? readText(value) : { expected }),
    readText,
    write: (held: unknown) => join((held as unknown[]).map((value, index) => fields[index]?.type.write(value))),
    /** The key of a record as clients see it. */
    of: (record: object) => join(fields.map((field) => valueIn(record, field))),
    /** As a level of a path has the key that clients see. */
    segment: (written: unknown): string => String(written),
    join,
    split,
    /** The key as the entity holds it, of the values of its fields. */
    hold: (values: readonly unknown[]): unknown => values,
    /** The values of its fields, of the key as the entity holds it. */
    parts: (held: unknown) => held as readonly unknown[],
  };
}
