import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExpressAdapter as NestExpressAdapter } from '@nestjs/platform-express';
import { ExpressAdapter } from 'declarest/express';
import express from 'express';
import { request } from '../harness/client.js';

const APPLICATIONS = 20;
const REQUESTS = 60;

type Random = (below: number) => number;

/** The same numbers for the same seed, so that both adapters get the same application. */
function randomOf(seed: string): Random {
  let count = 0;
  return (below) => createHash('sha1').update(`${seed}:${count++}`).digest().readUInt32LE(0) % below;
}

const pick = <T>(random: Random, of: readonly T[]): T => of[random(of.length)]!;

const NAMES = ['api', 'Api', 'v1', 'products', 'orders', 'a.b', 'a%20b', 'käse', 'k'];
const DYNAMIC = [':id', ':id.json', 'x-:id', '*rest', '{:id}', 'products{s}'];
const SENT = [
  ...NAMES,
  'API',
  'Products',
  '1',
  '%zz',
  '%6b',
  'x-7',
  '9.json',
  '',
  'a;b',
  'k%C3%A4se',
  '~',
  'productss',
];

function templateOf(random: Random): string {
  const levels = Array.from({ length: random(4) }, () => pick(random, random(4) === 0 ? DYNAMIC : NAMES));
  // A wildcard may stand only once under one name.
  const names = levels.filter(
    (level, at) => !/id|rest/.test(level) || !levels.slice(0, at).some((l) => /id|rest/.test(l)),
  );
  return `/${names.join('/')}${random(5) === 0 && names.length > 0 ? '/' : ''}`;
}

function urlOf(random: Random): string {
  const path = `/${Array.from({ length: random(5) }, () => pick(random, SENT)).join('/')}`;
  const host = random(15) === 0 ? 'http://elsewhere' : '';
  return (
    encodeURI(host + path).replaceAll('%25', '%') +
    pick(random, ['', '', '/', '?', '?q=/api&x=1', "?q='|^", '#f', '\\x'])
  );
}

interface Express {
  (request: IncomingMessage, response: ServerResponse): void;
  use(...args: unknown[]): void;
  param(...args: unknown[]): void;
  [method: string]: (...args: never[]) => unknown;
}

type Handled = IncomingMessage & {
  trace?: unknown[];
  params: object;
  baseUrl: string;
  originalUrl: string;
  route?: { path: unknown };
};
type Reply = ServerResponse & { json(body: unknown): void };

function fill(app: Express, random: Random, depth: number): void {
  const any = app as unknown as Record<string, (...args: unknown[]) => void>;
  let number = 0;
  const handler = (kinds: readonly string[]) => {
    const [id, kind] = [`${depth}.${number++}`, pick(random, kinds)];
    const rewritten = templateOf(random).replaceAll(/[:{}*]/g, '');
    return (request: Handled, response: Reply, next: (why?: unknown) => void) => {
      request.trace ??= [];
      request.trace.push([
        id,
        request.url,
        request.baseUrl,
        request.originalUrl,
        { ...request.params },
        request.route?.path,
      ]);
      if (kind === 'answer') response.json(request.trace);
      else if (kind === 'throw') throw new Error(id);
      else if (kind === 'later') setImmediate(next);
      else if (kind === 'rewrite') {
        if (request.trace.length < 30) request.url = rewritten;
        next();
      } else next(kind === 'next' ? undefined : kind);
    };
  };
  for (let layer = 0, layers = 3 + random(depth === 0 ? 40 : 6); layer < layers; layer++) {
    const path =
      random(12) === 0 ? [templateOf(random), templateOf(random)] : random(12) === 0 ? /^\/(a|k)/i : templateOf(random);
    const what = random(12);
    if (what === 0) app.use(path, handler(['next', 'next', 'later', 'rewrite', 'router']));
    else if (what === 1) app.use(handler(['next', 'later', 'rewrite']));
    else if (what === 2)
      app.use((error: Error, request: Handled, _response: Reply, next: (why?: unknown) => void) => {
        if (!request.trace) return next(error);
        request.trace.push(`caught ${error.message}`);
        next(layer % 2 === 0 ? error : undefined);
        return undefined;
      });
    else if (what === 3 && depth < 2) {
      const inner = random(2) === 0 ? express() : express.Router({ mergeParams: random(2) === 0 });
      fill(inner as unknown as Express, random, depth + 1);
      app.use(path, inner);
    } else
      any[pick(random, ['get', 'get', 'post', 'put', 'head', 'options', 'all'])]!.call(
        app,
        path,
        ...(random(2) === 0 ? [handler(['next', 'route', 'later'])] : []),
        handler(['answer', 'answer', 'answer', 'next', 'router', 'throw', 'rewrite']),
      );
  }
  if (random(2) === 0)
    app.param('id', (request: Handled, _response: unknown, next: (why?: unknown) => void, value: string) => {
      (request.trace ??= []).push(['param', value]);
      next(value === '1' ? 'route' : undefined);
    });
}

async function serve(Adapter: typeof NestExpressAdapter, seed: string) {
  const random = randomOf(seed);
  const instance = express().set('env', 'test');
  if (random(3) === 0) instance.set('case sensitive routing', true);
  if (random(3) === 0) instance.set('strict routing', true);
  const adapter = new Adapter(instance);
  fill(instance as unknown as Express, random, 0);
  instance.use((error: Error, request: Handled, response: Reply, _next: unknown) => {
    response.statusCode = 500;
    response.json([error.message, request.trace]);
  });
  adapter.initHttpServer({});
  const server = adapter.getHttpServer();
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => new Promise((closed) => server.close(closed)) };
}

it('answers whatever application just as Express does', async () => {
  const seen: Record<number, number> = {};
  for (let number = 0; number < APPLICATIONS; number++) {
    const seed = `application ${number}`;
    const [plain, own] = await Promise.all([serve(NestExpressAdapter, seed), serve(ExpressAdapter, seed)]);
    const random = randomOf(`requests ${number}`);
    for (let count = 0; count < REQUESTS; count++) {
      const [method, path] = [
        pick(random, ['GET', 'GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'PROPFIND']),
        urlOf(random),
      ];
      const [expected, got] = await Promise.all(
        [plain, own].map(async ({ url }) => {
          const { headers, status, text } = await request(url, method, path);
          delete headers['date'];
          return { seed, method, path, headers, status, text };
        }),
      );
      expect(got).toEqual(expected);
      seen[expected!.status] = (seen[expected!.status] ?? 0) + 1;
    }
    await Promise.all([plain.close(), own.close()]);
  }
  // Or else the comparison says little.
  expect(Object.keys(seen)).toEqual(expect.arrayContaining(['200', '404', '500']));
});
