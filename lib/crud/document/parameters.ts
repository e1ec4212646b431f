/** The parameters of generated operations in a document. Rules between parameters are said in descriptions. */
import type { Field } from '../../entities/entity-schema.js';
import { NO_NUL, type JsonSchema } from '../../entities/json-schema.js';
import { closedObject, type ParameterDocument } from '../../documents/operation-document.js';
import type { Paging } from '../declare/list-options.js';
import { TAKES } from '../query/aggregate-query.js';
import type { FilterableField } from '../query/field-path.js';
import { ANY_FIELD, FORMATS, MAX_SORT_KEYS, MAX_TERM } from '../query/list-query.js';
import { COUNTS, DEFAULT_SIZE, MAX_SIZE } from '../query/page-parameters.js';
import { MAX_RELATIONS } from '../query/record-request.js';
import { MAX_TEXT, MAX_VALUES } from '../query/filter-parameter.js';
import type { Operator } from '../sql/operators.js';
import type { DescribedResource } from './described-resource.js';

const query = (name: string, schema: JsonSchema, description?: string, required = false): ParameterDocument => ({
  in: 'query',
  name,
  schema,
  ...(description !== undefined && { description }),
  ...(required && { required }),
});

const listOf = (items: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  type: 'array',
  items,
  minItems: 1,
  ...more,
});
const oneOf = (values: readonly string[]): JsonSchema => ({ type: 'string', enum: values });

export const pathParameters = (
  { schema, pathParameters: fixed }: DescribedResource,
  names: readonly string[],
): ParameterDocument[] =>
  names.map((name) => {
    const { text } = (fixed.get(name)?.type ?? schema.key).schemas;
    return { in: 'path', name, required: true, schema: text };
  });

function pageParameters(paged: Paging): ParameterDocument[] {
  if (paged === false) return [];
  const number = (fallback: number): JsonSchema => ({
    type: 'integer',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    default: fallback,
  });
  const size = query('size', number(DEFAULT_SIZE), `Records on a page; ${MAX_SIZE} where more are asked for.`);
  const numbered = [
    query('page', number(1), 'The number of the page.'),
    query('count', { ...oneOf(COUNTS), default: 'exact' }, 'How the total is found.'),
  ];
  const before = '`metadata.pagination.next` of the page before, which had the same `sort` and filters.';
  const after = query('after', { type: 'string' }, before);
  const cursor = [after, query('pagination', oneOf(['cursor']), 'Pages by cursor.')];
  if (paged === 'cursor') return [size, ...cursor];
  if (paged === true) return [size, ...numbered];
  return [size, ...numbered, ...cursor.map((each) => withSentence(each, 'Not together with `page` and `count`.'))];
}

const withSentence = (parameter: ParameterDocument, sentence: string): ParameterDocument => ({
  ...parameter,
  description: [parameter.description, sentence].filter(Boolean).join(' '),
});

export function sortParameters({ list: { sortable } }: DescribedResource): ParameterDocument[] {
  if (sortable.size === 0) return [];
  const keys = [...sortable.keys()].flatMap((name) => [name, `-${name}`]);
  const schema = listOf(oneOf(keys), { maxItems: MAX_SORT_KEYS, uniqueItems: true });
  return [query('sort', schema, '`-` sorts descending. Each field once.')];
}

/** @param isList whether relations can be included */
export function recordParameters(
  { list: { readable, linkable, includable }, relations }: DescribedResource,
  includes = true,
): ParameterDocument[] {
  const names = [
    ...new Set(readable.flatMap(({ path }) => path.map((_, depth) => path.slice(0, depth + 1).join('.')))),
  ];
  const all = listOf(oneOf([...names, ...linkable.map(({ name }) => name)]));
  const fields = query('fields', all, 'Only these fields are answered.');
  if (!includes || includable.size === 0) return [fields];
  const paths = [...includable.keys()];
  const limit = paths.length > MAX_RELATIONS ? { maxItems: MAX_RELATIONS } : {};
  return [
    fields,
    query('include', listOf(oneOf(paths), limit), 'Related records to answer too.'),
    ...[...includable.values()].map(({ path, readable: own }) => {
      const known = (relations.get(path)?.list.readable ?? own).map(({ name }) => name);
      const sentence = `Only these fields of \`${path}\`, which \`include\` must name.`;
      return query(`fields[${path}]`, listOf(oneOf(known)), sentence);
    }),
  ];
}

