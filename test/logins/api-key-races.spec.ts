/** API keys on two applications that share one database: what changes on one, holds on the other at once. */
import { Controller, Get } from '@nestjs/common';
import { AuthModule, Roles, SecurityConfig, sessions, UserAccounts } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH } from '../auth/auth-app.js';
import { request } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { type RunningApp, startApp } from '../harness/platforms.js';
import { createKey, keyOf, logIn, statusesAfter, statusOf } from './keyed-app.js';

@Controller('code')
class CodeController {
  @Get('any')
  any() {
    return {};
  }
  @Roles('ADMIN')
  @Get('admin')
  admin() {
    return {};
  }
}

class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/code/**');
  }
}

describe.each(DATABASES)('on %s', (database) => {
  let apps: [RunningApp, RunningApp];
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const created = await createDatabase(database);
    drop = () => created.drop();
    const start = () =>
      startApp('fastify', {
        imports: [
          TypeOrmModule.forRoot(created.options),
          AuthModule.forRoot({ ...AUTH, plugins: [sessions(), apiKeys()], throttle: false }),
        ],
        controllers: [CodeController],
        providers: [Rules],
      });
    apps = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(apps.map(({ close }) => close()));
    await drop();
  });

  it('a key that is deleted while it is used is refused from then on', async () => {
    const ann = await logIn(apps[0]);
    const { key, id } = (await createKey(apps[0], ann)).json.data;
    const after = await statusesAfter(apps, key, '/code/any', () =>
      request(apps[0].url, 'DELETE', `/api/auth/keys/${id}`, { token: ann.token }),
    );
    expect(after).toEqual([401]);
  });

  it('a key whose user is demoted while it is used loses the role', async () => {
    const boss = await logIn(apps[0], 'ADMIN');
    const accounts = apps[0].app.get(UserAccounts, { strict: false });
    const after = await statusesAfter(apps, await keyOf(apps[1], boss), '/code/admin', () =>
      accounts.setRole(boss.id, 'USER'),
    );
    expect(after).toEqual([403]);
  });

  it('a key whose user is deactivated while it is used is refused', async () => {
    const boss = await logIn(apps[0]);
    const accounts = apps[1].app.get(UserAccounts, { strict: false });
    const after = await statusesAfter(apps, await keyOf(apps[1], boss), '/code/any', () =>
      accounts.setActive(boss.id, false),
    );
    expect(after).toEqual([401]);
  });

  it('of 60 keys that are created at once on both, 50 exist', async () => {
    const ann = await logIn(apps[0]);
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => createKey(apps[n % 2] as RunningApp, ann)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(201), count(409)]).toEqual([50, 10]);
    const { json } = await request(apps[1].url, 'GET', '/api/auth/keys', { token: ann.token });
    expect(json.data).toHaveLength(50);
    const created = answers.flatMap(({ json: { data } }) => (data ? [data.key as string] : []));
    const statuses = await Promise.all(created.map((key) => statusOf(apps[1], key, '/code/any')));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('keys that are created while their user is deactivated do not outlive it', async () => {
    const accounts = apps[1].app.get(UserAccounts, { strict: false });
    for (let round = 0; round < 5; round += 1) {
      const ann = await logIn(apps[0]);
      const creations = Array.from({ length: 10 }, () => createKey(apps[0], ann));
      await Promise.race(creations);
      await accounts.setActive(ann.id, false);
      const answers = await Promise.all(creations);
      expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 401)).toEqual([]);
      await accounts.setActive(ann.id, true);
      const keys = answers.flatMap(({ json: { data } }) => (data ? [data.key as string] : []));
      const statuses = await Promise.all(keys.map((key) => statusOf(apps[0], key, '/code/any')));
      expect(statuses.filter((status) => status !== 401)).toEqual([]);
    }
  });
});
