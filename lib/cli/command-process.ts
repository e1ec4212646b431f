/** The child process of the command line: runs one command and sends its result to the parent. */
import { runAccess, type Outcome } from './access-command.js';
import { parseCommand } from './arguments.js';
import { CommandError } from './command-error.js';
import { runExplain } from './explain-command.js';

export type CommandResult = Outcome | { readonly refusal: string };

async function run(): Promise<CommandResult> {
  const command = parseCommand(process.argv.slice(2));
  if (command.name === 'print') throw new CommandError('This command needs no child process.');
  try {
    return command.name === 'access' ? await runAccess(command) : await runExplain(command);
  } catch (error) {
    if (error instanceof CommandError) return { refusal: error.message };
    throw error;
  }
}

const result = await run();
// Timers and pools of the application would keep the process alive.
process.send?.(result, () => process.exit());
