/** Describes the operations of a resource. */
import { HttpStatus } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { exampleOf } from '../../documents/examples.js';
import { closedObject, refTo } from '../../documents/operation-document.js';
import type { OperationDocument, ParameterDocument, ResponseDocument } from '../../documents/operation-document.js';
import { MERGE_PATCH } from '../../http/json-body.js';
import type { DescribedOperation } from './described-operation.js';
import type { DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';
import * as parameters from './parameters.js';
import { schemaName } from './record-schemas.js';
import * as responses from './responses.js';

export interface DocumentedOperation {
  readonly operation: DescribedOperation;
  readonly resource: DescribedResource;
  readonly names: ResourceNames;
  /** The names of the parameters in the path of the route. */
  readonly path: readonly string[];
  readonly schemas: ReadonlyMap<string, JsonSchema>;
}

export function describeOperation(documented: DocumentedOperation): OperationDocument {
  const { operation, resource, names, schemas } = documented;
  const { description, route } = operation;
  const body = bodyOf(documented);
  const isChecked = body && Object.keys(resource.options.validationSchema).length > 0;
  const texts = [description.text, isChecked && 'A schema of the application checks the record too.'].filter(Boolean);
  const types = route.takes.includes('patch') && { types: ['application/json', MERGE_PATCH] };
  return {
    operationId: withNames(description.id, names),
    summary: withNames(description.summary, names),
    ...(texts.length > 0 && { description: texts.join(' ') }),
    parameters: parametersOf(documented),
    ...(body && { body: { schema: body, example: exampleOf(body, schemas), ...types } }),
    responses: { ...successesOf(documented), ...responses.failuresOf(operation, resource) },
  };
}

const withNames = (text: string, names: ResourceNames): string =>
  text.replaceAll(/\{(one|many|tag)\}/g, (_, name: keyof ResourceNames) => names[name]);

function bodyOf({ operation: { description }, resource, names }: DocumentedOperation): JsonSchema | undefined {
  const { body, isBatch } = description;
  const schema = typeof body === 'string' ? refTo(schemaName[body](names)) : body;
  const items = { type: 'array', items: schema, minItems: 1, maxItems: resource.options.maxBatchSize };
  return isBatch && schema ? closedObject({ items }) : schema;
}

function parametersOf({ operation, resource, path }: DocumentedOperation): readonly ParameterDocument[] {
  const { description, ifMatch, needsRequest, isRepeatable } = operation;
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

function headersOf({ operation, resource }: DocumentedOperation): Readonly<Record<string, string>> {
  const { description, isRepeatable, needsRequest } = operation;
  const { enableIdempotency, enablePagination: paged } = resource.options;
  const isReplayed = isRepeatable && enableIdempotency;
  const isCounted = needsRequest === 'with a total' && (paged === true || paged === 'both');
  return {
    ...description.headers,
    ...(description.data === 'record' && responses.hasVersion(resource) && { ETag: 'The version of the record.' }),
    ...(isReplayed && { 'Idempotency-Replayed': '`true` where the answer is that of an earlier request.' }),
    ...(isCounted && { 'X-Total-Count': 'The total, where records were counted.' }),
  };
}

function dataOf({ operation: { description }, resource, names }: DocumentedOperation): JsonSchema | undefined {
  const { data } = description;
  if (typeof data === 'function') return data(resource);
  const record = refTo(schemaName.record(names));
  return data === 'records' ? { type: 'array', items: record } : data && record;
}

function successesOf(documented: DocumentedOperation): Readonly<Record<number, ResponseDocument>> {
  const { operation, resource, names, schemas } = documented;
  const { route, description, needsRequest } = operation;
  const { status = route.verb === 'POST' ? HttpStatus.CREATED : HttpStatus.OK } = route;
  const headers = headersOf(documented);
  const withHeaders = Object.keys(headers).length > 0 ? { headers } : {};
  const data = dataOf(documented);
  if (!data) {
    const [{ name: column, type } = resource.schema.fields[0] as Field] = resource.schema.key.fields;
    const value = exampleOf(type.schemas.answer, schemas);
    const content = [
      { type: 'application/x-ndjson', schema: { type: 'string' }, example: `${JSON.stringify({ [column]: value })}\n` },
      { type: 'text/csv', schema: { type: 'string' }, example: `${column}\r\n${String(value)}\r\n` },
    ];
    return { [status]: { description: 'The file: a record in each line, or CSV.', content, ...withHeaders } };
  }
  const answer = (schema: JsonSchema) => [{ schema, example: exampleOf(schema, schemas) }];
  const content = answer(responses.envelopeOf(data, description.metadata?.(resource)));
  const each = { type: 'array', items: responses.batchResult((data['items'] ?? data) as JsonSchema) };
  const separate = 'With `atomic=false`: the result of each item.';
  const isVersioned = needsRequest === 'with a version' && responses.hasVersion(resource);
  return {
    [status]: { description: withNames(description.summary, names), content, ...withHeaders },
    ...(description.isBatch && { 207: { description: separate, content: answer(responses.envelopeOf(each)) } }),
    ...(isVersioned && { 304: { description: 'The record has not changed.', headers } }),
  };
}
