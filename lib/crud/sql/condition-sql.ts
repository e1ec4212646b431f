/**
 * Writes conditions as SQL. The text depends only on the shape of a condition; the values are bound, in the order in
 * which the text mentions them.
 */
import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { isSqlite } from '../../entities/database-family.js';
import type { Comparison, Condition, RawCondition, Relation } from './condition.js';
import { comparable, dialectOf, type Bound, type Dialect, escapePath } from './dialect.js';
import { OPERATORS } from './operators.js';

/** The alias of the resource's table in every SELECT. */
export const RECORD = 'record';

/** The prefix of every parameter's name. It is random, because the query builder replaces it in any name that contains it. */
export const PARAMETER = `declarest_${randomBytes(8).toString('hex')}_`;

/** One letter for each kind keeps the texts short. Two conditions of one shape have the same SQL. */
export function shapeOf(condition: Condition): string {
  switch (condition.kind) {
    case 'compare':
      return `${condition.operator} ${condition.field.name} ${condition.values.length};`;
    case 'unless':
      return `unless(${shapeOf(condition.part)})`;
    case 'raw':
      return `raw(${condition.write(condition.field.name)} ${rawLists(condition).map(({ length }) => length)})`;
    case 'related':
      return `related ${condition.relation.propertyPath}(${shapeOf(condition.part)})`;
    case 'indexed':
      return `indexed ${condition.table};`;
    default:
      return `${condition.kind}(${condition.parts.map(shapeOf).join('')})`;
  }
}

/** The values of a condition in the order of its parameters, as the driver takes them. */
export function boundValues(condition: Condition, dataSource: DataSource): unknown[] {
  switch (condition.kind) {
    case 'compare':
      return condition.values.flatMap((value) => bind(condition, value, dataSource));
    case 'raw':
      return rawLists(condition).flat();
    case 'unless':
    case 'related':
      return boundValues(condition.part, dataSource);
    case 'indexed':
      return [`"${condition.text.replaceAll('"', '""')}"`];
    default:
      return condition.parts.flatMap((part) => boundValues(part, dataSource));
  }
}

/** `:name` or `:...names`, as TypeORM writes them. */
const RAW_PARAMETER = /:(\.\.\.)?(\w+)/g;

/** The values of each parameter, in the order of the text. */
const rawLists = ({ field, write, parameters }: RawCondition): unknown[][] =>
  [...write(field.name).matchAll(RAW_PARAMETER)].flatMap(([, , name = '']) =>
    Object.hasOwn(parameters, name) ? [[parameters[name]].flat()] : [],
  );

function bind({ field, operator }: Comparison, value: unknown, dataSource: DataSource): unknown[] {
  const persist = (held: unknown): unknown => {
    const prepared: unknown = dataSource.driver.preparePersistentValue(held, field.column);
    // SQLite compares moments as texts, and a default of the database has no milliseconds.
    const isText = isMoment(field) && isSqlite(dataSource) && typeof prepared === 'string';
    return isText ? prepared.replace(/\.000$/, '') : prepared;
  };
  const own = OPERATORS[operator].bind;
  if (own) return [own(value)];
  if (!isMoment(field)) return [persist(value)];
  return [persist(value), persist(new Date((value as Date).getTime() + 1))];
}

const isMoment = ({ type }: Field): boolean => type.comparison === 'moment';

/**
 * @param owner what qualifies the columns: the escaped alias or table
 * @param first the number of the first parameter
 */
export function conditionSql(condition: Condition, owner: string, dataSource: DataSource, first = 0): string {
  return new ConditionWriter(dataSource, first).write(condition, owner);
}

