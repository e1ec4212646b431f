/** A start that failed for a reason the person at the keyboard can mend: told in one sentence, without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** What went wrong, in the words of whoever noticed it, without the name of an error class. */
export const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/^\w*Error: /, '');
