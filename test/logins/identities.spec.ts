/** The logins at providers that a user has: linked, listed and unlinked, also by several requests at once. */
import { AuthEvents, UserAccounts, OneTimeToken } from 'declarest';
import { ExternalIdentity } from 'declarest-logins/oidc';
import { DataSource } from 'typeorm';
import { expectFailure, PASSWORD, unique } from '../auth/auth-app.js';
import { beforeStatement, slowStatements } from '../auth/slow-statements.js';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { browse, CLIENT, type IdentityProvider, startProvider } from './identity-provider.js';
import { BASE, type OidcApp, startOidc } from './oidc-app.js';

const MAIN = 'https://shop.example/login/main';
const OTHER = 'https://shop.example/login/other';
const ONLY_WAY = 'Without a password, one login at a provider must stay: set a password, or link another login first';

describe.each(DATABASES)('on %s', (database) => {
  describe.each(ONE_PLATFORM)('on %s', (platform) => {
    let app: OidcApp;
    let main: IdentityProvider;
    let other: IdentityProvider;
    /** Of cases that differ each time. What they check cannot see the platform. */
    const rounds = platform === 'express' ? 5 : 1;
    const events: string[] = [];
    beforeAll(async () => {
      [main, other] = await Promise.all([startProvider([MAIN]), startProvider([OTHER])]);
      const providers = {
        main: { issuer: main.issuer, ...CLIENT, redirectUris: [MAIN] },
        other: { issuer: other.issuer, ...CLIENT, redirectUris: [OTHER] },
      };
      app = await startOidc(platform, { providers }, { database });
      for (const name of ['identity.linked', 'identity.unlinked'] as const)
        app.app.get(AuthEvents, { strict: false }).on(name, (event) => {
          events.push(`${event.name} ${event.userId} ${event.provider}`);
        });
    });
    afterAll(async () => {
      await app.close();
      await Promise.all([main.close(), other.close()]);
    });

    const accounts = () => app.app.get(UserAccounts, { strict: false });
    const table = <T extends object>(entity: new () => T) => app.app.get(DataSource).getRepository(entity);
    /** The same subject at both providers. */
    const member = (claims: object = {}): string => {
      const subject = unique('Sub');
      for (const { accounts: known } of [main, other])
        known.set(subject, { email: `${subject}@shop.example`, email_verified: true, ...claims });
      return subject;
    };
    const newUser = async (subject = member()) => {
      const { json } = await app.logIn(subject);
      return { subject, token: json.data.token as string, id: String(json.data.user.id) };
    };

    it('a user links a login by the password, lists it, logs in by it and unlinks it', async () => {
      const { id, token } = await app.createVerified();
      const subject = member({ email_verified: false });
      events.length = 0;
      const linked = await app.link(token, subject, 'other');
      expect([linked.status, linked.json]).toEqual([
        200,
        { success: true, message: 'Login linked', data: { identity: expect.objectContaining({ provider: 'other' }) } },
      ]);
      // Once more is no error.
      expect((await app.link(token, subject, 'other')).json).toEqual(linked.json);
      const [identity] = await app.identities(token);
      expect(identity).toEqual({ ...linked.json.data.identity, email: null });
      expect(String((await app.logIn(subject, 'other')).json.data.user.id)).toBe(id);
      expect((await app.unlink(token, identity!.id)).status).toBe(204);
      expect(expectFailure(await app.unlink(token, identity!.id), 404)).toMatch(/^Identity with id \w+ not found$/);
      expect(await app.identities(token)).toEqual([]);
      expect(events).toEqual([`identity.linked ${id} other`, `identity.unlinked ${id} other`]);
    });

    it('a login that was unlinked stays so, until a user links it again', async () => {
      const { email, token } = await app.createVerified();
      const subject = member({ email });
      expect((await app.logIn(subject)).status).toBe(200);
      await app.unlink(token, (await app.identities(token))[0]!.id);
      expectFailure(await app.logIn(subject), 409);
      expect(await app.identities(token)).toEqual([]);
      expect((await app.link(token, subject)).status).toBe(200);
      expect((await app.logIn(subject)).status).toBe(200);
    });

    it('a login of another user is 409, and cannot be unlinked', async () => {
      const [owner, { token }] = [await newUser(), await app.createVerified()];
      expect(expectFailure(await app.link(token, owner.subject), 409)).toBe('This login is linked to another account');
      const [{ id } = { id: '' }] = await app.identities(owner.token);
      expectFailure(await app.unlink(token, id), 404);
      expectFailure(await app.unlink(token, 'x'), 404);
      expect((await app.logIn(owner.subject)).status).toBe(200);
    });

    it('a token alone links nothing, where the user has a password', async () => {
      const { token } = await app.createVerified();
      expect(expectFailure(await app.beginLink(token, 'main', {}))).toBe('password: required');
      expectFailure(await app.beginLink(token, 'main', { password: 'wrong password' }), 401);
      expectFailure(await app.beginLink(token, 'main', { password: PASSWORD, x: 1 }), 400);
      expectFailure(await app.beginLink(token, 'nobody'), 404);
      for (const path of ['identities', 'identities/main'])
        expect((await app.post(`${BASE}/${path}`, {})).status).toBe(401);
      // Without a password, it does.
      expect((await app.beginLink((await newUser()).token, 'other', {})).status).toBe(200);
    });

    it('what was begun as a link is no login, is only for its user, and ends with a new password', async () => {
      const [owner, stranger] = [await app.createVerified(), await app.createVerified()];
      const response = async () => {
        const { url, verifier } = (await app.beginLink(owner.token)).json.data;
        return { url: await browse(url, member()), verifier };
      };
      const begun = await response();
      expectFailure(await app.finish(begun), 401);
      expectFailure(await app.finishLink(stranger.token, begun), 401);
      expectFailure(await app.finishLink(owner.token, await app.respond(member())), 401);
      expect((await app.finishLink(owner.token, begun)).status).toBe(200);
      const later = await response();
      await accounts().setPassword(owner.id, 'another password');
      expectFailure(await app.finishLink(owner.token, later), 401);
    });

    it('the last way to log in stays', async () => {
      const { subject, token, id } = await newUser();
      const [first] = await app.identities(token);
      expect(expectFailure(await app.unlink(token, first!.id), 409)).toBe(ONLY_WAY);
      // One of a provider that the application no longer has is no way to log in.
      await table(ExternalIdentity).insert({
        ...(await table(ExternalIdentity).findOneByOrFail({ subject })),
        id: unique('x'),
        provider: 'former',
      });
      expectFailure(await app.unlink(token, first!.id), 409);
      await accounts().setPassword(id, PASSWORD);
      expect((await app.unlink(token, first!.id)).status).toBe(204);
    });

    it('of two last logins, two requests at once unlink one', async () => {
      for (let round = 0; round < rounds; round += 1) {
        const { subject, token, id } = await newUser();
        expect((await app.link(token, subject, 'other')).status).toBe(200);
        const own = await app.identities(token);
        const statuses = await Promise.all(own.map(async (each) => (await app.unlink(token, each.id)).status));
        expect([own.length, statuses.toSorted()]).toEqual([2, [204, 409]]);
        expect(await table(ExternalIdentity).countBy({ userId: id, isLinked: true })).toBe(1);
      }
    });

    it('a login at the same time as the unlinking does not link it again', async () => {
      for (let round = 0; round < rounds; round += 1) {
        const { email, token } = await app.createVerified();
        const subject = member({ email });
        await app.logIn(subject);
        const [{ id } = { id: '' }] = await app.identities(token);
        const responses = await Promise.all([1, 2, 3].map(() => app.respond(subject)));
        const [removed, ...logins] = await Promise.all([
          app.unlink(token, id),
          ...responses.map((response) => app.finish(response)),
        ]);
        expect(removed.status).toBe(204);
        for (const { status } of logins) expect([200, 409]).toContain(status);
        expect(await app.identities(token)).toEqual([]);
        expectFailure(await app.logIn(subject), 409);
      }
    });

    it('first logins at the same time create one user', async () => {
      for (let round = 0; round < rounds; round += 1) {
        const subject = member();
        const email = `${subject.toLowerCase()}@shop.example`;
        const responses = await Promise.all([1, 2, 3, 4].map(() => app.respond(subject)));
        slowStatements(app);
        const answers = await Promise.all(responses.map((response) => app.finish(response)));
        vi.restoreAllMocks();
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        expect(await app.users().countBy({ email })).toBe(1);
        expect(await table(ExternalIdentity).countBy({ subject })).toBe(1);
        expect((await app.logIn(subject)).status).toBe(200);
      }
    });

    it('first logins at the same time create one user, also without an address', async () => {
      const providers = { main: { issuer: main.issuer, ...CLIENT, redirectUris: [MAIN] } };
      const register = () => ({ username: unique('name') });
      const named = await startOidc(platform, { providers, register }, { database, auth: { loginMethod: 'USERNAME' } });
      const subject = member({ email_verified: false });
      const responses = await Promise.all(Array.from({ length: 8 }, () => named.respond(subject)));
      const answers = await Promise.all(responses.map((response) => named.finish(response)));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(await named.users().count()).toBe(1);
      await named.close();
    });

    it('of two requests with one response, one reaches the provider', async () => {
      const exchanges = () => main.requests.filter((line) => line === 'POST /token').length;
      const response = await app.respond(member());
      const before = exchanges();
      const statuses: number[] = [];
      const finish = async () => void statuses.push((await app.finish(response)).status);
      beforeStatement(app, /^DELETE FROM .*one_time_token/, finish);
      await finish();
      vi.restoreAllMocks();
      expect([statuses, exchanges() - before]).toEqual([[200, 401], 1]);
    });

    it.each(['UserAccounts', 'a statement of the application'])(
      'who was deleted by %s may register anew',
      async (by) => {
        const { id, subject, token } = await newUser();
        await app.beginLink(token, 'other', {});
        const rows = () =>
          Promise.all([ExternalIdentity, OneTimeToken].map((entity) => table<object>(entity).countBy({ userId: id })));
        expect(await rows()).toEqual([1, 1]);
        if (by === 'UserAccounts') await accounts().remove(id);
        else await app.users().delete({ id: Number(id) });
        if (by === 'UserAccounts') expect(await rows()).toEqual([0, 0]);
        const answer = await app.logIn(subject);
        expect([answer.status, String(answer.json.data.user.id) === id]).toEqual([200, false]);
        expect((await rows())[0]).toBe(0);
      },
    );

    it('subjects that differ in case only are two users', async () => {
      const upper = member();
      const lower = upper.toLowerCase();
      main.accounts.set(lower, { email: `${unique('low')}@shop.example`, email_verified: true });
      const [a, b] = [await app.logIn(upper), await app.logIn(lower)];
      expect([a.status, b.status]).toEqual([200, 200]);
      expect(a.json.data.user.id).not.toBe(b.json.data.user.id);
    });
  });
});
