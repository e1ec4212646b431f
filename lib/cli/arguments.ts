import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import type { Question } from '../access/explain.js';
import { decodePath } from '../http/request-facts.js';
import { CommandError, reasonOf } from './command-error.js';

const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];
export type Format = 'table' | 'json' | 'markdown';

interface ModuleCommand<N extends string> {
  readonly name: N;
  readonly module: string;
  readonly platform: Platform | undefined;
}

export interface AccessCommand extends ModuleCommand<'access'> {
  readonly format: Format;
  readonly check: string | undefined;
  readonly update: boolean;
}

export type ExplainCommand = ModuleCommand<'explain'> & Question;
export type SchemaCommand = ModuleCommand<'schema'>;

export interface DocumentCommand extends ModuleCommand<'openapi'> {
  readonly out: string | undefined;
}

const USER_ACTIONS = ['create', 'role', 'disable', 'reset'] as const;
export type UserAction = (typeof USER_ACTIONS)[number];

export interface UserCommand extends ModuleCommand<'user'> {
  readonly action: UserAction;
  readonly login: string;
  readonly role: string | undefined;
}

export type ApplicationCommand = AccessCommand | ExplainCommand | SchemaCommand | DocumentCommand | UserCommand;
export interface Outcome {
  readonly stdout: string;
  readonly code: 0 | 1;
}

/** `print` prints a text, such as the help, without loading an application. */
export type Command = ApplicationCommand | { readonly name: 'print'; readonly text: string };

export const USAGE = `Usage:
  declarest access <app module> [--json | --markdown | --check <file> [--update]] [--platform express|fastify]
  declarest explain <app module> <METHOD> <path> [--as <ROLE>[,<ROLE>...]] [--platform express|fastify]
  declarest schema <app module> [--platform express|fastify]
  declarest openapi <app module> [--out <file>] [--platform express|fastify]
  declarest user create|role|disable|reset <app module> --login <login> [--role <ROLE>]
  declarest --version | --help`;

const HELP = `${USAGE}

access prints who has access to which route, and by which rules. explain explains why one request has access or not: its
route, every rule that matches from broad to narrow, what each rule changes, and the answer. It sends no request, does
not consider middleware that answers before the rules, and names policies without calling them. schema prints the SQL
statements for a migration that creates the search indexes of generated endpoints. openapi prints the OpenAPI 3.1
document, with the access rules; its title and version are those of package.json. It needs @nestjs/swagger 12.

user changes one user in the database of the application: create reads the password from standard input; role needs
--role; disable ends the sessions, too; reset mails a link for a new password, with the option passwordReset.

<app module> is a compiled JavaScript file that exports exactly one Nest module: a class, or a dynamic module. It must
not start the application. It may export a function configure(app), which is called before the routes are registered:
do there what main.ts does, such as the global prefix, versioning, Swagger and static files.

Except for user, the application is created with @nestjs/testing, but not started. No server listens, no data source of
TypeOrmModule connects, and no lifecycle hook runs. Constructors and factories of providers and afterInit() of gateways
do run. user starts the application without a server: its data sources connect, and its lifecycle hooks run.

Options of access:
  --json               prints an array of {method, path, template, access, requirements, rules}
  --markdown           prints a Markdown table
  --check <file>       compares with a snapshot; the exit code is 1 when access became wider
  --update             writes the snapshot; only together with --check

Options of explain:
  --as <ROLE>,...      the roles of a valid token; without it, the request has no token

Options of openapi:
  --out <file>         writes the document

Options of user:
  --login <login>      the e-mail address, or the username where users log in by it
  --role <ROLE>        the role of create, by default USER, and of role

Options of all but user:
  --platform <name>    express or fastify; by default express where it is installed`;

const SCHEMA_OPTIONS = { platform: { type: 'string' } } as const;
const ACCESS_OPTIONS = {
  json: { type: 'boolean' },
  markdown: { type: 'boolean' },
  check: { type: 'string' },
  update: { type: 'boolean' },
  ...SCHEMA_OPTIONS,
} as const;
const DOCUMENT_OPTIONS = { out: { type: 'string' }, ...SCHEMA_OPTIONS } as const;
const USER_OPTIONS = { login: { type: 'string' }, role: { type: 'string' } } as const;
const EXPLAIN_OPTIONS = { as: { type: 'string' }, ...SCHEMA_OPTIONS } as const;

