/** A command that cannot do its work: one sentence on stderr, the usage line below it, exit code 2. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** Says where in this package it was noticed, which mends nothing; an application may print it. */
  override readonly stack = this.message;
}

/** What went wrong, in the words of whoever noticed it: the first line, without the stack. */
export const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).trim().split('\n')[0]?.replace(/\.$/, '') ?? '';
