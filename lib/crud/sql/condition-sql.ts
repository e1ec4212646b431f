/** Writes conditions as SQL. The text depends on their shape only; values are bound in the order of the text. */
import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { isMysql } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import {
  isMoment,
  RAW_PARAMETER,
  type Comparison,
  type Condition,
  type RawCondition,
  type Relation,
} from './condition.js';
import { comparable, dialectOf, escapePath } from './dialect.js';
import { inverseKey, isIndexed, junctionOf } from './foreign-keys.js';

export const RECORD = 'record';

/** The prefix of every parameter's name. It is random, because the query builder replaces it in any name that contains it. */
export const PARAMETER = `declarest_${randomBytes(8).toString('hex')}_`;

/** @param owner the escaped alias or table of the columns @param first the number of the first parameter */
export const conditionSql = (condition: Condition, owner: string, dataSource: DataSource, first = 0): string =>
  new ConditionWriter(dataSource, first).write(condition, owner);

/** The values by the names of their parameters, for the query builder. */
export const parametersOf = (values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(values.map((value, index) => [`${PARAMETER}${index}`, value]));

class ConditionWriter {
  private relations = 0;

  constructor(
    private readonly dataSource: DataSource,
    private parameters: number,
  ) {}

  write(condition: Condition, owner: string): string {
    switch (condition.kind) {
      case 'compare':
        return this.comparison(condition, owner);
      case 'unless':
        return `(${this.write(condition.part, owner)}) IS NOT TRUE`;
      case 'raw':
        return this.raw(condition, owner);
      case 'indexed': {
        const table = this.dataSource.driver.escape(condition.table);
        const key = fieldSql(condition.key, owner, this.dataSource);
        return `${key} IN (SELECT rowid FROM ${table} WHERE ${table} MATCH ${this.parameter()})`;
      }
      case 'related':
        return this.related(condition.relation, condition.part, owner);
      default: {
        const [operator, ofNone] = condition.kind === 'and' ? [' AND ', '1 = 1'] : [' OR ', '1 = 0'];
        const parts = condition.parts.map((part) => this.write(part, owner));
        return parts.length === 0 ? ofNone : `(${parts.join(operator)})`;
      }
    }
  }

  private comparison({ field, operator, values }: Comparison, owner: string): string {
    const count = operator.bind === undefined && isMoment(field) ? 2 * values.length : values.length;
    const parameters = Array.from({ length: count }, () => this.parameter());
    const column = comparable(dialectOf(this.dataSource), field, fieldSql(field, owner, this.dataSource));
    return operator.sql(column, ...parameters);
  }

  private raw({ field, write, parameters }: RawCondition, owner: string): string {
    const placeholders = (name: string): string =>
      Array.from([parameters[name]].flat(), () => this.parameter()).join(', ');
    const sql = write(fieldSql(field, owner, this.dataSource)).replace(RAW_PARAMETER, (text, _, name: string) =>
      Object.hasOwn(parameters, name) ? placeholders(name) : text,
    );
    return `(${sql})`;
  }

  private related(relation: Relation, part: Condition, owner: string): string {
    const { driver } = this.dataSource;
    const alias = driver.escape(`related${this.relations++}`);
    const link = driver.escape(`link${this.relations}`);
    const [first, ...others] = joinsOf(relation, { owner, link, related: alias }, this.dataSource);
    const key = inverseKey(relation);
    if (key && (isMysql(this.dataSource) || !isIndexed(key, this.dataSource))) {
      // EXISTS would read the related table for each record, on MySQL below OR with an index too.
      const referenced = columnSql(owner, key.referencedColumn?.databaseName ?? '', this.dataSource);
      const referencing = columnSql(alias, key.databaseName, this.dataSource);
      return `${referenced} IN (SELECT ${referencing} FROM ${first?.table} WHERE ${this.write(part, alias)})`;
    }
    const tables = [first?.table, ...others.map(({ table, on }) => `${table} ON ${on}`)].join(' INNER JOIN ');
    return `EXISTS (SELECT 1 FROM ${tables} WHERE ${first?.on} AND ${this.write(part, alias)})`;
  }

  private parameter(): string {
    return `:${PARAMETER}${this.parameters++}`;
  }
}

/**
 * The value of a field: a column of its owner, or of the related record that a path leads to. The latter is NULL where
 * there is no such record, or only a deleted one.
 */
export function fieldSql(field: Field, owner: string, dataSource: DataSource): string {
  const [relation, ...rest] = field.through ?? [];
  if (!relation) return columnSql(owner, field.column.databaseName, dataSource);
  const related = dataSource.driver.escape(`through${rest.length}`);
  const [join] = joinsOf(relation, { owner, link: '', related }, dataSource);
  const { deleteDateColumn: deletion } = relation.inverseEntityMetadata;
  const existing = deletion ? ` AND ${columnSql(related, deletion.databaseName, dataSource)} IS NULL` : '';
  const value = fieldSql({ ...field, through: rest }, related, dataSource);
  return `(SELECT ${value} FROM ${join?.table} WHERE ${join?.on}${existing})`;
}

/**
 * The tables that lead from the owner of a relation to its related records, each with the condition that joins it with
 * those before it. Only many-to-many relations have a link.
 */
export function joinsOf(
  relation: Relation,
  { owner, link, related }: Readonly<Record<'owner' | 'link' | 'related', string>>,
  dataSource: DataSource,
): { readonly table: string; readonly on: string }[] {
  const { isOwning, joinColumns, inverseRelation, inverseEntityMetadata } = relation;
  const junction = junctionOf(relation);
  const relatedTable = `${escapePath(inverseEntityMetadata.tablePath, dataSource.driver)} ${related}`;
  const equal = (table: string, referencing: Relation['joinColumns'], referenced: string): string =>
    referencing
      .map(({ databaseName, referencedColumn }) => {
        const key = columnSql(referenced, referencedColumn?.databaseName ?? '', dataSource);
        return `${columnSql(table, databaseName, dataSource)} = ${key}`;
      })
      .join(' AND ');
  if (!junction) {
    const on = isOwning
      ? equal(owner, joinColumns, related)
      : equal(related, inverseRelation?.joinColumns ?? [], owner);
    return [{ table: relatedTable, on }];
  }
  const { ownerColumns, inverseColumns } = junction;
  const [own, other] = isOwning ? [ownerColumns, inverseColumns] : [inverseColumns, ownerColumns];
  return [
    { table: `${escapePath(junction.tablePath, dataSource.driver)} ${link}`, on: equal(link, own, owner) },
    { table: relatedTable, on: equal(link, other, related) },
  ];
}

/** @param owner the escaped alias or table */
export const columnSql = (owner: string, name: string, { driver }: DataSource): string =>
  `${owner}.${driver.escape(name)}`;