const filterParameters = ({ listWithDeleted: { filterable } }: DescribedResource): ParameterDocument[] =>
  [...filterable].map(([name, path]) => ({
    ...query(
      `filter[${name}]`,
      filterSchema(path),
      `\`filter[${name}]=…\` is short for \`filter[${name}][eq]=…\`. Groups are \`filter[or][0][${name}]\`, \`filter[and][0][${name}]\` and \`filter[not][${name}]\`.`,
    ),
    style: 'deepObject',
  }));

function filterSchema({ field, operators }: FilterableField): JsonSchema {
  const operands = [...operators].map(([name, operator]) => [name, operandOf(field, operator)] as const);
  // Without an example, Swagger UI fills in every operator.
  return { ...closedObject(Object.fromEntries(operands), []), examples: [{}] };
}

function operandOf({ type }: Field, { arity, bind, custom }: Operator): JsonSchema {
  const text = { type: 'string', pattern: NO_NUL };
  if (custom) return { description: `Must be ${custom.expected}.`, ...(custom.schema ?? text) };
  if (arity === 'none') return { type: 'boolean' };
  if (bind) return { ...text, minLength: 1, maxLength: MAX_TEXT };
  const isText = type.comparison === 'text';
  if (arity === 'one') return isText ? text : type.schemas.text;
  const value = isText ? String.raw`(?:[^,\\\u0000]|\\,|\\(?!,))*` : (type.schemas.pattern ?? '.*');
  const more = arity === 'two' ? '{1}' : `{0,${MAX_VALUES - 1}}`;
  return {
    type: 'string',
    pattern: `^(?:${value})(?:,(?:${value}))${more}$`,
    description: 'Separated by commas; `\\,` is a comma in a value.',
  };
}

function deletedParameters({ options: { deletedRoles } }: DescribedResource): ParameterDocument[] {
  if (deletedRoles.length === 0) return [];
  const sentence = `Hidden records too, or only those. Only for ${deletedRoles.join(' and ')}.`;
  return [query('deleted', oneOf(['with', 'only']), sentence)];
}

export function purgeParameters({ options: { deletedRoles } }: DescribedResource): ParameterDocument[] {
  if (deletedRoles.length === 0) return [];
  return [query('purge', { type: 'boolean' }, `Removes the record for good. Only for ${deletedRoles.join(' and ')}.`)];
}

export const conditionParameters = (resource: DescribedResource): ParameterDocument[] => [
  ...filterParameters(resource),
  ...deletedParameters(resource),
];

export const listParameters = (resource: DescribedResource): ParameterDocument[] => [
  ...pageParameters(resource.list.paged),
  ...sortParameters(resource),
  ...conditionParameters(resource),
  ...recordParameters(resource),
];

export function searchParameters({ list: { searchable } }: DescribedResource): ParameterDocument[] {
  const term = { type: 'string', minLength: 1, maxLength: MAX_TERM, pattern: NO_NUL };
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

export const atomicParameter = query(
  'atomic',
  { type: 'boolean', default: true },
  '`false` writes each item by itself, and answers 207.',
);

export function idsParameter({ schema: { key }, options }: DescribedResource): ParameterDocument {
  const { text, pattern } = key.schemas;
  const list = listOf(text, { maxItems: options.maxBatchSize, uniqueItems: true });
  const isSingle = key.fields.length === 1;
  const schema = isSingle ? list : { type: 'string', pattern: `^${pattern}(?:;${pattern})*$` };
  return query('ids', schema, `The ids of the records${isSingle ? '' : ', separated by semicolons'}.`, true);
}

export const ifMatchParameter = (required: boolean): ParameterDocument => ({
  in: 'header',
  name: 'If-Match',
  schema: { type: 'string' },
  description: 'The `ETag` of the record, which must not have changed since.',
  ...(required && { required }),
});

export const ifNoneMatchParameter: ParameterDocument = {
  in: 'header',
  name: 'If-None-Match',
  schema: { type: 'string' },
  description: 'The `ETag` of a known record: 304 where it has not changed.',
};

export const idempotencyParameter: ParameterDocument = {
  in: 'header',
  name: 'Idempotency-Key',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  description: 'A repeated request with the same key writes nothing, and gets the first answer.',
};
