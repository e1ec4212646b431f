/** Describes the generated operations of a resource. */
import { HttpStatus, RequestMethod } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { exampleOf } from '../../documents/examples.js';
import type { OperationDocument, ResponseDocument } from '../../documents/operation-document.js';
import { OPERATIONS, type Operation, type OperationName } from '../declare/operations.js';
import type { DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';
import { ROWS, type Row } from './operation-rows.js';
import { pathParameters } from './parameters.js';
import * as responses from './responses.js';

/** @param path the names of the parameters in the path of the route */
export function describeOperation(
  name: OperationName,
  resource: DescribedResource,
  names: ResourceNames,
  path: readonly string[],
  schemas: ReadonlyMap<string, JsonSchema>,
): OperationDocument {
  const row = ROWS[name];
  const body = row.body?.(names, resource);
  const failures = row.failures.map((reason) => responses.FAILURES[reason](resource));
  const description = row.description?.(resource);
  return {
    operationId: row.id(names),
    summary: row.summary(names),
    ...(description && { description }),
    parameters: [...pathParameters(resource, path), ...(row.parameters?.(resource) ?? [])],
    ...(body && { body: { schema: body, example: exampleOf(body, schemas), ...(row.types && { types: row.types }) } }),
    responses: { ...successesOf(name, row, resource, names, schemas), ...(Object.assign({}, ...failures) as object) },
  };
}

function successesOf(
  name: OperationName,
  row: Row,
  resource: DescribedResource,
  names: ResourceNames,
  schemas: ReadonlyMap<string, JsonSchema>,
): Readonly<Record<number, ResponseDocument>> {
  const { verb, status = verb === RequestMethod.POST ? HttpStatus.CREATED : HttpStatus.OK }: Operation =
    OPERATIONS[name];
  const headers = row.headers?.(resource) ?? {};
  const withHeaders = Object.keys(headers).length > 0 ? { headers } : {};
  if (!row.data) {
    const [{ name: column, type } = resource.schema.fields[0] as Field] = resource.schema.key.fields;
    const value = exampleOf(type.schemas.answer, schemas);
    const content = [
      { type: 'application/x-ndjson', schema: { type: 'string' }, example: `${JSON.stringify({ [column]: value })}\n` },
      { type: 'text/csv', schema: { type: 'string' }, example: `${column}\r\n${String(value)}\r\n` },
    ];
    return { [status]: { description: 'The file: a record in each line, or CSV.', content, ...withHeaders } };
  }
  const data = row.data(names, resource);
  const answer = (schema: JsonSchema) => [{ schema, example: exampleOf(schema, schemas) }];
  const success = {
    description: row.summary(names),
    content: answer(responses.envelopeOf(data, row.metadata?.(resource))),
    ...withHeaders,
  };
  const isBatch = name.endsWith('Many');
  const each = { type: 'array', items: responses.batchResult((data['items'] ?? data) as JsonSchema) };
  return {
    [status]: success,
    ...(isBatch && {
      207: {
        description: 'With `atomic=false`: the result of each item.',
        content: answer(responses.envelopeOf(each)),
      },
    }),
    ...(name === 'findById' &&
      responses.hasVersion(resource) && { 304: { description: 'The record has not changed.', headers } }),
  };
}
