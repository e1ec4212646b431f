/** The answers of generated operations in a document. */
import { exampleOf } from '../../documents/examples.js';
import type { Field } from '../../entities/entity-schema.js';
import { isSqlite } from '../../entities/database-family.js';
import { orNull, type JsonSchema } from '../../entities/json-schema.js';
import { conflict, failure, refused, RETRY_AFTER, TIMESTAMP } from '../../documents/failures.js';
import { jsonResponse, openObject, refTo, TEXT } from '../../documents/operation-document.js';
import type { NamedSchema, OperationDocument, ResponseDocument } from '../../documents/operation-document.js';
import type { DescribedOperation } from './describe-operation.js';
import type { DescribedResource } from './described-resource.js';

const COUNT = { type: 'integer', minimum: 0 };

export const COUNTED = openObject({ count: COUNT });

export const PAGINATION: NamedSchema = {
  name: 'Pagination',
  schema: {
    ...openObject(
      {
        page: COUNT,
        size: COUNT,
        total: COUNT,
        totalPages: COUNT,
        estimated: { const: true },
        next: { type: ['string', 'null'] },
        hasNext: { type: 'boolean' },
      },
      ['size'],
    ),
    description:
      'Numbered pages have `page`, and `total` and `totalPages` where records are counted; pages by cursor have `next` and `hasNext`.',
  },
};

export function envelopeOf(data: JsonSchema, metadata?: JsonSchema): JsonSchema {
  const members = { success: { const: true }, message: TEXT, data, timestamp: TIMESTAMP };
  return openObject({ ...members, ...(metadata && { metadata }) }, Object.keys(members));
}

const truncated = { type: 'array', items: TEXT, description: 'Included relations of which records were left out.' };

export function listMetadata({ list, options }: DescribedResource): JsonSchema | undefined {
  const required = list.paged === false ? [] : ['pagination'];
  const isCut = options.maxListSize !== undefined;
  const kinds = [...(isCut ? [{ type: 'boolean' }] : []), ...(list.includable.size > 0 ? [truncated] : [])];
  const members = {
    ...(list.paged !== false && { pagination: refTo(PAGINATION.name) }),
    ...(kinds.length > 0 && { truncated: kinds.length > 1 ? { anyOf: kinds } : kinds[0] }),
  };
  return Object.keys(members).length > 0 ? openObject(members as Record<string, JsonSchema>, required) : undefined;
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

export const hasVersion = ({ schema, fieldPermissions }: DescribedResource): boolean =>
  schema.fields.some(
    (field) => field.column.isVersion && field.readable && fieldPermissions.get(field)?.read !== 'never',
  );

type Failures = OperationDocument['responses'];

const INTERNAL: Failures = {
  500: failure('An unexpected error.', 'Internal server error'),
  503: {
    ...failure('The database is busy or not reachable.', 'The database is temporarily unavailable, try again'),
    headers: RETRY_AFTER,
  },
};

const UNREADABLE: Failures = {
  413: failure('The body is too large.', 'The request body is larger than this server accepts'),
  415: failure('The body is of another type.', 'The request body must be application/json in UTF-8'),
};

const OWNER_ONLY: Failures = {
  401: refused(401, 'Authentication required'),
  403: refused(403, 'Owner access required'),
};

export function failuresOf(operation: DescribedOperation, resource: DescribedResource): Failures {
  const { route, description, ifMatch, isRepeatable } = operation;
  const { owner, scope, pathParameters, database, options, schema } = resource;
  const { name, fields, key } = schema;
  const takesId = route.takes.includes('id');
  const isDelete = route.verb === 'DELETE';
  const isWrite = route.verb !== 'GET';
  const notFound = `${name} with id 7 not found`;
  const unique = fields.find((field) => !key.fields.includes(field) && field.insertable)?.name ?? 'name';
  const taken = `${name} cannot be created: ${unique} is already taken`;
  const changed = `${name} with id 7 does not match If-Match: read it again and repeat the change`;
  const missing = `Changing ${name} with id 7 requires If-Match: send the ETag that GET returned`;
  const repeated = 'Idempotency-Key was sent with another body before: repeat that one, or send a new key';
  const invalid = description.body
    ? failure('The body is not valid.', `${name} is not valid`, { colour: 'unknown field' })
    : takesId
      ? failure('The id is not valid, or the query string.', `${name} id is not valid`, { id: 'must be an id' })
      : failure('The query string is not valid.', 'The query is not valid', { colour: 'unknown parameter' });
  const inConflict = isDelete
    ? conflict(`${name} cannot be deleted: other records refer to it`)
    : conflict(taken, { [unique]: 'is already taken' });
  // A server may refuse what a policy or a missing grant forbids.
  const mayRefuse = scope || pathParameters.size > 0 || !isSqlite(database.dataSource);
  return {
    ...INTERNAL,
    400: invalid,
    ...(takesId && !description.acceptsUnknownId && { 404: failure('The record does not exist.', notFound) }),
    ...(description.body && UNREADABLE),
    ...(ifMatch === 'any' && { 404: failure('A record does not exist.', notFound) }),
    ...(isWrite && { 409: inConflict }),
    ...(isWrite && mayRefuse && { 403: refused(403, 'Access denied') }),
    ...(isWrite && owner && OWNER_ONLY),
    ...(ifMatch && { 412: failure('`If-Match` names another version.', changed) }),
    ...(ifMatch && options.requireIfMatch && { 428: failure('`If-Match` is missing.', missing) }),
    ...(isRepeatable && options.enableIdempotency && { 422: failure('The key was sent with another body.', repeated) }),
  };
}
