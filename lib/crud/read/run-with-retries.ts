/** Runs the statements of an operation, repeats what a deadlock rolled back, and translates errors of the database into exceptions without inner details. */
import { BadRequestException, ConflictException } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { describeConflict, invalidFields, type FailedWrite } from '../../entities/conflicts.js';
import { beforeRepeat, MAX_REPEATS } from '../../database/connections.js';
import { beginTransaction, endsOf, ownTransaction } from '../../database/transactions.js';
import { databaseFailureOf, isLostRace } from '../../entities/database-errors.js';
import type { Values } from '../../entities/record-input.js';
import { AccessRefused } from '../../http/refusal.js';
import type { Plan, Task } from '../plan/plan.js';
import { managerOf, runWithin, type Call, type TransactionSteps } from '../store/call.js';
import type { Database } from '../store/database.js';

/** A write, with its values for the message about a conflict with another record. */
interface Write extends Pick<FailedWrite, 'operation' | 'rows' | 'permissions'> {
  readonly isRepeatable: boolean;
  readonly record?: string | undefined;
  /** What else its transaction does. */
  readonly steps?: TransactionSteps | undefined;
}

const HOOKS = {
  create: ['beforeCreate', 'whenCreated'],
  update: ['beforeUpdate', 'whenUpdated'],
  delete: ['beforeDelete', 'whenDeleted'],
} as const;

/** @param hook code of the application that runs before the commit, beside listeners: it may have other effects */
export const writeOf = (
  { plan: { options, store, metadata, schema }, call: { hooks }, view: { permissions } }: Task,
  operation: Write['operation'],
  changes: readonly { readonly values: Values }[],
  targets: readonly { readonly key: unknown }[] = [],
  hook: unknown = HOOKS[operation].some((name) => hooks[name]),
): Write => ({
  operation,
  rows: changes.map(({ values }) => values),
  permissions,
  record: targets.length === 1 ? JSON.stringify([metadata.tablePath, schema.key.write(targets[0]?.key)]) : undefined,
  isRepeatable: options.retryable || (!hook && !store.runsAppCode.has(operation)),
});

/** Runs statements, in the transaction of the call where there is one. @throws 400, 403, 409, 503 */
export const run = <R>(plan: Plan, call: Call, work: Work<R>, write?: Write): Promise<R> =>
  execute(plan, call, work, write, runStatement);

/** Runs work in a transaction. Scopes and validation belong before it. @throws 400, 403, 409, 503 */
export const transacted = <R>(task: Task, write: Write, work: (within: Task) => Promise<R>): Promise<R> =>
  execute(task.plan, task.call, (call) => work({ ...task, call }), write, inTransaction);

type Work<R> = (call: Call) => Promise<R>;
type Begin = <R>(database: Database, call: Call, work: Work<R>, write: Write | undefined) => Promise<R>;

/** Begins the work anew where a deadlock rolled it back. The commit of a transaction checks deferred constraints. */
async function execute<R>(plan: Plan, call: Call, work: Work<R>, write: Write | undefined, begin: Begin): Promise<R> {
  const { database } = plan;
  for (let repeats = 0; ; repeats += 1)
    try {
      return await begin(database, call, work, write);
    } catch (error) {
      const isLost = isLostRace(error);
      // The whole transaction is rolled back, and repeated. The one of the application is not.
      if (isLost && ownTransaction(call.transaction, database.dataSource)) throw error;
      const isFinal = !isLost || managerOf(call, database) !== undefined;
      if (isFinal || !write?.isRepeatable || repeats === MAX_REPEATS) throw await translated(plan, error, write);
      await beforeRepeat(repeats);
    }
}

/** A call that writes reads the primary: a replica may lag. */
function runStatement<R>(database: Database, call: Call, work: Work<R>, write: Write | undefined): Promise<R> {
  const { dataSource, connections } = database;
  if (write) return connections.write(() => runStatement(database, call, work, undefined), write.record);
  if (!call.writes || !dataSource.driver.isReplicated || managerOf(call, database))
    return connections.read((runner) => work({ ...call, runner }));
  return connections.onPrimary((manager) =>
    work({ ...call, transaction: beginTransaction(manager, call.transaction) }),
  );
}

/** Commits when the work is done, and rolls back when it fails. Inside another transaction, the work joins that one. */
async function inTransaction<R>(database: Database, call: Call, work: Work<R>, write: Write | undefined): Promise<R> {
  const { dataSource, connections } = database;
  if (ownTransaction(call.transaction, dataSource)) return work(call);
  const steps = write?.steps;
  const outer = managerOf(call, database);
  const afterCommit: (() => Promise<void>)[] = [];
  const finish = async (): Promise<void> => {
    steps?.afterCommit();
    for (const each of afterCommit) await each();
  };
  const result = await connections.transacted(async (manager) => {
    const transaction = beginTransaction(manager, call.transaction, afterCommit);
    const inner: Call = { ...call, transaction };
    try {
      await steps?.begin(manager);
      const result = await runWithin(inner, () => work(inner));
      await steps?.beforeCommit(manager, result);
      return result;
    } finally {
      transaction.isOpen = false;
    }
  }, write?.record);
  await afterTransaction(outer, finish);
  return result;
}

/** Runs work after the commit of the transaction of the call; at once where there is none. */
export async function afterCommit(call: Call, database: Database, work: () => Promise<void>): Promise<void> {
  const own = ownTransaction(call.transaction, database.dataSource);
  if (own) own.afterCommit.push(work);
  else await afterTransaction(managerOf(call, database), work);
}

/** The application commits its own transaction, and nothing waits for the work then. */
async function afterTransaction(outer: EntityManager | undefined, work: () => Promise<void>): Promise<void> {
  if (outer?.queryRunner) endsOf(outer.connection).add(outer.queryRunner, work);
  else await work();
}

async function translated({ schema, database }: Plan, error: unknown, write: Write | undefined): Promise<unknown> {
  const { name } = schema;
  const options = { cause: error };
  const failed = write && { ...write, schema, manager: database.dataSource.manager };
  const failure = databaseFailureOf(error);
  if (failure === 'unavailable') return database.connections.unavailable(error, options);
  if (failure === 'denied') return new AccessRefused();
  if (failure === 'invalid') {
    const errors = failed ? invalidFields(error, failed) : [];
    const unnamed = `${name} is not valid: the database does not accept one of its values`;
    return new BadRequestException(errors.length > 0 ? { message: `${name} is not valid`, errors } : unnamed, options);
  }
  if (failure === 'read-only')
    return new ConflictException(`${name} cannot be changed: it is a view of other records`, options);
  if (failure !== 'conflict' || !failed) return error;
  return new ConflictException(await describeConflict(error, failed), options);
}
