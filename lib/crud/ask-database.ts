import { BadRequestException, ConflictException, type HttpException } from '@nestjs/common';
import { describeConflict, findConflict, type FailedWrite } from '../entities/conflicts.js';
import { DatabaseUnavailable, databaseFailureOf, type DatabaseFailure } from '../entities/database-errors.js';
import { orElse, type Answer } from '../http/at-once.js';

/**
 * What the database refuses of a request, as an answer to the client without an inner detail.
 *
 * @param name of the entity, for the message
 * @throws 400, 409, 503
 */
export function askDatabase<R>(name: string, ask: () => Answer<R>, write?: FailedWrite): Answer<R> {
  return orElse(ask, (error) => {
    const refusal = databaseFailureOf(error);
    if (refusal === undefined) throw error;
    if (refusal !== 'conflict' || !write) throw ANSWERS[refusal](name, error);
    return findConflict(error, write).then((conflict): never => {
      throw new ConflictException(describeConflict(write, conflict), { cause: error });
    });
  });
}

const ANSWERS: Readonly<Record<DatabaseFailure, (name: string, cause: unknown) => HttpException>> = {
  conflict: (name, cause) => new ConflictException(`${name} conflicts with other records`, { cause }),
  invalid: (name, cause) =>
    new BadRequestException(`${name} is not valid: the database does not take one of its values`, { cause }),
  'read-only': (name, cause) =>
    new ConflictException(`${name} cannot be changed: it is a view of other records`, { cause }),
  unavailable: (_name, cause) => new DatabaseUnavailable({ cause }),
};
