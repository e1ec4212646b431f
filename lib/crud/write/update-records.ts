/** Changes records: one for PUT and PATCH, several for a batch. */
import { isDeepStrictEqual } from 'node:util';
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import { valueAt } from '../../entities/entity-instances.js';
import type { Field } from '../../entities/entity-schema.js';
import { toJson } from '../../entities/record-input.js';
import { ServiceUnavailable } from '../../http/failure.js';
import { AccessRefused } from '../../http/refusal.js';
import type { Task } from '../plan/plan.js';
import { assertChangeable, changeCondition, columnsOnly, findAll, findColumns } from '../read/records.js';
import { notFoundError, readTargets, refusalOf, type Target } from '../read/records.js';
import { run, transacted, writeOf } from '../read/run-with-retries.js';
import { managerOf, type Call } from '../store/call.js';
import { identityOf } from '../store/linked-rows.js';
import { checkChanged, mergedFields, needsCurrent, type Change, type Sent } from './bodies.js';
import { beforeUpdate, runAfter, runWhen, storedRecord } from './hooks.js';
import { checkItems, throwFor, type NameItem } from './items.js';
import { writeLinks } from './links.js';
import { assertVisible, evaluateScopes } from './references.js';
import { assertReadBack } from './validation.js';

/** The records to change, and what was sent for each of them. */
interface Updates {
  readonly targets: readonly Target[];
  readonly sent: readonly Sent[];
  readonly nameOf: NameItem;
}

/**
 * All records are changed, or none.
 * @returns the records after the update, in the order of the targets
 * @throws 400 naming every wrong field, 403, 404, 409, 412, 428
 */
export async function updateRecords(task: Task, updates: Updates): Promise<object[]> {
  const { plan, call } = task;
  const { targets, sent } = updates;
  const merged = new Set(sent.flatMap(({ values, permissions }) => mergedFields(plan, values, permissions)));
  const isMerging =
    merged.size > 0 || (plan.options.validationSchema.update && sent.some(({ kind }) => kind === 'patch'));
  try {
    return await (isMerging ? mergeRecords(task, updates, merged) : replaceRecords(task, updates));
  } catch (error) {
    // An unknown record is 404, whatever else is wrong. A statement that failed may have ended the transaction.
    const hasFailed = !(error instanceof BadRequestException) || error.cause !== undefined;
    const isKnown = error instanceof NotFoundException || error instanceof ServiceUnavailable;
    const isFinal = isKnown || (hasFailed && managerOf(call, plan.database) !== undefined);
    if (!isFinal) for (const target of targets) await assertChangeable(task, target);
    throw error;
  }
}

/** Sets the sent values, whatever the stored ones are. */
async function replaceRecords(task: Task, updates: Updates): Promise<object[]> {
  const { plan, call, view } = task;
  const { targets, sent } = updates;
  const { fields } = plan.schema.key;
  const request = columnsOnly(plan, [...fields, ...view.list.readable]);
  const isCompared = sent.some((each) => needsCurrent(plan, each));
  const changes = await checkUpdates(task, updates, isCompared ? await readTargets(task, targets, { request }) : []);
  const isHooked = call.hooks.beforeUpdate !== undefined || call.hooks.whenUpdated !== undefined;
  // Otherwise a transaction keeps the record as this update leaves it, until it is read for the answer.
  const isAlone = targets.length === 1 && !view.isScoped && !isHooked && plan.store.traits.returnsUpdated;
  if (isAlone) return applyUpdates(task, updates, changes, true);
  return transacted(task, writeOf(task, 'update', changes, targets), async (within) => {
    const isLocked = targets.length > 1 && !isUnlocked(task);
    if (isLocked) await readTargets(within, targets, { request: columnsOnly(plan, fields), isLocked });
    return applyUpdates(within, updates, changes);
  });
}

/** Another request has changed what was merged. */
const CHANGED = new Error('changed');
/** Each attempt fails only where another request has succeeded, or where a listener changes what it loads each time. */
const MAX_ATTEMPTS = 100;

/**
 * Merges what was sent into the stored records. The body is checked before the transaction, and again where the record has
 * changed when the transaction has locked it.
 * @param merged the fields whose stored value takes part in the result
 */
