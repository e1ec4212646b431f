/** A command that cannot run. The command line prints the message and the usage, and exits with code 2. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The first line of an error's message, without its period. */
export const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).trim().split('\n')[0]?.replace(/\.$/, '') ?? '';
