/** The operations that change one record. */
import type { JsonObject } from '../../http/json-body.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { withStoredAnswer } from '../idempotency/idempotency-store.js';
import { and, compare, NOTHING } from '../sql/condition.js';
import { parseDeleteQuery, type ListQuery } from '../query/list-query.js';
import { everything } from '../query/record-request.js';
import { deletionOf } from '../query/field-path.js';
import { withETag } from '../rows/record-version.js';
import { mayChooseDeleted } from '../rows/caller-view.js';
import type { RowLock } from '../store/record-access.js';
import { transactionOf } from '../store/transactions.js';
import type { Change, RecordBodies } from '../write/record-bodies.js';
import type { RecordWrites } from '../write/record-writes.js';
import type { ResourceAccess, Target } from './resource-access.js';

export class Writes<T extends object> {
  constructor(
    private readonly access: ResourceAccess<T>,
    private readonly bodies: RecordBodies<T>,
    private readonly records: RecordWrites<T>,
  ) {}

  /** @param answer makes the body of the response @throws 400 naming every wrong field, 403, 409 */
  async create<R>(body: JsonObject, hooks: GeneratedHooks<T>, answer: (created: T) => R): Promise<R> {
    const { access, records } = this;
    const view = await access.view('create');
    const change = await this.bodies.checkCreated(this.bodies.read(body, 'create', view), view);
    const hasConditions = view.isScoped || view.fixed.size > 0;
    const isChecked = hasConditions || change.ids.size > 0 || hooks.beforeCreate !== undefined;
    const insert = async (): Promise<T> => {
      const [created] = await records.created(view, await records.insert(view, [change], hooks));
      await records.hooks.afterCreate(hooks, created as T);
      return withETag(created as T, view);
    };
    return withStoredAnswer(access, answer, () => access.writing(isChecked, insert));
  }

  /** A full replacement; never creates. @throws 400 naming every wrong field, 403, 404, 409 */
  async replace(id: string, body: JsonObject, hooks: GeneratedHooks<T> = {}): Promise<T> {
    const { access, bodies } = this;
    const target = await access.target(id, 'update');
    const sent = bodies.read(body, 'update', target.view);
    const current = bodies.needsCurrent(sent) ? await access.current(target) : undefined;
    return this.explained(target, async () =>
      this.update(target, await bodies.checkChanged(sent, current, target), hooks),
    );
  }

  /**
   * Changes what is sent (RFC 7396); never creates. Where the stored record takes part in the result, it is read and locked
   * in the transaction that changes it.
   *
   * @throws 400 naming every wrong field, 403, 404, 409
   */
  async patch(id: string, body: JsonObject, hooks: GeneratedHooks<T> = {}): Promise<T> {
    const { access, bodies } = this;
    const target = await access.target(id, 'patch');
    const sent = bodies.read(body, 'patch', target.view);
    const merged = bodies.mergedFields(sent);
    const apply = async (lock?: RowLock): Promise<T> => {
      const current = lock || bodies.needsCurrent(sent) ? await access.current(target, merged, lock) : undefined;
      return this.update(target, await bodies.checkChanged(sent, current, target), hooks);
    };
    const isRead = merged.length > 0 || access.resource.options.schema.update !== undefined;
    return this.explained(target, () => (isRead ? access.transacted(() => apply('for update')) : apply()));
  }

  /**
   * Keeps the row, marked as deleted, where the entity has a `@DeleteDateColumn`.
   *
   * @throws 400 for a malformed id or parameter, 404, 409 where other records refer to it
   */
  async remove(id: string, query: ListQuery = {}, hooks: GeneratedHooks<T> = {}): Promise<void> {
    const { access } = this;
    const purges = parseDeleteQuery(query, mayChooseDeleted(access.resource));
    const target = await access.target(id, 'delete', purges ? 'with' : 'without');
    // A listener is called with a record that is read first: the transaction keeps it as it is.
    const readsFirst = hooks.beforeDelete !== undefined || access.store.callsListeners('delete');
    const isRemoved = await access.writing(readsFirst, () => this.records.remove(target, purges, hooks));
    if (!isRemoved) throw await access.refusalOf(target);
  }

  /** Changes nothing where the record is not marked as deleted. @throws 400 for a malformed id, 404, 409 */
  async restore(id: string): Promise<T> {
    const { access } = this;
    const target = await access.target(id, 'restore', 'with');
    const { key, view } = target;
    const deletion = deletionOf(access.resource.schema);
    const hidden = and(access.changeable(target), ...(deletion ? [compare(deletion, 'isNotNull')] : [NOTHING]));
    const restore = async (): Promise<boolean> => {
      const write = { operation: 'update' } as const;
      const isDone = await access.run(() => access.store.writer('restore').restore(key, hidden), write);
      if (isDone) await access.assertVisible(view, key);
      return isDone;
    };
    const isRestored =
      deletion && (await access.writing(view.isScoped || access.store.callsListeners('restore'), restore));
    if (!isRestored) await access.assertChangeable(target);
    const request = everything(view.list);
    const fields = request.fields.filter((field) => field !== deletion);
    return withETag(await access.record(view, key, id, { request: { ...request, fields } }), view);
  }

  /** An unknown record is 404, whatever is wrong with the body. Inside a transaction, a check may see an old state. */
  private async explained<R>(target: Target, work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      if (!transactionOf(this.access.dataSource)) await this.access.assertChangeable(target);
      throw error;
    }
  }

  private async update(target: Target, change: Change<T>, hooks: GeneratedHooks<T>): Promise<T> {
    const { access, records } = this;
    const { key, id, view } = target;
    // A listener must not be called for a record that a guard refuses.
    if (target.guards.length > 0 && access.store.callsListeners('update')) await access.assertChangeable(target);
    const isChecked = view.isScoped || change.ids.size > 0 || hooks.beforeUpdate !== undefined;
    const record = await access.writing(isChecked, async () => {
      await records.update(target, change, hooks);
      await access.assertVisible(view, key);
      const updated = await access.record(view, key, id);
      await records.hooks.afterUpdate(hooks, updated);
      return updated;
    });
    return withETag(record, view);
  }
}
