/** The columns by which requests of generated resources find and sort records: each list of them is one for an index. */
import type { DataSource } from 'typeorm';
import { isMysql, isPostgres } from '../entities/database-family.js';
import type { Field } from '../entities/entity-schema.js';
import { relationPath, type Plan } from '../crud/inspect.js';

type Sort = Plan['list']['defaultSort'];
type Relation = Plan['metadata']['relations'][number];

/** Columns that requests compare with one value each, and then those of the order, as far as an index has it. */
export interface Candidate {
  /** The resource of the table. */
  readonly plan: Plan;
  readonly equal: readonly Field[];
  readonly order: readonly Field[];
  /** The order of the request; empty where it counts the records. */
  readonly sort: Sort;
  /** A request that reads so, such as `/api/products?sort=price`. */
  readonly use: string;
}

/** The columns of the index. Several properties of an entity may have the same. */
export const fieldsOf = ({ equal, order }: Candidate): readonly Field[] => [...new Set([...equal, ...order])];

/** @param scope the columns that the scope of the resource compares with one value, for each of its alternatives */
export function candidatesOf(plan: Plan, scope: readonly (readonly Field[])[]): readonly Candidate[] {
  const { owner, pathParameters, database } = plan;
  const { endpoint } = plan.options;
  const outer = [...pathParameters.values()];
  const ordered = ordersOf(plan).map(({ use, sort, order }) => ({ plan, equal: outer, order, sort, use }));
  const lists = [...ordered, ...includes(plan)];
  // A path such as `/shops/:shopId/products` leaves the records of one shop, which its own index finds.
  if (outer.length > 0) return lists.flatMap(asIndexed);
  const { order, sort } = ordered[0] as Candidate;
  const owned = owner?.reads ? [{ plan, equal: [owner.field], order, sort, use: `${endpoint} (owner)` }] : [];
  const scoped = scope
    .filter((equal) => equal.some((field) => isSelective(field, database.dataSource)))
    .map((equal) => ({ plan, equal, order, sort, use: `${endpoint} (scope)` }));
  return [...lists, ...owned, ...scoped, ...filters(plan)].flatMap(asIndexed);
}

const includes = (plan: Plan): Candidate[] =>
  [...plan.list.includable.values()].flatMap(({ path, relation }) =>
    relation.isOwning ? [] : foreignKey(plan, path, relation, `${plan.options.endpoint}?include=${path}`),
  );

/** A filter through relations finds records from either side. */
const filters = (plan: Plan): Candidate[] =>
  [...plan.list.filterable].flatMap(([name, { relations, field }]) => {
    const use = `${plan.options.endpoint}?filter[${name}]`;
    const keys = relations.flatMap((relation, depth) =>
      foreignKey(plan, relationPath(relations.slice(0, depth + 1)), relation, use),
    );
    const target = resourceAt(plan, relationPath(relations));
    return [...keys, ...(target ? [{ plan: target, equal: [field], order: [], sort: [], use }] : [])];
  });

const resourceAt = (plan: Plan, path: string): Plan | undefined => (path === '' ? plan : plan.relations.get(path));

/** TypeORM declares the indexes of a junction table. */
function foreignKey(plan: Plan, path: string, relation: Relation, use: string): Candidate[] {
  const { isOwning, isManyToMany, joinColumns, inverseRelation, propertyPath } = relation;
  const columns = isOwning ? joinColumns : (inverseRelation?.joinColumns ?? []);
  const table = resourceAt(plan, isOwning ? path.slice(0, -propertyPath.length - 1) : path);
  if (isManyToMany || !table) return [];
  const names = columns.map(({ databaseName }) => databaseName);
  const equal = table.schema.fields.filter(({ column }) => names.includes(column.databaseName));
  return [{ plan: table, equal, order: [], sort: [], use }];
}

/** A candidate without the columns that need no index, or cannot have one. */
function asIndexed(candidate: Candidate): Candidate[] {
  const { plan } = candidate;
  const equal = candidate.equal.filter((field) => isSelective(field, plan.database.dataSource));
  const found = { ...candidate, equal };
  return plan.metadata.tableType === 'view' || fieldsOf(found).length === 0 ? [] : [found];
}

const SELECTIVE: readonly unknown[] = ['text', 'number', 'exact number', 'moment', 'calendar', 'uuid'];
/** MySQL indexes these only up to a length. */
const LARGE_OBJECT = /text|blob/;
const MOST_CHARACTERS = 768;

/** Not for booleans and enums: a value that many rows share is found no faster by an index. */
function isSelective({ type, column, hasLimitedCharset }: Field, dataSource: DataSource): boolean {
  if (!SELECTIVE.includes(type.stored ?? type.comparison) || hasLimitedCharset) return false;
  const isLong = LARGE_OBJECT.test(String(column.type)) || Number(column.length) > MOST_CHARACTERS;
  return !(isMysql(dataSource) && isLong);
}

interface Order {
  readonly use: string;
  readonly sort: Sort;
  /** The first columns of the order that an ascending index has too. */
  readonly order: readonly Field[];
  /** Why it has no more of them, where that can be changed. */
  readonly problem: string | undefined;
}

/** The default order of a resource, and then those of `sort`. They end with the primary key. */
export function ordersOf(plan: Plan): readonly Order[] {
  const {
    list,
    options: { endpoint },
  } = plan;
  const sortable = [...list.sortable].flatMap(([name, field]) =>
    field.through ? [] : [orderOf(`${endpoint}?sort=${name}`, [{ field, descending: false }], plan)],
  );
  return [orderOf(endpoint, list.defaultSort, plan), ...sortable];
}

function orderOf(use: string, keys: Sort, plan: Plan): Order {
  const ties = plan.schema.key.fields.filter((field) => !keys.some((key) => key.field === field));
  const sort = [...keys, ...ties.map((field) => ({ field, descending: false }))];
  const [first] = keys;
  // An index on the primary key exists.
  if (!first) return { use, sort, order: [], problem: undefined };
  const { dataSource } = plan.database;
  const problems = sort.map((key) =>
    key.descending === first.descending ? orderProblem(key.field, plan) : 'TypeORM declares no descending index',
  );
  const end = sort.findIndex(({ field }, place) => problems[place] !== undefined || !isSelective(field, dataSource));
  // MySQL and MariaDB sort again what an index has in a part of the order.
  const length = end < 0 ? sort.length : isMysql(dataSource) ? 0 : end;
  return {
    use,
    sort,
    order: sort.slice(0, length).map(({ field }) => field),
    problem: length === 0 ? problems[end] : undefined,
  };
}

/** Statements sort text by code points, and NULLs last. */
function orderProblem(field: Field, { database: { dataSource }, list: { paged } }: Plan): string | undefined {
  const isText = (field.type.stored ?? field.type.comparison) === 'text';
  if (isPostgres(dataSource))
    return isText && field.column.collation !== 'C' ? `${field.name} needs the collation "C"` : undefined;
  if (isText && isMysql(dataSource)) return 'MySQL and MariaDB sort the bytes of text';
  const isByNumber = paged === true || paged === false;
  return field.nullable && isByNumber ? `${field.name} may be NULL, and pages are not by cursor` : undefined;
}
