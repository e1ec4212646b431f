import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { AccessRules } from '../access/access-rules.js';
import { AccessDecision, useProbes } from '../access/security-rules.guard.js';
import type { Access } from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { matchesFurtherLevels, type Pattern } from '../access/pattern.js';
import { ANY_OTHER_METHOD, type RouteEntry } from '../access/route-access.js';
import { BASE_ROLE } from '../http/caller.js';
import type { HttpRequest } from '../http/http-request.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import { ANY_PATH, levelsOf, withoutOptionals } from '../routes/route.js';
import { addressOf, asSent, bearer, exchange, getProvider, type RequestParts } from './client.js';

export interface MatrixOptions {
  /** Sent with every request, such as the header of a version. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The declared and the observed access of one user to one row of the `AccessReport`. */
export interface MatrixRow {
  readonly method: string;
  readonly path: string;
  /** `anonymous`, or the one role of the token. */
  readonly as: string;
  /** The request that was sent: `GET /api/products/1`. */
  readonly sent: string;
  /** `policy`: the roles suffice and a policy decides, so that `allowed` and 403 both agree. */
  readonly declared: 'allowed' | 'policy' | 401 | 403;
  /** `allowed` where the handler would run, or else the status of the response. */
  readonly observed: 'allowed' | number;
  readonly agrees: boolean;
}

/**
 * Sends a request for every row of the `AccessReport`, without a token and with each role that the rules name, and
 * compares the declared with the observed access. No handler runs: requests that pass the guards stop there.
 * @throws InvalidOptionError where handlers would run
 * @example expect((await accessMatrix(app)).filter(({ agrees }) => !agrees)).toEqual([]);
 */
export async function accessMatrix(app: INestApplication, { headers = {} }: MatrixOptions = {}): Promise<MatrixRow[]> {
  const rules = getProvider(app, AccessRules);
  if (!getProvider(app, AccessDecision).probes) {
    const [expected, advice] = ['imported before the application is created', 'Import it at the top of the test file'];
    throw new InvalidOptionError('declarest/testing', expected, 'imported later', advice);
  }
  // Rules are compiled when the application starts.
  await addressOf(app);
  const compiled = rules.compiled as CompiledAccess;
  const rows: MatrixRow[] = [];
  for (const { entry, method, path } of rowRequests(compiled)) {
    for (const role of [undefined, ...compiled.roleNames]) {
      const roles = role === undefined ? undefined : [role];
      const declared = declaredAccess(entry.access, roles && compiled.roles.expand(roles));
      const token = roles && (await bearer(app, { roles }));
      const observed = await sendProbe(app, method, path, { ...headers, ...token });
      rows.push({
        method: entry.method,
        path: entry.path,
        as: role ?? 'anonymous',
        sent: `${method} ${path}`,
        declared,
        observed,
        agrees: declared === 'policy' ? observed === 'allowed' || observed === 403 : observed === declared,
      });
    }
  }
  return rows;
}

/** Decides independently of the guard, so that a wrong decision is not compared with itself. */
function declaredAccess({ kind, requirements }: Access, roles: readonly string[] | undefined): MatrixRow['declared'] {
  if (kind === 'public') return 'allowed';
  if (!roles) return 401;
  if (kind === 'denied') return 403;
  const hasRole = (role: string): boolean => role === BASE_ROLE || roles.includes(role);
  if (requirements.some((each) => 'anyOf' in each && !each.anyOf.some(hasRole))) return 403;
  return requirements.some((each) => 'policy' in each) ? 'policy' : 'allowed';
}

const PLACEHOLDERS = ['1', 'placeholder', '00000000-0000-4000-8000-000000000000'];
const WILDCARD_LEVELS = [1, 2, 3, 0];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH'];

/** One request for each row, served by the row's route where one was found. A regular expression has no known path. */
function rowRequests({ entries, table }: CompiledAccess) {
  return entries.flatMap((entry) => {
    const { template } = entry;
    const siblings = entries.filter((other) => other.template === template);
    const parts = siblings.flatMap(({ method, part }) => (part && method === entry.method ? [part.pattern] : []));
    const methods = methodsFor(entry.method, siblings);
    const requests = pathsFor(template, entry.part?.pattern, parts).flatMap((path) =>
      methods.map((method) => ({ method, path: asSent(path) })),
    );
    const served = requests.find(({ method, path }) => table.find(method, path)?.route.path === template);
    if (!served && template === ANY_PATH) return [];
    return [{ entry, method: entry.method, path: entry.path, ...(served ?? requests[0]) }];
  });
}

function methodsFor(method: string, declared: readonly RouteEntry[]): string[] {
  if (method === 'GET') return ['GET', 'HEAD'];
  return method === ANY_OTHER_METHOD
    ? METHODS.filter((each) => !declared.some((entry) => entry.method === each))
    : [method];
}

/** Paths of a route, or of the part of it that a pattern matches. Those that match the fewest other patterns come first. */
function pathsFor(template: string, part: Pattern | undefined, parts: readonly Pattern[]): string[] {
  const matchingParts = (path: string): number => parts.filter((pattern) => matches(pattern, path)).length;
  const paths = withoutOptionals(template)
    .toReversed()
    .flatMap((variant) =>
      PLACEHOLDERS.flatMap((word) => WILDCARD_LEVELS.map((count) => fill(variant, part?.levels ?? [], word, count))),
    );
  return [...new Set(paths)]
    .filter((path) => !part || matches(part, path))
    .toSorted((a, b) => matchingParts(a) - matchingParts(b));
}

function matches(pattern: Pattern, path: string): boolean {
  const levels = levelsOf(path);
  return pattern.levels.every((level, index) => level === levels[index]) && matchesFurtherLevels(pattern, levels);
}

/** A parameter becomes the pattern's literal at its level. A wildcard becomes the other literals and `count` more levels. */
function fill(template: string, literals: readonly string[], word: string, count: number): string {
  const filled = levelsOf(template).flatMap((level, index) => {
    if (level.startsWith('*')) return [...literals.slice(index), ...Array<string>(count).fill(word)];
    return level.includes(':') ? [literals[index] ?? level.replace(/:\w+(?:\([^)]*\))?/g, word)] : [level];
  });
  return `/${filled.join('/')}`;
}

/** Probes pass every guard of the package and stop in front of the handler. */
const PROBE_HEADER = 'x-declarest-probe';

/** The probes that have reached no handler yet, by the value of the header, which only this process knows. */
const probes = new Set<string>();

const stops = ({ headers }: HttpRequest): boolean => probes.delete(String(headers[PROBE_HEADER]));

useProbes({
  guard: {
    canActivate: (context) => context.getType() !== 'http' || !stops(context.switchToHttp().getRequest<HttpRequest>()),
  },
  stops,
});

/** @returns `allowed` where the handler would have run, or else the status of the response */
async function sendProbe(
  app: INestApplication,
  method: string,
  path: string,
  headers: RequestParts['headers'],
): Promise<MatrixRow['observed']> {
  const id = randomUUID();
  probes.add(id);
  const { status } = await exchange(app, method, path, { headers: { ...headers, [PROBE_HEADER]: id } });
  return probes.delete(id) ? status : 'allowed';
}
