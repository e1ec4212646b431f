// Reads the command line.
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type LoginName, LOGINS } from './logins.js';
import { UsageError } from './usage-error.js';
import { type Database, DATABASES, type Platform, PLATFORMS } from './variants.js';

export interface Choices {
  /** Absolute path of the new application. */
  readonly folder: string;
  /** Name of the package, the last part of the folder. */
  readonly name: string;
  readonly platform: Platform;
  readonly database: Database;
  /** Each once, in the order of `LOGINS`. */
  readonly logins: readonly LoginName[];
}

const oneOfThe = (table: object): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.keys(table));

export const USAGE = `Usage: npm create declarest <folder> [-- --platform express|fastify] [--database sqlite|postgres|sqlite+postgres] [--login passkey,google]

Writes a NestJS service with declarest into a new or empty folder, and installs nothing.

  --platform <name>   ${oneOfThe(PLATFORMS)}; default express
  --database <name>   ${oneOfThe(DATABASES)}; default sqlite
  --login <names>     a list of ${Object.keys(LOGINS).join(', ')}; every service has password
  --yes, -y           accepted for scripts; the command never asks
  --help, -h          prints this text
  --version           prints the version
`;

const OPTIONS = {
  platform: { type: 'string', default: 'express' },
  database: { type: 'string', default: 'sqlite' },
  login: { type: 'string', default: 'password' },
  yes: { type: 'boolean', short: 'y' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

/**
 * @returns what to create, or the text to print instead
 * @throws {UsageError} when an argument is missing or wrong
 */
export function readArguments(args: readonly string[], workingFolder: string): Choices | 'help' | 'version' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  const [path, extra] = positionals;
  if (!path) throw new UsageError('Give the folder of the new service: npm create declarest my-service.');
  if (extra !== undefined)
    throw new UsageError(
      `Unexpected argument ${JSON.stringify(extra)}: give one folder, and options after "--", which npm needs, as in npm create declarest my-service -- --platform fastify.`,
    );
  const folder = resolve(workingFolder, path);
  const name = basename(folder);
  assertPackageName(name);
  return {
    folder,
    name,
    platform: oneOf('--platform', values.platform, PLATFORMS),
    database: oneOf('--database', values.database, DATABASES),
    logins: readLogins(values.login),
  };
}

function parse(args: readonly string[]) {
  try {
    // npm removes the separator, and npx and pnpm do not. No folder is named like an option.
    return parseArgs({ args: args.filter((each) => each !== '--'), options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    // Node's first sentence names the argument; the others are about positional arguments.
    const [sentence] = (cause as Error).message.split(/\.\s/);
    throw new UsageError(`${sentence?.replace(/\.$/, '')}: use --help for the list of options.`, { cause });
  }
}

function oneOf<T extends string>(option: string, value: string, table: Readonly<Record<T, unknown>>): T {
  if (Object.hasOwn(table, value)) return value as T;
  throw new UsageError(`${option} must be ${oneOfThe(table)}, got ${JSON.stringify(value)}.`);
}

function readLogins(value: string): LoginName[] {
  const known = Object.keys(LOGINS) as LoginName[];
  const names: readonly string[] = value.split(',');
  if (names.every((name) => Object.hasOwn(LOGINS, name)))
    return known.filter((name) => name === 'password' || names.includes(name));
  throw new UsageError(
    `--login must be a list such as google,passkey of ${known.join(', ')}, got ${JSON.stringify(value)}.`,
  );
}

/** The rules of npm for new packages. */
function assertPackageName(name: string): void {
  if (/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name) && name !== 'node_modules') return;
  throw new UsageError(
    `The last part of the folder must be a package name of lower-case letters, digits, "-", "_" and ".", got ${JSON.stringify(name)}.`,
  );
}
