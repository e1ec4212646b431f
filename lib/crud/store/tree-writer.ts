/** Writes the nodes of a TypeORM tree through the repository, and keeps the tree as TypeORM reads it. */
import { ConflictException } from '@nestjs/common';
import type { QueryResult } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { conflictOf, ignoredStatement } from '../../entities/conflicts.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { isMysql, isPostgres } from '../../entities/database-family.js';
import type { Values } from '../../entities/record-input.js';
import { persist } from '../../entities/text-reads.js';
import { existing } from '../query/field-path.js';
import { and, compare, type Condition } from '../sql/condition.js';
import { escapePath } from '../sql/dialect.js';
import type { RawRow } from '../sql/statement.js';
import type { Call } from './call.js';
import { valueOf } from './entity-values.js';
import { RepositoryWriter } from './repository-writer.js';

/** The field of a node's parent. */
export const parentFieldOf = ({ fields }: EntityDescription): Field | undefined =>
  fields.find(({ column }) => column.relationMetadata?.isTreeParent);

const NIL = '00000000-0000-0000-0000-000000000000';
const BELOW = 'refers to the record or one below it';

/**
 * Its methods are called in a transaction. Changes of a tree wait for each other. The tree is kept by SQL, because TypeORM's
 * `save` reads through the query cache, fails for malformed JSON, and does not see that a trigger ignored a statement.
 */
export class TreeWriter extends RepositoryWriter {
  private readonly tree = this.table.metadata;
  private readonly dataSource = this.table.dataSource;
  private readonly isNestedSet = this.tree.treeType === 'nested-set';
  private readonly id = this.table.schema.key.fields[0] as Field;
  private readonly parent = parentFieldOf(this.table.schema) as Field;
  private readonly isRoot = compare(this.parent, 'isNull');
  private readonly tableName = escapePath(this.tree.tablePath, this.dataSource.driver);
  private readonly isNode = `${this.nameOf(this.id.column)} = :key`;
  private readonly left = this.nameOf(this.tree.nestedSetLeftColumn);
  private readonly right = this.nameOf(this.tree.nestedSetRightColumn);
  /** MySQL and MariaDB otherwise read the tree as it was at the first read of the transaction. */
  private readonly lock = isMysql(this.dataSource) ? ' FOR UPDATE' : '';

  protected override async insertEntity(call: Call, entity: object, values: Values): Promise<object> {
    const parent = values.get(this.parent);
    const isOnlyRoot = this.isNestedSet && parent == null;
    // PostgreSQL cannot lock a root that does not exist yet.
    const locksTable = isOnlyRoot && isPostgres(this.dataSource);
    if (locksTable) await this.run(call, `LOCK TABLE ${this.tableName} IN SHARE ROW EXCLUSIVE MODE`);
    const root = await (locksTable ? this.reader.exists(call, this.isRoot) : this.lockTree(call));
    if (parent != null && !(await this.findNode(call, parent, existing(this.table.schema))))
      throw this.conflict('create', 'refers to a record that does not exist');
    if (isOnlyRoot && root) throw this.conflict('create', 'must not be null: a nested set has one root');
    if (this.isNestedSet) {
      const [end = 1] = parent == null ? [] : await this.read(call, parent, this.right);
      await this.shift(call, end, 2);
      this.tree.nestedSetLeftColumn?.setEntityValue(entity, end);
      this.tree.nestedSetRightColumn?.setEntityValue(entity, end + 1);
    }
    const key = await this.exact(call, this.id, await super.insertEntity(call, entity, values), values);
    if (isOnlyRoot && this.table.database.connections.isCluster) await this.claimRoot(call, key);
    await this.place(call, key, parent, true);
    return { [this.id.property]: key };
  }

  override async update(...args: Parameters<RepositoryWriter['update']>): Promise<object | undefined> {
    const [call, key, , values] = args;
    if (!values.has(this.parent)) return super.update(...args);
    await this.lockTree(call);
    const parent = values.get(this.parent);
    const [node, target] = [await this.findNode(call, key), await this.findNode(call, parent)];
    const isMoved = node && valueOf(this.parent, node) !== valueOf(this.id, target);
    if (isMoved && this.isNestedSet) throw this.conflict('update', 'of a node in a nested set cannot be changed');
    const updated = await super.update(...args);
    if (updated && isMoved) await this.place(call, key, parent);
    return updated;
  }

  override async remove(...[call, key, condition, purges]: Parameters<RepositoryWriter['remove']>) {
    if (this.isNestedSet) await this.lockTree(call);
    // TypeORM itself closes the gap of a node whose listeners it calls. A gap that stays does no harm.
    const isClosable = this.isNestedSet && this.tree.primaryColumns.length === 1 && !this.events.has('remove');
    const leavesGap = isClosable && (purges || !this.tree.deleteDateColumn);
    const [left = 0, right = 0] = leavesGap ? await this.read(call, key, this.left, this.right) : [];
    const isRemoved = await super.remove(call, key, condition, purges);
    if (isRemoved && leavesGap) await this.shift(call, right, left - right - 1);
    return isRemoved;
  }

  /** Puts a node under its parent, with those below it. */
  private async place(call: Call, key: unknown, parent: unknown, isNew = false): Promise<void> {
    if (this.tree.treeType === 'closure-table') await this.placeInClosure(call, { key, parent }, isNew);
    if (this.tree.treeType === 'materialized-path') await this.placeInPath(call, key, parent);
  }

