/** Calls the hooks of a controller around the writes of its records. */
import { Logger } from '@nestjs/common';
import { userOf } from '../../http/principal.js';
import type { GeneratedHooks, HookContext, HookValues, IdOf } from '../declare/generated-hooks.js';
import type { CrudRecord } from '../declare/record-types.js';
import type { Plan } from '../plan/plan.js';
import type { CallerView } from '../plan/variant.js';
import { columnsOnly, findExisting, lockChangeable, type Target } from '../read/records.js';
import { afterCommit, managerOf, type Call } from '../store/call.js';
import { checkChanged, checkCreated, hookValues, needsCurrent, readBody, type Change } from './bodies.js';

const logger = new Logger('declarest');

const contextOf = ({ database }: Plan, call: Call): HookContext => ({
  user: userOf(call.request),
  request: call.request,
  manager: managerOf(call, database) ?? database.dataSource.manager,
});

/** As clients see it. */
const idOf = <T extends object>({ schema }: Plan<T>, key: unknown): IdOf<T> => schema.id.type.write(key) as IdOf<T>;

/** @returns what is written @throws what the hook throws, and 400 for wrong values that it returns */
export async function beforeCreate<T extends object>(
  plan: Plan<T>,
  call: Call,
  hooks: GeneratedHooks<T>,
  change: Change<T>,
  view: CallerView,
): Promise<Change<T>> {
  const returned = await hooks.beforeCreate?.(hookValues(plan, change) as HookValues<T>, contextOf(plan, call));
  if (returned === undefined) return change;
  return checkCreated(plan, call.request, readBody(plan, returned, 'create', view, 'hook'), view);
}

/** @returns what is written @throws 404, 403, 412, what the hook throws, and 400 for wrong values that it returns */
export async function beforeUpdate<T extends object>(
  plan: Plan<T>,
  call: Call,
  hooks: GeneratedHooks<T>,
  change: Change<T>,
  target: Target,
): Promise<Change<T>> {
  if (!hooks.beforeUpdate) return change;
  await lockChangeable(plan, call, target);
  const values = hookValues(plan, change) as HookValues<T>;
  const returned = await hooks.beforeUpdate(idOf(plan, target.key), values, contextOf(plan, call));
  if (returned === undefined) return change;
  const { view } = target;
  const sent = readBody(plan, returned, change.kind, view, 'hook');
  const request = columnsOnly(plan, view.list.readable);
  const current = needsCurrent(plan, sent) ? await findExisting(plan, call, view, target, { request }) : undefined;
  return checkChanged(plan, sent, current, target);
}

/** @throws 404, 403, 412, and what the hook throws */
export async function beforeDelete<T extends object>(
  plan: Plan<T>,
  call: Call,
  hooks: GeneratedHooks<T>,
  target: Target,
): Promise<void> {
  if (!hooks.beforeDelete) return;
  await lockChangeable(plan, call, target);
  await hooks.beforeDelete(idOf(plan, target.key), contextOf(plan, call));
}

/**
 * Calls a hook after the commit. The records are written already: an error of the hook is logged.
 *
 * @param written the records, or the keys of deleted ones
 */
export async function runAfter<T extends object>(
  plan: Plan<T>,
  call: Call,
  hooks: GeneratedHooks<T>,
  name: 'afterCreate' | 'afterUpdate' | 'afterDelete',
  written: readonly unknown[],
): Promise<void> {
  if (!hooks[name]) return;
  const context = contextOf(plan, { ...call, transaction: undefined });
  for (const each of written)
    await afterCommit(call, plan.database, async () => {
      try {
        if (name === 'afterDelete') await hooks.afterDelete?.(idOf(plan, each), context);
        else await hooks[name]?.(each as CrudRecord<T>, context);
      } catch (error) {
        logger.error(`${name} of ${plan.schema.name} failed.`, error instanceof Error ? error.stack : undefined);
      }
    });
}
