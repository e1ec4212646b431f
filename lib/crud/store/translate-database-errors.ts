import { BadRequestException, ConflictException, type HttpException } from '@nestjs/common';
import { DatabaseBusy, refusalOf, type DatabaseRefusal } from '../../entities/database-error.js';

/**
 * Runs database work, and translates what the database refuses into an answer for the client, without inner details.
 *
 * @param name of the entity, for the message
 * @throws 400, 409, 503
 */
export async function withDatabaseErrors<R>(name: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalOf(error);
    throw refusal === undefined ? error : ANSWERS[refusal](name, error);
  }
}

const ANSWERS: Readonly<Record<DatabaseRefusal, (name: string, cause: unknown) => HttpException>> = {
  conflict: (name, cause) =>
    new ConflictException(
      `${name} conflicts with other records: a unique value is taken, or a reference would point nowhere`,
      { cause },
    ),
  invalid: (name, cause) =>
    new BadRequestException(`${name} is not valid: the database does not take one of its values`, { cause }),
  fixed: (name, cause) => new ConflictException(`${name} cannot be changed: it is a view of other records`, { cause }),
  busy: (_name, cause) => new DatabaseBusy({ cause }),
};