/** The values by the names of their parameters, for the query builder. */
export const parametersOf = (values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(values.map((value, index) => [`${PARAMETER}${index}`, value]));

class ConditionWriter {
  private readonly dialect: Dialect;
  private relations = 0;

  constructor(
    private readonly dataSource: DataSource,
    private parameters: number,
  ) {
    this.dialect = dialectOf(dataSource);
  }

  write(condition: Condition, owner: string): string {
    switch (condition.kind) {
      case 'compare':
        return this.comparison(condition, owner);
      case 'unless':
        return `(${this.write(condition.part, owner)}) IS NOT TRUE`;
      case 'raw':
        return this.raw(condition, owner);
      case 'indexed': {
        const table = this.escape(condition.table);
        const key = this.column(owner, condition.key.column.databaseName);
        return `${key} IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ${this.parameter()})`;
      }
      case 'related':
        return this.related(condition.relation, condition.part, owner);
      default:
        return this.conjunction(condition.kind, condition.parts, owner);
    }
  }

  private conjunction(kind: 'and' | 'or', parts: readonly Condition[], owner: string): string {
    if (parts.length === 0) return kind === 'and' ? '1 = 1' : '1 = 0';
    return `(${parts.map((part) => this.write(part, owner)).join(kind === 'and' ? ' AND ' : ' OR ')})`;
  }

  private comparison({ field, operator, values }: Comparison, owner: string): string {
    const { bind: own, sql } = OPERATORS[operator];
    const isRange = own === undefined && isMoment(field);
    const bound = values.map((): Bound => {
      const from = this.parameter();
      return { from, to: isRange ? this.parameter() : from };
    });
    return sql(comparable(this.dialect, field, this.column(owner, field.column.databaseName)), bound);
  }

  private raw({ field, write, parameters }: RawCondition, owner: string): string {
    const sql = write(this.column(owner, field.column.databaseName));
    return `(${sql.replace(RAW_PARAMETER, (text, _, name: string) =>
      Object.hasOwn(parameters, name)
        ? [parameters[name]]
            .flat()
            .map(() => this.parameter())
            .join(', ')
        : text,
    )})`;
  }

  private related(relation: Relation, part: Condition, owner: string): string {
    const alias = this.escape(`related${this.relations++}`);
    const { entityMetadata, inverseEntityMetadata, junctionEntityMetadata: junction } = relation;
    const related = `${this.table(inverseEntityMetadata.tablePath)} ${alias}`;
    if (!junction) {
      const pairs = joinedColumns(relation).map(
        ([own, other]) => `${this.column(alias, other)} = ${this.column(owner, own)}`,
      );
      return `EXISTS (SELECT 1 FROM ${related} WHERE ${[...pairs, this.write(part, alias)].join(' AND ')})`;
    }
    const link = this.escape(`link${this.relations}`);
    const { own, other } = linkColumns(relation);
    const join = `${this.column(link, other)} = ${this.column(alias, nameOf(inverseEntityMetadata.primaryColumns))}`;
    const of = `${this.column(link, own)} = ${this.column(owner, nameOf(entityMetadata.primaryColumns))}`;
    const tables = `${this.table(junction.tablePath)} ${link} INNER JOIN ${related} ON ${join}`;
    return `EXISTS (SELECT 1 FROM ${tables} WHERE ${of} AND ${this.write(part, alias)})`;
  }

  private parameter(): string {
    return `:${PARAMETER}${this.parameters++}`;
  }

  private escape(name: string): string {
    return this.dataSource.driver.escape(name);
  }

  private column(owner: string, name: string): string {
    return `${owner}.${this.escape(name)}`;
  }

  private table(path: string): string {
    return escapePath(path, this.dataSource.driver);
  }
}

/** Column names of a relation without a junction table: of the owner, and of the related table. */
export function joinedColumns({ isOwning, joinColumns, inverseRelation }: Relation): [own: string, other: string][] {
  const columns = isOwning ? joinColumns : (inverseRelation?.joinColumns ?? []);
  return columns.map(({ databaseName, referencedColumn }) => {
    const referenced = referencedColumn?.databaseName ?? '';
    return isOwning ? [databaseName, referenced] : [referenced, databaseName];
  });
}

/** Of the one column that a key has. */
const nameOf = ([column]: Relation['joinColumns'] = []): string => column?.databaseName ?? '';

/** Column names of the junction table of a many-to-many relation. */
export function linkColumns({ isOwning, junctionEntityMetadata }: Relation): { own: string; other: string } {
  const owner = nameOf(junctionEntityMetadata?.ownerColumns);
  const inverse = nameOf(junctionEntityMetadata?.inverseColumns);
  return isOwning ? { own: owner, other: inverse } : { own: inverse, other: owner };
}
