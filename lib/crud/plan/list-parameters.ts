/** Checks the options that name fields and relations for lists, and finds these. */
import type { EntityMetadata } from 'typeorm';
import { describe } from '../../options/invalid-option.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { isOrdered } from '../../entities/value-types.js';
import type { RelationThrough } from '../declare/list-options.js';
import { fieldNames, refuseOption, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import { isGroupName } from '../query/filter-parameter.js';
import { parameterNames, parseSort, type ListParameters } from '../query/list-query.js';
import { QueryErrors } from '../query/query-errors.js';
import type { Includable } from '../query/record-request.js';
import type { Relation, SortKey } from '../sql/condition.js';
import { foreignKeyFields } from '../sql/foreign-keys.js';
import { deletionOf, findFieldPath, type FieldPath, type FilterableField } from '../query/field-path.js';
import { operatorsFor } from '../sql/operators.js';
import { readableParameters } from '../rows/field-permissions.js';
import type { DeclaredResource } from './row-options.js';

export function compileListParameters(declared: DeclaredResource) {
  const { options, schema, database } = declared;
  const choosesDeleted = options.deletedRoles.length > 0;
  const deletion = choosesDeleted ? undefined : deletionOf(schema);
  const readable = schema.fields.filter((field) => field.readable && field !== deletion);
  const ordered = readable.filter(({ type }) => isOrdered(type));
  const compared = readable.filter((field) => operatorsFor(field, database.operators).size > 0);
  const filterable: Accept<FilterableField> = (path, name) => {
    const operators = operatorsFor(path.field, database.operators);
    return operators.size > 0 && !isGroupName(name) ? { ...path, operators } : undefined;
  };
  const sortable: Accept<Field> = ({ relations: through, field }, name, isCandidate) => {
    if (through.length === 0 || !isOrdered(field.type)) return isCandidate ? field : undefined;
    return Object.freeze({ ...field, name, nullable: true, through });
  };
  const list = {
    paged: options.enablePagination,
    maxOffset: options.maxOffset,
    choosesDeleted,
    filterable: namedFields(declared, 'filterableFields', compared, WITH_RELATED, filterable),
    sortable: namedFields(declared, 'sortableFields', ordered, WITH_RELATED, sortable),
    includable: compileIncludable(declared),
    linkable: compileLinkable(declared),
  };
  const shadowed = options.enableSearch && options.searchableFields.find((name) => parameterNames(list).includes(name));
  if (shadowed) {
    const expected = `fields other than ${parameterNames(list).join(', ')}, which are parameters of the list`;
    refuseOption(options, 'searchableFields', expected, describe(shadowed), 'leave the field out');
  }
  const texts = readable.filter(({ type, column }) => type.searchable && !column.transformer);
  const searchable = namedFields(declared, 'searchableFields', texts, 'readable text or number columns', own);
  return { ...list, searchable, key: schema.key, defaultSort: defaultSort(options, ordered), readable };
}

/** For a caller who may not see when a record was deleted. */
export function withoutDeletion(list: ListParameters, schema: EntityDescription): ListParameters {
  const deletion = deletionOf(schema);
  return deletion ? { ...readableParameters(list, (field) => field !== deletion), choosesDeleted: false } : list;
}

export function aggregatableFields(declared: DeclaredResource): readonly Field[] {
  const candidates = declared.schema.fields.filter(
    (field) => field.readable && isOrdered(field.type) && !field.column.transformer,
  );
  const described = 'readable columns without a transformer that can be compared';
  return [...namedFields(declared, 'aggregatableFields', candidates, described, own).values()];
}

type FieldOption = 'aggregatableFields' | 'searchableFields' | 'sortableFields' | 'filterableFields';
/** @param isCandidate whether the path is that of a candidate of the entity itself */
type Accept<V> = (path: FieldPath, name: string, isCandidate: boolean) => V | undefined;

const WITH_RELATED = 'readable columns that can be compared, of the entity or of a related one as in "author.name"';
const own: Accept<Field> = ({ field }, _, isCandidate) => (isCandidate ? field : undefined);

function namedFields<V>(
  { options, schema, database }: DeclaredResource,
  option: FieldOption,
  candidates: readonly Field[],
  described: string,
  accept: Accept<V>,
): ReadonlyMap<string, V> {
  const { [option]: given } = options;
  const names = given === true ? candidates.map(({ name }) => name).filter((name) => !isGroupName(name)) : given;
  const named = names.map((name): [string, V] => {
    const path = findFieldPath(name, schema.metadata, database.describe);
    const isCandidate = path?.relations.length === 0 && candidates.includes(path.field);
    const accepted = path?.field.readable ? accept(path, name, isCandidate) : undefined;
    if (accepted) return [name, accepted];
    const got = describeField(name, path?.field, option);
    return refuseOption(options, option, fieldNames(candidates), got, `name ${described}`);
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

function defaultSort(options: ResolvedCrudOptions, compared: readonly Field[]): readonly SortKey[] {
  const { defaultSort: text } = options;
  if (text === undefined) return [];
  const errors = new QueryErrors();
  const keys = parseSort(text, new Map(compared.map((field) => [field.name, field])), errors);
  if (errors.isEmpty) return keys;
  const advice = 'name each once, "-" before a name descends';
  return refuseOption(options, 'defaultSort', fieldNames(compared), describe(text), advice);
}

export type RelationOption = 'includableRelations' | 'linkableRelations' | 'filterableFields' | 'sortableFields';

const MAX_DEPTH = 3;

/** The names of `includableRelations` with the controllers that some of them name. */
export const includedRelations = ({ includableRelations }: ResolvedCrudOptions): readonly Partial<RelationThrough>[] =>
  includableRelations.map((each) => (typeof each === 'string' ? { relation: each } : each));

/** @returns the relations by path, each after those that its path begins with @throws InvalidOptionError */
function compileIncludable(declared: DeclaredResource): ReadonlyMap<string, Includable> {
  const { options, schema, database } = declared;
  const includable = new Map<string, Includable>();
  for (const { relation: name = '' } of includedRelations(options)) {
    const relations = relationsIn(name, schema.metadata);
    if (!relations || relations.length > MAX_DEPTH)
      return refuseRelation(declared, 'includableRelations', `relations up to ${MAX_DEPTH} deep`, name);
    for (const [path, relation] of pathsOf(relations)) {
      assertRelatable(declared, 'includableRelations', path, relation);
      const related = database.describe(relation.inverseEntityMetadata);
      includable.set(path, { path, relation, readable: related.fields.filter(({ readable }) => readable) });
    }
  }
  return new Map([...includable].toSorted(([a], [b]) => a.split('.').length - b.split('.').length));
}

function compileLinkable(declared: DeclaredResource) {
  const { options, schema } = declared;
  return options.linkableRelations.map((path) => {
    const relation = schema.metadata.relations.find(({ propertyPath }) => propertyPath === path);
    if (!relation?.isManyToMany) return refuseRelation(declared, 'linkableRelations', 'many-to-many relations', path);
    assertRelatable(declared, 'linkableRelations', path, relation);
    const name = `${path}Ids`;
    if (!schema.fields.some((field) => field.path[0] === name)) return { name, path, relation };
    const expected = `relations without a column \`${name}\``;
    return refuseOption(options, 'linkableRelations', expected, describe(path), RENAME);
  });
}

/** Every relation that requests of a resource may follow, with an option that names it: with that of sorts, if it does. */
export function followedRelations(list: ListParameters): ReadonlyMap<string, [Relation, RelationOption]> {
  const found = new Map<string, [Relation, RelationOption]>();
  for (const { path, relation } of list.includable.values()) found.set(path, [relation, 'includableRelations']);
  for (const { path, relation } of list.linkable) found.set(path, [relation, 'linkableRelations']);
  for (const { relations } of list.filterable.values())
    for (const [path, relation] of pathsOf(relations))
      if (!found.has(path)) found.set(path, [relation, 'filterableFields']);
  for (const { through = [] } of list.sortable.values())
    for (const [path, relation] of pathsOf(through)) found.set(path, [relation, 'sortableFields']);
  return found;
}

export const relationPath = (relations: readonly Relation[]): string =>
  relations.map(({ propertyPath }) => propertyPath).join('.');

/** Each relation of a path, by the part of the path that ends with it. */
export const pathsOf = (relations: readonly Relation[]): [string, Relation][] =>
  relations.map((relation, depth) => [relationPath(relations.slice(0, depth + 1)), relation]);

function relationsIn(name: string, { relations }: EntityMetadata): readonly Relation[] | undefined {
  for (const relation of relations) {
    if (relation.propertyPath === name) return [relation];
    if (!name.startsWith(`${relation.propertyPath}.`)) continue;
    const rest = relationsIn(name.slice(relation.propertyPath.length + 1), relation.inverseEntityMetadata);
    if (rest) return [relation, ...rest];
  }
  return undefined;
}

const RENAME = 'rename the column or the relation';

function assertRelatable(
  { options, database }: DeclaredResource,
  option: RelationOption,
  path: string,
  relation: Relation,
): void {
  const { primaryColumns: keys, target } = relation.inverseEntityMetadata;
  if (typeof target !== 'function' || keys.length === 0 || keys.some(({ embeddedMetadata }) => embeddedMetadata)) {
    const expected = 'relations to entity classes with a primary key that lies in no embedded object';
    refuseOption(options, option, expected, describe(path), 'leave the relation out');
  }
  const hidden = foreignKeyFields(relation, database.describe).find(({ readable }) => !readable);
  if (hidden) {
    const got = `${describe(path)}, whose ${hidden.name} is hidden`;
    const advice = `make ${hidden.name} readable, or leave the relation out`;
    refuseOption(options, option, 'relations with a foreign key that clients can read', got, advice);
  }
}

function refuseRelation(
  { options, schema }: DeclaredResource,
  option: RelationOption,
  expected: string,
  got: string,
): never {
  const names = schema.metadata.relations.filter(({ isManyToMany }) => isManyToMany || option !== 'linkableRelations');
  const known = names.map(({ propertyPath }) => propertyPath).join(', ');
  const advice = known === '' ? 'leave the option out: the entity has none' : `name relations among ${known}`;
  return refuseOption(options, option, expected, describe(got), advice);
}
