/** Requests that pass every guard of the package and stop in front of the handler. */
import { randomUUID } from 'node:crypto';
import type { INestApplication } from '@nestjs/common';
import { InvalidOptionError } from '../options/invalid-option.js';
import { pathOf, type HttpRequest } from '../http/request-facts.js';
import { applicationOf, useProbes, type Application } from '../routes/application.js';
import type { FastifyInstance } from '../routes/fastify.js';
import { isPlatformRequest } from '../routes/fastify-routes.js';
import { exchange, type RequestParts } from './http-exchange.js';

const PROBE_HEADER = 'x-declarest-probe';

/** The probes that are being sent, by the value of the header, which only this process knows. */
const probes = new Map<string, { hasReachedHandler: boolean }>();

/** Whether the request is a probe, which has reached its handler now. */
function stops({ headers }: HttpRequest): boolean {
  const probe = probes.get(String(headers[PROBE_HEADER]));
  if (probe) probe.hasReachedHandler = true;
  return probe !== undefined;
}

/** Stops a probe of a route outside Nest's routes. */
function installOutside({ adapter, routeTable }: Application): void {
  if (adapter?.getType() === 'fastify')
    adapter.getInstance<FastifyInstance>().addHook('onRequest', (request, reply, done) => {
      if (isPlatformRequest(request) && stops(request)) adapter.reply(reply, '', 403);
      else done();
    });
  else
    adapter?.use(((request: HttpRequest, response: unknown, next: () => void) => {
      if (routeTable.findPlatformRoute(request.method, pathOf(request)) && stops(request))
        adapter.reply(response, '', 403);
      else next();
    }) as never);
}

useProbes({
  guard: {
    canActivate: (context) => context.getType() !== 'http' || !stops(context.switchToHttp().getRequest<HttpRequest>()),
  },
  install: installOutside,
});

/** @throws InvalidOptionError where handlers would run */
export function assertProbed(app: INestApplication): void {
  if (applicationOf(app).probes) return;
  const expected = 'imported before the application is created';
  throw new InvalidOptionError(
    'declarest/testing',
    expected,
    'imported later',
    'Import it at the top of the test file',
  );
}

/** @returns `allowed` where the handler would have run, or else the status of the response */
export async function sendProbe(
  app: INestApplication,
  method: string,
  path: string,
  headers: RequestParts['headers'],
): Promise<'allowed' | number> {
  const id = randomUUID();
  const probe = { hasReachedHandler: false };
  probes.set(id, probe);
  const parts = { headers: { ...headers, [PROBE_HEADER]: id } };
  const { status } = await exchange(app, method, path, parts).finally(() => probes.delete(id));
  return probe.hasReachedHandler ? 'allowed' : status;
}
