/** The JSON Schemas of tools: made of those of an OpenAPI document. */
import { type JsonSchema, type OpenApiDocument, resolve } from './document.js';

/** Keywords whose values are schemas, lists of schemas, or schemas by name (JSON Schema 2020-12 §10). */
const SCHEMA = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const BY_NAME = ['properties', 'patternProperties', '$defs'];

const COMPONENTS = '#/components/schemas/';

type Change = (schema: JsonSchema) => JsonSchema;

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function mapMembers(schema: JsonSchema, map: Change): JsonSchema {
  const mapIfSchema = (value: unknown): unknown => (isObject(value) ? map(value) : value);
  return mapValues(schema, (value, keyword) => {
    if (SCHEMA.includes(keyword)) return mapIfSchema(value);
    if (LIST.includes(keyword) && Array.isArray(value)) return value.map(mapIfSchema);
    return BY_NAME.includes(keyword) && isObject(value) ? mapValues(value, mapIfSchema) : value;
  });
}

const mapValues = (object: JsonSchema, map: (value: unknown, key: string) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));

/** Adds to a schema, as `$defs`, the schemas of the document that it refers to, directly or through others. */
export function withDefinitions(document: OpenApiDocument, schema: JsonSchema, change: Change): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const pending: string[] = [];
  const localize = (each: JsonSchema): JsonSchema => {
    const { $ref, ...changed } = withOneType(mapMembers(change(each), localize));
    if (typeof $ref !== 'string' || !$ref.startsWith(COMPONENTS))
      return $ref === undefined ? changed : { $ref, ...changed };
    pending.push($ref);
    return { ...changed, $ref: `#/$defs/${$ref.slice(COMPONENTS.length)}` };
  };
  const local = localize(schema);
  for (let $ref = pending.pop(); $ref !== undefined; $ref = pending.pop())
    definitions[$ref.slice(COMPONENTS.length)] ??= localize(resolve<JsonSchema>(document, { $ref }));
  return Object.keys(definitions).length === 0 ? local : { ...local, $defs: definitions };
}

/** Clients take one type for each schema, and `anyOf` without other members: `["string", "null"]` is refused by Gemini. */
function withOneType(schema: JsonSchema): JsonSchema {
  const { type, ...others } = schema;
  if (!Array.isArray(type)) return schema;
  const values = others['enum'] as readonly unknown[] | undefined;
  const typed = { ...others, ...(values && { enum: values.filter((each) => each !== null) }) };
  return { anyOf: (type as string[]).map((each) => (each === 'null' ? { type: each } : { ...typed, type: each })) };
}

/** What a caller sends. Fields that the server sets may be sent back unchanged, which no tool needs. */
export function sent(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const settable = Object.entries(properties).filter(([, each]) => !isObject(each) || each['readOnly'] !== true);
  return { ...schema, properties: Object.fromEntries(settable) };
}

const STRUCTURE = ['$ref', 'type', 'properties', 'items', 'anyOf', 'oneOf', 'allOf'];

/**
 * What a result has: types only, as stored values may break any other rule, and `fields` leaves members out. A float that
 * JSON has no number for, such as NaN, is a text.
 */
export function received(schema: JsonSchema): JsonSchema {
  const structure: JsonSchema = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => STRUCTURE.includes(keyword)),
  );
  return structure['type'] === 'number' ? { ...structure, type: ['number', 'string'] } : structure;
}
