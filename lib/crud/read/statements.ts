/** Runs the statements of an operation, and translates errors of the database into exceptions without inner details. */
import { BadRequestException, ConflictException } from '@nestjs/common';
import { describeConflict, missingField, type FailedWrite } from '../../entities/conflicts.js';
import { DatabaseUnavailable, databaseFailureOf } from '../../entities/database-errors.js';
import type { Task } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { inTransaction, type Call, type TransactionSteps } from '../store/call.js';

/** What a statement writes, for the message where it conflicts with another record. */
export type Write = Pick<FailedWrite, 'operation' | 'rows' | 'permissions'>;

/** Runs statements, in the transaction of the call where there is one. @throws 400, 409, 503 */
export const run = <R>(plan: Plan, work: () => Promise<R>, write?: Write): Promise<R> =>
  translateErrors(plan, () => plan.database.connections.statement(work), write);

/** Runs work in a transaction. Scopes and validation belong before it. @throws 400, 409, 503 */
export const transacted = <T extends object, R>(
  task: Task<T>,
  work: (within: Task<T>) => Promise<R>,
  steps?: TransactionSteps,
): Promise<R> => {
  const { plan, call } = task;
  const run = (within: Call): Promise<R> => work({ ...task, call: within });
  return translateErrors(plan, () => inTransaction(call, plan.database, run, steps));
};

async function translateErrors<R>(plan: Plan, work: () => Promise<R>, write?: Write): Promise<R> {
  try {
    return await work();
  } catch (error) {
    throw await translated(plan, error, write);
  }
}

async function translated({ schema, database }: Plan, error: unknown, write: Write | undefined): Promise<unknown> {
  const { name } = schema;
  const options = { cause: error };
  const failure = databaseFailureOf(error);
  if (failure === 'unavailable') return new DatabaseUnavailable(options);
  if (failure === 'invalid') {
    const field = write && missingField(error, schema, write.permissions);
    if (field === undefined)
      return new BadRequestException(`${name} is not valid: the database does not accept one of its values`, options);
    return new BadRequestException(
      { message: `${name} is not valid`, errors: [{ field, message: 'is required' }] },
      options,
    );
  }
  if (failure === 'read-only')
    return new ConflictException(`${name} cannot be changed: it is a view of other records`, options);
  if (failure !== 'conflict' || !write) return error;
  const { manager } = database.dataSource;
  return new ConflictException(await describeConflict(error, { ...write, schema, manager }), options);
}
