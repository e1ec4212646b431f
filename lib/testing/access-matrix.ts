import type { INestApplication } from '@nestjs/common';
import { AccessRules } from '../access/access-rules.js';
import type { Access } from '../access/access.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { BASE_ROLE } from '../http/principal.js';
import { bearer, getProvider } from './client.js';
import { addressOf } from './http-exchange.js';
import { assertProbed, sendProbe } from './probes.js';
import { rowRequests } from './row-requests.js';

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
 *
 * @example
 * const rows = await accessMatrix(app);
 * expect(rows.filter(({ agrees }) => !agrees)).toEqual([]);
 */
export async function accessMatrix(app: INestApplication, { headers = {} }: MatrixOptions = {}): Promise<MatrixRow[]> {
  const rules = getProvider(app, AccessRules);
  assertProbed(app);
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
