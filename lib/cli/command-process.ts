/** The child process of the command line: runs the command of its argument and sends the result to the parent. */
import type { ApplicationCommand, Outcome } from './arguments.js';
import { CommandError } from './command-error.js';
import { runCommand } from './commands.js';

export type CommandResult = Outcome | { readonly refusal: string };

const command = JSON.parse(process.argv[2] ?? '') as ApplicationCommand;
const result: CommandResult = await runCommand(command).catch((error: unknown) => {
  if (error instanceof CommandError) return { refusal: error.message };
  throw error;
});
// Timers and pools of the application would keep the process alive.
process.send?.(result, () => process.exit());
