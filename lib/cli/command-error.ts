/** A command that cannot run. The command line prints the message and the usage, and exits with code 2. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The first line of an error's message, without its period. */
export function reasonOf(cause: unknown): string {
  const message = typeof cause === 'object' && cause !== null && 'message' in cause ? cause.message : cause;
  return String(message).trim().split('\n')[0]?.replace(/\.$/, '') ?? '';
}
