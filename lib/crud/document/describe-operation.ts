/** Describes the operations of a resource. */
import { HttpStatus } from '@nestjs/common';
import { conflict, FAILURE, failure, refused, RETRY_AFTER, unreadable } from '../../documents/failures.js';
import { closedObject, jsonResponse, refTo, textHeader } from '../../documents/operation-document.js';
import type { HeaderDocuments, OperationDocument } from '../../documents/operation-document.js';
import type { ParameterDocument, ResponseDocument } from '../../documents/operation-document.js';
import { isSqlite } from '../../entities/database-family.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { MERGE_PATCH } from '../../http/json-body.js';
import type { OperationDeclaration } from '../declare/operations.js';
import { reachableFrom, type DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';
import * as parameters from './parameters.js';
import { answerName, bodyName, type BodyName } from './record-schemas.js';
import { envelopeOf, resultsResponse } from './responses.js';

/** In texts, `{one}`, `{many}` and `{tag}` stand for the names of the resource. */
export interface OperationDescription {
  readonly id: string;
  readonly summary: string;
  readonly text?: string | ((resource: DescribedResource) => string);
  readonly parameters?: (resource: DescribedResource) => readonly ParameterDocument[];
  /** The schema of the body, or of the items of a batch. */
  readonly body?: BodyName | JsonSchema;
  readonly consumes?: readonly string[];
  readonly isBatch?: true;
  readonly file?: (resource: DescribedResource) => ResponseDocument;
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
  const { requireIfMatch, enableIdempotency, enablePagination: paged } = resource.options;
  const { status = route.verb === 'POST' ? HttpStatus.CREATED : HttpStatus.OK } = route;
  const isVersioned = resource.list.readable.some(({ column }) => column.isVersion);
  const isVersionedRead = isVersioned && needsRequest === 'with a version';
  const isIdempotent = isRepeatable && enableIdempotency;
  const isCounted = needsRequest === 'with a total' && (paged === true || paged === 'both');
  const body = bodyOf(description, resource);
  const isChecked = body && Object.keys(resource.options.validationSchema).length > 0;
  const described = description.parameters?.(resource) ?? [];
  const filters = described.some(({ name }) => name.startsWith('filter['));
  const text = typeof description.text === 'function' ? description.text(resource) : description.text;
  const texts = [text, isChecked && CHECKED, filters && GROUPS].filter(Boolean);
  const data = dataOf(description, resource);
  const isRecord = description.data === 'record';
  const { consumes = route.takes.includes('patch') ? ['application/json', MERGE_PATCH] : undefined } = description;
  const headers = {
    ...description.headers,
    ...(isVersioned && isRecord && ETAG),
    ...(isIdempotent && REPLAYED),
    ...(isCounted && TOTAL),
  };
  const named = (text: string): string =>
    text
      .replaceAll(/\{(one|many|tag)\}/g, (_, name: keyof ResourceNames) => resource.names[name])
      .replaceAll(/\b([Aa]) (?=[AEIO]|U(?!ni|s[ae]))/g, '$1n ');
  const answer = data && (isRecord ? refTo(answerName(resource)) : envelopeOf(data, description.metadata?.(resource)));
  const success = answer ? jsonResponse('Success.', answer) : description.file?.(resource);
  return {
    operationId: named(description.id),
    summary: named(description.summary),
    ...(texts.length > 0 && { description: texts.join(' ') }),
    dependsOnUser: reachableFrom(resource).some(dependsOnUser),
    parameters: [
      ...parameters.pathParameters(resource, path),
      ...(isVersioned && ifMatch === 'version' ? [parameters.ifMatchParameter(requireIfMatch)] : []),
      ...(isVersionedRead ? [parameters.ifNoneMatchParameter] : []),
      ...described,
      ...(isIdempotent ? [parameters.idempotencyParameter] : []),
    ],
    ...(body && { body }),
    ...(consumes && { consumes }),
    responses: {
      [status]: { ...success, ...(Object.keys(headers).length > 0 && { headers }) },
      ...(data && description.isBatch && { 207: resultsResponse(data) }),
      ...(isVersionedRead && { 304: { description: 'The record has not changed.', headers } }),
      ...failuresOf(operation, resource),
    },
  };
}

const CHECKED = 'A schema of the application checks the record too.';
const GROUPS = 'Filters narrow the list together. Groups: `filter[or][0][…]`, `filter[and]…`, `filter[not][…]`.';

const dependsOnUser = ({ owner, scope, options, fieldPermissions }: DescribedResource): boolean =>
  Boolean(owner ?? scope) ||
  options.deletedRoles.length > 0 ||
  [...fieldPermissions.values()].some(({ read, write }) => Array.isArray(read) || Array.isArray(write));

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

type Failures = OperationDocument['responses'];

const BUSY = failure('The database is busy or not reachable.', 'The database is temporarily unavailable, try again');
const INTERNAL: Failures = {
  500: failure('An unexpected error.', 'Internal server error'),
  503: { ...BUSY, headers: RETRY_AFTER },
};
const OWNER_ONLY = { 401: refused(401, 'Authentication required'), 403: refused(403, 'Owner access required') };
const INVALID_BODY = failure('The body is not valid.', 'Record is not valid', { colour: 'unknown field' });
const INVALID_ID = failure('The id or the query is not valid.', 'Record id is not valid', { id: 'must be an id' });
const INVALID_QUERY = failure('The query is not valid.', 'The query is not valid', { colour: 'unknown parameter' });
const NOT_FOUND = { 404: failure('The record does not exist.', 'Record with id 7 not found') };
const TAKEN = conflict('Record cannot be created: name is already taken', { name: 'is already taken' });
const RUNNING = { ...jsonResponse('A record or the key is in use.', refTo(FAILURE.name)), headers: RETRY_AFTER };
const REFERRED = conflict('Record cannot be deleted: other records refer to it');
const CHANGED = 'Record with id 7 does not match If-Match: read it again and repeat the change';
const MISSING = 'Changing Record with id 7 requires If-Match: send the ETag that GET returned';
const REPEATED = 'Idempotency-Key was sent with another body before: repeat that one, or send a new key';

/** The texts name no resource: operations of all of them share the answers. */
function failuresOf(operation: DescribedOperation, resource: DescribedResource): Failures {
  const { route, description, ifMatch, isRepeatable } = operation;
  const { owner, scope, pathParameters, database, options } = resource;
  const takesId = route.takes.includes('id');
  const isWrite = route.verb !== 'GET';
  const isIdempotent = isRepeatable && options.enableIdempotency;
  // A server may refuse what a policy or a missing grant forbids.
  const mayRefuse = scope || pathParameters.size > 0 || !isSqlite(database.dataSource);
  return {
    ...INTERNAL,
    400: description.body ? INVALID_BODY : takesId ? INVALID_ID : INVALID_QUERY,
    ...(description.body && unreadable(failure)),
    ...(((takesId && !description.acceptsUnknownId) || ifMatch === 'any') && NOT_FOUND),
    ...(isWrite && { 409: route.verb === 'DELETE' ? REFERRED : TAKEN }),
    ...(isWrite && mayRefuse && { 403: refused(403, 'Access denied') }),
    ...(isWrite && owner && OWNER_ONLY),
    ...(ifMatch && { 412: failure('`If-Match` names another version.', CHANGED) }),
    ...(ifMatch && options.requireIfMatch && { 428: failure('`If-Match` is missing.', MISSING) }),
    ...(isIdempotent && { 409: RUNNING, 422: failure('The key was sent with another body.', REPEATED) }),
  };
}
