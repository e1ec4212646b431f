/** Checks the options that name relations, and finds these relations. */
import type { EntityMetadata } from 'typeorm';
import { describe } from '../../options/invalid-option.js';
import type { EntityDescription } from '../../entities/entity-schema.js';
import type { RelationThrough } from '../declare/list-options.js';
import type { Relation } from '../sql/condition.js';
import type { ListParameters } from '../query/list-query.js';
import type { Includable } from '../query/record-request.js';
import { foreignKeyFields } from '../sql/foreign-keys.js';
import { refuseOption, type ResolvedCrudOptions } from '../declare/resolve-options.js';
import type { Database } from '../store/database.js';

export type RelationOption = 'includableRelations' | 'linkableRelations' | 'filterableFields';

const MAX_DEPTH = 3;

/** The names of `includableRelations` with the controllers that some of them name. */
export const includedRelations = ({ includableRelations }: ResolvedCrudOptions): readonly Partial<RelationThrough>[] =>
  includableRelations.map((each) => (typeof each === 'string' ? { relation: each } : each));

/** @returns the relations by path, each after those that its path begins with @throws InvalidOptionError */
export function compileIncludable(options: ResolvedCrudOptions, database: Database): ReadonlyMap<string, Includable> {
  const includable = new Map<string, Includable>();
  for (const { relation: name = '' } of includedRelations(options)) {
    const relations = relationsIn(name, database.dataSource.getMetadata(options.entity));
    if (!relations || relations.length > MAX_DEPTH)
      return refuseRelation(options, 'includableRelations', `relations up to ${MAX_DEPTH} deep`, name, database);
    for (const [depth, relation] of relations.entries()) {
      const path = relationPath(relations.slice(0, depth + 1));
      assertRelatable(options, 'includableRelations', path, relation, database);
      const related = database.describe(relation.inverseEntityMetadata);
      includable.set(path, { path, relation, readable: related.fields.filter(({ readable }) => readable) });
    }
  }
  return new Map([...includable].toSorted(([a], [b]) => a.split('.').length - b.split('.').length));
}

export function compileLinkable(options: ResolvedCrudOptions, { fields }: EntityDescription, database: Database) {
  const { relations } = database.dataSource.getMetadata(options.entity);
  return options.linkableRelations.map((path) => {
    const relation = relations.find(({ propertyPath }) => propertyPath === path);
    if (!relation?.isManyToMany)
      return refuseRelation(options, 'linkableRelations', 'many-to-many relations', path, database);
    assertRelatable(options, 'linkableRelations', path, relation, database);
    const name = `${path}Ids`;
    if (!fields.some((field) => field.path[0] === name)) return { name, path, relation };
    const expected = `relations without a column \`${name}\``;
    return refuseOption(options, 'linkableRelations', expected, describe(path), RENAME);
  });
}

/** Every relation that requests of a resource may follow, with the option that names it. */
export function followedRelations(list: ListParameters): ReadonlyMap<string, [Relation, RelationOption]> {
  const found = new Map<string, [Relation, RelationOption]>();
  for (const { path, relation } of list.includable.values()) found.set(path, [relation, 'includableRelations']);
  for (const { path, relation } of list.linkable) found.set(path, [relation, 'linkableRelations']);
  for (const { relations } of list.filterable.values())
    for (const [depth, relation] of relations.entries()) {
      const path = relationPath(relations.slice(0, depth + 1));
      if (!found.has(path)) found.set(path, [relation, 'filterableFields']);
    }
  return found;
}

export const relationPath = (relations: readonly Relation[]): string =>
  relations.map(({ propertyPath }) => propertyPath).join('.');

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
  options: ResolvedCrudOptions,
  option: RelationOption,
  path: string,
  relation: Relation,
  database: Database,
): void {
  const { inverseEntityMetadata, entityMetadata } = relation;
  const { primaryColumns: keys, target } = inverseEntityMetadata;
  if (typeof target !== 'function' || keys.length === 0 || keys.some(({ embeddedMetadata }) => embeddedMetadata)) {
    const expected = 'relations to entity classes with a primary key that lies in no embedded object';
    refuseOption(options, option, expected, describe(path), 'leave the relation out');
  }
  const schemas = [database.describe(entityMetadata), database.describe(inverseEntityMetadata)] as const;
  const hidden = foreignKeyFields(relation, ...schemas).find(({ readable }) => !readable);
  if (hidden) {
    const got = `${describe(path)}, whose ${hidden.name} is hidden`;
    const advice = `make ${hidden.name} readable, or leave the relation out`;
    refuseOption(options, option, 'relations with a foreign key that clients can read', got, advice);
  }
}

function refuseRelation(
  options: ResolvedCrudOptions,
  option: RelationOption,
  expected: string,
  got: string,
  database: Database,
): never {
  const { relations } = database.dataSource.getMetadata(options.entity);
  const names = relations.filter(({ isManyToMany }) => isManyToMany || option !== 'linkableRelations');
  const known = names.map(({ propertyPath }) => propertyPath).join(', ');
  const advice = known === '' ? 'leave the option out: the entity has none' : `name relations among ${known}`;
  return refuseOption(options, option, expected, describe(got), advice);
}
