import { readFileSync } from 'node:fs';
import { METHODS } from 'node:http';
import { parseArgs } from 'node:util';
import { decodePath } from '../http/http-request.js';
import { parseJson } from '../http/json-body.js';
import { CommandError, reasonOf } from './command-error.js';

const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];
const USER_ACTIONS = ['create', 'role', 'disable', 'reset'] as const;
export type UserAction = (typeof USER_ACTIONS)[number];

const flag = (of: string, help: string) => ({ of, type: 'boolean', argument: '', help }) as const;
const text = (of: string, argument: string, help: string) => ({ of, type: 'string', argument, help }) as const;

const OPTIONS = {
  json: flag('access', 'prints {routes, callers, resources}, the format of the snapshot'),
  markdown: flag('access', 'prints a Markdown table'),
  html: text('access', '<file>', 'writes one page with a matrix by caller'),
  check: text('access', '<file>', 'compares with a snapshot; the exit code is 1 when access became wider'),
  update: flag('access', 'writes the snapshot; only together with --check'),
  format: text('access', 'github', 'prints the changes of --check as annotations of a GitHub workflow'),
  as: text('explain', '<ROLE>,...[:<id>]', 'the roles of a valid token, and the id of its user; by default no token'),
  claims: text('explain', '<json>', 'further claims of the user: {"tenantId": 3}'),
  record: flag('explain', 'starts the application, and says whether the record of the path is visible'),
  database: flag('indexes', 'starts the application, counts the indexes of its database, and measures each statement'),
  out: text('openapi', '<file>', 'writes the document'),
  login: text('user', '<login>', 'the e-mail address, or the username where users log in by it'),
  role: text('user', '<ROLE>', 'the role of create, by default USER, and of role'),
  platform: text('all but user', '<name>', 'express or fastify; by default express where it is installed'),
} as const;

type Values = { [N in keyof typeof OPTIONS]?: (typeof OPTIONS)[N]['type'] extends 'string' ? string : boolean };
type Positionals = readonly string[];

const COMMANDS = {
  access: {
    usage: '<app module> [--json | --markdown | --html <file> | --check <file> [--update] [--format github]]',
    help: `prints who has access to which route by which rules, and to which rows and fields of generated resources.
It does not run overridden and custom operations, and names their code with a hash of its source.`,
    read: readAccess,
  },
  explain: {
    usage: '<app module> <METHOD> <path> [--as <ROLE>[,<ROLE>...][:<id>] [--claims <json>]] [--record]',
    help: `explains why one request has access or not: its route, every rule that matches from broad to narrow, what each
rule changes, the answer, and the rows and fields of a generated resource. It sends no request, does not consider
middleware that answers before the rules, and names policies without calling them.`,
    read: readExplain,
  },
  schema: {
    usage: '<app module>',
    help: 'prints the SQL statements for a migration that creates the search indexes of generated endpoints.',
    read: (_: Values, positionals: Positionals) => ({ module: onlyModule(positionals) }),
  },
  indexes: {
    usage: '<app module> [--database]',
    help: `prints a CREATE INDEX for each filter, sort, owner, scope, path and relation that has none, and its @Index().`,
    read: ({ database = false }: Values, positionals: Positionals) => ({ module: onlyModule(positionals), database }),
  },
  openapi: {
    usage: '<app module> [--out <file>]',
    help: `prints the OpenAPI 3.1 document, with the access rules; its title and version are those of package.json. It
needs @nestjs/swagger 12.`,
    read: ({ out }: Values, positionals: Positionals) => ({ module: onlyModule(positionals), out }),
  },
  user: {
    usage: `${USER_ACTIONS.join('|')} <app module> --login <login> [--role <ROLE>]`,
    help: `changes one user in the database of the application: create reads the password from standard input; role needs
--role; disable ends the sessions, too; reset mails a link for a new password, with the option passwordReset.`,
    read: readUser,
  },
};

type Name = keyof typeof COMMANDS;
export type CommandOf<N extends Name> = { name: N; platform: Platform | undefined } & ReturnType<
  (typeof COMMANDS)[N]['read']
>;
export type ApplicationCommand = { [N in Name]: CommandOf<N> }[Name];

/** `print` prints a text, such as the help, without loading an application. */
export type Command = ApplicationCommand | { readonly name: 'print'; readonly text: string };

export interface Outcome {
  readonly stdout: string;
  readonly code: 0 | 1;
}

const commands = Object.entries(COMMANDS).map(([name, { usage, help }]) => {
  const platform = name === 'user' ? '' : ` [--platform ${PLATFORMS.join('|')}]`;
  return { usage: `declarest ${name} ${usage}${platform}`, help: `${name} ${help}\n` };
});
const options = Object.entries(OPTIONS).map(
  ([name, { of, argument, help }]) => `  ${`--${name} ${argument}`.padEnd(24)} ${of}: ${help}`,
);

