/** A password is reset while a request with the old one is under way: what that request does must not outlive the reset. */
import bcrypt from 'bcrypt';
import { OneTimeToken, AuthSession, UserRepository } from 'declarest';
import { DataSource } from 'typeorm';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { type AuthApp, expectFailure, PASSWORD, startAuth, uniqueEmail } from './auth-app.js';
import { beforeStatement } from './slow-statements.js';
import { Mailbox, mailsTo, noMailsTo } from './mailbox.js';

const NEW = 'a new password of mine';
const STOLEN = 'a password of the thief';

type AnyMethod = (...given: unknown[]) => Promise<unknown>;

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  describe.each(DATABASES)('on %s', (database) => {
    let app: AuthApp;
    let email: string;
    let id: number;
    let token: string;
    let link: string | undefined;
    let resets: number;
    beforeAll(async () => {
      app = await startAuth(platform, {
        database,
        auth: { sessions: true, passwordReset: true, throttle: false, mailer: { useClass: Mailbox } },
      });
    });
    afterAll(() => app.close());
    beforeEach(async () => {
      Mailbox.mails.length = 0;
      resets = 0;
      email = uniqueEmail();
      const registered = await app.register({ email });
      [id, token] = [registered.user['id'] as number, registered.token];
      await app.post('/api/auth/password/forgot', { email });
      link = (await mailsTo(email))[0]?.token;
    });
    afterEach(() => vi.restoreAllMocks());

    const login = (password: string) => app.post('/api/auth/login', { email, password });
    const send = (method: string, path: string, json: object) =>
      request(app.url, method, `/api/auth${path}`, { token, json });

    /** The owner resets the password, once. */
    async function reset(): Promise<void> {
      if (resets > 0) return;
      resets += 1;
      const { status } = await app.post('/api/auth/password/reset', { token: link, password: NEW });
      expect(status).toBe(204);
    }

    /** Resets the password around the next call of a method of the repository. */
    function resetAround(method: string, when: 'before' | 'after'): void {
      const users = app.app.get<Record<string, AnyMethod>>(UserRepository as never, { strict: false });
      const original = (users[method] as AnyMethod).bind(users);
      vi.spyOn(users, method as never).mockImplementation((async (...given: unknown[]) => {
        if (when === 'before') await reset();
        const result = await original(...given);
        if (when === 'after') await reset();
        return result;
      }) as never);
    }

    /** Changes the user after it was read, while its password is compared. */
    function changeWhileComparing(change: object): void {
      const compare = bcrypt.compare.bind(bcrypt) as (password: string, hash: string) => Promise<boolean>;
      vi.spyOn(bcrypt, 'compare').mockImplementation((async (password: string, hash: string) => {
        await app.users().update({ id }, change);
        return compare(password, hash);
      }) as never);
    }

    it('a login starts no session', async () => {
      resetAround('findByLogin', 'after');
      expect(expectFailure(await login(PASSWORD), 401)).toBe('Invalid credentials');
      expect(resets).toBe(1);
      expect(
        await app.app
          .get(DataSource)
          .getRepository(AuthSession)
          .countBy({ userId: String(id) }),
      ).toBe(0);
      expect((await login(NEW)).status).toBe(200);
    });

    it('a login whose password was changed to the same one succeeds', async () => {
      changeWhileComparing({ password: await bcrypt.hash(PASSWORD, 4) });
      expect((await login(PASSWORD)).status).toBe(200);
    });

    it('a login has the role that the user has after the comparison, and an inactive user none', async () => {
      changeWhileComparing({ role: 'EDITOR' });
      const { token: issued } = (await login(PASSWORD)).json.data;
      const { roles } = JSON.parse(Buffer.from(issued.split('.')[1] ?? '', 'base64url').toString()) as {
        roles: string[];
      };
      expect(roles).toEqual(['EDITOR']);
      vi.restoreAllMocks();
      changeWhileComparing({ active: false });
      expect((await login(PASSWORD)).status).toBe(401);
    });

    it.each([
      ['before the comparison', 'findWithHash', 'after'],
      ['before the new hash is stored', 'replaceHash', 'before'],
    ] as const)('a change of the password writes nothing, when the reset comes %s', async (_, method, when) => {
      resetAround(method, when);
      const answer = await send('POST', '/password', { current: PASSWORD, new: STOLEN });
      expect(expectFailure(answer, 401)).toBe('Invalid credentials');
      expect(resets).toBe(1);
      vi.restoreAllMocks();
      expect([(await login(STOLEN)).status, (await login(NEW)).status]).toEqual([401, 200]);
    });

    it.each([
      ['before the comparison', 'findWithHash'],
      ['before the link is mailed', 'findByLogin'],
    ])('a change of the address mails no link, when the reset comes %s', async (_, method) => {
      resetAround(method, 'after');
      const address = uniqueEmail();
      const answer = await send('POST', '/email', { password: PASSWORD, email: address });
      expect([202, 401]).toContain(answer.status);
      expect(resets).toBe(1);
      expect(await noMailsTo(address)).toEqual([]);
      expect(
        await app.app
          .get(DataSource)
          .getRepository(OneTimeToken)
          .countBy({ userId: String(id) }),
      ).toBe(0);
    });

    describe('a link of the owner and one of a stranger, who has the old password and adds an own address', () => {
      let address: string;
      let strange: string | undefined;
      beforeEach(async () => {
        address = uniqueEmail();
        expect((await send('POST', '/email', { password: PASSWORD, email: address })).status).toBe(202);
        strange = (await mailsTo(address))[0]?.token;
      });
      const verify = async () => (await app.post('/api/auth/verify', { token: strange })).status;
      const resetPassword = async () =>
        (await app.post('/api/auth/password/reset', { token: link, password: NEW })).status;
      const stored = async () => (await app.row({ id })) as { email: string; password: string };

      it.each<[string, RegExp]>([
        ['before the new address is stored', /^UPDATE .\w+. SET .email. =/],
        ['before the link is spent', /^DELETE FROM .declarest_one_time_token. WHERE .*hash/],
      ])('the reset wins where it ends %s', async (_, statement) => {
        const statuses: number[] = [];
        beforeStatement(app, statement, async () => statuses.push(await resetPassword()));
        statuses.push(await verify());
        expect(statuses).toEqual([204, 401]);
        const { email: kept, password } = await stored();
        expect([kept, await bcrypt.compare(NEW, password)]).toEqual([email, true]);
        expect((await login(NEW)).status).toBe(200);
      });

      it('the reset wins where it has stored its password only', async () => {
        const statuses: number[] = [];
        const ofUser = /^DELETE FROM .declarest_one_time_token. WHERE .*userId/;
        beforeStatement(app, ofUser, async () => statuses.push(await verify()));
        statuses.push(await resetPassword());
        expect(statuses).toEqual([401, 204]);
        expect((await stored()).email).toBe(email);
      });

      it.each<[string, RegExp]>([
        ['before the new password is stored', /^UPDATE .\w+. SET .password. =/],
        ['before the link is spent', /^DELETE FROM .declarest_one_time_token. WHERE .*hash/],
      ])('the address wins where it is verified %s', async (_, statement) => {
        const statuses: number[] = [];
        beforeStatement(app, statement, async () => statuses.push(await verify()));
        statuses.push(await resetPassword());
        expect(statuses).toEqual([204, 401]);
        const { email: changed, password } = await stored();
        expect([changed, await bcrypt.compare(PASSWORD, password)]).toEqual([address, true]);
      });

      it('one of two resets wins', async () => {
        await app.post('/api/auth/password/forgot', { email });
        const second = (await mailsTo(email, 2))[1]?.token;
        const statuses: number[] = [];
        const other = async () =>
          (await app.post('/api/auth/password/reset', { token: second, password: STOLEN })).status;
        beforeStatement(app, /^UPDATE .\w+. SET .password. =/, async () => statuses.push(await other()));
        statuses.push(await resetPassword());
        expect(statuses).toEqual([204, 401]);
        expect(await bcrypt.compare(STOLEN, (await stored()).password)).toBe(true);
      });
    });

    it('the account is not deleted', async () => {
      resetAround('findWithHash', 'after');
      expect(expectFailure(await send('DELETE', '/me', { password: PASSWORD }), 401)).toBe('Invalid credentials');
      expect((await login(NEW)).status).toBe(200);
    });
  });
});
