#!/usr/bin/env node
/** The command line of the package. */
import type { Outcome } from './access-command.js';
import { parseCommand, usageOf } from './arguments.js';
import { CommandError } from './command-error.js';

const args = process.argv.slice(2);
const write = process.stdout.write.bind(process.stdout);
// Kept, because it is refused to the application.
const exit = process.exit.bind(process);

/** What the application prints while it is made is none of the answer, which another program may read. */
process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;

async function run(): Promise<Outcome> {
  const command = parseCommand(args);
  if (command.name === 'help') return { stdout: `${command.text}\n`, code: 0 };
  // Nest and TypeORM take their time to load: a question or a slip of the pen is answered without.
  if (command.name === 'access') return (await import('./access-command.js')).runAccess(command);
  return (await import('./explain-command.js')).runExplain(command);
}

function refuse(error: unknown): void {
  const { message, stack } = error as Error;
  const told = error instanceof CommandError ? `${message}\n${usageOf(args)}\n` : `${stack ?? String(error)}\n`;
  process.stderr.write(told, () => exit(2));
}

// Of the application: exit code 1 would say that something got wider.
process.on('uncaughtException', refuse);

// Does not wait for timers and pools that the application has made.
run().then(({ stdout, code }) => write(stdout, () => exit(code)), refuse);
