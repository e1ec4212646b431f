/** Creates records: one for POST, several for a batch. */
import { BadRequestException, ConflictException } from '@nestjs/common';
import { isSqlite } from '../../entities/database-family.js';
import type { Field } from '../../entities/entity-schema.js';
import { isSame, type Values } from '../../entities/record-input.js';
import { AccessRefused } from '../../http/refusal.js';
import type { JsonObject } from '../../http/json-body.js';
import type { Plan, Task } from '../plan/plan.js';
import { findAll } from '../read/records.js';
import { isEverything } from '../sql/condition.js';
import type { Inserted } from '../store/record-access.js';
import { run, transacted, writeOf } from '../read/statements.js';
import { checkCreated, readBody, type Change } from './bodies.js';
import { beforeCreate, runAfter, runWhen } from './hooks.js';
import { checkItems, forItem, type NameItem } from './items.js';
import { writeLinks } from './links.js';
import { assertVisible, evaluateScopes } from './references.js';
import { assertReadBack } from './validation.js';

/**
 * All records are created, or none.
 * @param answer makes the body of the response, which an `Idempotency-Key` stores in the transaction of the write
 * @throws 400 naming every wrong field, 401, 403, 409
 */
export async function createRecords<T extends object, R>(
  task: Task<T>,
  bodies: readonly JsonObject[],
  nameOf: NameItem,
  answer: (created: readonly T[]) => R,
): Promise<R> {
  const { plan, call, hooks, view } = task;
  const changes = await checkItems(bodies, nameOf, (body) => checkCreated(task, readBody(task, body, 'create')));
  await evaluateScopes(task, changes, 'create');
  const isHooked = hooks.beforeCreate !== undefined || hooks.whenCreated !== undefined;
  // A transformer may not read what it has written.
  const mayRefuse = plan.metadata.columns.some(({ transformer }) => transformer);
  const create = async (within: Task<T>): Promise<R> => {
    // A hook sees the records of the items before. TypeORM says only that one could not be read.
    const parts =
      isHooked || (mayRefuse && plan.store.listened.has('create')) ? changes.map((change) => [change]) : [changes];
    const inserted: Inserted<T>[] = [];
    for (const [index, part] of parts.entries())
      inserted.push(...(await forItem(nameOf(index), () => insert(within, part))));
    const created = await checkItems(await readCreated(within, inserted), nameOf, (record) =>
      assertReadBack(plan, record),
    );
    await runAfter(within, 'afterCreate', created);
    return answer(created);
  };
  const idempotency = call.state?.idempotency?.(plan.options);
  // A listener may replace a key, or make none. A driver may round one, which only its connection still has.
  const isUncertain = ({ insertable, textRead }: Field): boolean =>
    insertable || (textRead !== undefined && !isSqlite(plan.database.dataSource));
  const mayReplaceKey = plan.store.listened.has('create') && plan.schema.key.fields.some(isUncertain);
  const isTree = plan.metadata.treeType !== undefined;
  const isReadBack = mayRefuse || mayReplaceKey || isTree || plan.database.hasTriggers(plan.metadata);
  // A node of Galera repeats a statement without a transaction, also after it has sent the rows of `RETURNING`.
  const isRepeated = plan.database.connections.isCluster;
  const isConditional =
    view.isScoped || view.fixed.size > 0 || isReadBack || isRepeated || plan.store.hooked.has('create');
  const isSingleStatement =
    changes.length === 1 && !isConditional && !isHooked && !idempotency && !changes.some(hasLinks);
  return isSingleStatement ? create(task) : transacted(task, writeOf(task, 'create', changes), create, idempotency);
}

const hasLinks = ({ ids }: Change<unknown>): boolean => ids.size > 0;

/**
 * Whether `RETURNING` says what the caller sees of a new record. Not where a condition decides whether the caller sees
 * it, where a listener is called with it, where a trigger may change it, or where something else is written with it.
 */
const isReturned = ({ plan, hooks, view }: Task): boolean =>
  isEverything(view.visible) &&
  !plan.database.hasTriggers(plan.metadata) &&
  view.list.linkable.length === 0 &&
  !hooks.beforeCreate &&
  !hooks.whenCreated &&
  !plan.store.listened.has('read');

async function insert<T extends object>(task: Task<T>, changes: readonly Change<T>[]) {
  const { plan, call, view } = task;
  await assertVisible(task, changes, 'create');
  const rows: Change<T>[] = [];
  for (const change of changes) rows.push(await beforeCreate(task, change));
  const write = writeOf(task, 'create', rows);
  const fields = isReturned(task) ? view.list.readable : undefined;
  const written = await run(plan, call, (by) => plan.store.writers.create.insert(by, rows, fields), write);
  const inserted = written.filter((each) => each !== undefined);
  if (inserted.length < rows.length) throw notStored(plan);
  for (const [index, { values }] of rows.entries()) assertKept(plan, values, inserted[index]?.key);
  for (const [index, { ids }] of rows.entries()) await writeLinks(plan, call, inserted[index]?.key, ids, 'create');
  if (task.hooks.whenCreated) for (const { key } of inserted) await runWhen(task, 'whenCreated', key);
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
async function readCreated<T extends object>(task: Task<T>, inserted: readonly Inserted<T>[]): Promise<T[]> {
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
