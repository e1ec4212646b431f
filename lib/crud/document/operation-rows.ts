/** What differs between generated operations in a document: one row for each, as in `OPERATIONS`. */
import type { JsonSchema } from '../../entities/json-schema.js';
import { closedObject, refTo, type ParameterDocument } from '../../documents/operation-document.js';
import { MERGE_PATCH } from '../../http/json-body.js';
import type { OperationName } from '../declare/operations.js';
import type { DescribedResource } from './described-resource.js';
import type { ResourceNames } from './names.js';
import * as parameters from './parameters.js';
import { schemaName } from './record-schemas.js';
import * as responses from './responses.js';

export interface Row {
  readonly id: (names: ResourceNames) => string;
  readonly summary: (names: ResourceNames) => string;
  readonly description?: (resource: DescribedResource) => string | undefined;
  readonly parameters?: (resource: DescribedResource) => readonly ParameterDocument[];
  readonly body?: (names: ResourceNames, resource: DescribedResource) => JsonSchema;
  readonly types?: readonly string[];
  /** The member `data` of the envelope; `undefined` for a file. */
  readonly data?: (names: ResourceNames, resource: DescribedResource) => JsonSchema;
  readonly metadata?: (resource: DescribedResource) => JsonSchema | undefined;
  readonly headers?: (resource: DescribedResource) => Readonly<Record<string, string>>;
  readonly failures: readonly responses.FailureName[];
}

const record = (names: ResourceNames): JsonSchema => refTo(schemaName.record(names));
const records = (names: ResourceNames): JsonSchema => ({ type: 'array', items: record(names) });
const nothing = (): JsonSchema => ({ type: 'null' });

const { filterParameters, deletedParameters, purgeParameters, sortParameters, recordParameters } = parameters;
const conditions = (resource: DescribedResource): ParameterDocument[] => [
  ...filterParameters(resource),
  ...deletedParameters(resource),
];
const ofList = (resource: DescribedResource): ParameterDocument[] => [
  ...parameters.pageParameters(resource.list.paged),
  ...sortParameters(resource),
  ...conditions(resource),
  ...recordParameters(resource),
];
const ifMatch = (resource: DescribedResource): ParameterDocument[] =>
  responses.hasVersion(resource) ? [parameters.ifMatchParameter(resource.options.requireIfMatch)] : [];
const ifNoneMatch = (resource: DescribedResource): ParameterDocument[] =>
  responses.hasVersion(resource) ? [parameters.ifNoneMatchParameter] : [];
const idempotencyKey = ({ options }: DescribedResource): ParameterDocument[] =>
  options.enableIdempotency ? [parameters.idempotencyParameter] : [];
const replayed = ({ options }: DescribedResource): Readonly<Record<string, string>> =>
  options.enableIdempotency ? { 'Idempotency-Replayed': '`true` where the answer is that of an earlier request.' } : {};
const counted = ({ list: { paged } }: DescribedResource): Readonly<Record<string, string>> =>
  paged === true || paged === 'both' ? { 'X-Total-Count': 'The total, where records were counted.' } : {};

const items = (name: string, { options }: DescribedResource): JsonSchema =>
  closedObject({ items: { type: 'array', items: refTo(name), minItems: 1, maxItems: options.maxBatchSize } });

const checked = ({ options }: DescribedResource): string | undefined =>
  Object.keys(options.validationSchema).length > 0 ? 'A schema of the application checks the record too.' : undefined;

