import { InvalidOptionError } from 'declarest';

/** Operations that are no tools unless the option `include` names them. */
export type OptionalTools = 'accounts' | 'batches' | 'exports' | 'purge';

export interface McpOptions {
  /**
   * The public URL of the endpoint, without a query. Its path is the route, and the whole of it identifies the resource
   * (RFC 8707 §2, RFC 9728 §1.2).
   *
   * @example 'https://shop.example/mcp'
   */
  readonly url: string;
  /**
   * The issuers of tokens that clients may use (RFC 9728 §2). Without it, a startup warning says that clients cannot log in by
   * themselves; `[]` says that they have tokens or API keys.
   *
   * @default [] clients get no hint where to log in
   */
  readonly authorizationServers?: readonly string[];
  /**
   * What the claim `aud` of a token must contain, where it has one (RFC 7519 §4.1.3). With the option `audience` of
   * `AuthModule`, use the same value.
   *
   * @default the option `url`
   */
  readonly audience?: string;
  /**
   * `operations` makes a tool of each operation. `compact` makes `find`, `get`, `count`, `write` and `describe` for all
   * generated resources, which take few tokens; operations that the application has written remain tools of their own.
   *
   * @default 'operations'
   */
  readonly tools?: 'operations' | 'compact';
  /**
   * Operations to add: `accounts` are those with the tag `Auth`, such as `login`, whose passwords and tokens a model
   * should not see; `batches` are writes at `/batch`; `exports` are whole lists at `/export`; `purge` is the parameter that
   * removes a hidden record for good.
   *
   * @default []
   */
  readonly include?: readonly OptionalTools[];
  /**
   * The names of the only tools. Compact tools call no other operations.
   *
   * @default all
   * @example ['listProducts', 'getProduct']
   */
  readonly only?: readonly string[];
  /**
   * Whether only operations that change nothing (GET) are tools.
   *
   * @default false
   */
  readonly readOnly?: boolean;
  /**
   * Origins of browser clients. Requests with any other `Origin` are 403, which prevents DNS rebinding.
   *
   * @default the origin of `url`
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Where the application reaches itself: tools send their requests there. Needed where it listens with TLS.
   *
   * @default the address that the server listens on, with plain HTTP
   * @example 'https://shop.example'
   */
  readonly internalUrl?: string;
  /**
   * The most bytes of a response that a tool returns. A larger one is a tool error that says so.
   *
   * @default 100_000 about 25,000 tokens
   */
  readonly maxResponseBytes?: number;
  /**
   * The most calls of tools by one user within a minute, or by one address without a user. Each instance of the application
   * counts for itself. Further calls are tool errors that name the seconds to wait.
   *
   * @default 120
   */
  readonly maxCallsPerMinute?: number;
}

export interface ResolvedOptions {
  readonly url: string;
  /** The path of the route. */
  readonly path: string;
  readonly metadataPath: string;
  readonly metadataUrl: string;
  readonly authorizationServers: readonly string[];
  readonly audience: string;
  readonly hasNoServers: boolean;
  readonly isCompact: boolean;
  readonly include: ReadonlySet<OptionalTools>;
  readonly only: readonly string[] | undefined;
  readonly readOnly: boolean;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly internalUrl: URL | undefined;
  readonly maxResponseBytes: number;
  readonly maxCallsPerMinute: number;
}

const OPTIONAL: readonly string[] = ['accounts', 'batches', 'exports', 'purge'] satisfies OptionalTools[];

const TOOLS: readonly string[] = ['operations', 'compact'];

/** @throws InvalidOptionError */
export function resolveOptions(options: McpOptions): ResolvedOptions {
  const { url, authorizationServers = [], audience = url, include = [], allowedOrigins, internalUrl } = options;
  const { tools = 'operations', only, readOnly = false, maxResponseBytes = 100_000, maxCallsPerMinute = 120 } = options;
  const { origin, pathname, href, search, hash } = parseUrl('url', url);
  if (search !== '' || hash !== '' || /[:*(){}]/.test(pathname) || pathname === '/')
    refuse('url', 'a URL with a plain path and without a query, such as https://shop.example/mcp', href);
  const internal = internalUrl === undefined ? undefined : parseUrl('internalUrl', internalUrl);
  if (internal && internal.href !== `${internal.origin}/`) refuse('internalUrl', 'a URL without a path', internal.href);
  for (const server of authorizationServers) parseUrl('authorizationServers', server);
  for (const name of include) if (!OPTIONAL.includes(name)) refuse('include', `a list of ${OPTIONAL.join(', ')}`, name);
  if (!TOOLS.includes(tools)) refuse('tools', TOOLS.join(' or '), JSON.stringify(tools) ?? 'none');
  if (typeof readOnly !== 'boolean') refuse('readOnly', 'a boolean', JSON.stringify(readOnly) ?? 'none');
  if (only !== undefined && !(Array.isArray(only) && only.every((name) => typeof name === 'string')))
    refuse('only', 'an array of names of tools', JSON.stringify(only) ?? 'none');
  for (const [name, value] of Object.entries({ maxResponseBytes, maxCallsPerMinute }))
    if (!Number.isSafeInteger(value) || value < 1)
      refuse(name as keyof McpOptions, 'a positive integer', JSON.stringify(value) ?? 'none');
  const path = pathname.replace(/\/$/, '');
  const metadataPath = `/.well-known/oauth-protected-resource${path}`;
  return {
    url,
    path,
    metadataPath,
    metadataUrl: origin + metadataPath,
    authorizationServers,
    audience,
    hasNoServers: options.authorizationServers === undefined,
    isCompact: tools === 'compact',
    include: new Set(include),
    only,
    readOnly,
    allowedOrigins: new Set((allowedOrigins ?? [origin]).map((each) => parseUrl('allowedOrigins', each).origin)),
    internalUrl: internal,
    maxResponseBytes,
    maxCallsPerMinute,
  };
}

function parseUrl(option: keyof McpOptions, text: unknown): URL {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    return refuse(option, 'an http or https URL', JSON.stringify(text) ?? 'none');
  return url;
}

function refuse(option: keyof McpOptions, expected: string, got: string): never {
  throw new InvalidOptionError(`The option ${option} of McpModule`, expected, got, 'Correct it in McpModule.forRoot()');
}

/** The injection token of the resolved options. */
export const MCP_OPTIONS = Symbol('declarest-mcp.options');
