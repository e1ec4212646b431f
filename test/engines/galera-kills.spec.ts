/**
 * Kills nodes of a Galera cluster under load, one after the other, and starts them again. Outside of CI:
 *
 *     scripts/engines/galera <folder> >urls
 *     TEST_GALERA_FOLDER=<folder> TEST_GALERA_URLS="$(cat urls)" npx vitest run test/engines/galera-kills.spec.ts
 *
 * GALERA_KILLS sets how many nodes are killed (3). What came is in <folder>/kills.
 */
import { execFile } from 'node:child_process';
import { appendFile, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule, IdempotencyKey } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { request } from '../harness/client.js';
import { type RunningApp, startApp } from '../harness/platforms.js';
import { makeToken } from '../harness/tokens.js';

const FOLDER = process.env['TEST_GALERA_FOLDER'] ?? '';
const URLS = process.env['TEST_GALERA_URLS']?.trim().split(' ') ?? [];
const KILLS = Number(process.env['GALERA_KILLS'] ?? 3);
const WRITERS = 6;

@Entity()
class Sale {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

const databaseOf = (url: string): string => url.replace(/\/\w+$/, '/kills');

const start = (url: string, synchronize: boolean): Promise<RunningApp> =>
  startApp('express', {
    imports: [
      TypeOrmModule.forRoot({
        type: 'mariadb',
        url: databaseOf(url),
        charset: 'utf8mb4',
        entities: [Sale, IdempotencyKey],
        synchronize,
        extra: { connectTimeout: 3_000 },
      }),
      authModule({ defaultAccess: 'public' }),
      CrudModule.forFeature({ entity: Sale, endpoint: '/sales', maxListSize: 1, enableIdempotency: true }),
    ],
  });

it.skipIf(FOLDER === '')(
  'no acknowledged write is lost where nodes of Galera are killed under load',
  async () => {
    const server = await new DataSource({ type: 'mariadb', url: URLS[0] as string }).initialize();
    await server.query('DROP DATABASE IF EXISTS kills');
    await server.query('CREATE DATABASE kills CHARACTER SET utf8mb4');
    await server.destroy();
    const apps: RunningApp[] = [];
    for (const [index, url] of URLS.entries()) apps.push(await start(url, index === 0));
    const token = makeToken();
    const acknowledged = new Map<string, number>();
    const others: Record<string, number> = {};
    const end = new AbortController();

    /** Sends each POST until it is acknowledged, to one instance after the other, with one key. */
    const writer = async (number: number): Promise<void> => {
      for (let count = 0; !end.signal.aborted; count += 1) {
        const name = `sale-${number}-${count}`;
        for (let tries = number; !acknowledged.has(name); tries += 1) {
          const { url } = apps[tries % apps.length] as RunningApp;
          const sent = { json: { name }, token, headers: { 'idempotency-key': name } };
          const { status, json } = await request(url, 'POST', '/sales', sent);
          if (status === 201) acknowledged.set(name, Number(json.data.id));
          else {
            others[status] = (others[status] ?? 0) + 1;
            await delay(100);
          }
        }
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, number) => writer(number));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const node = String(kill % URLS.length);
      await delay(1_000);
      process.kill(Number(await readFile(`${FOLDER}/pid${node}`, 'utf8')), 'SIGKILL');
      await delay(1_000);
      // Until the node has joined again.
      await promisify(execFile)('scripts/engines/galera', [FOLDER, node]);
      await appendFile(
        `${FOLDER}/kills`,
        `${kill + 1}: ${acknowledged.size} acknowledged, ${JSON.stringify(others)}\n`,
      );
    }
    await delay(1_000);
    end.abort();
    await Promise.all(writers);

    for (const { app } of apps) {
      const rows = await app
        .get(DataSource, { strict: false })
        .query<{ id: number; name: string }[]>('SELECT id, name FROM sale');
      const stored = new Map(rows.map(({ id, name }) => [name, Number(id)]));
      expect(rows.length).toBe(stored.size);
      expect([...acknowledged].filter(([name, id]) => stored.get(name) !== id)).toEqual([]);
      expect(stored.size).toBe(acknowledged.size);
    }
    expect(acknowledged.size).toBeGreaterThan(KILLS);
    expect(Object.keys(others).filter((status) => !['409', '503'].includes(status))).toEqual([]);
    for (const each of apps) await each.close();
  },
  60_000 + KILLS * 120_000,
);