export const ROWS: Readonly<Record<OperationName, Row>> = {
  findAll: {
    id: ({ many }) => `list${many}`,
    summary: ({ tag }) => `List ${tag}`,
    parameters: ofList,
    data: records,
    metadata: responses.listMetadata,
    headers: counted,
    failures: ['any', 'query'],
  },
  search: {
    id: ({ many }) => `search${many}`,
    summary: ({ tag }) => `Search ${tag}`,
    parameters: (resource) => [...parameters.searchParameters(resource), ...ofList(resource)],
    data: records,
    metadata: responses.listMetadata,
    headers: counted,
    failures: ['any', 'query'],
  },
  count: {
    id: ({ many }) => `count${many}`,
    summary: ({ tag }) => `Count ${tag}`,
    parameters: conditions,
    data: () => responses.counted,
    failures: ['any', 'query'],
  },
  aggregate: {
    id: ({ many }) => `aggregate${many}`,
    summary: ({ tag }) => `Add up ${tag}`,
    parameters: (resource) => [...parameters.aggregateParameters(resource), ...conditions(resource)],
    data: (_, resource) => ({ type: 'array', items: responses.aggregateRow(resource) }),
    failures: ['any', 'query'],
  },
  export: {
    id: ({ many }) => `export${many}`,
    summary: ({ tag }) => `Export ${tag}`,
    parameters: (resource) => [
      parameters.formatParameter,
      ...sortParameters(resource),
      ...conditions(resource),
      ...recordParameters(resource, false),
    ],
    headers: () => ({ 'Content-Disposition': 'The name of the file.' }),
    failures: ['any', 'query'],
  },
  findById: {
    id: ({ one }) => `get${one}`,
    summary: ({ one }) => `Get a ${one}`,
    parameters: (resource) => [...ifNoneMatch(resource), ...recordParameters(resource)],
    data: record,
    metadata: responses.recordMetadata,
    headers: responses.recordHeaders,
    failures: ['any', 'id'],
  },
  exists: {
    id: ({ one }) => `exists${one}`,
    summary: ({ one }) => `Ask whether a ${one} exists`,
    data: () => responses.exists,
    failures: ['any', 'malformedId'],
  },
  create: {
    id: ({ one }) => `create${one}`,
    summary: ({ one }) => `Create a ${one}`,
    description: checked,
    parameters: idempotencyKey,
    body: (names) => refTo(schemaName.create(names)),
    data: record,
    headers: (resource) => ({
      Location: 'The path of the record.',
      ...responses.recordHeaders(resource),
      ...replayed(resource),
    }),
    failures: ['any', 'body', 'conflict', 'write', 'key'],
  },
  createMany: {
    id: ({ many }) => `create${many}`,
    summary: ({ tag }) => `Create several ${tag}, all or none`,
    description: checked,
    parameters: (resource) => [parameters.atomicParameter, ...idempotencyKey(resource)],
    body: (names, resource) => items(schemaName.create(names), resource),
    data: records,
    headers: replayed,
    failures: ['any', 'body', 'conflict', 'write', 'key'],
  },
  update: {
    id: ({ one }) => `replace${one}`,
    summary: ({ one }) => `Replace a ${one}`,
    description: (resource) =>
      ['A field that is left out gets its default, or `null`.', checked(resource)].filter(Boolean).join(' '),
    parameters: ifMatch,
    body: (names) => refTo(schemaName.replace(names)),
    data: record,
    headers: responses.recordHeaders,
    failures: ['any', 'id', 'body', 'conflict', 'write', 'version'],
  },
  patch: {
    id: ({ one }) => `update${one}`,
    summary: ({ one }) => `Change fields of a ${one}`,
    description: (resource) =>
      ['A JSON merge patch (RFC 7396): a field that is left out keeps its value.', checked(resource)]
        .filter(Boolean)
        .join(' '),
    parameters: ifMatch,
    body: (names) => refTo(schemaName.patch(names)),
    types: ['application/json', MERGE_PATCH],
    data: record,
    headers: responses.recordHeaders,
    failures: ['any', 'id', 'body', 'conflict', 'write', 'version'],
  },
  patchMany: {
    id: ({ many }) => `update${many}`,
    summary: ({ tag }) => `Change fields of several ${tag}, all or none`,
    description: checked,
    parameters: () => [parameters.atomicParameter],
    body: (names, resource) => items(schemaName.patchItem(names), resource),
    data: records,
    failures: ['any', 'body', 'missing', 'conflict', 'write', 'version'],
  },
  delete: {
    id: ({ one }) => `delete${one}`,
    summary: ({ one }) => `Delete a ${one}`,
    parameters: (resource) => [...ifMatch(resource), ...purgeParameters(resource)],
    data: nothing,
    failures: ['any', 'id', 'referred', 'write', 'version'],
  },
  deleteMany: {
    id: ({ many }) => `delete${many}`,
    summary: ({ tag }) => `Delete several ${tag}, all or none`,
    parameters: (resource) => [
      parameters.idsParameter(resource),
      parameters.atomicParameter,
      ...purgeParameters(resource),
    ],
    data: nothing,
    failures: ['any', 'query', 'missing', 'referred', 'write', 'version'],
  },
  restore: {
    id: ({ one }) => `restore${one}`,
    summary: ({ one }) => `Restore a deleted ${one}`,
    data: record,
    headers: responses.recordHeaders,
    failures: ['any', 'id', 'conflict', 'write'],
  },
};

export const SCHEMAS_OF: Readonly<Partial<Record<OperationName, Exclude<keyof typeof schemaName, 'record'>>>> = {
  create: 'create',
  createMany: 'create',
  update: 'replace',
  patch: 'patch',
  patchMany: 'patchItem',
};
