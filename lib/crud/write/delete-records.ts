/** Deletes records: one for DELETE, several for a batch. */
import type { Task } from '../plan/plan.js';
import { changeCondition, columnsOnly, readTargets, refusalOf, type Target } from '../read/records.js';
import { run, transacted, writeOf } from '../read/statements.js';
import type { Call } from '../store/call.js';
import { beforeDelete, runAfter, whenDeleted } from './hooks.js';

/**
 * All records are deleted, or none.
 * @param purges whether the rows are removed also where the entity has a `@DeleteDateColumn`
 * @throws 403, 404, 412, 428, 409 where other records refer to one
 */
export async function deleteRecords<T extends object>(task: Task<T>, targets: readonly Target[], purges: boolean) {
  const { hooks } = task;
  const { store, schema } = task.plan;
  let refused: Target | undefined;
  const isSeveral = targets.length > 1;
  const write = writeOf(task, 'delete', []);
  const remove = async (within: Task<T>): Promise<void> => {
    const { plan, call } = within;
    refused = undefined;
    if (isSeveral)
      await readTargets(within, targets, { request: columnsOnly(plan, schema.key.fields), isLocked: true });
    for (const target of targets) {
      const record = await beforeDelete(within, target);
      const condition = changeCondition(within, target);
      const removed = (by: Call): Promise<boolean> => store.writers.delete.remove(by, target.key, condition, purges);
      const isRemoved = await run(plan, call, removed, write);
      // The writes of a hook must be rolled back. The record was locked before.
      if (!isRemoved && (isSeveral || record)) throw await refusalOf(within, target);
      if (!isRemoved) return void (refused = target);
      await whenDeleted(within, record);
      await runAfter(within, 'afterDelete', [target.key]);
    }
  };
  // A listener is called with a record that is read first: the transaction keeps it as it is.
  const isSingle = !isSeveral && !hooks.beforeDelete && !hooks.whenDeleted && !store.listened.has('delete');
  await (isSingle ? remove(task) : transacted(task, write, remove));
  // A transaction may see an old state, so that it cannot say why no record was deleted.
  if (refused) throw await refusalOf(task, refused);
}
