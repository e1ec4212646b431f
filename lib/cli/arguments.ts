/** What was typed behind `declarest`, as a command; or why it is none. */
import { METHODS } from 'node:http';
import { parseArgs } from 'node:util';
import type { Question } from '../access/explain.js';
import { CommandError } from './command-error.js';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];
export type Format = 'table' | 'json' | 'markdown';

export interface AccessCommand {
  readonly name: 'access';
  readonly module: string;
  readonly platform: Platform | undefined;
  readonly format: Format;
  /** The snapshot to compare with. */
  readonly check: string | undefined;
  /** Writes the snapshot. */
  readonly update: boolean;
}

export interface ExplainCommand extends Question {
  readonly name: 'explain';
  readonly module: string;
  readonly platform: Platform | undefined;
}

export interface HelpCommand {
  readonly name: 'help';
  readonly text: string;
}

export type Command = AccessCommand | ExplainCommand | HelpCommand;

const USAGES: Readonly<Record<string, string>> = {
  access:
    'Usage: declarest access <compiled app module> [--json | --markdown | --check <file> [--update]] [--platform express|fastify]',
  explain:
    'Usage: declarest explain <compiled app module> <METHOD> <path> [--as <ROLE>[,<ROLE>...]] [--platform express|fastify]',
};
const USAGE = 'Usage: declarest <command> [--help], where <command> is access or explain';

/** The line that stands below a refusal. */
export const usageOf = (args: readonly string[]): string =>
  (Object.hasOwn(USAGES, args[0] ?? '') && USAGES[args[0] ?? '']) || USAGE;

const HELP = `${USAGE}

Commands:
  access   who reaches which route, and by which rule
  explain  why one request gets in or not

declarest <command> --help tells more.`;

const ACCESS_HELP = `${USAGES['access']}

Prints who reaches which route, and by which rule. Opens no port, connects to no database and creates none,
and calls no lifecycle hook of the application. Its providers are made, so that rules may depend on them.

<compiled app module> is a JavaScript file that exports exactly one Nest module: a class, or what forRoot() and the
like return. A function exported as "configure" is called with the application before its routes are registered,
for what main.ts says otherwise: the global prefix, versioning.

Options:
  --json               an array of {method, path, access, rule}
  --markdown           a table for a document
  --check <file>       compares with a snapshot; exit code 1 when anything got wider
  --update             with --check: writes the snapshot
  --platform <name>    express or fastify; without it, the one that is installed, express first
  --help               this text`;

const EXPLAIN_HELP = `${USAGES['explain']}

Says why a request gets in or not: the route that would serve it, every rule that matches from broad to narrow, what each
did to the decision, and the answer. Starts the application as "declarest access" does, and sends no request. What
runs before the rules, such as middleware that answers by itself, is not asked; a policy is named.

<path> is written as a client sends it: /api/products/7

Options:
  --as <ROLE>,...      the roles of a valid token; without it, the request has none
  --platform <name>    express or fastify; without it, the one that is installed, express first
  --help               this text`;

