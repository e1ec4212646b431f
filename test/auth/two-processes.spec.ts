/** Sessions in two processes that share one database: what ends on one, ends on the other at once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../child-process.js';
import { type Compiled, compile } from '../compiled.js';
import { request } from '../harness/client.js';
import { createDatabase, DATABASES, type TestDatabase } from '../harness/databases.js';
import { PASSWORD, uniqueEmail } from './auth-app.js';

const APPLICATION = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser } from 'declarest';
import { Entity } from 'typeorm';

@Entity() class User extends AuthUser {}

@Module({
  imports: [
    TypeOrmModule.forRoot(
      process.env['FILE']
        ? { type: 'better-sqlite3', database: process.env['FILE'], autoLoadEntities: true, synchronize: process.env['SYNCHRONIZE'] === 'on' }
        : { ...JSON.parse(process.env['DATABASE'] ?? ''), synchronize: process.env['SYNCHRONIZE'] === 'on' },
    ),
    AuthModule.forRoot({ userClass: User, jwtSecret: 'x'.repeat(40), bcryptRounds: 4, sessions: { revocation: 'immediate', maxSessions: 3 } }),
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
`;

let compiled: Compiled;
let folder: string;
beforeAll(async () => {
  compiled = await compile([], { 'apps/main.ts': APPLICATION });
  folder = await mkdtemp(join(tmpdir(), 'declarest-two-'));
});
afterAll(async () => {
  await compiled.remove();
  await rm(folder, { recursive: true, force: true });
});

describe.each(DATABASES)('on %s', (name) => {
  let database: TestDatabase;
  let children: Child[];
  let urls: [string, string];
  beforeAll(async () => {
    database = await createDatabase(name);
    children = [];
    const start = async (synchronize: 'on' | 'off'): Promise<string> => {
      const { options } = database;
      const env = {
        SYNCHRONIZE: synchronize,
        ...(name === 'sqlite' ? { FILE: String(options.database) } : { DATABASE: JSON.stringify(options) }),
      };
      const child = startChild(process.execPath, [join(compiled.directory, 'apps/main.js')], { cwd: folder, env });
      children.push(child);
      return (await child.says(/http:\S+/))[0];
    };
    urls = [await start('on'), await start('off')];
  });
  afterAll(async () => {
    for (const child of children) child.signal('SIGKILL');
    await Promise.all(children.map(({ ended }) => ended));
    await database.drop();
  });

  const me = async (token: string): Promise<number[]> =>
    Promise.all(urls.map(async (url) => (await request(url, 'GET', '/api/auth/me', { token })).status));

  it.each(['logout', 'logout-all'])('%s on one process holds on the other at once', async (path) => {
    const json = { email: uniqueEmail(), password: PASSWORD };
    const { token, refreshToken } = (await request(urls[0], 'POST', '/api/auth/register', { json })).json.data;
    expect(await me(token)).toEqual([200, 200]);
    expect((await request(urls[0], 'POST', `/api/auth/${path}`, { token, json: {} })).status).toBe(204);
    expect(await me(token)).toEqual([401, 401]);
    const refreshed = await request(urls[1], 'POST', '/api/auth/refresh', { json: { refreshToken } });
    expect(refreshed.status).toBe(401);
  });

  it('of refreshes of one token on both processes, no second family begins', async () => {
    for (let round = 0; round < 10; round += 1) {
      const json = { email: uniqueEmail(), password: PASSWORD };
      const { refreshToken } = (await request(urls[0], 'POST', '/api/auth/register', { json })).json.data;
      const answers = await Promise.all(
        urls.map((url) => request(url, 'POST', '/api/auth/refresh', { json: { refreshToken } })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(new Set(answers.map((answer) => answer.json.data.refreshToken)).size).toBe(1);
    }
  });

  it('of 20 logins at once on both processes, maxSessions are left', async () => {
    const json = { email: uniqueEmail(), password: PASSWORD };
    await request(urls[0], 'POST', '/api/auth/register', { json });
    const logins = Array.from({ length: 20 }, (_, index) =>
      request(urls[index % 2] as string, 'POST', '/api/auth/login', { json }),
    );
    const tokens = (await Promise.all(logins)).map((answer) => answer.json.data.token as string);
    const found = await Promise.all(tokens.map(me));
    expect(found.map(String).toSorted()).toEqual([
      ...Array<string>(3).fill('200,200'),
      ...Array<string>(17).fill('401,401'),
    ]);
  });
});
