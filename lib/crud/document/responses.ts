/** The answers of generated operations in a document. */
import { exampleOf } from '../../documents/examples.js';
import type { Field } from '../../entities/entity-schema.js';
import { orNull, type JsonSchema } from '../../entities/json-schema.js';
import { TIMESTAMP } from '../../documents/failures.js';
import { COUNT, jsonResponse, openObject, PAGINATION, refTo, TEXT, TRUE } from '../../documents/operation-document.js';
import type { NamedSchema, ResponseDocument } from '../../documents/operation-document.js';
import type { DescribedResource } from './described-resource.js';

export const COUNT_RESULT = openObject({ count: COUNT });

const cursorPage = openObject({ size: COUNT, next: orNull(TEXT), hasNext: { type: 'boolean' } });
export const CURSOR: NamedSchema = { name: 'CursorPagination', schema: cursorPage };

export function envelopeOf(data: JsonSchema, metadata?: JsonSchema): JsonSchema {
  const members = { success: TRUE, message: TEXT, data, timestamp: TIMESTAMP };
  const sent = Object.keys({ ...members, ...(metadata?.['required'] !== undefined && { metadata }) });
  return openObject({ ...members, ...(metadata && { metadata }) }, sent);
}

const [numbered, byCursor] = [refTo(PAGINATION.name), refTo(CURSOR.name)];
const truncated = { type: 'array', items: TEXT, description: 'Included relations of which records were left out.' };

export function listMetadata({ list, options }: DescribedResource): JsonSchema | undefined {
  const isCut = options.maxListSize !== undefined;
  const kinds = [...(isCut ? [{ type: 'boolean' }] : []), ...(list.includable.size > 0 ? [truncated] : [])];
  const pages = { true: numbered, cursor: byCursor, both: { anyOf: [numbered, byCursor] }, false: undefined };
  const { [`${list.paged}` as const]: pagination } = pages;
  const members = {
    ...(pagination && { pagination }),
    ...(kinds.length > 0 && { truncated: kinds.length > 1 ? { anyOf: kinds } : kinds[0] }),
  };
  return Object.keys(members).length > 0
    ? openObject(members as Record<string, JsonSchema>, pagination ? ['pagination'] : [])
    : undefined;
}

export const recordMetadata = ({ list }: DescribedResource): JsonSchema | undefined =>
  list.includable.size > 0 ? openObject({ truncated }, []) : undefined;

export function aggregateRows({ aggregatable }: DescribedResource): JsonSchema {
  const byField = (schemaOf: (field: Field) => JsonSchema): JsonSchema =>
    openObject(Object.fromEntries(aggregatable.map((field) => [field.name, schemaOf(field)])), []);
  const number = byField(() => ({ type: ['number', 'string', 'null'] }));
  const value = byField(({ type }) => orNull(type.schemas.answer));
  const members = { groupBy: value, count: COUNT, sum: number, avg: number, min: value, max: value };
  return { type: 'array', items: openObject(members, ['count']) };
}

/** @param data of a batch whose items are written all or none */
export function resultsResponse(data: JsonSchema): ResponseDocument {
  const written = openObject({ status: COUNT, data: (data['items'] ?? data) as JsonSchema });
  const results = { type: 'array', items: { anyOf: [written, openObject({ status: COUNT, message: TEXT })] } };
  return jsonResponse('With `atomic=false`: the result of each item.', envelopeOf(results));
}

export function fileResponse({ schema: { fields, key } }: DescribedResource): ResponseDocument {
  const [{ name, type } = fields[0] as Field] = key.fields;
  const value = exampleOf(type.schemas.answer, new Map());
  const content = {
    'application/x-ndjson': { schema: TEXT, example: `${JSON.stringify({ [name]: value })}\n` },
    'text/csv': { schema: TEXT, example: `${name}\r\n${String(value)}\r\n` },
  };
  return { description: 'The file: a record in each line, or CSV.', content };
}
