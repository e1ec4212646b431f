/** Creates records: one for POST, several for a batch. */
import { BadRequestException, ConflictException } from '@nestjs/common';
import { isSame, type Values } from '../../entities/record-input.js';
import { AccessRefused } from '../../http/refusal.js';
import type { JsonObject } from '../../http/json-body.js';
import type { Plan, Task } from '../plan/plan.js';
import { findAll } from '../read/records.js';
import { isEverything } from '../sql/condition.js';
import type { Inserted } from '../store/table.js';
import { run, transacted, writeOf } from '../read/run-with-retries.js';
import { checkCreated, readBody, type Change } from './bodies.js';
import { beforeCreate, runAfter, runWhen } from './hooks.js';
import { checkItems, throwFor, type NameItem } from './items.js';
import { writeLinks } from './links.js';
import { assertVisible, evaluateScopes } from './references.js';
import { assertReadBack } from './validation.js';

/**
 * All records are created, or none. An item without a body is 400, as `bodyOf` says.
 * @param answer makes the body of the response, which an `Idempotency-Key` stores in the transaction of the write
 * @throws 400 naming every wrong field, 401, 403, 409
 */
export async function createRecords<R, I = JsonObject>(
  task: Task,
  items: readonly I[],
  nameOf: NameItem,
  answer: (created: readonly object[]) => R,
  bodyOf = (item: I) => item as JsonObject,
): Promise<R> {
  const { plan, call, view } = task;
  const { createsInTransaction, createsOneByOne } = plan.store.traits;
  const changes = await checkItems(items, nameOf, (item) => checkCreated(task, readBody(task, bodyOf(item), 'create')));
  await evaluateScopes(task, changes, 'create');
  const isHooked = call.hooks.beforeCreate !== undefined || call.hooks.whenCreated !== undefined;
  const create = async (within: Task): Promise<R> => {
    // A hook sees the records of the items before.
    const parts = isHooked || createsOneByOne ? changes.map((change) => [change]) : [changes];
    const inserted: Inserted[] = [];
    for (const [index, part] of parts.entries())
      inserted.push(...(await insert(within, part, isHooked).catch(throwFor(nameOf(index)))));
    const stored = await readCreated(within, inserted);
    const created = await checkItems(stored, nameOf, (record) => assertReadBack(plan, record));
    await runAfter(within, 'afterCreate', created);
    return answer(created);
  };
  const steps = call.state?.idempotency?.(plan.options);
  const isConditional = view.isScoped || view.fixed.size > 0;
  const isAlone = changes.length === 1 && changes[0]?.ids.size === 0 && !isHooked && !steps;
  if (isAlone && !isConditional && !createsInTransaction) return create(task);
  return transacted(task, { ...writeOf(task, 'create', changes), steps }, create);
}

async function insert(task: Task, changes: readonly Change[], isHooked: boolean) {
  const { plan, call, view } = task;
  const { writers, traits } = plan.store;
  await assertVisible(task, changes, 'create');
  const rows: Change[] = [];
  for (const change of changes) rows.push(await beforeCreate(task, change));
  const write = writeOf(task, 'create', rows);
  // Where a condition decides whether the caller sees the record, or a hook may change it, it is read.
  const isReturned = traits.returnsCreated && !isHooked && isEverything(view.visible);
  const fields = isReturned ? view.list.readable : undefined;
  const written = await run(plan, call, (by) => writers.create.insert(by, rows, fields), write);
  const inserted = written.filter((each) => each !== undefined);
  if (inserted.length < rows.length) throw notStored(plan);
  for (const [index, { values }] of rows.entries()) assertKept(plan, values, inserted[index]?.key);
  for (const [index, { ids }] of rows.entries()) await writeLinks(plan, call, inserted[index]?.key, ids, 'create');
  if (call.hooks.whenCreated) for (const { key } of inserted) await runWhen(task, 'whenCreated', key);
  return inserted;
}

/** @throws 400 where a listener has replaced the key that was sent, or has made none */
function assertKept({ schema: { name, key } }: Plan, values: Values, held: unknown): void {
  const errors = key.fields.flatMap((field, index) => {
    const value = key.parts(held)[index];
    if (value == null && field.insertable) return [{ field: field.name, message: 'is required' }];
    const isKept = !values.has(field) || isSame(field, values.get(field), value);
    return isKept ? [] : [{ field: field.name, message: 'is set by the server; leave it out' }];
  });
  if (errors.length > 0) throw new BadRequestException({ message: `${name} is not valid`, errors });
}

/** @throws 403 where a new record lies outside of what the caller may see */
async function readCreated(task: Task, inserted: readonly Inserted[]): Promise<object[]> {
  const returned = inserted.flatMap(({ record }) => record ?? []);
  if (returned.length === inserted.length) return returned;
  const keys = inserted.map(({ key }) => key);
  const records = await findAll(task, keys);
  return records.map((record) => {
    if (record) return record;
    throw task.view.isScoped ? new AccessRefused() : notStored(task.plan);
  });
}

const notStored = ({ schema }: Plan): ConflictException =>
  new ConflictException(`${schema.name} was not stored: the database ignored it, or it is deleted already`);
