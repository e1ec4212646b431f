/** The child process of the command line: runs the command of its argument and sends the result to the parent. */
import type { ApplicationCommand } from './arguments.js';
import { CommandError } from './command-error.js';
import { runAccess, runExplain, type Outcome } from './commands.js';

export type CommandResult = Outcome | { readonly refusal: string };

async function run(command: ApplicationCommand): Promise<CommandResult> {
  try {
    return command.name === 'access' ? await runAccess(command) : await runExplain(command);
  } catch (error) {
    if (error instanceof CommandError) return { refusal: error.message };
    throw error;
  }
}

const result = await run(JSON.parse(process.argv[2] ?? '') as ApplicationCommand);
// Timers and pools of the application would keep the process alive.
process.send?.(result, () => process.exit());
