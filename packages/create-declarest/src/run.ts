// Creates the application and says what to do next.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { applicationFiles } from './application-files.js';
import { type Choices, readArguments, USAGE } from './arguments.js';
import { chooseLogins } from './login-texts.js';
import { UsageError } from './usage-error.js';
import { databaseName, DATABASES, PLATFORMS } from './variants.js';
import { writeApplication } from './write-application.js';

/** @returns the exit code: 0, or 2 when nothing was written */
export function run(args: readonly string[], workingFolder = process.cwd(), node = process.versions.node): number {
  try {
    console.log(create(args, workingFolder, node));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(error.message);
    return 2;
  }
}

function create(args: readonly string[], workingFolder: string, node: string): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const choices = readArguments(args, workingFolder);
  if (choices === 'help') return USAGE;
  if (choices === 'version') return version;
  writeApplication(choices.folder, applicationFiles(choices, Number.parseInt(node, 10), version));
  return nextSteps(choices, workingFolder);
}

function nextSteps({ folder, name, platform, database, logins }: Choices, workingFolder: string): string {
  const nearby = relative(workingFolder, folder);
  const path = nearby.startsWith('..') ? folder : nearby;
  const databases = `createdb ${databaseName(name)} && createdb ${databaseName(name)}_test`;
  const commands = [
    ...(path ? [`cd ${/^[\w./-]+$/.test(path) ? path : JSON.stringify(path)}`] : []),
    'npm install',
    ...(database === 'postgres' ? [databases] : []),
    'npm run start:dev',
  ];
  const next = commands.map((command) => `  ${command}`).join('\n');
  const { variables } = chooseLogins(logins);
  const settings = variables.length > 0 ? `\nSet ${variables.join(', ')} in .env, as README.md says.\n` : '';
  return `Created ${name} with ${PLATFORMS[platform].label} and ${DATABASES[database].label}. Next:\n\n${next}\n${settings}`;
}
