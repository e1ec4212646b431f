/** Reads records by key, as the caller of an operation sees them. */
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import { ignoredStatement } from '../../entities/conflicts.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { envelope, type Envelope } from '../declare/envelope.js';
import { missingOption, type OperationDeclaration } from '../declare/operations.js';
import type { Plan, Task } from '../plan/plan.js';
import type { RecordId } from '../query/batch-request.js';
import { allFields, hasRelations, selectedFields, withKey, type RecordRequest } from '../query/record-request.js';
import { etagOf, versionPreconditions } from '../rows/record-version.js';
import { type WritePrecondition, and, ascending, type Condition, keyIs, keyIsAmong } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import { chunksOf, identityOf } from '../store/linked-rows.js';
import { addRelations, removeUnasked } from './related-records.js';
import { run } from './run-with-retries.js';

export interface ReadOptions {
  /** Everything that the caller may read, where it is absent. */
  readonly request?: RecordRequest;
  readonly isLocked?: boolean;
}

/** @throws 400, or 404 for the path of an operation that is not generated */
export function readId(plan: Plan, text: string, operation: OperationDeclaration): unknown {
  const { schema } = plan;
  const reading = schema.key.readText(text);
  if ('value' in reading) return reading.value;
  const disabled = notEnabled(plan, text, operation);
  if (disabled) throw disabled;
  throw new BadRequestException({
    message: `${schema.name} id is not valid`,
    errors: [{ field: 'id', message: `expected ${reading.expected}` }],
  });
}

/** A path such as `/count`, which the router reads as an id where the operation is not generated. */
export function notEnabled({ options }: Plan, text: string, { route }: OperationDeclaration) {
  const known = route.path === ':id' ? options.knownOperations : [];
  const hidden = known.find((each) => each.route.verb === route.verb && each.route.path === text);
  if (!hidden || options.generated.has(hidden.name)) return undefined;
  const option = missingOption(hidden, options);
  const advice = option === undefined ? `add ${hidden.name} to operations` : `set ${option}`;
  return new NotFoundException(`/${text} of ${options.entity.name} is not enabled: ${advice}`);
}

export const withId = ({ plan, view }: Task, key: unknown): Condition => and(keyIs(plan.schema.key, key), view.visible);

export async function find(task: Task, key: unknown, options: ReadOptions = {}): Promise<object | undefined> {
  const { request = allFields(task.view.list), isLocked } = options;
  const record = await findColumns(task, key, request, isLocked);
  if (record && hasRelations(request)) await addRelations(task.plan, task.call, [record], request);
  return record;
}

export function findColumns(task: Task, key: unknown, request: RecordRequest, isLocked?: boolean) {
  const { plan, call } = task;
  const { reader } = plan.store;
  const fields = selectedFields(request, plan.schema.key);
  return run(plan, call, (within) => reader.findOne(within, withId(task, key), fields, isLocked));
}

/** @returns the records in the order of the keys; `undefined` for one that the caller does not see */
export async function findAll(task: Task, keys: readonly unknown[], options: ReadOptions = {}) {
  if (keys.length === 1) return [await find(task, keys[0], options)];
  const { plan, call, view } = task;
  const { key } = plan.schema;
  const { request = allFields(view.list), isLocked } = options;
  const fields = withKey(request.fields, key);
  const { reader } = plan.store;
  const records: object[] = [];
  for (const chunk of chunksOf(new Set(keys.map((each) => key.write(each))), key)) {
    const condition = and(keyIsAmong(key, chunk), view.visible);
    // Locks in the order of the key, so that two batches do not wait for each other.
    const selection = { condition, fields, sort: ascending(key.fields), isLocked };
    records.push(...(await run(plan, call, (within) => reader.find(within, selection))));
  }
  const byKey = new Map(records.map((record) => [identityOf(key.of(record)), record]));
  await addRelations(plan, call, records, { ...request, fields });
  removeUnasked(records, fields, request);
  return keys.map((each) => byKey.get(identityOf(key.write(each))));
}

/** The answer with one record, and the `ETag` of its version. */
export function answerRecord({ call, view }: Task, message: string, record: object): Envelope<unknown> {
  const { version } = view;
  if (version) call.state?.answers.set(record, { etag: etagOf(record, version) });
  return envelope(message, record);
}

export const notFoundError = ({ schema }: Plan, id: string): NotFoundException =>
  new NotFoundException(`${schema.name} with id ${id} not found`);

export const exists = ({ plan, call }: Task, condition: Condition): Promise<boolean> =>
  run(plan, call, (within) => plan.store.reader.exists(within, condition));

export interface Target extends RecordId {
  readonly preconditions: readonly WritePrecondition[];
}

export function targetOf({ plan, call, view }: Task, { key, id }: RecordId, { ifMatch }: OperationDeclaration): Target {
  const { schema, options } = plan;
  const versioned = { name: schema.name, requireIfMatch: options.requireIfMatch, version: view.version };
  const preconditions = [...view.preconditions, ...versionPreconditions(call.state?.request, versioned, id, ifMatch)];
  return { key, id, preconditions };
}

/** The condition of the statement that changes the target: nothing can change between a check and the write. */
export const changeCondition = (task: Task, { key, preconditions }: Target): Condition =>
  and(withId(task, key), ...preconditions.map(({ condition }) => condition));

export async function refusalOf(task: Task, { key, id, preconditions }: Target): Promise<Error> {
  const visible = withId(task, key);
  if (!(await exists(task, visible))) return notFoundError(task.plan, id);
  for (const { condition, refuse } of preconditions)
    if (!(await exists(task, and(visible, condition)))) return refuse();
  return new ConflictException(ignoredStatement(task.plan.schema));
}

/** Why a read that asks for the preconditions finds nothing. */
const notFound = async (task: Task, target: Target): Promise<Error> =>
  target.preconditions.length === 0 ? notFoundError(task.plan, target.id) : refusalOf(task, target);

/** @throws 404, or what the first precondition that fails says */
export async function assertChangeable(task: Task, target: Target): Promise<void> {
  if (!(await exists(task, changeCondition(task, target)))) throw await notFound(task, target);
}

/** @throws 404, 403, 412, 428 for the first record that cannot be changed */
export async function readTargets(task: Task, targets: readonly Target[], options: ReadOptions) {
  const { view } = task;
  // All have the preconditions of the first one.
  const preconditions = targets[0]?.preconditions ?? [];
  const visible = and(view.visible, ...preconditions.map(({ condition }) => condition));
  const keys = targets.map(({ key }) => key);
  const found = await findAll({ ...task, view: { ...view, visible } }, keys, options);
  for (const [index, target] of targets.entries()) if (!found[index]) throw await notFound(task, target);
  return found as object[];
}

export function columnsOnly({ schema }: Plan, fields: Iterable<Field>): RecordRequest {
  const wanted = new Set(fields);
  return { fields: schema.fields.filter((field) => wanted.has(field)), linked: [], includes: [] };
}

/** @returns the keys, as clients see them, for which a record is visible */
export async function visibleKeys(
  plan: Plan,
  call: Call,
  key: EntityKey<Field>,
  keys: readonly unknown[],
  visible: Condition,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const chunk of chunksOf(new Set(keys), key)) {
    const selection = { condition: and(keyIsAmong(key, chunk), visible), fields: key.fields, sort: [] };
    const records = await run(plan, call, (within) => plan.store.reader.find(within, selection));
    for (const record of records) found.add(identityOf(key.of(record)));
  }
  return found;
}
