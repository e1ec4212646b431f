/** Writes the nodes of a TypeORM tree through the repository, and keeps the tree as TypeORM reads it. */
import { ConflictException } from '@nestjs/common';
import { conflictOf } from '../../entities/conflicts.js';
import { columnValue } from '../../entities/entity-instances.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { isMysql } from '../../entities/database-family.js';
import type { Values } from '../../entities/record-input.js';
import { existing } from '../query/field-path.js';
import { and, compare, type Condition } from '../sql/condition.js';
import type { Call } from './call.js';
import { setAtPath, valueOf } from './entity-values.js';
import { RepositoryWriter } from './repository-writer.js';

/** The field of a node's parent. */
export const parentFieldOf = ({ fields }: EntityDescription): Field | undefined =>
  fields.find(({ column }) => column.relationMetadata?.isTreeParent);

/** Its methods are called in a transaction. Changes of a tree wait for each other. */
export class TreeWriter<T extends object> extends RepositoryWriter<T> {
  private readonly treeType = this.resource.metadata.treeType;
  private readonly id = this.resource.schema.key.fields[0] as Field;
  private readonly parent = parentFieldOf(this.resource.schema) as Field;
  /** Every change of the tree locks the first root. */
  private readonly isRoot = compare(this.parent, 'isNull');

  protected override async insertEntity(call: Call, entity: T, values: Values): Promise<object> {
    const root = await this.lockFirst(call, this.isRoot);
    const parent = values.get(this.parent);
    if (parent != null && !(await this.findNode(call, parent, existing(this.resource.schema))))
      throw this.conflict('create', 'refers to a record that does not exist');
    if (parent == null && root && this.treeType === 'nested-set')
      throw this.conflict('create', 'must not be null: a nested set has one root');
    // As keys, because TypeORM would save objects too.
    for (const [{ reference, property }, value] of values)
      if (reference && !reference.isTreeParent) setAtPath(entity, property.split('.'), value);
    // TypeORM would change the record.
    if (await this.findNode(call, columnValue(this.id.column, entity)))
      throw this.conflict('create', 'is already taken', this.id);
    return this.methods(call).save(this.withParent(entity, parent) as never);
  }

  override async update(call: Call, key: unknown, condition: Condition, values: Values): Promise<object | undefined> {
    if (!values.has(this.parent)) return super.update(call, key, condition, values);
    await this.lockFirst(call, this.isRoot);
    const parent = values.get(this.parent);
    const [node, target] = [await this.findNode(call, key), await this.findNode(call, parent)];
    const isMoved = node && valueOf(this.parent, node) !== valueOf(this.id, target);
    if (!isMoved) return super.update(call, key, condition, values);
    if (this.treeType === 'nested-set') throw this.conflict('update', 'of a node in a nested set cannot be changed');
    const tree = this.methods(call).manager.getTreeRepository<T>(this.resource.options.entity);
    const above = parent == null ? [] : await tree.findAncestors({ [this.id.property]: parent } as T);
    if (above.some((each) => this.id.type.write(columnValue(this.id.column, each)) === valueOf(this.id, node)))
      throw this.conflict('update', 'refers to the record or one below it');
    const isPath = this.treeType === 'materialized-path';
    const others = new Map([...values].filter(([field]) => isPath || field !== this.parent));
    const update = others.size > 0 ? super.update(call, key, condition, others) : this.reader.exists(call, condition);
    if (!(await update)) return undefined;
    const moved = this.withParent({ [this.id.property]: key } as T, parent) as never;
    await (isPath ? this.movePath(call, key, parent) : this.methods(call).save(moved, { listeners: false }));
    return {};
  }

  override async remove(...[call, ...others]: Parameters<RepositoryWriter<T>['remove']>): Promise<boolean> {
    if (this.treeType === 'nested-set') await this.lockFirst(call, this.isRoot);
    return super.remove(call, ...others);
  }

  private withParent(node: T, parent: unknown): T {
    const { relationMetadata, referencedColumn } = this.parent.column;
    relationMetadata?.setEntityValue(node, parent == null ? null : referencedColumn?.createValueMap(parent));
    return node;
  }

  /** TypeORM itself replaces parts of other keys: `2.` also in `12.`. */
  private async movePath(call: Call, key: unknown, parent: unknown): Promise<void> {
    const repository = this.methods(call);
    const { databaseName = '', propertyPath = '' } = this.resource.metadata.materializedPathColumn ?? {};
    const pathOf = async (node: unknown): Promise<string> => {
      const query = repository.createQueryBuilder('node').withDeleted().select(`node.${propertyPath}`, 'path');
      return (await query.where({ [this.id.property]: node } as never).getRawOne<{ path: string }>())?.path ?? '';
    };
    const [from, to] = [await pathOf(key), `${parent == null ? '' : await pathOf(parent)}${String(key)}.`];
    if (from === '') return;
    const query = repository.createQueryBuilder().update().callListeners(false);
    const column = query.escape(databaseName);
    const [length, rest] = [[...from].length, `SUBSTR(${column}, ${[...from].length + 1})`];
    const path = isMysql(this.database.dataSource) ? `CONCAT(:to, ${rest})` : `:to || ${rest}`;
    query.set({ [propertyPath]: () => path } as never).where(`SUBSTR(${column}, 1, ${length}) = :from`, { from, to });
    await query.execute();
  }

  private async findNode(call: Call, key: unknown, ...conditions: readonly Condition[]): Promise<T | undefined> {
    return key == null ? undefined : this.lockFirst(call, compare(this.id, 'eq', key), ...conditions);
  }

  private async lockFirst(call: Call, ...conditions: readonly Condition[]): Promise<T | undefined> {
    const read = { fields: [this.id, this.parent], range: { limit: 1, offset: 0 }, lock: 'for update' } as const;
    const sort = [{ field: this.id, descending: false }];
    return (await this.reader.find(call, { condition: and(...conditions), sort, ...read }))[0];
  }

  private conflict(operation: 'create' | 'update', reason: string, { name } = this.parent): ConflictException {
    return new ConflictException(conflictOf({ schema: this.resource.schema, operation }, reason, [name]));
  }
}