export function parseCommand(args: readonly string[]): Command {
  const [name, ...rest] = args;
  if (name === undefined) throw new CommandError('A command is missing.');
  if (name === 'help' || args.includes('--help') || args.includes('-h')) return { name: 'print', text: HELP };
  if (name === '--version') {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    return { name: 'print', text: (JSON.parse(manifest) as { version: string }).version };
  }
  if (name === 'access') return parseAccess(rest);
  if (name === 'explain') return parseExplain(rest);
  if (name === 'user') return parseUser(rest);
  if (name === 'openapi') {
    const { values, positionals } = parseOptions(rest, DOCUMENT_OPTIONS);
    return { name, module: onlyModule(positionals), platform: parsePlatform(values.platform), out: values.out };
  }
  if (name !== 'schema') throw new CommandError(`There is no command ${JSON.stringify(name)}.`);
  const { values, positionals } = parseOptions(rest, SCHEMA_OPTIONS);
  return { name, module: onlyModule(positionals), platform: parsePlatform(values.platform) };
}

function parseAccess(args: readonly string[]): Command {
  const { values, positionals } = parseOptions(args, ACCESS_OPTIONS);
  const module = onlyModule(positionals);
  const { check, update = false, platform } = values;
  const formats = (['json', 'markdown'] as const).filter((each) => values[each]);
  if (formats.length > 1) throw new CommandError('Give either --json or --markdown, got both.');
  if (check !== undefined && formats.length > 0)
    throw new CommandError(`--check prints changes, not a table. Remove --${formats[0]}.`);
  if (update && check === undefined) throw new CommandError('--update needs --check <file>, which it writes.');
  return { name: 'access', module, platform: parsePlatform(platform), format: formats[0] ?? 'table', check, update };
}

function parseUser(args: readonly string[]): Command {
  const { values, positionals } = parseOptions(args, USER_OPTIONS);
  const [word, ...others] = positionals;
  const action = USER_ACTIONS.find((each) => each === word);
  if (action === undefined)
    throw new CommandError(`Give one of ${USER_ACTIONS.join(', ')} after user, got ${JSON.stringify(word)}.`);
  const { login, role } = values;
  if (login === undefined) throw new CommandError('--login is missing.');
  if (action === 'role' && role === undefined) throw new CommandError('--role is missing.');
  if (role !== undefined && action !== 'create' && action !== 'role')
    throw new CommandError(`--role has no meaning for ${action}.`);
  return { name: 'user', action, module: onlyModule(others), platform: undefined, login, role };
}

function parseExplain(args: readonly string[]): Command {
  const { values, positionals } = parseOptions(args, EXPLAIN_OPTIONS);
  const [first, method, path, ...more] = positionals;
  const module = onlyModule([first]);
  if (method === undefined || path === undefined)
    throw new CommandError('Give a method and a path after the app module, such as GET /api/products/7.');
  if (more.length > 0) throw new CommandError(`Give one method and one path, got also ${more.join(' ')}.`);
  if (!METHODS.includes(method.toUpperCase()))
    throw new CommandError(`${JSON.stringify(method)} is not an HTTP method.`);
  if (!/^\/[!-~]*$/.test(path))
    throw new CommandError(
      `The path must start with "/" and be printable ASCII with other characters escaped, got ${JSON.stringify(path)}.`,
    );
  if (decodePath(path.replace(/[?#].*$/s, '')) === undefined)
    throw new CommandError(`The path must have no broken escape, got ${JSON.stringify(path)}.`);
  const roles = values.as?.split(',').map((role) => role.trim());
  if (roles?.includes(''))
    throw new CommandError(`--as must be roles such as USER,ADMIN, got ${JSON.stringify(values.as)}.`);
  const platform = parsePlatform(values.platform);
  return { name: 'explain', module, method: method.toUpperCase(), path, roles, platform };
}

function onlyModule([module, ...more]: readonly (string | undefined)[]): string {
  if (module === undefined) throw new CommandError('The compiled app module is missing.');
  if (more.length > 0) throw new CommandError(`Give one app module, got ${more.length + 1}.`);
  return module;
}

function parsePlatform(name: string | undefined): Platform | undefined {
  const platform = PLATFORMS.find((each) => each === name);
  if (name !== undefined && platform === undefined)
    throw new CommandError(`--platform must be ${PLATFORMS.join(' or ')}, got ${JSON.stringify(name)}.`);
  return platform;
}

function parseOptions<T extends NonNullable<ParseArgsConfig['options']>>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw new CommandError(`${reasonOf(cause)}.`, { cause });
  }
}
