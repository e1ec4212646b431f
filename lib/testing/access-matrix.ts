import type { INestApplication } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { RouteTable } from '../routes/route-table.js';
import { BASE_ROLE, type Access } from '../access/access.js';
import { SecurityRules } from '../access/security-rules.js';
import { bearer, provided } from './client.js';
import { addressOf } from './http-exchange.js';
import { rehearse } from './rehearsal.js';
import { rowRequests } from './row-requests.js';

export interface MatrixOptions {
  /** Sent with every request, such as the header that a version is read from. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether somebody gets in at a row of the `AccessReport`. */
export interface MatrixRow {
  readonly method: string;
  readonly path: string;
  /** `anonymous`, or the one role of the token. */
  readonly as: string;
  /** The request that was sent: `GET /api/products/1`. */
  readonly sent: string;
  /** `policy`: the roles suffice, and then a policy decides, so that being let in and 403 both agree. */
  readonly declared: 'allowed' | 'policy' | 401 | 403;
  /** Whether the handler would have been entered, or the status of the answer that came instead. */
  readonly observed: 'allowed' | number;
  readonly agrees: boolean;
}

/**
 * Asks every row of the `AccessReport` with a real request, without a token and with each role that the rules name, and
 * says what was declared and what came. No handler is entered: behind the guards the request is turned back.
 */
export async function accessMatrix(app: INestApplication, { headers = {} }: MatrixOptions = {}): Promise<MatrixRow[]> {
  const rules = provided(app, SecurityRules);
  // Rules are complete when the application is up.
  await addressOf(app);
  const table = RouteTable.of(provided(app, HttpAdapterHost).httpAdapter);
  const rows: MatrixRow[] = [];
  for (const { entry, method, path } of rowRequests(rules.entries, table)) {
    for (const role of [undefined, ...rules.roleNames]) {
      const roles = role === undefined ? undefined : [role];
      const declared = declaredFor(entry.access, roles && rules.roles.expand(roles));
      const token = roles && (await bearer(app, { roles }));
      const observed = await rehearse(app, method, path, { ...headers, ...token });
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

/** Decided once more, from what the report says, so that a wrong decision is not compared with itself. */
function declaredFor({ kind, requirements }: Access, roles: readonly string[] | undefined): MatrixRow['declared'] {
  if (kind === 'public') return 'allowed';
  if (!roles) return 401;
  if (kind === 'denied') return 403;
  const lacks = requirements.some((each) => 'anyOf' in each && !each.anyOf.some((role) => has(roles, role)));
  if (lacks) return 403;
  return requirements.some((each) => 'policy' in each) ? 'policy' : 'allowed';
}

const has = (roles: readonly string[], role: string): boolean => role === BASE_ROLE || roles.includes(role);
