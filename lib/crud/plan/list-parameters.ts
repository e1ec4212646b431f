/** Checks the options that name fields for lists, and finds these fields. */
import { describe } from '../../options/invalid-option.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { isOrdered } from '../../entities/value-types.js';
import { fieldNames, refuseOption, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { isGroupName } from '../query/filter-parameter.js';
import { parameterNames, parseSort, type ListParameters } from '../query/list-query.js';
import { QueryErrors } from '../query/query-errors.js';
import type { SortKey } from '../sql/condition.js';
import { deletionOf, findFieldPath, type FilterableField } from '../query/field-path.js';
import { operatorsFor } from '../sql/operators.js';
import type { Database } from '../store/database.js';
import { readableParameters } from '../rows/field-permissions.js';
import { compileIncludable, compileLinkable } from './relation-parameters.js';

export function compileListParameters(options: ResolvedCrudOptions, schema: EntityDescription, database: Database) {
  const choosesDeleted = options.deletedRoles.length > 0;
  const deletion = choosesDeleted ? undefined : deletionOf(schema);
  const { fields } = schema;
  const readable = fields.filter((field) => field.readable && field !== deletion);
  const ordered = readable.filter(({ type }) => isOrdered(type));
  const list = {
    paged: options.enablePagination,
    choosesDeleted,
    filterable: filterableFields(options, readable, database),
    sortable: namedFields(options, 'sortableFields', fields, ordered, 'readable columns that can be compared'),
    includable: compileIncludable(options, database),
    linkable: compileLinkable(options, schema, database),
  };
  const shadowed = options.enableSearch && options.searchableFields.find((name) => parameterNames(list).includes(name));
  if (shadowed) {
    const expected = `fields other than ${parameterNames(list).join(', ')}, which are parameters of the list`;
    refuseOption(options, 'searchableFields', expected, describe(shadowed), 'leave the field out');
  }
  const texts = readable.filter(({ type, column }) => type.searchable && !column.transformer);
  const searchable = namedFields(options, 'searchableFields', fields, texts, 'readable text or number columns');
  return { ...list, searchable, key: schema.key, defaultSort: defaultSort(options, ordered), readable };
}

/** For a caller who may not see when a record was deleted. */
export function withoutDeletion(list: ListParameters, schema: EntityDescription): ListParameters {
  const deletion = deletionOf(schema);
  return deletion ? { ...readableParameters(list, (field) => field !== deletion), choosesDeleted: false } : list;
}

export function aggregatableFields(options: ResolvedCrudOptions, { fields }: EntityDescription): readonly Field[] {
  const candidates = fields.filter((field) => field.readable && isOrdered(field.type) && !field.column.transformer);
  const described = 'readable columns without a transformer that can be compared';
  return [...namedFields(options, 'aggregatableFields', fields, candidates, described).values()];
}

function namedFields(
  options: ResolvedCrudOptions,
  option: 'aggregatableFields' | 'searchableFields' | 'sortableFields',
  fields: readonly Field[],
  candidates: readonly Field[],
  described: string,
): ReadonlyMap<string, Field> {
  const named = options[option].map((name): [string, Field] => {
    const field = fields.find((each) => each.name === name);
    if (field && candidates.includes(field)) return [name, field];
    return refuseOption(
      options,
      option,
      fieldNames(candidates),
      describeField(name, field, option),
      `name ${described}`,
    );
  });
  return new Map(named);
}

/** `"area", a geometry column, which is not sortable` */
function describeField(name: string, field: Field | undefined, option: string): string {
  if (!field?.readable) return describe(name);
  const { type, isArray, isVirtualProperty, transformer } = field.column;
  const typeName = `${typeof type === 'function' ? type.name : type}${isArray ? '[]' : ''}`;
  const kind = `a ${isVirtualProperty ? 'virtual' : typeName} column${transformer ? ' with a transformer' : ''}`;
  return `${describe(name)}, ${kind}, which is not ${option.replace('Fields', '')}`;
}

function filterableFields(options: ResolvedCrudOptions, readable: readonly Field[], database: Database) {
  const { filterableFields: names, entity } = options;
  const metadata = database.dataSource.getMetadata(entity);
  const compared = readable.filter((field) => operatorsFor(field, database.operators).size > 0);
  const all = names === true ? compared.map(({ name }) => name).filter((name) => !isGroupName(name)) : names;
  const paths = all.map((name): [string, FilterableField] => {
    const path = findFieldPath(name, metadata, database.describe);
    const operators = path?.field.readable ? operatorsFor(path.field, database.operators) : undefined;
    if (path && operators && operators.size > 0 && !isGroupName(name)) return [name, { ...path, operators }];
    const advice = 'name readable columns that can be compared, of the entity or of a related one as in "author.name"';
    const got = describeField(name, path?.field, 'filterableFields');
    return refuseOption(options, 'filterableFields', fieldNames(compared), got, advice);
  });
  return new Map(paths);
}

function defaultSort(options: ResolvedCrudOptions, compared: readonly Field[]): readonly SortKey[] {
  const { defaultSort: text } = options;
  if (text === undefined) return [];
  const errors = new QueryErrors();
  const keys = parseSort(text, new Map(compared.map((field) => [field.name, field])), errors);
  if (errors.isEmpty) return keys;
  const advice = 'name each once, "-" before a name descends';
  return refuseOption(options, 'defaultSort', fieldNames(compared), describe(text), advice);
}
