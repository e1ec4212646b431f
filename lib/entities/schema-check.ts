/** Checks a body by a JSON Schema of the application. */
import { isDeepStrictEqual } from 'node:util';
import type { FieldError } from '../http/failure.js';
import { date, dateTime } from './calendar-types.js';
import type { JsonSchema } from './json-schema.js';
import { describeJson } from './record-input.js';
import { uuid } from './value-types.js';

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  integer: Number.isInteger,
  array: Array.isArray,
  object: isRecord,
};

const FORMATS: Readonly<Record<string, typeof date>> = { date, 'date-time': dateTime, uuid };

const isNumber: (value: unknown) => boolean = Number.isFinite;
const isText = (value: unknown): value is string => typeof value === 'string';
const isAny = (): boolean => true;
const sizeOf = (value: unknown): number => [...(value as Iterable<unknown>)].length;

/** A keyword restricts values of one type: `{}` in its message is what the schema gives for it. */
const RULES: Readonly<
  Record<string, readonly [string, (value: unknown) => boolean, (value: never, given: never) => boolean]>
> = {
  type: ['of type {}', isAny, (value, given: string | string[]) => [given].flat().some((name) => TYPES[name]?.(value))],
  enum: ['one of {}', isAny, (value, given: unknown[]) => given.some((each) => isDeepStrictEqual(each, value))],
  const: ['{}', isAny, (value, given) => isDeepStrictEqual(given, value)],
  format: ['a {}', isText, (value, given) => 'value' in (FORMATS[given] as typeof date).read(value)],
  pattern: ['a text that matches {}', isText, (value, given) => new RegExp(given, 'u').test(value)],
  minimum: ['at least {}', isNumber, (value, given) => value >= given],
  maximum: ['at most {}', isNumber, (value, given) => value <= given],
  exclusiveMinimum: ['greater than {}', isNumber, (value, given) => value > given],
  exclusiveMaximum: ['less than {}', isNumber, (value, given) => value < given],
  minLength: ['at least {} characters long', isText, (value, given) => sizeOf(value) >= given],
  maxLength: ['at most {} characters long', isText, (value, given) => sizeOf(value) <= given],
  minItems: ['an array of at least {}', Array.isArray, (value, given) => sizeOf(value) >= given],
  maxItems: ['an array of at most {}', Array.isArray, (value, given) => sizeOf(value) <= given],
};

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

const NESTED = ['properties', 'required', 'additionalProperties', 'items'];
const NOTES = ['title', 'description', 'default', 'example', 'examples', 'deprecated'];

/** What a schema has that `schemaErrors` does not know, such as `oneOf`. */
export function unknownKeyword(schema: unknown): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isRecord(schema)) return String(schema);
  const {
    properties = {},
    items = true,
    additionalProperties = true,
    type = [],
    format = 'date',
    pattern = '',
  } = schema;
  const name = Object.keys(schema).find((each) => !(each in RULES) && !NESTED.includes(each) && !NOTES.includes(each));
  const wrong =
    [type].flat().find((each) => !(String(each) in TYPES)) ?? (String(format) in FORMATS ? undefined : format);
  if (name !== undefined || wrong !== undefined) return name ?? String(wrong);
  if (!isPattern(String(pattern))) return String(pattern);
  return [...Object.values(properties as JsonSchema), items, additionalProperties].map(unknownKeyword).find(isText);
}

/** @param field the path of the value */
export function schemaErrors(schema: JsonSchema | boolean, value: unknown, field = ''): FieldError[] {
  if (typeof schema === 'boolean') return schema ? [] : [{ field, message: 'unknown field' }];
  const broken = Object.entries(schema).find(([keyword, given]) => {
    const [, applies, accepts] = RULES[keyword] ?? [];
    return applies?.(value) && !accepts?.(value as never, given as never);
  });
  if (broken) {
    const [keyword, given] = broken;
    const expected = RULES[keyword]?.[0].replace(
      '{}',
      isText(given) ? given : JSON.stringify(given).replaceAll(',', ', '),
    );
    return [{ field, message: `must be ${expected}, got ${describeJson(value)}` }];
  }
  const { required = [], additionalProperties = true, items = true } = schema as Record<string, never>;
  const { properties = {} } = schema as { readonly properties?: Record<string, JsonSchema> };
  const path = (name: string | number): string => (field === '' ? String(name) : `${field}.${name}`);
  if (Array.isArray(value)) return value.flatMap((each, index) => schemaErrors(items, each, path(index)));
  if (!isRecord(value)) return [];
  const missing = (required as string[]).filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => ({ field: path(name), message: 'is required' })),
    ...Object.entries(value).flatMap(([name, each]) =>
      schemaErrors((Object.hasOwn(properties, name) && properties[name]) || additionalProperties, each, path(name)),
    ),
  ];
}
