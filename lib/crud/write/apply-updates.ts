/** Checks updates of records, and writes them in the transaction that they share. */
import { AccessRefused } from '../../http/refusal.js';
import type { Task } from '../plan/plan.js';
import { assertChangeable, changeCondition, findAll, notFoundError } from '../read/records.js';
import { readTargets, refusalOf, type Target } from '../read/records.js';
import { run, writeOf } from '../read/statements.js';
import type { Call } from '../store/call.js';
import { identityOf } from '../store/linked-rows.js';
import { checkChanged, type Change, type Sent } from './bodies.js';
import { beforeUpdate, runAfter, runWhen, storedRecord } from './hooks.js';
import { checkItems, throwFor, type NameItem } from './items.js';
import { writeLinks } from './links.js';
import { assertVisible, evaluateScopes } from './references.js';
import { assertReadBack } from './validation.js';

/** The records to change, and what was sent for each of them. */
export interface Updates {
  readonly targets: readonly Target[];
  readonly sent: readonly Sent[];
  readonly nameOf: NameItem;
}

/** Runs after the listeners, before the statement. */
type Check = (call: Call) => Promise<void>;

/** Listeners may write the row by another connection, which would wait for a lock of this one for ever. */
export const isUnlocked = ({ plan, call: { hooks } }: Task): boolean =>
  plan.store.runsAppCode.has('update') && !hooks.beforeUpdate && !hooks.whenUpdated;

/** @param current the stored records, where they have to be known @throws 400 naming every wrong field */
export async function checkUpdates<T extends object>(
  task: Task<T>,
  { targets, sent, nameOf }: Updates,
  current: readonly T[],
): Promise<Change<T>[]> {
  const changes = await checkItems(targets, nameOf, ({ key }, index) =>
    checkChanged(task, sent[index] as Sent, current[index], key),
  );
  await evaluateScopes(task, changes, 'update');
  return changes;
}

/**
 * @param isReturned whether the statement says all that the caller sees of the only record
 * @param checkOf the check of the record at a place
 * @returns the records after the update, in the order of the targets
 */
export async function applyUpdates<T extends object>(
  task: Task<T>,
  { targets, nameOf }: Updates,
  changes: readonly Change<T>[],
  isReturned = false,
  checkOf?: (index: number) => Check,
): Promise<T[]> {
  const { plan } = task;
  const keyOf = (index: number): string => identityOf(plan.schema.key.write(targets[index]?.key));
  const order = [...targets.keys()];
  // Then two batches change their rows in one order, and do not wait for each other.
  if (isUnlocked(task)) order.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  let updated: T | undefined;
  for (const index of order) {
    const [target, change] = [targets[index] as Target, changes[index] as Change<T>];
    updated = await updateRecord(task, target, change, checkOf?.(index)).catch(throwFor(nameOf(index)));
  }
  const records = await readUpdated(task, targets, isReturned ? updated : undefined);
  return checkItems(records, nameOf, (record, index) => assertReadBack(plan, record, changes[index]?.values));
}

async function updateRecord<T extends object>(task: Task<T>, target: Target, change: Change<T>, check?: Check) {
  const { plan, call, view } = task;
  const { key, preconditions } = target;
  const { store, metadata } = plan;
  // A listener must not be called for a record that a precondition refuses.
  if (preconditions.length > 0 && store.mayCallListeners.has('update')) await assertChangeable(task, target);
  const request = storedRecord(task);
  const [before] = call.hooks.whenUpdated ? await readTargets(task, [target], { request, isLocked: true }) : [];
  await assertVisible(task, [change], 'update', key);
  const { values, ids } = await beforeUpdate(task, change, target);
  const condition = changeCondition(task, target);
  // Other links make another version of the record.
  const hasNewVersion = ids.size > 0 && (metadata.versionColumn ?? metadata.updateDateColumn) !== undefined;
  const fields = store.traits.returnsUpdated ? view.list.readable : undefined;
  const write = (by: Call) => store.writerFor('update').update(by, key, condition, values, fields, check);
  const updated =
    hasNewVersion || values.size > 0
      ? await run(plan, call, write, writeOf(task, 'update', [{ values }]))
      : { record: (await readTargets(task, [target], { isLocked: true }))[0] };
  if (!updated) throw await refusalOf(task, target);
  await writeLinks(plan, call, key, ids, 'update');
  await runWhen(task, 'whenUpdated', key, before);
  return updated.record;
}

/** @throws 403 where a record lies outside of what the caller may see now */
async function readUpdated<T extends object>(
  task: Task<T>,
  targets: readonly Target[],
  returned: T | undefined,
): Promise<T[]> {
  const { plan, view } = task;
  const keys = targets.map(({ key }) => key);
  const records = returned ? [returned] : await findAll(task, keys);
  for (const [index, record] of records.entries())
    if (!record) throw view.isScoped ? new AccessRefused() : notFoundError(plan, String(targets[index]?.id));
  await runAfter(task, 'afterUpdate', records);
  return records as T[];
}
