/** Describes the operations of a resource. */
import { HttpStatus } from '@nestjs/common';
import { exampleOf } from '../../documents/examples.js';
import { closedObject, jsonResponse, refTo, TEXT, textHeader } from '../../documents/operation-document.js';
import type { HeaderDocuments, OperationDocument, ParameterDocument } from '../../documents/operation-document.js';
import type { Field } from '../../entities/entity-schema.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { MERGE_PATCH } from '../../http/json-body.js';
import type { OperationDeclaration } from '../declare/operations.js';
import type { DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';
import * as parameters from './parameters.js';
import { bodyName, type BodyName } from './record-schemas.js';
import * as responses from './responses.js';

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

/** @param path the names of the parameters in the path of the route */
export function describeOperation(
  operation: DescribedOperation,
  resource: DescribedResource,
  path: readonly string[],
): OperationDocument {
  const { description, route } = operation;
  const body = bodyOf(description, resource);
  const isChecked = body && Object.keys(resource.options.validationSchema).length > 0;
  const texts = [description.text, isChecked && 'A schema of the application checks the record too.'].filter(Boolean);
  return {
    operationId: withNames(description.id, resource),
    summary: withNames(description.summary, resource),
    ...(texts.length > 0 && { description: texts.join(' ') }),
    parameters: parametersOf(operation, resource, path),
    ...(body && { body }),
    ...(route.takes.includes('patch') && { consumes: ['application/json', MERGE_PATCH] }),
    responses: { ...successesOf(operation, resource), ...responses.failuresOf(operation, resource) },
  };
}

const withNames = (text: string, { names }: DescribedResource): string =>
  text.replaceAll(/\{(one|many|tag)\}/g, (_, name: keyof ResourceNames) => names[name]);

function bodyOf({ body, isBatch }: OperationDescription, resource: DescribedResource): JsonSchema | undefined {
  const schema = typeof body === 'string' ? refTo(bodyName(resource, body)) : body;
  const items = { type: 'array', items: schema, minItems: 1, maxItems: resource.options.maxBatchSize };
  return isBatch && schema ? closedObject({ items }) : schema;
}

function parametersOf(
  { description, ifMatch, needsRequest, isRepeatable }: DescribedOperation,
  resource: DescribedResource,
  path: readonly string[],
): readonly ParameterDocument[] {
  const { requireIfMatch, enableIdempotency } = resource.options;
  const isVersioned = responses.hasVersion(resource);
  return [
    ...parameters.pathParameters(resource, path),
    ...(isVersioned && ifMatch === 'version' ? [parameters.ifMatchParameter(requireIfMatch)] : []),
    ...(isVersioned && needsRequest === 'with a version' ? [parameters.ifNoneMatchParameter] : []),
    ...(description.parameters?.(resource) ?? []),
    ...(isRepeatable && enableIdempotency ? [parameters.idempotencyParameter] : []),
  ];
}

function headersOf(
  { description, isRepeatable, needsRequest }: DescribedOperation,
  resource: DescribedResource,
): HeaderDocuments {
  const { enableIdempotency, enablePagination: paged } = resource.options;
  const isCounted = needsRequest === 'with a total' && (paged === true || paged === 'both');
  return {
    ...description.headers,
    ...(description.data === 'record' &&
      responses.hasVersion(resource) &&
      textHeader('ETag', 'The version of the record.')),
    ...(isRepeatable &&
      enableIdempotency &&
      textHeader('Idempotency-Replayed', '`true` where the answer is that of an earlier request.')),
    ...(isCounted && textHeader('X-Total-Count', 'The total, where records were counted.')),
  };
}

function dataOf({ data }: OperationDescription, resource: DescribedResource): JsonSchema | undefined {
  if (typeof data === 'function') return data(resource);
  if (typeof data === 'object') return data;
  const record = refTo(resource.names.one);
  return data === 'records' ? { type: 'array', items: record } : data && record;
}

function successesOf(operation: DescribedOperation, resource: DescribedResource): OperationDocument['responses'] {
  const { route, description, needsRequest } = operation;
  const { status = route.verb === 'POST' ? HttpStatus.CREATED : HttpStatus.OK } = route;
  const headers = headersOf(operation, resource);
  const withHeaders = Object.keys(headers).length > 0 && { headers };
  const data = dataOf(description, resource);
  if (!data) return { [status]: { ...fileResponse(resource), ...withHeaders } };
  const envelope = responses.envelopeOf(data, description.metadata?.(resource));
  const results = { type: 'array', items: responses.batchResult((data['items'] ?? data) as JsonSchema) };
  const separate = jsonResponse('With `atomic=false`: the result of each item.', responses.envelopeOf(results));
  const isVersioned = needsRequest === 'with a version' && responses.hasVersion(resource);
  return {
    [status]: { ...jsonResponse(withNames(description.summary, resource), envelope), ...withHeaders },
    ...(description.isBatch && { 207: separate }),
    ...(isVersioned && { 304: { description: 'The record has not changed.', headers } }),
  };
}

function fileResponse({ schema: { fields, key } }: DescribedResource) {
  const [{ name, type } = fields[0] as Field] = key.fields;
  const value = exampleOf(type.schemas.answer, new Map());
  const content = {
    'application/x-ndjson': { schema: TEXT, example: `${JSON.stringify({ [name]: value })}\n` },
    'text/csv': { schema: TEXT, example: `${name}\r\n${String(value)}\r\n` },
  };
  return { description: 'The file: a record in each line, or CSV.', content };
}
