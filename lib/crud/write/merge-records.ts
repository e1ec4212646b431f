/** Updates in which the stored record takes part, such as merge patches of JSON columns. */
import { isDeepStrictEqual } from 'node:util';
import { ConflictException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import { toJson } from '../../entities/record-input.js';
import type { Task } from '../plan/plan.js';
import { columnsOnly, findColumns, readTargets } from '../read/records.js';
import { transacted, writeOf } from '../read/statements.js';
import type { Call } from '../store/call.js';
import { valueAt } from '../store/entity-values.js';
import { applyUpdates, checkUpdates, isUnlocked, type Updates } from './apply-updates.js';

/** Another request has changed what was merged. */
const CHANGED = new Error('changed');

/** Each attempt fails only where another request has succeeded, or where a listener changes what it loads each time. */
const MAX_ATTEMPTS = 100;

/**
 * The body is checked before the transaction, and again where the record has changed when the transaction has locked it.
 * @param merged the fields whose stored value takes part in the result
 */
export async function mergeRecords<T extends object>(task: Task<T>, updates: Updates, merged: ReadonlySet<Field>) {
  const { plan, view } = task;
  const { targets } = updates;
  const request = columnsOnly(plan, [...plan.schema.key.fields, ...view.list.readable, ...merged]);
  const compared = plan.options.validationSchema.update ? request : columnsOnly(plan, merged);
  let current = await readTargets(task, targets, { request });
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const known = current;
    const changes = await checkUpdates(task, updates, known);
    const apply = async (within: Task<T>): Promise<T[]> => {
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
      return await transacted(task, writeOf(task, 'update', changes), apply);
    } catch (error) {
      if (error !== CHANGED) throw error;
      if (isUnlocked(task)) current = await readTargets(task, targets, { request });
    }
  }
  throw new ConflictException(`${plan.schema.name} was changed by other requests: repeat the change`);
}