async function mergeRecords(task: Task, updates: Updates, merged: ReadonlySet<Field>) {
  const { plan, view } = task;
  const { targets } = updates;
  const request = columnsOnly(plan, [...plan.schema.key.fields, ...view.list.readable, ...merged]);
  const compared = plan.options.validationSchema.update ? request : columnsOnly(plan, merged);
  let current = await readTargets(task, targets, { request });
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const known = current;
    const changes = await checkUpdates(task, updates, known);
    const apply = async (within: Task): Promise<object[]> => {
      const checkOf = (index: number) => async (call: Call) => {
        const found = await findColumns({ ...within, call }, targets[index]?.key, compared, true);
        const isSame = ({ path }: Field): boolean =>
          isDeepStrictEqual(toJson(valueAt(path, found)), toJson(valueAt(path, known[index])));
        if (found && !compared.fields.every(isSame)) throw CHANGED;
      };
      if (isUnlocked(task)) return applyUpdates(within, updates, changes, false, checkOf);
      current = await readTargets(within, targets, { request, isLocked: true });
      if (JSON.stringify(current) !== JSON.stringify(known)) throw CHANGED;
      return applyUpdates(within, updates, changes);
    };
    try {
      return await transacted(task, writeOf(task, 'update', changes, targets), apply);
    } catch (error) {
      if (error !== CHANGED) throw error;
      if (isUnlocked(task)) current = await readTargets(task, targets, { request });
    }
  }
  throw new ConflictException(`${plan.schema.name} was changed by other requests: repeat the change`);
}

/** Runs after the listeners, before the statement. */
type Check = (call: Call) => Promise<void>;

/** Listeners may write the row by another connection, which would wait for a lock of this one for ever. */
const isUnlocked = ({ plan, call: { hooks } }: Task): boolean =>
  plan.store.runsAppCode.has('update') && !hooks.beforeUpdate && !hooks.whenUpdated;

/** @param current the stored records, where they have to be known @throws 400 naming every wrong field */
async function checkUpdates(task: Task, { targets, sent, nameOf }: Updates, current: readonly object[]) {
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
async function applyUpdates(
  task: Task,
  { targets, nameOf }: Updates,
  changes: readonly Change[],
  isReturned = false,
  checkOf?: (index: number) => Check,
): Promise<object[]> {
  const { plan } = task;
  const keyOf = (index: number): string => identityOf(plan.schema.key.write(targets[index]?.key));
  const order = [...targets.keys()];
  // Then two batches change their rows in one order, and do not wait for each other.
  if (isUnlocked(task)) order.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  let updated: object | undefined;
  for (const index of order) {
    const [target, change] = [targets[index] as Target, changes[index] as Change];
    updated = await updateRecord(task, target, change, checkOf?.(index)).catch(throwFor(nameOf(index)));
  }
  const records = await readUpdated(task, targets, isReturned ? updated : undefined);
  return checkItems(records, nameOf, (record, index) => assertReadBack(plan, record, changes[index]?.values));
}

async function updateRecord(task: Task, target: Target, change: Change, check?: Check) {
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
  const write = (by: Call) => store.writers.update.update(by, key, condition, values, fields, check);
  const updated =
    hasNewVersion || values.size > 0
      ? await run(plan, call, write, writeOf(task, 'update', [{ values }], [target]))
      : { record: (await readTargets(task, [target], { isLocked: true }))[0] };
  if (!updated) throw await refusalOf(task, target);
  await writeLinks(plan, call, key, ids, 'update');
  await runWhen(task, 'whenUpdated', key, before);
  return updated.record;
}

/** @throws 403 where a record lies outside of what the caller may see now */
async function readUpdated(task: Task, targets: readonly Target[], returned: object | undefined) {
  const { plan, view } = task;
  const keys = targets.map(({ key }) => key);
  const records = returned ? [returned] : await findAll(task, keys);
  for (const [index, record] of records.entries())
    if (!record) throw view.isScoped ? new AccessRefused() : notFoundError(plan, String(targets[index]?.id));
  await runAfter(task, 'afterUpdate', records);
  return records as object[];
}