const OPTIONS = {
  json: { type: 'boolean' },
  markdown: { type: 'boolean' },
  check: { type: 'string' },
  update: { type: 'boolean' },
  platform: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const EXPLAIN_OPTIONS = {
  as: { type: 'string' },
  platform: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type KnownOptions = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>>;

/** @throws CommandError */
export function parseCommand(args: readonly string[]): Command {
  const [name, ...rest] = args;
  if (name === undefined) throw new CommandError('No command is given.');
  if (name === '--help' || name === '-h' || name === 'help') return { name: 'help', text: HELP };
  if (name === 'explain') return parseExplain(rest);
  if (name !== 'access') throw new CommandError(`There is no command ${JSON.stringify(name)}.`);
  return parseAccess(rest);
}

function parseAccess(args: readonly string[]): Command {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values['help'] !== undefined) return { name: 'help', text: ACCESS_HELP };
  const [module, ...more] = positionals;
  if (module === undefined) throw new CommandError('The compiled app module is missing.');
  if (more.length > 0) throw new CommandError(`One app module is expected, got ${positionals.length}.`);
  const check = text(values['check']);
  const formats = (['json', 'markdown'] as const).filter((each) => values[each] !== undefined);
  if (formats.length > 1) throw new CommandError('Either --json or --markdown is expected, got both.');
  if (check !== undefined && formats.length > 0)
    throw new CommandError(`--check prints what changed, not a table: take --${formats[0]} away.`);
  const update = values['update'] !== undefined;
  if (update && check === undefined)
    throw new CommandError('--update is expected together with --check <file>, which it writes.');
  return {
    name: 'access',
    module,
    platform: platformOf(text(values['platform'])),
    format: formats[0] ?? 'table',
    check,
    update,
  };
}

function parseExplain(args: readonly string[]): Command {
  const { values, positionals } = readArguments(args, EXPLAIN_OPTIONS);
  if (values['help'] !== undefined) return { name: 'help', text: EXPLAIN_HELP };
  const [module, method, path, ...more] = positionals;
  if (module === undefined) throw new CommandError('The compiled app module is missing.');
  if (method === undefined || path === undefined)
    throw new CommandError('A method and a path are expected behind the app module, such as GET /api/products/7.');
  if (more.length > 0)
    throw new CommandError(`One method and one path are expected, got ${more.join(' ')} behind them.`);
  return {
    name: 'explain',
    module,
    method: methodOf(method),
    path: sentPath(path),
    roles: rolesOf(text(values['as'])),
    platform: platformOf(text(values['platform'])),
  };
}

function methodOf(name: string): string {
  const method = name.toUpperCase();
  if (!METHODS.includes(method)) throw new CommandError(`${JSON.stringify(name)} is no HTTP method.`);
  return method;
}

/** What no client sends, or no router reads, has no answer. */
function sentPath(path: string): string {
  const refuse = (advice: string): never => {
    throw new CommandError(`${JSON.stringify(path)} is no path that a client sends: ${advice}.`);
  };
  if (!path.startsWith('/')) refuse('begin it with "/"');
  if (!/^[!-~]+$/.test(path)) refuse('escape what is not printable ASCII');
  try {
    decodeURIComponent(path.replace(/[?#].*$/s, ''));
  } catch {
    refuse('an escape in it is broken');
  }
  return path;
}

function rolesOf(list: string | undefined): string[] | undefined {
  const roles = list?.split(',').map((role) => role.trim());
  if (roles?.includes(''))
    throw new CommandError(`--as: expected roles such as USER,ADMIN, got ${JSON.stringify(list)}.`);
  return roles;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** `--help` beside whatever else is help; anything unknown is refused. */
function readArguments(
  args: readonly string[],
  options: KnownOptions,
): { values: Readonly<Record<string, unknown>>; positionals: readonly string[] } {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  if (values['help'] === undefined)
    for (const token of tokens) if (token.kind === 'option') expectKnown(token, options);
  return { values, positionals };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

/** In sentences of our own: those of `parseArgs` are several, and advise of what nobody asked. */
function expectKnown({ name, rawName, value, inlineValue }: OptionToken, options: KnownOptions): void {
  if (!Object.hasOwn(options, name)) throw new CommandError(`There is no option ${rawName}.`);
  const type = options[name]?.type;
  if (type === 'boolean' && value !== undefined) throw new CommandError(`${rawName} takes no value.`);
  if (type === 'string' && (value === undefined || value === '' || (!inlineValue && value.startsWith('-'))))
    throw new CommandError(`${rawName} needs a value.`);
}

function platformOf(name: string | undefined): Platform | undefined {
  const platform = PLATFORMS.find((each) => each === name);
  if (name !== undefined && platform === undefined)
    throw new CommandError(`--platform: expected ${PLATFORMS.join(' or ')}, got ${JSON.stringify(name)}.`);
  return platform;
}
