/** The answer to a taken e-mail address or username. */
import { SeveralMessages } from '../../http/failure.js';

/** Thrown by a repository when a unique value is taken. Nest answers 400 when a controller lets it through. */
export class DuplicateUserError extends SeveralMessages {
  override readonly name = 'DuplicateUserError';

  /**
   * @param field the field whose value is taken: `email`, `username`, or a unique column of the application
   * @param value the value as it would be stored
   */
  constructor(
    readonly field: string,
    readonly value: string,
  ) {
    super([`User with ${field} ${value} already exists`], field);
  }
}