  private async placeInClosure(call: Call, values: RawRow, isNew: boolean): Promise<void> {
    const { tablePath, ancestorColumns, descendantColumns } = this.tree.closureJunctionTable;
    const table = escapePath(tablePath, this.dataSource.driver);
    const [above, below] = [this.nameOf(ancestorColumns[0]), this.nameOf(descendantColumns[0])];
    const links = `INSERT INTO ${table} (${above}, ${below})`;
    // MySQL reads the table that it deletes from as a derived one only.
    const moved = `(SELECT ${below} FROM (SELECT ${below} FROM ${table} WHERE ${above} = :key) AS moved)`;
    if (isNew) await this.run(call, `${links} VALUES (:key, :key)`, values);
    else {
      const isBelow = `SELECT 1 FROM ${table} WHERE ${above} = :key AND ${below} = :parent${this.lock}`;
      if ((await this.run(call, isBelow, values)).records.length > 0) throw this.conflict('update', BELOW);
      await this.run(call, `DELETE FROM ${table} WHERE ${below} IN ${moved} AND ${above} NOT IN ${moved}`, values);
    }
    const pairs = `SELECT a.${above}, b.${below} FROM ${table} a CROSS JOIN ${table} b`;
    await this.run(call, `${links} ${pairs} WHERE a.${below} = :parent AND b.${above} = :key`, values);
  }

  private async placeInPath(call: Call, key: unknown, parent: unknown): Promise<void> {
    const path = this.nameOf(this.tree.materializedPathColumn);
    const pathOf = async (id: unknown) => (id == null ? '' : ((await this.read<string>(call, id, path))[0] ?? ''));
    const [from, above] = [await pathOf(key), await pathOf(parent)];
    const to = `${above}${String(key)}.`;
    if (from === '') return this.change(call, `${path} = :to`, this.isNode, { key, to });
    if (above.startsWith(from)) throw this.conflict('update', BELOW);
    const [length, rest] = [[...from].length, `SUBSTR(${path}, ${[...from].length + 1})`];
    const moved = isMysql(this.dataSource) ? `CONCAT(:to, ${rest})` : `:to || ${rest}`;
    return this.change(call, `${path} = ${moved}`, `SUBSTR(${path}, 1, ${length}) = :from`, { from, to });
  }

  /** Moves the ends of the nodes of a nested set, from a place on. */
  private async shift(call: Call, from: number, by: number): Promise<void> {
    const { left, right } = this;
    const moved = `CASE WHEN ${left} > ${from} THEN ${left} + ${by} ELSE ${left} END`;
    await this.change(call, `${left} = ${moved}, ${right} = ${right} + ${by}`, `${right} >= ${from}`);
  }

  /** TypeORM would give every node a new version. @throws 409 where a trigger ignored one */
  private async change(call: Call, set: string, where: string, values: RawRow = {}): Promise<void> {
    const count = `SELECT COUNT(*) AS nodes FROM ${this.tableName} WHERE ${where}${this.lock}`;
    const { records } = await this.run(call, count, values);
    const { affected } = await this.run(call, `UPDATE ${this.tableName} SET ${set} WHERE ${where}`, values);
    if (affected !== Number(records[0]?.['nodes'])) throw new ConflictException(ignoredStatement(this.table.schema));
  }

  private async read<V = number>(call: Call, key: unknown, ...names: readonly string[]): Promise<V[]> {
    const sql = `SELECT ${names.join()} FROM ${this.tableName} WHERE ${this.isNode}${this.lock}`;
    return Object.values((await this.run(call, sql, { key })).records[0] ?? {}) as V[];
  }

  /** Past the query cache. */
  private run(call: Call, sql: string, values: RawRow = {}): Promise<QueryResult<RawRow>> {
    const bound: unknown[] = [];
    const text = sql.replaceAll(/:(key|parent|from|to)\b/g, (_, name: string) => {
      const isKey = name === 'key' || name === 'parent';
      bound.push(isKey ? persist(values[name], this.id.column, this.dataSource) : values[name]);
      return this.dataSource.driver.createParameter(name, bound.length - 1);
    });
    return this.runner(call).query(text, bound, true);
  }

  private nameOf(column: ColumnMetadata | undefined): string {
    return this.dataSource.driver.escape(column?.databaseName ?? '');
  }

  private async findNode(call: Call, key: unknown, ...conditions: readonly Condition[]): Promise<object | undefined> {
    return key == null ? undefined : this.lockFirst(call, compare(this.id, 'eq', key), ...conditions);
  }

  /** Every change of the tree locks the first root. */
  private async lockTree(call: Call): Promise<object | undefined> {
    const root = await this.lockFirst(call, this.isRoot);
    const changes = (): string[] => [this.nameOf(this.id.column), 'NULL'];
    await this.table.database.connections.claim(
      this.table.manager(call),
      this.parent.column,
      changes,
      valueOf(this.id, root),
    );
    return root;
  }

  /** Nodes of Galera have no row in common yet: each root takes the same key for a moment, so that only one commits. */
  private async claimRoot(call: Call, key: unknown): Promise<void> {
    const id = this.nameOf(this.id.column);
    const move = (from: unknown, to: unknown): Promise<unknown> =>
      this.run(call, `UPDATE ${this.tableName} SET ${id} = :to WHERE ${id} = :from`, { from, to });
    const shared = this.id.type.comparison === 'uuid' ? NIL : '0';
    await move(key, shared);
    await move(shared, key);
  }

  private async lockFirst(call: Call, ...conditions: readonly Condition[]): Promise<object | undefined> {
    const read = { fields: [this.id, this.parent], range: { limit: 1, offset: 0 }, isLocked: true };
    const sort = [{ field: this.id, descending: false }];
    return (await this.reader.find(call, { condition: and(...conditions), sort, ...read }))[0];
  }

  private conflict(operation: 'create' | 'update', reason: string, { name } = this.parent): ConflictException {
    return new ConflictException(conflictOf({ schema: this.table.schema, operation }, reason, [name]));
  }
}
