/** Runs the statements of an operation, repeats what a deadlock rolled back, and translates errors of the database into exceptions without inner details. */
import { BadRequestException, ConflictException } from '@nestjs/common';
import { describeConflict, invalidFields, type FailedWrite } from '../../entities/conflicts.js';
import { beforeRepeat, MAX_REPEATS } from '../../database/connections.js';
import { ownTransaction } from '../../database/transactions.js';
import { databaseFailureOf, isLostRace } from '../../entities/database-errors.js';
import type { Values } from '../../entities/record-input.js';
import { AccessRefused } from '../../http/refusal.js';
import type { Plan, Task } from '../plan/plan.js';
import { inTransaction, managerOf, runStatement, type Call, type TransactionSteps } from '../store/call.js';

/** The values of a write, for the message about a conflict with another record. */
interface Write extends Pick<FailedWrite, 'operation' | 'rows' | 'permissions'> {
  readonly isRepeatable: boolean;
}

const HOOKS = {
  create: ['beforeCreate', 'whenCreated'],
  update: ['beforeUpdate', 'whenUpdated'],
  delete: ['beforeDelete', 'whenDeleted'],
} as const;

/** @param hook code of the application that runs before the commit, beside listeners: it may have other effects */
export const writeOf = (
  { plan: { options, store }, hooks, view: { permissions } }: Task,
  operation: Write['operation'],
  changes: readonly { readonly values: Values }[],
  hook: unknown = HOOKS[operation].some((name) => hooks[name]),
): Write => ({
  operation,
  rows: changes.map(({ values }) => values),
  permissions,
  isRepeatable: options.retryable || (!hook && !store.hooked.has(operation)),
});

/** Runs statements, in the transaction of the call where there is one. @throws 400, 403, 409, 503 */
export const run = <R>(plan: Plan, call: Call, work: (call: Call) => Promise<R>, write?: Write): Promise<R> =>
  translateErrors(
    plan,
    call,
    () => {
      const statement = (): Promise<R> => runStatement(call, plan.database, work);
      return write ? plan.database.connections.write(statement) : statement();
    },
    write,
  );

/** Runs work in a transaction. Scopes and validation belong before it. @throws 400, 403, 409, 503 */
export const transacted = <T extends object, R>(
  task: Task<T>,
  write: Write,
  work: (within: Task<T>) => Promise<R>,
  steps?: TransactionSteps,
): Promise<R> => {
  const { plan, call } = task;
  const run = (within: Call): Promise<R> => work({ ...task, call: within });
  // The commit checks deferred constraints.
  return translateErrors(plan, call, () => inTransaction(call, plan.database, run, steps), write);
};

async function translateErrors<R>(plan: Plan, call: Call, work: () => Promise<R>, write?: Write): Promise<R> {
  for (let repeats = 0; ; repeats += 1)
    try {
      return await work();
    } catch (error) {
      const isLost = isLostRace(error);
      const { database } = plan;
      // The whole transaction is rolled back, and repeated. The one of the application is not.
      if (isLost && ownTransaction(call.transaction, database.dataSource)) throw error;
      const isFinal = !isLost || managerOf(call, database) !== undefined;
      if (isFinal || !write?.isRepeatable || repeats === MAX_REPEATS) throw await translated(plan, error, write);
      await beforeRepeat(repeats);
    }
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
