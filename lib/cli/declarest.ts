#!/usr/bin/env node
/** The command line. Each command runs in a child process, so that output of the application never mixes with the result. */
import { fork } from 'node:child_process';
import { parseCommand, USAGE, type ApplicationCommand, type Outcome } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';
import type { CommandResult } from './command-process.js';

async function main(): Promise<number> {
  try {
    const command = parseCommand(process.argv.slice(2));
    const { stdout, code } =
      command.name === 'print' ? { stdout: `${command.text}\n`, code: 0 } : await runInChild(command);
    process.stdout.write(stdout);
    return code;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`${error.message}\n${USAGE}\n`);
    return 2;
  }
}

/** The standard output of the child is the standard error of this process. */
function runInChild(command: ApplicationCommand): Promise<Outcome> {
  const file = new URL('./command-process.js', import.meta.url);
  const input = command.name === 'user' && command.action === 'create' ? 0 : 'ignore';
  const child = fork(file, [JSON.stringify(command)], { stdio: [input, 2, 2, 'ipc'] });
  return new Promise((resolve, reject) => {
    child.once('message', (result: CommandResult) => {
      if ('refusal' in result) reject(new CommandError(result.refusal));
      else resolve(result);
    });
    child.once('error', (cause) => reject(new CommandError(`${reasonOf(cause)}.`, { cause })));
    // Unlike `exit`, it comes after every message.
    child.once('close', (code, signal) =>
      reject(
        new CommandError(
          `The application ended the process with ${signal ?? `code ${code}`} before the command was done. Give a file that exports the module and starts nothing.`,
        ),
      ),
    );
  });
}

process.exitCode = await main();
