/** Who was dismissed cannot undo it with a token from before: what grants power reads the caller for each request. */
import { UseGuards } from '@nestjs/common';
import { AccessReport, AuthUser, CrudController, CrudModule, SecurityConfig, UserAccounts } from 'declarest';
import { Entity } from 'typeorm';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { refusal } from '../harness/refusal.js';
import { type AuthApp, type AuthAppOptions, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';

@Entity('member')
class Member extends AuthUser {}

/** Runs between the decision about a request and its handler. */
let beforeHandler: () => Promise<void> = async () => undefined;
const late = {
  async canActivate() {
    await beforeHandler();
    return true;
  },
};

const ADMINS = { write: ['ADMIN'] };

@UseGuards(late)
class Members extends CrudController({
  entity: Member,
  endpoint: '/api/members',
  operations: ['findAll', 'findById', 'update', 'patch', 'delete', 'patchMany', 'deleteMany'],
  enableBatch: true,
  fieldPermissions: { role: ADMINS, active: ADMINS },
}) {}

class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/members/**');
  }
}

interface Session {
  id: number;
  token: string;
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('on %s', (database) => {
    describe.each<[string, AuthAppOptions['auth']]>([
      ['with sessions', { sessions: true }],
      ['without sessions', {}],
    ])('%s', (_, auth) => {
      let app: AuthApp;
      beforeAll(async () => {
        app = await startAuth(platform, {
          database,
          auth: { userClass: Member, administration: true, passwordReset: true, throttle: false, ...auth },
          imports: [CrudModule.forFeature(Members)],
          providers: [Rules],
          configure: (nest) =>
            void nest.useGlobalInterceptors({
              async intercept(_context, next) {
                await beforeHandler();
                return next.handle();
              },
            }),
        });
      });
      afterAll(() => app.close());
      afterEach(() => (beforeHandler = async () => undefined));
      const accounts = () => app.app.get(UserAccounts, { strict: false });
      const admin = async (role = 'ADMIN'): Promise<Session> => {
        const email = uniqueEmail();
        const { id } = await accounts().create({ email, password: PASSWORD, role });
        const { token } = (await app.post('/api/auth/login', { email, password: PASSWORD })).json.data;
        return { id, token };
      };
      const send = async ({ token }: Session, method: string, path: string, json?: unknown) => {
        const answer = await request(app.url, method, path, { token, ...(json !== undefined && { json }) });
        return [answer.status, answer.json, answer.headers['www-authenticate']];
      };
      /** What an administrator might do to get back, or to get others in. */
      const ways = ({ id }: Session): [string, string, unknown][] => [
        ['PATCH', `/api/auth/users/${id}`, { active: true, role: 'ADMIN' }],
        ['GET', '/api/auth/users', undefined],
        ['POST', `/api/auth/users/${id}/reset`, {}],
        ...(auth?.sessions
          ? [['DELETE', `/api/auth/users/${id}/sessions`, undefined] as [string, string, unknown]]
          : []),
        ['PATCH', `/api/members/${id}`, { active: true, role: 'ADMIN' }],
        ['PUT', `/api/members/${id}`, { active: true, role: 'ADMIN' }],
        ['PATCH', '/api/members/batch', { items: [{ id, active: true, role: 'ADMIN' }] }],
        ['DELETE', `/api/members/${id}`, undefined],
      ];

      it('a deactivated or deleted administrator gets 401 for everything that grants power', async () => {
        const [boss, other] = [await admin(), await admin()];
        await accounts().setActive(boss.id, false);
        for (const [method, path, json] of [...ways(boss), ...ways(other)])
          expect([method, path, await send(boss, method, path, json)]).toEqual([
            method,
            path,
            [401, refusal('Authentication required'), 'Bearer error="invalid_token"'],
          ]);
        expect(await app.row({ id: boss.id })).toMatchObject({ active: false });
        await app.users().delete({ id: boss.id });
        for (const [method, path, json] of ways(other))
          expect([path, (await send(boss, method, path, json))[0]]).toEqual([path, 401]);
      });

      it('an administrator with another role is one no more', async () => {
        const [boss, other] = [await admin(), await admin('USER')];
        await accounts().setRole(boss.id, 'USER');
        for (const [method, path, json] of ways(boss).filter((way) => way[1].startsWith('/api/auth/')))
          expect([path, await send(boss, method, path, json)]).toEqual([
            path,
            [403, refusal('Admin access required'), undefined],
          ]);
        for (const { id } of [boss, other])
          for (const [method, path, json] of ways({ id, token: '' }).filter((way) => /^P.*members/.test(way.join(' '))))
            expect([path, (await send(boss, method, path, json))[0]]).toEqual([path, 400]);
        for (const { id } of [boss, other]) expect(await app.row({ id })).toMatchObject({ role: 'USER' });
      });

      it.each([
        ['deactivated', (id: number) => accounts().setActive(id, false), { active: false }],
        ['demoted', (id: number) => accounts().setRole(id, 'USER'), { role: 'USER' }],
      ])('who is %s while the own request is handled stays so', async (_name, dismiss, state) => {
        for (const way of [0, 4, 5, 6]) {
          const boss = await admin();
          const [method, path, json] = ways(boss)[way] as [string, string, unknown];
          beforeHandler = async () => {
            beforeHandler = async () => undefined;
            await dismiss(boss.id);
          };
          await send(boss, method, path, json);
          expect([path, await app.row({ id: boss.id })]).toEqual([path, expect.objectContaining(state)]);
        }
      });

      it('an administrator in office changes others and themselves, and a new one uses the token from before', async () => {
        const [boss, other] = [await admin(), await admin('USER')];
        for (const { id } of [boss, other]) {
          expect((await send(boss, 'PATCH', `/api/auth/users/${id}`, { active: true, firstName: 'Ann' }))[0]).toBe(200);
          expect((await send(boss, 'PATCH', `/api/members/${id}`, { active: true, lastName: 'Lee' }))[0]).toBe(200);
          expect(await app.row({ id })).toMatchObject({ firstName: 'Ann', lastName: 'Lee' });
        }
        await accounts().setRole(other.id, 'ADMIN');
        expect((await send(other, 'GET', '/api/auth/users'))[0]).toBe(200);
      });
    });
  });

  it('reads of users, and writes of other resources, read no caller', async () => {
    const app = await startAuth(platform, {
      auth: { userClass: Member },
      imports: [CrudModule.forFeature(Members)],
      providers: [Rules],
    });
    expect(app.app.get(AccessReport, { strict: false }).rows.length).toBeGreaterThan(0);
    const { user, token } = await app.register({ email: uniqueEmail() });
    await app.users().delete({ id: user['id'] as number });
    expect((await app.get('/api/members', { token })).status).toBe(200);
    await app.close();
  });
});
