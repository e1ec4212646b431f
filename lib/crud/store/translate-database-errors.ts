import { BadRequestException, ConflictException } from '@nestjs/common';
import { describeConflict, findConflict, type FailedWrite } from '../../entities/conflicts.js';
import { DatabaseUnavailable, databaseFailureOf } from '../../entities/database-errors.js';

/**
 * Runs database work, and translates errors of the database into exceptions without inner details.
 *
 * @param name of the entity, for the message
 * @param write what the work writes, to name the field or relation of a conflict
 * @throws 400, 409, 503
 */
export async function withDatabaseErrors<R>(name: string, work: () => Promise<R>, write?: FailedWrite): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const failure = databaseFailureOf(error);
    const options = { cause: error };
    if (failure === 'conflict' && write)
      throw new ConflictException(describeConflict(write, await findConflict(error, write)), options);
    if (failure === 'invalid')
      throw new BadRequestException(`${name} is not valid: the database does not accept one of its values`, options);
    if (failure === 'read-only')
      throw new ConflictException(`${name} cannot be changed: it is a view of other records`, options);
    throw failure === 'unavailable' ? new DatabaseUnavailable(options) : error;
  }
}
