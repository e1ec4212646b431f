/** Changes records: one for PUT and PATCH, several for a batch. */
import { isDeepStrictEqual } from 'node:util';
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import { toJson } from '../../entities/record-input.js';
import { ServiceUnavailable } from '../../http/failure.js';
import { AccessRefused } from '../../http/refusal.js';
import type { Task } from '../plan/plan.js';
import { assertChangeable, changeCondition, columnsOnly, findAll } from '../read/records.js';
import { findColumns, notFoundError, readTargets, refusalOf, type Target } from '../read/records.js';
import { run, transacted, writeOf } from '../read/statements.js';
import { managerOf, type Call } from '../store/call.js';
import { valueAt } from '../store/entity-values.js';
import { identityOf } from '../store/linked-rows.js';
import { checkChanged, mergedFields, needsCurrent, type Change, type Sent } from './bodies.js';
import { beforeUpdate, runAfter, runWhen, storedRecord } from './hooks.js';
import { checkItems, forItem, type NameItem } from './items.js';
import { writeLinks } from './links.js';
import { assertVisible, evaluateScopes } from './references.js';
import { assertReadBack } from './validation.js';

/** Another request has changed what was merged. */
const CHANGED = new Error('changed');

/** Each attempt fails only where another request has succeeded, or where a listener changes what it loads each time. */
const MAX_ATTEMPTS = 100;

/**
 * All records are changed, or none. Where the stored record takes part in the result, the body is checked before the
 * transaction, and again where the record has changed when the transaction has locked it.
 * @returns the records after the update, in the order of the targets
 * @throws 400 naming every wrong field, 403, 404, 409, 412, 428
 */
export async function updateRecords<T extends object>(
  task: Task<T>,
  targets: readonly Target[],
  sent: readonly Sent[],
  nameOf: NameItem,
): Promise<T[]> {
  const { plan, call, hooks, view } = task;
  const { options, schema, database } = plan;
  const merged = new Set(sent.flatMap((each) => mergedFields(plan, each)));
  const isMerging = merged.size > 0 || (options.validationSchema.update && sent.some(({ kind }) => kind === 'patch'));
  const isCompared = isMerging || sent.some((each) => needsCurrent(plan, each));
  const { fields } = schema.key;
  const request = columnsOnly(plan, isCompared ? [...fields, ...view.list.readable, ...merged] : fields);
  const isSeveral = targets.length > 1;
  // A listener may write its row by another connection, which would wait for a lock of this one for ever.
  const isHeard = plan.store.hooked.has('update') && !hooks.beforeUpdate && !hooks.whenUpdated;
  const keyOf = (index: number): string => identityOf(schema.key.write(targets[index]?.key));
  const order = [...targets.keys()];
  // Then two batches change their rows in one order, and do not wait for each other.
  if (isHeard) order.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const compared = options.validationSchema.update ? request : columnsOnly(plan, merged);
  // Otherwise a transaction keeps the record as this update leaves it, until it is read for the answer.
  const isSingle =
    returnsUpdated(task) && !isSeveral && !isMerging && !view.isScoped && !hooks.beforeUpdate && !hooks.whenUpdated;
  try {
    let current = isCompared ? await readTargets(task, targets, { request }) : [];
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const known = current;
      const changes = await checkItems(targets, nameOf, (target, index) =>
        checkChanged(task, sent[index] as Sent, known[index], target.key),
      );
      await evaluateScopes(task, changes, 'update');
      /** @returns `undefined` where another request has changed a record since it was read */
      const apply = async (within: Task<T>): Promise<T[] | undefined> => {
        const isLocked = (isSeveral || isMerging) && !isHeard;
        if (isLocked) current = await readTargets(within, targets, { request, isLocked });
        if (isMerging && JSON.stringify(current) !== JSON.stringify(known)) return undefined;
        let updated: T | undefined;
        for (const index of order) {
          const assertUnchanged = async (call: Call): Promise<void> => {
            const found = await findColumns({ ...within, call }, targets[index]?.key, compared, true);
            const isSame = ({ path }: Field): boolean =>
              isDeepStrictEqual(toJson(valueAt(path, found)), toJson(valueAt(path, known[index])));
            if (found && !compared.fields.every(isSame)) throw CHANGED;
          };
          const check = isHeard && isMerging ? assertUnchanged : undefined;
          updated = await forItem(nameOf(index), () =>
            updateRecord(within, targets[index] as Target, changes[index] as Change<T>, check),
          );
        }
        const records = await readUpdated(within, targets, isSingle ? updated : undefined);
        return checkItems(records, nameOf, (record, index) => assertReadBack(plan, record, changes[index]?.values));
      };
      const updated = await (isSingle ? apply(task) : transacted(task, writeOf(task, 'update', changes), apply)).catch(
        async (error: unknown) => {
          if (error !== CHANGED) throw error;
          current = await readTargets(task, targets, { request });
          return undefined;
        },
      );
      if (updated) return updated;
    }
    throw new ConflictException(`${schema.name} was changed by other requests: repeat the change`);
  } catch (error) {
    // An unknown record is 404, whatever else is wrong. A statement that failed may have ended the transaction.
    const hasFailed = !(error instanceof BadRequestException) || error.cause !== undefined;
    const isKnown = error instanceof NotFoundException || error instanceof ServiceUnavailable;
    const isFinal = isKnown || (hasFailed && managerOf(call, database) !== undefined);
    if (!isFinal) for (const target of targets) await assertChangeable(task, target);
    throw error;
  }
}

type Check = (call: Call) => Promise<void>;

/** @param check runs after the listeners, before the statement */
async function updateRecord<T extends object>(task: Task<T>, target: Target, change: Change<T>, check?: Check) {
  const { plan, call, view, hooks } = task;
  const { key, preconditions } = target;
  const { store, metadata } = plan;
  // A listener must not be called for a record that a precondition refuses.
  if (preconditions.length > 0 && store.listened.has('update')) await assertChangeable(task, target);
  const request = storedRecord(task);
  const [before] = hooks.whenUpdated ? await readTargets(task, [target], { request, isLocked: true }) : [];
  await assertVisible(task, [change], 'update', key);
  const { values, ids } = await beforeUpdate(task, change, target);
  const condition = changeCondition(task, target);
  // Other links make another version of the record.
  const hasNewVersion = ids.size > 0 && (metadata.versionColumn ?? metadata.updateDateColumn) !== undefined;
  const fields = returnsUpdated(task) ? view.list.readable : undefined;
  const write = (by: Call) => store.writers.update.update(by, key, condition, values, fields, check);
  const updated =
    hasNewVersion || values.size > 0
      ? await run(plan, call, write, writeOf(task, 'update', [{ values }]))
      : { record: (await readTargets(task, [target], { isLocked: true }))[0] };
  if (!updated) throw await refusalOf(task, target);
  await writeLinks(plan, call, key, ids, 'update');
  await runWhen(task, 'whenUpdated', key, before);
  return updated.record;
}

/** Whether the statement that changes a record returns all that the caller sees of it. */
const returnsUpdated = <T extends object>({ plan: { store }, view }: Task<T>): boolean =>
  store.writers.update.returnsUpdated && !store.listened.has('read') && view.list.linkable.length === 0;

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
