/** Makes an example for a schema of the package. */
import type { JsonSchema } from '../entities/json-schema.js';

export type Schemas = ReadonlyMap<string, JsonSchema>;

const BY_TYPE: Readonly<Record<string, (schema: JsonSchema, schemas: Schemas) => unknown>> = {
  string: ({ minLength = 0, maxLength }) => 'text'.padEnd(minLength as number, '.').slice(0, maxLength as number),
  number: (schema) => numberWithin(schema, 1.5),
  integer: (schema) => numberWithin(schema, 1),
  boolean: () => true,
  null: () => null,
  array: ({ items }, schemas) => [exampleOf((items ?? {}) as JsonSchema, schemas)],
  object: ({ properties, required }, schemas) => {
    const all = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>);
    const needed = all.filter(([name]) => (required as readonly string[] | undefined)?.includes(name));
    // A patch has one field.
    const shown = needed.length > 0 ? needed : all.filter(([, { readOnly }]) => readOnly !== true).slice(0, 1);
    return Object.fromEntries(shown.map(([name, schema]) => [name, exampleOf(schema, schemas)]));
  },
};

/** @param schemas those that `$ref` may name */
export function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
  const { $ref, const: constant, enum: values, examples, anyOf, type } = schema as Readonly<Record<string, unknown>>;
  if (typeof $ref === 'string') return exampleOf(schemas.get($ref.slice($ref.lastIndexOf('/') + 1)) ?? {}, schemas);
  if (constant !== undefined) return constant;
  const [first = schema['default']] = [examples ?? values ?? []].flat() as unknown[];
  if (first !== undefined) return first;
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0] as JsonSchema, schemas);
  if (schema['format'] === 'date-time') return '2026-01-31T09:30:00.000Z';
  if (schema['format'] === 'email') return 'ann@shop.example';
  const [name = 'object'] = [type ?? []].flat() as string[];
  return BY_TYPE[name]?.(schema, schemas);
}

function numberWithin(schema: JsonSchema, preferred: number): number {
  const { minimum, exclusiveMinimum, maximum } = schema as Readonly<Record<string, number | undefined>>;
  const least = Math.max(preferred, minimum ?? preferred, (exclusiveMinimum ?? preferred - 1) + 1);
  return Math.min(least, maximum ?? least);
}
