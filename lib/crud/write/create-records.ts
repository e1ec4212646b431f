/** Creates records: one for POST, several for a batch. */
import { ConflictException } from '@nestjs/common';
import { AccessRefused } from '../../http/refusal.js';
import type { JsonObject } from '../../http/json-body.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import type { Plan } from '../plan/plan.js';
import type { CallerView } from '../plan/variant.js';
import { findAll } from '../read/records.js';
import { run, transacted } from '../read/statements.js';
import type { Call } from '../store/call.js';
import { checkCreated, readBody, type Change } from './bodies.js';
import { beforeCreate, runAfter } from './hooks.js';
import { checkItems, forItem, type NameItem } from './items.js';
import { writeLinks } from './links.js';
import { assertVisible, evaluateScopes } from './references.js';

export interface Creation<T extends object, R> {
  readonly bodies: readonly JsonObject[];
  readonly nameOf: NameItem;
  readonly hooks: GeneratedHooks<T>;
  /** Makes the body of the response, which an `Idempotency-Key` stores in the transaction of the write. */
  readonly answer: (created: readonly T[]) => R;
}

/** All records are created, or none. @throws 400 naming every wrong field, 401, 403, 409 */
export async function createRecords<T extends object, R>(
  plan: Plan<T>,
  call: Call,
  view: CallerView,
  { bodies, nameOf, hooks, answer }: Creation<T, R>,
): Promise<R> {
  const changes = await checkItems(bodies, nameOf, (body) =>
    checkCreated(plan, call.request, readBody(plan, body, 'create', view), view),
  );
  await evaluateScopes(plan, call, changes, { operation: 'create', view });
  const create = async (within: Call): Promise<R> => {
    // A hook sees the records of the items before.
    const parts = hooks.beforeCreate ? changes.map((change) => [change]) : [changes];
    const keys: unknown[] = [];
    for (const [index, part] of parts.entries())
      keys.push(...(await forItem(nameOf(index), () => insert(plan, within, view, part, hooks))));
    const created = await readCreated(plan, within, view, keys);
    await runAfter(plan, within, hooks, 'afterCreate', created);
    return answer(created);
  };
  const idempotency = call.state?.idempotency?.(plan.options);
  const hasConditions = view.isScoped || view.fixed.size > 0;
  const isSingleStatement =
    changes.length === 1 && !hasConditions && !hooks.beforeCreate && !idempotency && !changes.some(hasLinks);
  return isSingleStatement ? create(call) : transacted(plan, call, create, idempotency);
}

const hasLinks = ({ ids }: Change<unknown>): boolean => ids.size > 0;

/** @returns the keys of the new records */
async function insert<T extends object>(
  plan: Plan<T>,
  call: Call,
  view: CallerView,
  changes: readonly Change<T>[],
  hooks: GeneratedHooks<T>,
): Promise<readonly unknown[]> {
  await assertVisible(plan, call, changes, { operation: 'create', view });
  const rows: Change<T>[] = [];
  for (const change of changes) rows.push(await beforeCreate(plan, call, hooks, change, view));
  const write = { operation: 'create', rows: rows.map(({ values }) => values), permissions: view.permissions } as const;
  const keys = await run(plan, call, () => plan.store.writers.create.insert(call, rows), write);
  for (const [index, { ids }] of rows.entries()) {
    const key = keys[index];
    if (key === undefined) throw notStored(plan);
    await writeLinks(plan, call, key, ids, 'create');
  }
  return keys;
}

/** @throws 403 where a new record lies outside of what the caller may see */
async function readCreated<T extends object>(
  plan: Plan<T>,
  call: Call,
  view: CallerView,
  keys: readonly unknown[],
): Promise<T[]> {
  const records = await findAll(plan, call, view, keys);
  return records.map((record) => {
    if (record) return record;
    throw view.isScoped ? new AccessRefused() : notStored(plan);
  });
}

const notStored = ({ schema }: Plan): ConflictException =>
  new ConflictException(`${schema.name} was not stored: the database ignored it, or it is deleted already`);
