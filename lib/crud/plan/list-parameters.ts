/** Checks the options that name fields for lists, and finds these fields. */
import { describe } from '../../options/invalid-option.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { fieldNames, refuseOption, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { isGroupName } from '../query/filter-parameter.js';
import { parameterNames, parseSort, type ListParameters } from '../query/list-query.js';
import { QueryErrors } from '../query/query-errors.js';
import type { SortKey } from '../sql/condition.js';
import { deletionOf, findFieldPath, type FieldPath } from '../query/field-path.js';
import type { Database } from '../store/database.js';
import { readableParameters } from '../rows/field-permissions.js';
import { compileIncludable, compileLinkable } from './relation-parameters.js';

export function compileListParameters(
  options: ResolvedCrudOptions,
  schema: EntityDescription,
  database: Database,
): ListParameters {
  const choosesDeleted = options.deletedRoles.length > 0;
  const deletion = choosesDeleted ? undefined : deletionOf(schema);
  const readable = schema.fields.filter((field) => field.readable && field !== deletion);
  const compared = readable.filter(isCompared);
  const list = {
    paged: options.enablePagination,
    choosesDeleted,
    filterable: filterableFields(options, compared, database),
    sortable: namedFields(options, 'sortableFields', compared, 'readable columns that can be compared'),
    includable: compileIncludable(options, database),
    linkable: compileLinkable(options, schema, database),
  };
  const shadowed = options.enableSearch && options.searchableFields.find((name) => parameterNames(list).includes(name));
  if (shadowed) {
    const expected = `fields other than ${parameterNames(list).join(', ')}, which are parameters of the list`;
    refuseOption(options, 'searchableFields', expected, describe(shadowed), 'leave the field out');
  }
  const searchable = searchableFields(options, readable);
  return { ...list, searchable, id: schema.id, defaultSort: defaultSort(options, compared), readable };
}

/** For a caller who may not see when a record was deleted. */
export function withoutDeletion(list: ListParameters, schema: EntityDescription): ListParameters {
  const deletion = deletionOf(schema);
  return deletion ? { ...readableParameters(list, (field) => field !== deletion), choosesDeleted: false } : list;
}

const isCompared = ({ type }: Field): boolean => type.comparison !== undefined;

function searchableFields(options: ResolvedCrudOptions, readable: readonly Field[]): ReadonlyMap<string, Field> {
  const candidates = readable.filter(({ type, column }) => type.searchable && !column.transformer);
  return namedFields(options, 'searchableFields', candidates, 'readable text or number columns of the entity');
}

export function aggregatableFields(options: ResolvedCrudOptions, { fields }: EntityDescription): readonly Field[] {
  const candidates = fields.filter((field) => field.readable && isCompared(field) && !field.column.transformer);
  const described = 'readable columns without a transformer that can be compared';
  return [...namedFields(options, 'aggregatableFields', candidates, described).values()];
}

function namedFields(
  options: ResolvedCrudOptions,
  option: 'aggregatableFields' | 'searchableFields' | 'sortableFields',
  candidates: readonly Field[],
  described: string,
): ReadonlyMap<string, Field> {
  const fields = options[option].map((name): [string, Field] => {
    const field = candidates.find((candidate) => candidate.name === name);
    return field
      ? [name, field]
      : refuseOption(options, option, fieldNames(candidates), describe(name), `name ${described}`);
  });
  return new Map(fields);
}

function filterableFields(
  options: ResolvedCrudOptions,
  compared: readonly Field[],
  database: Database,
): ReadonlyMap<string, FieldPath> {
  const { filterableFields: names, entity } = options;
  if (names === true)
    return new Map(
      compared.flatMap((field) =>
        isGroupName(field.name) ? [] : [[field.name, { name: field.name, relations: [], field }]],
      ),
    );
  const metadata = database.dataSource.getMetadata(entity);
  const paths = names.map((name): [string, FieldPath] => {
    const path = findFieldPath(name, metadata, database.describe);
    if (path && path.field.readable && isCompared(path.field) && !isGroupName(name)) return [name, path];
    const advice =
      'name readable columns of the entity, or of a related one as in "author.name"; no JSON or binary columns';
    return refuseOption(options, 'filterableFields', fieldNames(compared), describe(name), advice);
  });
  return new Map(paths);
}

function defaultSort(options: ResolvedCrudOptions, compared: readonly Field[]): readonly SortKey[] {
  const { defaultSort: text } = options;
  if (text === undefined) return [];
  const errors = new QueryErrors();
  const keys = parseSort(text, new Map(compared.map((field) => [field.name, field])), errors);
  if (errors.isEmpty) return keys;
  return refuseOption(
    options,
    'defaultSort',
    fieldNames(compared),
    describe(text),
    'name each once, "-" before a name descends',
  );
}
