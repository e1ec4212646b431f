/** Changes records: one for PUT and PATCH, several for a batch. */
import { BadRequestException, NotFoundException } from '@nestjs/common';
import { ServiceUnavailable } from '../../http/failure.js';
import type { Task } from '../plan/plan.js';
import { assertChangeable, columnsOnly, readTargets } from '../read/records.js';
import { transacted, writeOf } from '../read/statements.js';
import { managerOf } from '../store/call.js';
import { applyUpdates, checkUpdates, isUnlocked, type Updates } from './apply-updates.js';
import { mergedFields, needsCurrent } from './bodies.js';
import { mergeRecords } from './merge-records.js';

/**
 * All records are changed, or none.
 * @returns the records after the update, in the order of the targets
 * @throws 400 naming every wrong field, 403, 404, 409, 412, 428
 */
export async function updateRecords<T extends object>(task: Task<T>, updates: Updates): Promise<T[]> {
  const { plan, call } = task;
  const { targets, sent } = updates;
  const merged = new Set(sent.flatMap((each) => mergedFields(plan, each)));
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
async function replaceRecords<T extends object>(task: Task<T>, updates: Updates): Promise<T[]> {
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
  return transacted(task, writeOf(task, 'update', changes), async (within) => {
    const isLocked = targets.length > 1 && !isUnlocked(task);
    if (isLocked) await readTargets(within, targets, { request: columnsOnly(plan, fields), isLocked });
    return applyUpdates(within, updates, changes);
  });
}
