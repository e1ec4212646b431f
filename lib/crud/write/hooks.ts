/** Calls the hooks of a controller around the writes of its records. */
import { Logger } from '@nestjs/common';
import { expectJsonObject, type JsonObject } from '../../http/json-body.js';
import { userOf } from '../../http/caller.js';
import type { HookContext } from '../declare/generated-hooks.js';
import type { Plan, Task } from '../plan/plan.js';
import { allFields, type RecordRequest } from '../query/record-request.js';
import { columnsOnly, find, readTargets, type Target } from '../read/records.js';
import { afterCommit } from '../read/run-with-retries.js';
import { managerOf } from '../store/call.js';
import { checkChanged, checkCreated, hookValues, needsCurrent, readBody, type Change } from './bodies.js';

const logger = new Logger('declarest');

const contextOf = ({ plan, call }: Pick<Task, 'plan' | 'call'>): HookContext => ({
  user: userOf(call.request),
  request: call.request?.method ? call.request : undefined,
  manager: managerOf(call, plan.database) ?? plan.database.dataSource.manager,
  afterCommit: (work) => void runLater({ plan, call }, 'afterCommit', work),
});

/** A hook returns what it changes. A key that it sets to `undefined` counts as not sent. */
function mergeReturned(plan: Plan, change: Change, returned: unknown): JsonObject {
  const merged = Object.entries({ ...hookValues(plan, change), ...expectJsonObject(returned) });
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}

/** @returns what is written @throws what the hook throws, and 400 for wrong values that it returns */
export async function beforeCreate(task: Task, change: Change) {
  const { plan, call } = task;
  const returned = await call.hooks.beforeCreate?.(hookValues(plan, change), contextOf(task));
  if (returned === undefined) return change;
  return checkCreated(task, readBody(task, mergeReturned(plan, change, returned), 'create', 'server'));
}

/** @returns what is written @throws 404, 403, 412, what the hook throws, and 400 for wrong values that it returns */
export async function beforeUpdate(task: Task, change: Change, target: Target) {
  const { plan, call, view } = task;
  const { key } = plan.schema;
  if (!call.hooks.beforeUpdate) return change;
  await readTargets(task, [target], { request: columnsOnly(plan, key.fields), isLocked: true });
  const returned = await call.hooks.beforeUpdate(key.write(target.key), hookValues(plan, change), contextOf(task));
  if (returned === undefined) return change;
  const sent = readBody(task, mergeReturned(plan, change, returned), change.kind, 'server');
  const request = columnsOnly(plan, view.list.readable);
  const current = needsCurrent(plan, sent) ? await find(task, target.key, { request }) : undefined;
  return checkChanged(task, sent, current, target.key);
}

/** Every column but hidden ones, whatever the caller may read. */
export const storedRecord = ({ plan: { schema }, view }: Task): RecordRequest => ({
  ...allFields(view.list),
  fields: schema.fields.filter(({ readable }) => readable),
});

type WhenHook = 'whenCreated' | 'whenUpdated' | 'whenRestored';

/** Calls a hook before the commit. A record that the caller does not see any more is refused later. @throws what it throws */
export async function runWhen(task: Task, name: WhenHook, key: unknown, before?: object): Promise<void> {
  const hook = task.call.hooks[name] as ((...given: readonly unknown[]) => unknown) | undefined;
  const record = hook && (await find(task, key, { request: storedRecord(task) }));
  if (record) await hook(record, ...(before ? [before] : []), contextOf(task));
}

/** @returns the record for the hook after the deletion @throws 404, 403, 412, and what the hook throws */
export async function beforeDelete(task: Task, target: Target) {
  const { schema } = task.plan;
  const { hooks } = task.call;
  if (!hooks.beforeDelete && !hooks.whenDeleted) return undefined;
  const request = hooks.whenDeleted ? storedRecord(task) : columnsOnly(task.plan, schema.key.fields);
  const [record] = await readTargets(task, [target], { request, isLocked: true });
  await hooks.beforeDelete?.(schema.key.write(target.key), contextOf(task));
  return record;
}

export const whenDeleted = async (task: Task, record: object | undefined): Promise<void> =>
  void (record && (await task.call.hooks.whenDeleted?.(record, contextOf(task))));

/** Runs work after the commit. The records are written already: an error of the work is logged. */
const runLater = ({ plan, call }: Pick<Task, 'plan' | 'call'>, name: string, work: () => unknown): Promise<void> =>
  afterCommit(call, plan.database, async () => {
    try {
      await work();
    } catch (error) {
      logger.error(`${name} of ${plan.schema.name} failed.`, error instanceof Error ? error.stack : undefined);
      plan.observeError(error, call.request);
    }
  });

type AfterHook = 'afterCreate' | 'afterUpdate' | 'afterDelete';

/** @param written the records, or the keys of deleted ones */
export async function runAfter(task: Task, name: AfterHook, written: readonly unknown[]): Promise<void> {
  const { plan, call } = task;
  const hook = call.hooks[name] as ((...given: readonly unknown[]) => unknown) | undefined;
  if (!hook) return;
  const context = { ...contextOf(task), manager: plan.database.manager };
  for (const each of written)
    await runLater(task, name, () => hook(name === 'afterDelete' ? plan.schema.key.write(each) : each, context));
}
