/** Deletes records: one for DELETE, several for a batch. */
import type { Field } from '../../entities/entity-schema.js';
import type { Task } from '../plan/plan.js';
import { changeCondition, columnsOnly, readTargets, refusalOf, type Target } from '../read/records.js';
import { run, transacted, writeOf } from '../read/run-with-retries.js';
import type { Call } from '../store/call.js';
import { valueOf } from '../store/entity-values.js';
import { identityOf } from '../store/linked-rows.js';
import { beforeDelete, runAfter, whenDeleted } from './hooks.js';

/**
 * All records are deleted, or none.
 * @param purges whether the rows are removed also where the entity has a `@DeleteDateColumn`
 * @throws 403, 404, 412, 428, 409 where other records refer to one
 */
export async function deleteRecords(task: Task, targets: readonly Target[], purges: boolean) {
  const { hooks } = task.call;
  const { store } = task.plan;
  let refused: Target | undefined;
  const isSeveral = targets.length > 1;
  const write = writeOf(task, 'delete', [], targets);
  const remove = async (within: Task): Promise<void> => {
    const { plan, call } = within;
    refused = undefined;
    for (const target of isSeveral ? await inDeletionOrder(within, targets) : targets) {
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
  const isSingle = !isSeveral && !hooks.beforeDelete && !hooks.whenDeleted && !store.mayCallListeners.has('delete');
  await (isSingle ? remove(task) : transacted(task, write, remove));
  // A transaction may see an old state, so that it cannot say why no record was deleted.
  if (refused) throw await refusalOf(task, refused);
}

/**
 * Locks the records, unless a listener may write them by another connection. Those that refer to others of the batch come
 * first, because databases check foreign keys after each statement.
 */
async function inDeletionOrder(task: Task, targets: readonly Target[]): Promise<readonly Target[]> {
  const { plan } = task;
  const { references, key, fields: all } = plan.schema;
  const own = references.flatMap(({ relation, fields }) => {
    const isOwn = relation.inverseEntityMetadata.tablePath === plan.metadata.tablePath;
    const referenced = fields.map((field) => all.find(({ column }) => column === field.column.referencedColumn));
    return isOwn && referenced.every((field) => field !== undefined) ? [{ fields, referenced }] : [];
  });
  const read = own.flatMap(({ fields, referenced }) => [...fields, ...referenced]);
  const records = await readTargets(task, targets, {
    request: columnsOnly(plan, [...key.fields, ...read]),
    isLocked: !plan.store.runsAppCode.has('delete'),
  });
  const textOf = (fields: readonly Field[], record: object | undefined): string =>
    JSON.stringify(fields.map((field) => identityOf(valueOf(field, record))));
  const referring = new Map<number, number[]>();
  for (const { fields, referenced } of own) {
    const places = new Map(records.map((record, place) => [textOf(referenced, record), place]));
    for (const [place, record] of records.entries()) {
      const parent = places.get(textOf(fields, record));
      if (parent !== undefined) referring.set(parent, [...(referring.get(parent) ?? []), place]);
    }
  }
  const ordered = new Set<number>();
  const seen = new Set<number>();
  const visit = (place: number): void => {
    if (seen.has(place)) return;
    seen.add(place);
    referring.get(place)?.forEach(visit);
    ordered.add(place);
  };
  records.forEach((_, place) => visit(place));
  return [...ordered].flatMap((place) => targets[place] ?? []);
}
