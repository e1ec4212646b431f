/** The parameters of generated operations in a document. Descriptions have the rules between parameters. */
import type { Field } from '../../entities/entity-schema.js';
import { NO_NUL, type JsonSchema } from '../../entities/json-schema.js';
import { TEXT, type ParameterDocument } from '../../documents/operation-document.js';
import type { Paging } from '../declare/list-options.js';
import { TAKES } from '../query/aggregate-query.js';
import { ANY_FIELD, FORMATS, MAX_SORT_KEYS, MAX_TERM } from '../query/list-query.js';
import { COUNTS, DEFAULT_SIZE, MAX_SIZE } from '../query/page-parameters.js';
import { MAX_RELATIONS, namesOf } from '../query/record-request.js';
import { MAX_TEXT, MAX_VALUES } from '../query/filter-parameter.js';
import type { Operator } from '../sql/operators.js';
import type { DescribedResource } from './described-resource.js';

const parameterIn =
  (place: ParameterDocument['in']) =>
  (name: string, schema: JsonSchema, description?: string, required = false): ParameterDocument => ({
    in: place,
    name,
    schema,
    description,
    required,
  });
const [query, header] = [parameterIn('query'), parameterIn('header')];
const listOf = (items: JsonSchema, more?: JsonSchema): JsonSchema => ({ type: 'array', items, ...more });
const TEXT_WITHOUT_NUL = { type: 'string', pattern: NO_NUL };
const oneOf = (values: readonly string[]): JsonSchema => ({ type: 'string', enum: values });

export const pathParameters = ({ schema: { key }, pathParameters: fixed }: DescribedResource, path: string) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    parameterIn('path')(name, (fixed.get(name)?.type ?? key).schemas.text, undefined, true),
  );

function pageParameters(paged: Paging): ParameterDocument[] {
  if (paged === false) return [];
  const number = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
  const before = '`metadata.pagination.next` of the page before, which had the same `sort` and filters.';
  const alone = paged === 'both' ? ' Not together with `page` and `count`.' : '';
  const page = query('page', { ...number, default: 1 }, 'The number of the page.');
  const count = query('count', { ...oneOf(COUNTS), default: 'exact' }, 'How the total is found.');
  const after = query('after', TEXT, `${before}${alone}`);
  const cursor = query('pagination', oneOf(['cursor']), `Pages by cursor.${alone}`);
  const size = `Records on a page; ${MAX_SIZE} where more are asked for.`;
  return [
    query('size', { ...number, default: DEFAULT_SIZE }, size),
    ...(paged === 'cursor' ? [] : [page, count]),
    ...(paged === true ? [] : [after, cursor]),
  ];
}

export function sortParameters({ list: { sortable } }: DescribedResource): ParameterDocument[] {
  if (sortable.size === 0) return [];
  const keys = [...sortable.keys()].flatMap((name) => [name, `-${name}`]);
  const schema = listOf(oneOf(keys), { maxItems: MAX_SORT_KEYS, uniqueItems: true });
  return [query('sort', schema, '`-` sorts descending. Each field once.')];
}

export function recordParameters(
  { list: { readable, linkable, includable } }: DescribedResource,
  includes = true,
): ParameterDocument[] {
  const names = new Set(readable.flatMap(namesOf));
  const all = listOf(oneOf([...names, ...linkable.map(({ name }) => name)]));
  const fields = query('fields', all, 'Only these fields are answered.');
  if (!includes || includable.size === 0) return [fields];
  const paths = [...includable.keys()];
  const limit = paths.length > MAX_RELATIONS ? { maxItems: MAX_RELATIONS } : {};
  return [
    fields,
    query('include', listOf(oneOf(paths), limit), 'Related records to answer too.'),
    ...[...includable.values()].map(({ path, readable: related }) => {
      const known = related.map(({ name }) => name);
      const sentence = `Only these fields of \`${path}\`, which \`include\` must name.`;
      return query(`fields[${path}]`, listOf(oneOf(known)), sentence);
    }),
  ];
}

const filterParameters = ({ listWithDeleted: { filterable } }: DescribedResource): ParameterDocument[] =>
  [...filterable].flatMap(([name, { field, operators }]) =>
    [...operators].flatMap(([operator, { custom, ...each }]) => {
      if (each.arity === 'none' && !field.nullable && !name.includes('.')) return [];
      const schema = custom ? (custom.schema ?? TEXT_WITHOUT_NUL) : operandOf(field, each);
      const description = custom && `Must be ${custom.expected}.`;
      return query(`filter[${name}]${operator === 'eq' ? '' : `[${operator}]`}`, schema, description);
    }),
  );

