/** `throttle` on three instances: parallel guesses count as those one after the other, in the database and in Redis. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, type ThrottleStorage } from 'declarest';
import { compile, type Compiled, REPOSITORY } from '../compiled.js';
import { blocksOf } from '../docs-blocks.js';
import { request } from '../harness/client.js';
import { createDatabase, type DatabaseName, DATABASES, type TestDatabase } from '../harness/databases.js';
import { type RunningApp, startApp } from '../harness/platforms.js';
import { AUTH, PASSWORD, uniqueEmail } from './auth-app.js';

const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** As much of the client of ioredis as the storage in docs/tasks/accounts.md uses. */
async function redisClient(port: number) {
  const socket = await reach(port);
  const waiting: ((count: number) => void)[] = [];
  let text = '';
  socket.setEncoding('utf8').on('data', (data: string) => {
    text += data;
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      waiting.shift()?.(Number(text.slice(1, end)));
      text = text.slice(end + 2);
    }
  });
  return {
    eval: (...values: readonly (string | number)[]): Promise<number> => {
      const parts = ['EVAL', ...values].map(String);
      socket.write(`*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`);
      return new Promise((resolve) => waiting.push(resolve));
    },
    end: () => socket.destroy(),
  };
}

/** Waits until the server listens. */
async function reach(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (isOpen) return socket;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** The storage of the documentation, on a server of its own. */
async function startRedis(): Promise<{ storage: ThrottleStorage; end: () => Promise<void> }> {
  const port = await freePort();
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', options, { stdio: 'ignore' });
  const client = await redisClient(port);
  const path = 'docs/tasks/accounts.md';
  const page = { path, text: await readFile(join(REPOSITORY, path), 'utf8') };
  const block = blocksOf(page).find(({ text }) => text.includes('export const redisStorage'));
  const compiled: Compiled = await compile([], { 'docs/redis-storage.ts': block?.text ?? '' });
  const url = pathToFileURL(join(compiled.directory, 'docs/redis-storage.js')).href;
  const { redisStorage } = (await import(url)) as { redisStorage: (redis: typeof client) => ThrottleStorage };
  const end = async () => {
    client.end();
    server.kill();
    await once(server, 'exit');
    await compiled.remove();
  };
  return { storage: redisStorage(client), end };
}

const CASES: readonly [kind: string, database: DatabaseName][] = [
  // On SQLite, instances of one process would wait for each other.
  ...DATABASES.filter((name) => name !== 'sqlite').map((name): [string, DatabaseName] => ['database', name]),
  ...(hasRedis ? [['Redis', 'sqlite'] satisfies [string, DatabaseName]] : []),
];

describe.each([...CASES, ['memory', 'sqlite'] satisfies [string, DatabaseName]])(
  'counted in %s, on %s',
  (kind, name) => {
    let database: TestDatabase;
    let apps: RunningApp[];
    let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
    beforeAll(async () => {
      database = await createDatabase(name);
      redis = kind === 'Redis' ? await startRedis() : undefined;
      const storage = redis?.storage ?? (kind as 'database' | 'memory');
      apps = [];
      for (let n = 0; n < 3; n += 1)
        apps.push(
          await startApp(n === 0 ? 'express' : 'fastify', {
            imports: [
              TypeOrmModule.forRoot({ ...database.options, logging: false }),
              AuthModule.forRoot({ ...AUTH, throttle: { tries: 10, storage } }),
            ],
          }),
        );
    });
    afterAll(async () => {
      await Promise.all(apps.map(({ close }) => close()));
      await redis?.end();
      await database.drop();
    });

    const register = async (): Promise<string> => {
      const json = { email: uniqueEmail(), password: PASSWORD };
      expect((await request(apps[0]?.url ?? '', 'POST', '/api/auth/register', { json })).status).toBe(201);
      return json.email;
    };
    const login = (count: number, email: string, password: string): Promise<number[]> =>
      Promise.all(
        Array.from({ length: count }, async (_, n) => {
          const json = { email, password };
          return (await request(apps[n % 3]?.url ?? '', 'POST', '/api/auth/login', { json })).status;
        }),
      );
    const passed = (statuses: readonly number[]): number => {
      expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
      return statuses.filter((status) => status === 401).length;
    };

    /** Delays of 1, 2, 4 s end while a slow machine still answers: each lets one more through, as one after the other. */
    const endedDelays = (started: number): number => Math.floor(Math.log2((performance.now() - started) / 1000 + 1));

    it('60 parallel guesses are as many as are free', async () => {
      const email = await register();
      const started = performance.now();
      const count = passed(await login(60, email, 'not the password'));
      const ended = endedDelays(started);
      const free = kind === 'memory' ? 30 : 10;
      expect(count).toBeGreaterThanOrEqual(free);
      expect(count).toBeLessThanOrEqual(free + ended * (kind === 'memory' ? 3 : 1));
    });

    if (kind !== 'memory')
      it('guesses one after the other are, too, and a success is given back', async () => {
        const email = await register();
        for (let n = 0; n < 12; n += 1) expect(await login(3, email, PASSWORD)).toEqual([200, 200, 200]);
        const started = performance.now();
        let count = 0;
        for (let n = 0; n < 8; n += 1) count += passed(await login(3, email, 'not the password'));
        expect(count).toBeGreaterThanOrEqual(10);
        expect(count).toBeLessThanOrEqual(10 + endedDelays(started));
      });
  },
);
