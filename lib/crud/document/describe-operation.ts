/** Describes the operations of a resource. */
import { HttpStatus } from '@nestjs/common';
import { closedObject, jsonResponse, refTo, textHeader } from '../../documents/operation-document.js';
import type { HeaderDocuments, OperationDocument, ParameterDocument } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { MERGE_PATCH } from '../../http/json-body.js';
import type { OperationDeclaration } from '../declare/operations.js';
import type { DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';
import * as parameters from './parameters.js';
import { bodyName, type BodyName } from './record-schemas.js';
import { envelopeOf, failuresOf, fileResponse, hasVersion, resultsResponse } from './responses.js';

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