export const USAGE = ['Usage:', ...commands.map(({ usage }) => usage), 'declarest --version | --help'].join('\n  ');

const HELP = `${USAGE}

${commands.map(({ help }) => help).join('\n')}
<app module> is a compiled JavaScript file that exports exactly one Nest module: a class, or a dynamic module. It must
not start the application. It may export a function configure(app), which is called before the routes are registered:
do there what main.ts does, such as the global prefix, versioning, Swagger and static files.

Except for user, explain --record and indexes --database, the application is created with @nestjs/testing, but not started. No server listens, no data source of
TypeOrmModule connects, and no lifecycle hook runs. Constructors and factories of providers and afterInit() of gateways
do run. Those three start the application without a server: its data sources connect, and its lifecycle hooks run.

Options:
${options.join('\n')}`;

export function parseCommand(args: readonly string[]): Command {
  const [name, ...rest] = args;
  if (name === undefined) throw new CommandError('A command is missing.');
  if (name === 'help' || args.includes('--help') || args.includes('-h')) return { name: 'print', text: HELP };
  if (name === '--version') {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    return { name: 'print', text: (JSON.parse(manifest) as { version: string }).version };
  }
  if (!Object.hasOwn(COMMANDS, name)) throw new CommandError(`There is no command ${JSON.stringify(name)}.`);
  const { values, positionals } = parseOptions(rest, name);
  const command = COMMANDS[name as Name].read(values, positionals);
  return { name, platform: readPlatform(values.platform), ...command } as ApplicationCommand;
}

function parseOptions(args: string[], name: string): { values: Values; positionals: Positionals } {
  const accepted = Object.entries(OPTIONS).filter(
    ([, { of }]) => of === name || (of === 'all but user' && name !== 'user'),
  );
  try {
    return parseArgs({ args, options: Object.fromEntries(accepted), allowPositionals: true });
  } catch (cause) {
    throw new CommandError(`${reasonOf(cause)}.`, { cause });
  }
}

function readAccess({ check, update = false, format: named, ...flags }: Values, positionals: Positionals) {
  const module = onlyModule(positionals);
  const formats = (['json', 'markdown', 'html'] as const).filter((each) => flags[each]);
  if (formats.length > 1) throw new CommandError(`Give one of --json, --markdown and --html, got ${formats.length}.`);
  if (check !== undefined && formats.length > 0)
    throw new CommandError(`--check prints changes, not a table. Remove --${formats[0]}.`);
  if (update && check === undefined) throw new CommandError('--update needs --check <file>, which it writes.');
  if (named !== undefined && (named !== 'github' || check === undefined))
    throw new CommandError(`--format must be github, together with --check, got ${JSON.stringify(named)}.`);
  const format = named === undefined ? (formats[0] ?? ('table' as const)) : ('github' as const);
  return { module, format, check, update, html: flags.html };
}

function readUser({ login, role }: Values, [word, ...modules]: Positionals) {
  const action = USER_ACTIONS.find((each) => each === word);
  if (action === undefined)
    throw new CommandError(`Give one of ${USER_ACTIONS.join(', ')} after user, got ${JSON.stringify(word)}.`);
  if (login === undefined) throw new CommandError('--login is missing.');
  if (action === 'role' && role === undefined) throw new CommandError('--role is missing.');
  if (role !== undefined && action !== 'create' && action !== 'role')
    throw new CommandError(`--role has no meaning for ${action}.`);
  return { module: onlyModule(modules), action, login, role };
}

function readExplain({ as, claims, record = false }: Values, [module, method, path, ...more]: Positionals) {
  if (module === undefined) throw new CommandError('The compiled app module is missing.');
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
  const roles = as?.split(',').map((role) => role.trim());
  if (roles?.includes('') || as?.endsWith(':'))
    throw new CommandError(`--as must be roles such as USER,ADMIN, or USER:5, got ${JSON.stringify(as)}.`);
  if (roles === undefined && claims !== undefined) throw new CommandError('--claims needs --as.');
  return { module, method: method.toUpperCase(), path, roles, claims: readClaims(claims), record };
}

function readClaims(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  const claims = parseJson(text);
  if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return claims as Record<string, unknown>;
  throw new CommandError(`--claims must be a JSON object such as {"tenantId": 3}, got ${JSON.stringify(text)}.`);
}

function onlyModule([module, ...more]: Positionals): string {
  if (module === undefined) throw new CommandError('The compiled app module is missing.');
  if (more.length > 0) throw new CommandError(`Give one app module, got ${more.length + 1}.`);
  return module;
}

function readPlatform(name: string | undefined): Platform | undefined {
  const platform = PLATFORMS.find((each) => each === name);
  if (name !== undefined && platform === undefined)
    throw new CommandError(`--platform must be ${PLATFORMS.join(' or ')}, got ${JSON.stringify(name)}.`);
  return platform;
}
