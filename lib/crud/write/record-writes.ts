/** The steps of writes that single operations and batches share. */
import { ConflictException } from '@nestjs/common';
import { AccessRefused } from '../../http/refusal.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import type { View } from '../rows/caller-view.js';
import { HookCalls } from './hooks.js';
import type { Change, RecordBodies } from './record-bodies.js';
import type { References } from './references.js';
import type { ResourceAccess, Target } from '../operations/resource-access.js';

export class RecordWrites<T extends object> {
  readonly hooks: HookCalls<T>;

  constructor(
    private readonly access: ResourceAccess<T>,
    private readonly bodies: RecordBodies<T>,
    private readonly references: References<T>,
  ) {
    this.hooks = new HookCalls(access, bodies);
  }

  /** @returns the keys of the new records @throws 400 for what a hook returns, 409 */
  async insert(view: View, changes: readonly Change<T>[], hooks: GeneratedHooks<T>): Promise<readonly unknown[]> {
    const { access } = this;
    await this.references.assertVisible(changes, { operation: 'create', view });
    const rows: Change<T>[] = [];
    for (const change of changes) rows.push(await this.hooks.beforeCreate(hooks, change, view));
    const write = {
      operation: 'create',
      rows: rows.map(({ values }) => values),
      permissions: view.permissions,
    } as const;
    const keys = await access.run(() => access.store.writer('create').insert(rows), write);
    for (const [index, { ids }] of rows.entries()) {
      const key = keys[index];
      if (key === undefined) throw this.notStored();
      await this.bodies.relationIds.write(key, ids, 'create');
    }
    return keys;
  }

  /** @throws 403 where a new record lies outside of what the caller may see */
  async created(view: View, keys: readonly unknown[]): Promise<T[]> {
    const records = await this.access.findAll(view, keys);
    return records.map((record) => {
      if (record) return record;
      throw view.isScoped ? new AccessRefused() : this.notStored();
    });
  }

  private notStored(): ConflictException {
    const { name } = this.access;
    return new ConflictException(`${name} was not stored: the database ignored it, or it is deleted already`);
  }

  /** @throws 400 for what a hook returns, 403, 404, 409 */
  async update(target: Target, change: Change<T>, hooks: GeneratedHooks<T>): Promise<void> {
    const { access } = this;
    const { key, view } = target;
    await this.references.assertVisible([change], { operation: 'update', view, key });
    const { values, ids } = await this.hooks.beforeUpdate(hooks, change, target);
    const { versionColumn, updateDateColumn } = access.resource.metadata;
    const condition = access.changeable(target);
    // Other links make another version of the record.
    const hasNewVersion = ids.size > 0 && (versionColumn ?? updateDateColumn) !== undefined;
    const changes = hasNewVersion || values.some((value) => value !== undefined);
    const write = { operation: 'update', rows: [values], permissions: view.permissions } as const;
    const matched = changes
      ? await access.run(() => access.store.writer('update').update(key, condition, values), write)
      : await access.exists(condition);
    // A trigger may have ignored the statement, which changes nothing.
    if (!matched) await access.assertChangeable(target);
    await this.bodies.relationIds.write(key, ids, 'update');
  }

  /**
   * @returns whether the record was there; a transaction may see an old state, so that it cannot say why not
   * @throws what a hook throws, 409
   */
  async remove(target: Target, purges: boolean, hooks: GeneratedHooks<T>): Promise<boolean> {
    const { access } = this;
    await this.hooks.beforeDelete(hooks, target);
    const condition = access.changeable(target);
    const remove = (): Promise<boolean> => access.store.writer('delete').remove(target.key, condition, purges);
    const isRemoved = await access.run(remove, { operation: 'delete' });
    if (isRemoved) await this.hooks.afterDelete(hooks, target);
    // What the hook wrote has to be rolled back. Before it ran, the record was locked.
    else if (hooks.beforeDelete) throw await access.refusalOf(target);
    return isRemoved;
  }
}
