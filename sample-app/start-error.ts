/** A failed start that the user can fix. `main.ts` prints its message without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** The message of an error, without the name of its class. */
export const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/^\w*Error: /, '');
