/**
 * Requests that go all the way to a handler and do not enter it. The package's last global guard, which stands behind
 * `SecurityRulesGuard`, notes them and refuses; the gate before handlers outside Nest's routes does the same. Both learn
 * it here, from the test's process: the application itself has nothing of it, so no request can ask for it there.
 */
import { randomUUID } from 'node:crypto';
import type { CanActivate, ExecutionContext, INestApplication } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import type { HttpRequest } from '../http/request-facts.js';
import { UnreadableBodyGuard } from '../http/unreadable-body.js';
import { RouteTable } from '../routes/route-table.js';
import { provided } from './client.js';
import { exchange } from './http-exchange.js';

const HEADER = 'x-declarest-rehearsal';
/** No request but those of this process is taken for a rehearsal. */
const SECRET = randomUUID();

const prepared = new WeakSet<INestApplication>();
const letIn = new Set<string>();
let sent = 0;

/** Whether the handler would have been entered, or the status of the answer that came instead. */
export async function rehearse(
  app: INestApplication,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<'allowed' | number> {
  if (!prepared.has(app)) prepare(app);
  const ticket = `${SECRET}-${++sent}`;
  const { status } = await exchange(app, method, path, { headers: { ...headers, [HEADER]: ticket } });
  return letIn.delete(ticket) ? 'allowed' : status;
}

function prepare(app: INestApplication): void {
  const { httpAdapter } = provided(app, HttpAdapterHost);
  const guards = provided(app, DiscoveryService)
    .getProviders()
    .flatMap(({ instance }: { instance: unknown }) => (instance instanceof UnreadableBodyGuard ? [instance] : []));
  // Without it, every handler would be entered.
  if (guards.length === 0) throw new Error('The last guard of AuthModule was not found; no request is sent.');
  for (const guard of guards) stopAt(guard);
  const table = RouteTable.of(httpAdapter);
  const gate = table.outsideGate;
  table.outsideGate = (request, response, enter, at) => {
    const stopped = (): unknown => {
      if (!isRehearsal(request)) return enter();
      if (at && !at.isReached()) return at.pass();
      return noted(request) && httpAdapter.reply(response, '', 403);
    };
    return gate ? gate(request, response, stopped, at) : stopped();
  };
  prepared.add(app);
}

function stopAt(guard: CanActivate): void {
  const original = guard.canActivate.bind(guard);
  guard.canActivate = (context: ExecutionContext) =>
    context.getType() === 'http' && noted(context.switchToHttp().getRequest<HttpRequest>()) ? false : original(context);
}

function noted(request: HttpRequest): boolean {
  if (!isRehearsal(request)) return false;
  letIn.add(String(request.headers[HEADER]));
  return true;
}

const isRehearsal = ({ headers }: HttpRequest): boolean => String(headers[HEADER]).startsWith(SECRET);
