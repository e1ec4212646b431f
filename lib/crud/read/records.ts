/** Reads records by key, as the caller of an operation sees them. */
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import type { OperationName } from '../declare/operations.js';
import { viewOf } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import type { CallerView } from '../plan/variant.js';
import type { Deleted } from '../query/parameters.js';
import { everything, hasRelations, selectedFields, type RecordRequest } from '../query/record-request.js';
import { versionPreconditions } from '../rows/record-version.js';
import { type WritePrecondition, and, compare, type Condition } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import { chunksOf, identityOf, keyOf } from '../store/linked-rows.js';
import type { RowLock } from '../store/record-access.js';
import { addRelations } from './related-records.js';
import { run } from './statements.js';

/** How a record is read. */
export interface Reading {
  /** Everything that the caller may read, where it is absent. */
  readonly request?: RecordRequest;
  readonly lock?: RowLock | undefined;
}

/** @throws 400 */
export function readId({ schema }: Plan, text: string): unknown {
  const reading = schema.id.type.readText(text);
  if ('value' in reading) return reading.value;
  throw new BadRequestException({
    message: `${schema.name} id is not valid`,
    errors: [{ field: 'id', message: `expected ${reading.expected}` }],
  });
}

/** The record with a key, if the caller may see it. */
export const withId = ({ schema }: Plan, { visible }: CallerView, key: unknown): Condition =>
  and(compare(schema.id, 'eq', key), visible);

export async function find<T extends object>(
  plan: Plan<T>,
  call: Call,
  view: CallerView,
  key: unknown,
  { request = everything(view.list), lock }: Reading = {},
): Promise<T | undefined> {
  const { id } = plan.schema;
  const fields = selectedFields(request, id);
  const { reader } = plan.store;
  const record = await run(plan, call, () => reader.findOne(call, withId(plan, view, key), fields, lock));
  if (record && hasRelations(request)) await addRelations(plan, call, [record], request);
  return record;
}

/** In the order of the keys; `undefined` where the caller does not see one. */
export async function findAll<T extends object>(
  plan: Plan<T>,
  call: Call,
  view: CallerView,
  keys: readonly unknown[],
  reading: Reading = {},
): Promise<(T | undefined)[]> {
  if (keys.length === 1) return [await find(plan, call, view, keys[0], reading)];
  const { id } = plan.schema;
  const { request = everything(view.list), lock } = reading;
  const fields = request.fields.includes(id) ? request.fields : [id, ...request.fields];
  const { reader } = plan.store;
  const records: T[] = [];
  for (const chunk of chunksOf(new Set(keys.map((key) => id.type.write(key))), id)) {
    const condition = and(compare(id, 'in', ...chunk), view.visible);
    // In the order of the key, so that two batches do not wait for each other.
    const selection = { condition, fields, sort: [{ field: id, descending: false }], lock };
    records.push(...(await run(plan, call, () => reader.find(call, selection))));
  }
  const byKey = new Map(records.map((record) => [identityOf(keyOf(record, id)), record]));
  await addRelations(plan, call, records, { ...request, fields });
  if (fields !== request.fields) for (const record of records) delete (record as Record<string, unknown>)[id.name];
  return keys.map((key) => byKey.get(identityOf(id.type.write(key))));
}

/** @param id as sent, for the message @throws 404 */
export async function findExisting<T extends object>(
  plan: Plan<T>,
  call: Call,
  view: CallerView,
  { key, id }: { readonly key: unknown; readonly id: string },
  reading?: Reading,
): Promise<T> {
  const found = await find(plan, call, view, key, reading);
  if (!found) throw missing(plan, id);
  return found;
}

export const missing = ({ schema }: Plan, id: string): NotFoundException =>
  new NotFoundException(`${schema.name} with id ${id} not found`);

export const exists = (plan: Plan, call: Call, condition: Condition): Promise<boolean> =>
  run(plan, call, () => plan.store.reader.exists(call, condition));

/** The record that an operation changes. */
export interface Target {
  readonly key: unknown;
  /** As sent. */
  readonly id: string;
  readonly view: CallerView;
  /** Checked in this order. */
  readonly preconditions: readonly WritePrecondition[];
}

type ChangeName = Extract<OperationName, 'update' | 'patch' | 'delete' | 'restore' | 'patchMany' | 'deleteMany'>;

/** @throws 400 for a malformed id */
export async function targetOf(
  plan: Plan,
  call: Call,
  id: string,
  operation: ChangeName,
  deleted?: Deleted,
): Promise<Target> {
  const key = readId(plan, id);
  return targetIn(plan, call, await viewOf(plan, call, operation, deleted), { key, id }, operation);
}

export function targetIn(
  { schema, options }: Plan,
  { request }: Call,
  view: CallerView,
  { key, id }: { readonly key: unknown; readonly id: string },
  operation: ChangeName,
): Target {
  const versioned = { name: schema.name, requireIfMatch: options.requireIfMatch, version: view.version };
  const preconditions = [...view.preconditions, ...versionPreconditions(request, versioned, id, operation)];
  return { key, id, view, preconditions };
}

/** What the statement that changes the target asks for, so that nothing can change between a check and the write. */
export const changeable = (plan: Plan, { key, view, preconditions }: Target): Condition =>
  and(withId(plan, view, key), ...preconditions.map(({ condition }) => condition));

/** Why no record was changed. */
export async function refusalOf(plan: Plan, call: Call, target: Target): Promise<Error> {
  const { key, id, view, preconditions } = target;
  const visible = withId(plan, view, key);
  if (preconditions.length === 0 || !(await exists(plan, call, visible))) return missing(plan, id);
  for (const { condition, refuse } of preconditions)
    if (!(await exists(plan, call, and(visible, condition)))) return refuse();
  return new ConflictException(`${plan.schema.name} was not changed: the database ignored the statement`);
}

/** @throws 404, or what the first precondition that fails says */
export async function assertChangeable(plan: Plan, call: Call, target: Target): Promise<void> {
  if (!(await exists(plan, call, changeable(plan, target)))) throw await refusalOf(plan, call, target);
}

/** Keeps the record as it is until the end of the transaction. @throws as `assertChangeable` */
export async function lockChangeable(plan: Plan, call: Call, target: Target): Promise<void> {
  const { reader } = plan.store;
  const condition = changeable(plan, target);
  const found = await run(plan, call, () => reader.findOne(call, condition, [plan.schema.id], 'for update'));
  if (!found) throw await refusalOf(plan, call, target);
}

/** A request of columns only, in the order of the entity. */
export function columnsOnly({ schema }: Plan, fields: Iterable<Field>): RecordRequest {
  const wanted = new Set(fields);
  return { fields: schema.fields.filter((field) => wanted.has(field)), linked: [], includes: [] };
}

/** Those of the values of a field for which a record is visible, as the entity holds them. */
export async function visibleValues(
  plan: Plan,
  call: Call,
  field: Field,
  values: readonly unknown[],
  visible: Condition,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const chunk of chunksOf(new Set(values.map((value) => field.type.write(value))), field)) {
    const selection = { condition: and(compare(field, 'in', ...chunk), visible), fields: [field], sort: [] };
    const records = await run(plan, call, () => plan.store.reader.find(call, selection));
    for (const record of records) found.add(identityOf(keyOf(record, field)));
  }
  return found;
}