function operandOf({ type }: Field, { arity, bind }: Pick<Operator, 'arity' | 'bind'>): JsonSchema {
  if (arity === 'none') return { type: 'boolean' };
  if (bind) return { ...TEXT_WITHOUT_NUL, minLength: 1, maxLength: MAX_TEXT };
  const isLabel = type.comparison === 'label';
  const value = isLabel || type.comparison === 'text' ? TEXT_WITHOUT_NUL : type.schemas.text;
  // A row may have a value that has left its enum.
  if (arity === 'one') return isLabel ? { ...value, examples: type.schemas.text['enum'] } : value;
  return listOf(asItem(value), arity === 'two' ? { minItems: 2, maxItems: 2 } : { maxItems: MAX_VALUES });
}

/** In a list, `\,` is a comma of a value. */
function asItem(schema: JsonSchema): JsonSchema {
  const pattern = String.raw`^(?:[^,\\\u0000]|\\,|\\(?!,))*$`;
  return schema === TEXT_WITHOUT_NUL ? { type: 'string', pattern } : schema;
}

/** A parameter for users with one of the `deletedRoles`. */
function parameterOfRoles(resource: DescribedResource, name: string, schema: JsonSchema, text: string) {
  const { deletedRoles } = resource.options;
  return deletedRoles.length === 0 ? [] : [query(name, schema, `${text} Only for ${deletedRoles.join(' and ')}.`)];
}

export const purgeParameters = (resource: DescribedResource): ParameterDocument[] =>
  parameterOfRoles(resource, 'purge', { type: 'boolean' }, 'Removes the record for good.');

export const conditionParameters = (resource: DescribedResource): ParameterDocument[] => [
  ...filterParameters(resource),
  ...parameterOfRoles(resource, 'deleted', oneOf(['with', 'only']), 'Hidden records too, or only those.'),
];

export const listParameters = (resource: DescribedResource): ParameterDocument[] => [
  ...pageParameters(resource.list.paged),
  ...sortParameters(resource),
  ...recordParameters(resource),
  ...conditionParameters(resource),
];

export function searchParameters({ list: { searchable } }: DescribedResource): ParameterDocument[] {
  const term = { ...TEXT_WITHOUT_NUL, minLength: 1, maxLength: MAX_TERM };
  const names = [...new Set([...searchable.keys(), ANY_FIELD])];
  const sentence = 'In any of the searched fields. At least one term must be sent.';
  return names.map((name) => query(name, term, name === ANY_FIELD && !searchable.has(name) ? sentence : undefined));
}

export function aggregateParameters({ aggregatable }: DescribedResource): ParameterDocument[] {
  return Object.entries(TAKES).flatMap(([name, taken]) => {
    const fields = aggregatable.filter(({ type }) => type.comparison && taken.includes(type.comparison));
    const names = oneOf(fields.map((field) => field.name));
    return fields.length === 0 ? [] : [query(name, listOf(names, { uniqueItems: true }))];
  });
}

export const formatParameter = query('format', oneOf(FORMATS), undefined, true);

const SEPARATELY = '`false` writes each item by itself, and answers 207.';
export const atomicParameter = query('atomic', { type: 'boolean', default: true }, SEPARATELY);

export function idsParameter({ schema: { key }, options }: DescribedResource): ParameterDocument {
  const { text } = key.schemas;
  const list = listOf(text, { minItems: 1, maxItems: options.maxBatchSize, uniqueItems: true });
  const isSingle = key.fields.length === 1;
  const pattern = String(text['pattern']).slice(1, -1);
  const schema = isSingle ? list : { type: 'string', pattern: `^${pattern}(?:;${pattern})*$` };
  return query('ids', schema, `The ids of the records${isSingle ? '' : ', separated by semicolons'}.`, true);
}

export const ifMatchParameter = (required: boolean): ParameterDocument =>
  header('If-Match', TEXT, 'The `ETag` of the record, which must not have changed since.', required);
const KNOWN = 'The `ETag` of a known record: 304 if it has not changed.';
export const ifNoneMatchParameter = header('If-None-Match', TEXT, KNOWN);
export const idempotencyParameter = header(
  'Idempotency-Key',
  { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  'A repeated request with the same key writes nothing, and gets the first answer.',
);
