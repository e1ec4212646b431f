/** The own profile, and the users that an ADMIN manages. */
import { AuthUser, SecurityConfig, UserAccounts } from 'declarest';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { linesOf, ONE_PLATFORM } from '../harness/platforms.js';
import { refusal } from '../harness/refusal.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';
import { Mailbox, mailsTo } from './mailbox.js';
import { slowStatements } from './slow-statements.js';

@Entity('customer')
class Customer extends AuthUser {
  @Column({ type: 'varchar', length: 20, nullable: true }) phone!: string | null;
  @Column({ type: 'integer', default: 1 }) level!: number;
  @Column({ type: 'varchar', nullable: true }) internal!: string | null;
}

@Entity()
class Order {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Customer, { nullable: false }) customer!: Customer;
}

interface Session {
  email: string;
  id: number;
  token: string;
  refreshToken: string;
}

/** Nothing but this rule, so that the package’s own rules decide. */
class Rules extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('/who');
  }
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('on %s', (database) => {
    let app: AuthApp;
    let boss: Session;
    beforeAll(async () => {
      app = await startAuth(platform, {
        database,
        auth: {
          userClass: Customer,
          registrationFields: ['phone', 'level'],
          sessions: true,
          passwordReset: true,
          administration: true,
          mailer: { useClass: Mailbox },
          throttle: false,
        },
        imports: [TypeOrmModule.forFeature([Order])],
        providers: [Rules],
      });
    });
    afterAll(() => app.close());
    afterEach(() => vi.restoreAllMocks());
    beforeEach(async () => {
      await app.users().manager.createQueryBuilder().delete().from(Order).execute();
      await app.users().createQueryBuilder().delete().execute();
      boss = await admin();
    });
    const accounts = () => app.app.get(UserAccounts, { strict: false });
    const login = async (email: string): Promise<Pick<Session, 'token' | 'refreshToken'>> =>
      (await app.post('/api/auth/login', { email, password: PASSWORD })).json.data;
    const register = async (more: object = {}): Promise<Session> => {
      const email = uniqueEmail();
      const { user, ...tokens } = (await app.register({ email, ...more })) as unknown as Session & {
        user: { id: number };
      };
      return { ...tokens, email, id: user.id };
    };
    const admin = async (): Promise<Session> => {
      const session = await register();
      await accounts().setRole(session.id, 'ADMIN');
      return { ...session, ...(await login(session.email)) };
    };
    const send = (who: Session, method: string, path: string, json?: unknown): Promise<Answer> =>
      request(app.url, method, `/api/auth${path}`, { token: who.token, ...(json !== undefined && { json }) });

    describe('the own profile', () => {
      it('takes names and registration fields, and nothing else', async () => {
        const ann = await register({ firstName: 'Ann', lastName: 'Lee' });
        const { status, json } = await send(ann, 'PATCH', '/me', {
          firstName: 'Anna',
          lastName: null,
          phone: '12',
          level: 3,
        });
        expect([status, json.success, json.data.user]).toEqual([
          200,
          true,
          expect.objectContaining({ id: ann.id, firstName: 'Anna', lastName: null, email: ann.email, role: 'USER' }),
        ]);
        expect(await app.row({ id: ann.id })).toMatchObject({ phone: '12', level: 3 });
        for (const name of ['role', 'active', 'email', 'username', 'password', 'id', 'internal'])
          expect(expectFailure(await send(ann, 'PATCH', '/me', { [name]: 'x' }))).toContain(
            `${name}: not accepted here`,
          );
        expect(expectFailure(await send(ann, 'PATCH', '/me', { level: null }))).toBe('level: required');
        expect(expectFailure(await send(ann, 'PATCH', '/me', { level: 'high', firstName: 7 }))).toMatch(
          /level.*firstName/,
        );
        expect((await send(ann, 'PATCH', '/me', {})).status).toBe(200);
        expect((await request(app.url, 'PATCH', '/api/auth/me', { json: {} })).json).toEqual(
          refusal('Authentication required'),
        );
      });

      it('is deleted with the password, and its sessions end', async () => {
        const ann = await register();
        expect(expectFailure(await send(ann, 'DELETE', '/me', { password: 'not the password' }), 401)).toBe(
          'Invalid credentials',
        );
        expect(expectFailure(await send(ann, 'DELETE', '/me', {}))).toBe('password: required');
        const gone = await send(ann, 'DELETE', '/me', { password: PASSWORD });
        expect([gone.status, gone.text]).toEqual([204, '']);
        expect((await app.post('/api/auth/refresh', { refreshToken: ann.refreshToken })).status).toBe(401);
        expect((await send(ann, 'GET', '/me')).status).toBe(401);
        expect((await app.post('/api/auth/login', { email: ann.email, password: PASSWORD })).status).toBe(401);
      });

      it('stays where records refer to it, and where it is the last ADMIN', async () => {
        const ann = await register();
        await app
          .users()
          .manager.getRepository(Order)
          .insert({ customer: { id: ann.id } });
        expect(expectFailure(await send(ann, 'DELETE', '/me', { password: PASSWORD }), 409)).toBe(
          'Other records refer to this user',
        );
        expect(expectFailure(await send(boss, 'DELETE', '/me', { password: PASSWORD }), 409)).toContain(
          'the last active user',
        );
        await admin();
        expect((await send(boss, 'DELETE', '/me', { password: PASSWORD })).status).toBe(204);
      });
    });

    describe('administration', () => {
      const ROUTES: [string, string][] = [
        ['GET', '/users'],
        ['PATCH', '/users/1'],
        ['POST', '/users/1/reset'],
        ['DELETE', '/users/1/sessions'],
      ];

      it.each(ROUTES)('%s %s is for ADMIN only', async (method, path) => {
        const ann = await register();
        const answer = await send(ann, method, path, {});
        expect([answer.status, answer.json]).toEqual([403, refusal('Admin access required')]);
        const anonymous = await request(app.url, method, `/api/auth${path}`, { json: {} });
        expect([anonymous.status, anonymous.json]).toEqual([401, refusal('Authentication required')]);
      });

      it('lists users by page, role, activity and text', async () => {
        const names = ['Bea', 'Cid', 'Dan'];
        const users: Session[] = [];
        for (const firstName of names) users.push(await register({ firstName }));
        await accounts().setActive(users[2]?.id ?? 0, false);
        const list = async (query: string) => {
          const { status, json } = await send(boss, 'GET', `/users${query}`);
          expect(status).toBe(200);
          return json;
        };
        const all = await list('');
        expect(all).toEqual({
          success: true,
          message: 'User list',
          data: expect.any(Array),
          metadata: { pagination: { page: 1, size: 20, total: 4, totalPages: 1 } },
        });
        expect(all.data[0]).toEqual({
          id: boss.id,
          email: boss.email,
          username: null,
          firstName: null,
          lastName: null,
          role: 'ADMIN',
          active: true,
        });
        const firstNames = async (query: string) =>
          (await list(query)).data.map(({ firstName }: { firstName: string }) => firstName);
        expect(await firstNames('?page=2&size=2')).toEqual(['Cid', 'Dan']);
        expect(await firstNames('?filter[role]=USER')).toEqual(names);
        expect(await firstNames('?filter%5Bactive%5D=false')).toEqual(['Dan']);
        expect(await firstNames('?filter[active]=true&q=CI')).toEqual(['Cid']);
        await app.users().update({ id: users[1]?.id ?? 0 }, { lastName: 'Änne' });
        expect(await firstNames(`?q=${encodeURIComponent('Änn')}`)).toEqual(['Cid']);
        expect(await firstNames('?q=%25')).toEqual([]);
        expect(await firstNames('?q=_')).toEqual([]);
        expect((await list('?size=1000')).metadata.pagination.size).toBe(100);
        for (const query of [
          '?page=0',
          '?size=x',
          '?page=1&page=2',
          '?q=',
          '?filter[active]=maybe',
          '?filter[active]=constructor',
          '?password=x',
          '?q=%00',
          '?__proto__=1',
          `?${Array.from({ length: 1_500 }, (_, n) => `a${n}`).join('&')}`,
        ])
          expect([query, expectFailure(await send(boss, 'GET', `/users${query}`))]).toEqual([
            query,
            expect.any(String),
          ]);
        const unknown = expectFailure(await send(boss, 'GET', '/users?a=1&b=2'));
        expect(unknown).toBe(
          'a: unknown parameter, expected only page, size, q, filter[role], filter[active]; b: unknown parameter',
        );
      });

      it('changes role, activity and names', async () => {
        const ann = await register();
        const { json } = await send(boss, 'PATCH', `/users/${ann.id}`, {
          role: 'EDITOR',
          firstName: 'Ann',
          lastName: null,
        });
        expect(json.data.user).toMatchObject({ id: ann.id, role: 'EDITOR', firstName: 'Ann' });
        expect((await send(boss, 'PATCH', `/users/${ann.id}`, { active: false })).json.data.user.active).toBe(false);
        expect((await app.post('/api/auth/refresh', { refreshToken: ann.refreshToken })).status).toBe(401);
        expect((await app.post('/api/auth/login', { email: ann.email, password: PASSWORD })).status).toBe(401);
        for (const body of [
          { email: 'x@y.example' },
          { password: PASSWORD },
          { active: 'no' },
          { role: '' },
          { role: null },
          { id: 1 },
        ])
          expectFailure(await send(boss, 'PATCH', `/users/${ann.id}`, body));
        for (const id of ['999999', 'x', '0', '1e3', '9223372036854775808'])
          expect(expectFailure(await send(boss, 'PATCH', `/users/${id}`, { role: 'USER' }), 404)).toBe(
            `User with id ${id} not found`,
          );
      });

      it('the last ADMIN can be neither demoted nor deactivated, also by parallel requests', async () => {
        for (const change of [{ role: 'USER' }, { active: false }, { role: 'ADMIN', active: false }])
          expect(expectFailure(await send(boss, 'PATCH', `/users/${boss.id}`, change), 409)).toContain(
            'the last active user with the role ADMIN',
          );
        expect((await send(boss, 'PATCH', `/users/${boss.id}`, { firstName: 'B', active: true })).status).toBe(200);
        for (let round = 0; round < 5; round += 1) {
          const other = await admin();
          const [first, second] = await Promise.all([
            send(boss, 'PATCH', `/users/${other.id}`, { role: 'USER' }),
            send(other, 'PATCH', `/users/${boss.id}`, { active: false }),
          ]);
          // Who loses may have been dismissed before the own request was decided.
          const [won, lost] = [first.status, second.status].toSorted();
          expect([won, [401, 403, 409].includes(lost as number)]).toEqual([200, true]);
          const { users, total } = await accounts().list({ role: 'ADMIN', active: true });
          expect(total).toBe(1);
          if (first.status !== 200) boss = { ...other, id: users[0]?.id ?? 0 };
        }
        const inactive = await register();
        await accounts().setRole(inactive.id, 'ADMIN');
        await accounts().setActive(inactive.id, false);
        expect((await send(boss, 'PATCH', `/users/${boss.id}`, { role: 'USER' })).status).toBe(409);
      });

      it('one of two ADMINs stays when requests overlap between their statements', async () => {
        const other = await admin();
        slowStatements(app);
        const answers = await Promise.all([
          send(boss, 'PATCH', `/users/${boss.id}`, { role: 'USER' }),
          send(other, 'PATCH', `/users/${other.id}`, { active: false }),
        ]);
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
        expect((await accounts().list({ role: 'ADMIN', active: true })).total).toBe(1);
      });

      it('mails a link for a new password, and ends sessions', async () => {
        const ann = await register();
        expect((await send(boss, 'POST', `/users/${ann.id}/reset`)).status).toBe(202);
        const [mail] = await mailsTo(ann.email);
        expect(
          (await app.post('/api/auth/password/reset', { token: mail?.token, password: `${PASSWORD} 2` })).status,
        ).toBe(204);
        const again = (await app.post('/api/auth/login', { email: ann.email, password: `${PASSWORD} 2` })).json.data;
        expect((await send(boss, 'DELETE', `/users/${ann.id}/sessions`)).status).toBe(204);
        expect((await app.post('/api/auth/refresh', { refreshToken: again.refreshToken })).status).toBe(401);
        await accounts().setActive(ann.id, false);
        expect(expectFailure(await send(boss, 'POST', `/users/${ann.id}/reset`), 409)).toBe('This user is not active');
        expect((await send(boss, 'POST', '/users/999999/reset')).status).toBe(404);
        expect((await send(boss, 'DELETE', '/users/999999/sessions')).status).toBe(404);
      });
    });
  });

  it('without passwordReset and sessions, their routes of administration do not exist', async () => {
    const app = await startAuth(platform, { auth: { administration: true } });
    const { user } = await app.register({ email: uniqueEmail() });
    await app.app.get(UserAccounts, { strict: false }).setRole(user['id'] as number, 'ADMIN');
    const { token } = (await app.post('/api/auth/login', { email: user['email'], password: PASSWORD })).json.data;
    const send = async (method: string, path: string) =>
      (await request(app.url, method, `/api/auth${path}`, { token, json: {} })).status;
    expect(await send('GET', '/users')).toBe(200);
    expect(await send('POST', `/users/${String(user['id'])}/reset`)).toBe(404);
    expect(await send('DELETE', `/users/${String(user['id'])}/sessions`)).toBe(404);
    expect([await send('PATCH', '/me'), await send('DELETE', '/me')]).toEqual([404, 404]);
    await app.close();
  });

  it('nobody gets a role above ADMIN from who has not got it, nor takes it', async () => {
    const app = await startAuth(platform, {
      auth: { administration: true, sessions: true, roleHierarchy: { OWNER: ['ADMIN'], ADMIN: ['EDITOR'] } },
    });
    const accounts = app.app.get(UserAccounts, { strict: false });
    const [owner, admin, user] = await Promise.all(
      ['OWNER', 'ADMIN', 'USER'].map((role) => accounts.create({ email: uniqueEmail(), password: PASSWORD, role })),
    );
    const tokenOf = async (email: unknown): Promise<string> =>
      (await app.post('/api/auth/login', { email, password: PASSWORD })).json.data.token;
    const send = (token: string, method: string, path: string, json?: object) =>
      request(app.url, method, `/api/auth/users/${path}`, { token, ...(json && { json }) });
    const ofAdmin = await tokenOf(admin?.email);
    for (const [id, method, path, change] of [
      [admin?.id, 'PATCH', '', { role: 'OWNER' }],
      [user?.id, 'PATCH', '', { role: 'OWNER' }],
      [owner?.id, 'PATCH', '', { active: false }],
      [owner?.id, 'DELETE', '/sessions'],
    ] as const) {
      const { status, json } = await send(ofAdmin, method, `${id}${path}`, change);
      expect([status, json]).toEqual([403, refusal('Owner access required')]);
    }
    const told: unknown[] = [];
    for (const role of ['EDITOR', 'ADMIN', 'OTHER'])
      told.push((await send(ofAdmin, 'PATCH', `${user?.id}`, { role })).json.message);
    expect(told).toEqual(['User updated', 'User updated', 'User updated. No rule or option names the role']);
    expect(linesOf(app.logs, 'warn').filter((line) => line.includes('names the role'))).toEqual([
      expect.stringContaining('No rule or option names the role "OTHER". Correct the role.'),
    ]);
    expect((await send(await tokenOf(owner?.email), 'PATCH', `${user?.id}`, { role: 'OWNER' })).status).toBe(200);
    await app.close();
  });

  it('guesses of taken values by the own profile are counted', async () => {
    @Entity('member')
    class Member extends AuthUser {
      @Column({ type: 'varchar', length: 20, nullable: true, unique: true }) phone!: string | null;
    }
    const auth = { userClass: Member, registrationFields: ['phone'], sessions: true, throttle: { addressTries: 3 } };
    const app = await startAuth(platform, { auth });
    await app.register({ email: uniqueEmail(), phone: '1' });
    const { token } = await app.register({ email: uniqueEmail() });
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries += 1)
      statuses.push((await request(app.url, 'PATCH', '/api/auth/me', { token, json: { phone: '1' } })).status);
    expect(statuses).toEqual([400, 400, 400, 429]);
    await app.close();
  });

  it('a rule of the application for the same path replaces the role', async () => {
    class Support extends SecurityConfig {
      configure(): void {
        this.requireRole('SUPPORT', 'GET /api/auth/users');
      }
    }
    const app = await startAuth(platform, { auth: { administration: true }, providers: [Support] });
    const { user } = await app.register({ email: uniqueEmail() });
    await app.app.get(UserAccounts, { strict: false }).setRole(user['id'] as number, 'SUPPORT');
    const { token } = (await app.post('/api/auth/login', { email: user['email'], password: PASSWORD })).json.data;
    expect((await app.get('/api/auth/users', { token })).status).toBe(200);
    await app.close();
  });
});
