import { HttpStatus } from '@nestjs/common';
import { AccessRefused } from '../../http/refusal.js';
import { beginTask, type Task } from '../plan/plan.js';
import { allFields } from '../query/record-request.js';
import { assertChangeable, changeCondition, exists, find, notFoundError } from '../read/records.js';
import { answerRecord, readId, refusalOf, targetOf } from '../read/records.js';
import { runWhen } from '../write/hooks.js';
import { evaluateScopes } from '../write/references.js';
import { run, transacted, writeOf } from '../read/run-with-retries.js';
import { and, compare, NOTHING } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import type { Operation } from './operation.js';

export const restore: Operation = {
  name: 'restore',
  route: { verb: 'POST', path: ':id/restore', status: HttpStatus.OK, takes: ['id'] },
  enabledBy: 'enableRestore',
  undoes: 'delete',
  description: { id: 'restore{one}', summary: 'Restore a deleted {one}', data: 'record' },
  /** Changes nothing where the record is not marked as deleted. @throws 400 for a malformed id, 403, 404, 409 */
  async run(plan, call, { id }) {
    const { deletion, store } = plan;
    const key = readId(plan, id, restore);
    const task = await beginTask(plan, call, 'restore', 'with');
    const target = targetOf(task, { key, id }, restore);
    await evaluateScopes(task, [], 'update');
    const write = writeOf(task, 'update', [], [target], store.runsAppCode.has('restore') || call.hooks.whenRestored);
    const all = allFields(task.view.list);
    const request = { ...all, fields: all.fields.filter((field) => field !== deletion) };
    const apply = async (within: Task): Promise<object> => {
      const hidden = and(changeCondition(within, target), deletion ? compare(deletion, 'isNotNull') : NOTHING);
      const restored = (by: Call): Promise<boolean> => store.writers.restore.restore(by, key, hidden);
      const isRestored = deletion !== undefined && (await run(plan, within.call, restored, write));
      if (!isRestored) await assertChangeable(within, target);
      // A trigger ignored the statement.
      if (!isRestored && (await exists(within, hidden))) throw await refusalOf(within, target);
      if (isRestored) await runWhen(within, 'whenRestored', key);
      const record = await find(within, key, { request });
      if (record) return record;
      throw isRestored && task.view.isScoped ? new AccessRefused() : notFoundError(plan, id);
    };
    return answerRecord(task, `${plan.schema.name} restored`, await transacted(task, write, apply));
  },
};
