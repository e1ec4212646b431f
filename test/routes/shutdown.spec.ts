/** The end of an application whose clients keep their connections, as proxies, browsers and `fetch` do. */
import { Agent, get, type IncomingMessage, type Server } from 'node:http';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Controller, Get, Injectable } from '@nestjs/common';
import type { NestApplication } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AccessModule, AuthModule, AuthUser } from 'declarest';
import { ExpressAdapter as OwnExpressAdapter } from 'declarest/express';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud, type CrudParts, type CrudService } from '../crud/service.js';
import { linesOf, PLATFORMS, type Platform } from '../harness/platforms.js';

@Entity()
class Guest extends AuthUser {}

@Entity()
class Leaf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

@Controller()
class SlowController {
  static readonly entered: (() => void)[] = [];

  @Get('slow')
  async slow(): Promise<string> {
    SlowController.entered.pop()?.();
    await wait(300);
    return 'done';
  }
}

const auth = () => AuthModule.forRoot({ userClass: Guest, jwtSecret: 'x'.repeat(32), defaultAccess: 'public' });
const access = () => AccessModule.forRoot({ authenticate: () => undefined, defaultAccess: 'public' });
const resources = [{ entity: Leaf, endpoint: '/leaves', enablePagination: true }];

const CASES: readonly [string, Platform, () => CrudParts['adapter'], Partial<CrudParts>][] = [
  ['Express with AuthModule', 'express', () => new ExpressAdapter(), { imports: [auth()] }],
  ['Express with resources alone', 'express', () => new ExpressAdapter(), { resources }],
  ['declarest/express with all of it', 'express', () => new OwnExpressAdapter(), { resources, imports: [auth()] }],
  ['Fastify with AccessModule', 'fastify', () => new FastifyAdapter(), { imports: [access()] }],
  ['Fastify with resources alone', 'fastify', () => new FastifyAdapter(), { resources }],
];

/** A client that keeps its connections, as a reverse proxy does. */
function keepAliveClient({ port }: CrudService) {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  const fetchPath = (path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = get({ agent, port, path, host: '127.0.0.1' }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('error', reject);
    });
  const countKept = (): number => Object.values(agent.freeSockets).flat().length;
  return { agent, fetchPath, countKept };
}

/** Longer than a test may take: only a timeout of this length would make a close slow. */
const KEEP_ALIVE_MS = 65_000;
const keepLong = ({ app }: CrudService): void => {
  const server = app.getHttpServer() as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
};

describe.each(CASES)('on %s', (_, platform, adapter, parts) => {
  it('[6] close() finishes the running request, and does not wait for kept connections', async () => {
    const service = await startCrud(platform, { controllers: [SlowController], ...parts, adapter: adapter() as never });
    keepLong(service);
    const { agent, fetchPath } = keepAliveClient(service);
    const bothEntered = Promise.all(
      [1, 2].map(() => new Promise<void>((resolve) => SlowController.entered.push(resolve))),
    );
    const running = [fetchPath('/slow'), fetchPath('/slow')];
    await bothEntered;
    const start = performance.now();
    const [, ...statuses] = await Promise.all([service.close(), ...running]);
    expect(statuses).toEqual([200, 200]);
    expect(performance.now() - start).toBeLessThan(10_000);
    agent.destroy();
  });
});

it.each(PLATFORMS)(
  '[6] on %s, a signal refuses connections after the hooks of others, and each kept one ends with its next answer',
  async (platform) => {
    const kept: number[] = [];
    @Injectable()
    class Readiness implements BeforeApplicationShutdown {
      async beforeApplicationShutdown(): Promise<void> {
        await client.fetchPath('/leaves');
        kept.push(client.countKept());
      }
    }
    const service = await startCrud(platform, { resources, providers: [Readiness] });
    keepLong(service);
    const client = keepAliveClient(service);
    const server = service.app.getHttpServer() as Server;
    const closed = (service.app as unknown as NestApplication).close('SIGTERM');
    while (server.listening) await setImmediate();
    expect([kept, await client.fetchPath('/leaves'), client.countKept()]).toEqual([[1], 200, 0]);
    await expect(client.fetchPath('/leaves')).rejects.toThrow('ECONNREFUSED');
    await closed;
    await service.close();
  },
);

/** More than the kernel buffers for a client that does not read. */
const PAGES = 500;

@Entity()
class Page {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'text' }) text!: string;
}

const CLOSES = PLATFORMS.flatMap((platform) => [undefined, 'SIGTERM'].map((signal) => ({ platform, signal })));

describe.each(CLOSES)('an export on $platform, where close($signal) begins', ({ platform, signal }) => {
  let service: CrudService;
  let answer: IncomingMessage;
  const agent = new Agent({ keepAlive: true });
  beforeEach(async () => {
    service = await startCrud(platform, {
      entities: [Page],
      resources: [{ entity: Page, endpoint: '/pages', enableExport: true }],
      // That of the harness closes all connections at once.
      adapter: platform === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
    });
    const pages = Array.from({ length: PAGES }, () => ({ text: 'x'.repeat(40_000) }));
    await service.dataSource.getRepository(Page).save(pages, { chunk: 100 });
    const { port } = service;
    answer = await new Promise((resolve, reject) => {
      get({ agent, port, path: '/pages/export?format=ndjson' }, resolve).on('error', reject);
    });
  });
  afterEach(async () => {
    vi.useRealTimers();
    answer.destroy();
    await service.close();
  });
  const beginClose = async (): Promise<{ closed: Promise<void> }> => {
    const { app } = service;
    const closed = (app as unknown as NestApplication).close(signal);
    while ((app.getHttpServer() as Server).listening) await setImmediate();
    return { closed };
  };

  it('[6] reaches a slow client whole', async () => {
    const { closed } = await beginClose();
    // Idle connections end meanwhile.
    await wait(500);
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk as string;
    const ids = text.split('\n').map((line) => line && (JSON.parse(line) as Page).id);
    expect(ids).toEqual([...Array.from({ length: PAGES }, (_, index) => index + 1), '']);
    await closed;
  });

  it('[6] ends after 20 s where the client reads nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { closed } = await beginClose();
    vi.advanceTimersByTime(19_999);
    expect(await Promise.race([closed, wait(500, 'open')])).toBe('open');
    vi.advanceTimersByTime(1);
    await closed;
    expect(linesOf(service.logs, 'error')).toEqual([]);
  });
});

it('[6] close() ends a server of HTTP/2', async () => {
  const service = await startCrud('fastify', {
    resources,
    adapter: new FastifyAdapter({ http2: true } as never) as never,
  });
  await service.close();
  expect(service.logs.filter((line) => line.startsWith('error'))).toEqual([]);
});
