/** Describes the operations of a resource. */
import { HttpStatus } from '@nestjs/common';
import { conflict, failure, refused, RETRY_AFTER, unreadable } from '../../documents/failures.js';
import { closedObject, jsonResponse, refTo, textHeader } from '../../documents/operation-document.js';
import type { HeaderDocuments, OperationDocument, ParameterDocument } from '../../documents/operation-document.js';
import { isSqlite } from '../../entities/database-family.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { MERGE_PATCH } from '../../http/json-body.js';
import type { OperationDeclaration } from '../declare/operations.js';
import type { DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';
import * as parameters from './parameters.js';
import { bodyName, type BodyName } from './record-schemas.js';
import { envelopeOf, fileResponse, resultsResponse } from './responses.js';

/** In texts, `{one}`, `{many}` and `{tag}` stand for the names of the resource. */
export interface OperationDescription {
  readonly id: string;
  readonly summary: string;
  readonly text?: string;
  readonly parameters?: (resource: DescribedResource) => readonly ParameterDocument[];
  /** The schema of the body, or of the items of a batch. */
  readonly body?: BodyName | JsonSchema;
  readonly isBatch?: true;
  /** The member `data` of the envelope; `undefined` for a file. */
  readonly data?: 'record' | 'records' | JsonSchema | ((resource: DescribedResource) => JsonSchema);
  readonly metadata?: (resource: DescribedResource) => JsonSchema | undefined;
  readonly headers?: HeaderDocuments;
  /** Whether an unknown id is no failure. */
  readonly acceptsUnknownId?: true;
}

export interface DescribedOperation extends OperationDeclaration {
  readonly description: OperationDescription;
}

const ETAG = textHeader('ETag', 'The version of the record.');
const REPLAYED = textHeader('Idempotency-Replayed', '`true` where the answer is that of an earlier request.');
const TOTAL = textHeader('X-Total-Count', 'The total, where records were counted.');

/** @param path of the route, with its parameters as in `:id` */
export function describeOperation(
  operation: DescribedOperation,
  resource: DescribedResource,
  path: string,
): OperationDocument {
  const { description, route, ifMatch, isRepeatable, needsRequest } = operation;
  const { requireIfMatch, enableIdempotency, enablePagination: paged, validationSchema } = resource.options;
  const { status = route.verb === 'POST' ? HttpStatus.CREATED : HttpStatus.OK } = route;
  const isVersioned = hasVersion(resource);
  const isVersionedRead = isVersioned && needsRequest === 'with a version';
  const isIdempotent = isRepeatable && enableIdempotency;
  const isCounted = needsRequest === 'with a total' && (paged === true || paged === 'both');
  const body = bodyOf(description, resource);
  const isChecked = body && Object.keys(validationSchema).length > 0;
  const texts = [description.text, isChecked && 'A schema of the application checks the record too.'].filter(Boolean);
  const data = dataOf(description, resource);
  const headers = {
    ...description.headers,
    ...(isVersioned && description.data === 'record' && ETAG),
    ...(isIdempotent && REPLAYED),
    ...(isCounted && TOTAL),
  };
  const named = (text: string): string =>
    text.replaceAll(/\{(one|many|tag)\}/g, (_, name: keyof ResourceNames) => resource.names[name]);
  const success = data
    ? jsonResponse(named(description.summary), envelopeOf(data, description.metadata?.(resource)))
    : fileResponse(resource);
  return {
    operationId: named(description.id),
    summary: named(description.summary),
    ...(texts.length > 0 && { description: texts.join(' ') }),
    parameters: [
      ...parameters.pathParameters(resource, path),
      ...(isVersioned && ifMatch === 'version' ? [parameters.ifMatchParameter(requireIfMatch)] : []),
      ...(isVersionedRead ? [parameters.ifNoneMatchParameter] : []),
      ...(description.parameters?.(resource) ?? []),
      ...(isIdempotent ? [parameters.idempotencyParameter] : []),
    ],
    ...(body && { body }),
    ...(route.takes.includes('patch') && { consumes: ['application/json', MERGE_PATCH] }),
    responses: {
      [status]: { ...success, ...(Object.keys(headers).length > 0 && { headers }) },
      ...(data && description.isBatch && { 207: resultsResponse(data) }),
      ...(isVersionedRead && { 304: { description: 'The record has not changed.', headers } }),
      ...failuresOf(operation, resource),
    },
  };
}

function bodyOf({ body, isBatch }: OperationDescription, resource: DescribedResource): JsonSchema | undefined {
  const schema = typeof body === 'string' ? refTo(bodyName(resource, body)) : body;
  const items = { type: 'array', items: schema, minItems: 1, maxItems: resource.options.maxBatchSize };
  return isBatch && schema ? closedObject({ items }) : schema;
}

function dataOf({ data }: OperationDescription, resource: DescribedResource): JsonSchema | undefined {
  if (typeof data === 'function') return data(resource);
  const record = refTo(resource.names.one);
  if (data === 'records') return { type: 'array', items: record };
  return data === 'record' ? record : data;
}

const hasVersion = ({ schema, fieldPermissions }: DescribedResource): boolean =>
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

const OWNER_ONLY: Failures = {
  401: refused(401, 'Authentication required'),
  403: refused(403, 'Owner access required'),
};

function failuresOf(operation: DescribedOperation, resource: DescribedResource): Failures {
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
    ...(description.body && unreadable(failure)),
    ...(ifMatch === 'any' && { 404: failure('A record does not exist.', notFound) }),
    ...(isWrite && { 409: inConflict }),
    ...(isWrite && mayRefuse && { 403: refused(403, 'Access denied') }),
    ...(isWrite && owner && OWNER_ONLY),
    ...(ifMatch && { 412: failure('`If-Match` names another version.', changed) }),
    ...(ifMatch && options.requireIfMatch && { 428: failure('`If-Match` is missing.', missing) }),
    ...(isRepeatable && options.enableIdempotency && { 422: failure('The key was sent with another body.', repeated) }),
  };
}
