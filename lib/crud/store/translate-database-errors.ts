import { BadRequestException, ConflictException, type HttpException } from '@nestjs/common';
import { describeConflict, type FailedWrite } from '../../entities/conflicts.js';
import { DatabaseUnavailable, databaseFailureOf, type DatabaseFailure } from '../../entities/database-errors.js';

/**
 * Runs database work, and translates what the database refuses into an answer for the client, without inner details.
 *
 * @param name of the entity, for the message
 * @param write what the work writes, to name the field or relation of a conflict
 * @throws 400, 409, 503
 */
export async function withDatabaseErrors<R>(name: string, work: () => Promise<R>, write?: FailedWrite): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const refusal = databaseFailureOf(error);
    if (refusal === undefined) throw error;
    if (refusal !== 'conflict' || !write) throw ANSWERS[refusal](name, error);
    throw new ConflictException(await describeConflict(error, write), { cause: error });
  }
}

const ANSWERS: Readonly<Record<DatabaseFailure, (name: string, cause: unknown) => HttpException>> = {
  conflict: (name, cause) => new ConflictException(`${name} conflicts with other records`, { cause }),
  invalid: (name, cause) =>
    new BadRequestException(`${name} is not valid: the database does not accept one of its values`, { cause }),
  'read-only': (name, cause) =>
    new ConflictException(`${name} cannot be changed: it is a view of other records`, { cause }),
  unavailable: (_name, cause) => new DatabaseUnavailable({ cause }),
};
