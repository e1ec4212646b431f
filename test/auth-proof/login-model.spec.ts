/**
 * Random sequences of passkeys, identities at a provider, API keys and changes of accounts against a model. What was removed,
 * used, or begun before a change of the account logs in nobody, nobody loses the last way to log in, and all else is accepted.
 */
import * as fc from 'fast-check';
import { UserAccounts } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { oidc } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { type GithubServer, startGithub } from '../logins/github-server.js';
import { browse, CLIENT } from '../logins/identity-provider.js';
import { ORIGIN, RP_ID } from '../logins/passkeys/passkey-app.js';
import { SoftwareAuthenticator } from '../logins/passkeys/software-authenticator.js';
import { checkSequences, type ModelRun, moveBack, named, refusalOf, SEQUENCES, type SentProof } from './model.js';

/** A sequence takes about forty times as long as one of the sessions. */
const COUNT = Math.ceil(SEQUENCES / 40);
const MINUTE = 60_000;
const REDIRECT_URI = 'https://shop.example/login';

interface User {
  id: number;
  email: string;
  isActive: boolean;
  hasPassword: boolean;
  /** Of the last login. */
  token: string;
  isLoggedIn: boolean;
  readonly device: SoftwareAuthenticator;
}

interface OwnPasskey {
  readonly id: string;
  readonly user: User;
  /** Answers a challenge. */
  readonly sign: (options: Options) => object;
  isLive: boolean;
}

/** A user of the provider; `user` has, or had, a login by it. */
interface Identity {
  readonly login: string;
  user?: User;
  isLinked: boolean;
}

interface Key {
  readonly id: string;
  readonly user: User;
  readonly text: string;
  readonly expiresAt: number;
  isLive: boolean;
}

type Options = Parameters<SoftwareAuthenticator['get']>[0];

const CHANGES = ['setPassword', 'toggle', 'logoutAll', ...Array<'none'>(6).fill('none')] as const;
type Change = (typeof CHANGES)[number];

const user = fc.nat(2);
const index = fc.nat(3);
/** Mostly what belongs to the user. */
const of = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) });
const by = fc.constantFrom('password', 'passkey', 'passkey', 'wrong' as const);
/** What happens to the account between the two requests of a ceremony, before the user logs in again. */
const between = fc.constantFrom(...CHANGES);
const step = fc.oneof(
  named(6, 'logInByPassword', { user }),
  named(4, 'logInByPasskey', { index, isReplayed: fc.boolean() }),
  named(4, 'logInByProvider', { index, isReplayed: fc.boolean() }),
  named(6, 'addPasskey', { user, by, between }),
  named(5, 'removePasskey', { user, of, by }),
  named(2, 'renamePasskey', { user, of }),
  named(6, 'link', { user, of, between }),
  named(4, 'unlink', { user, of }),
  named(2, 'createKey', { user, minutes: fc.constantFrom(undefined, 2) }),
  named(2, 'useKey', { index }),
  named(2, 'deleteKey', { user, index }),
  named(1, 'change', { user, change: between }),
  named(1, 'wait', { minutes: fc.constantFrom(1, 3, 11) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let githubId = 0;

class Run implements ModelRun<Step> {
  private readonly users: User[] = [];
  private readonly passkeys: OwnPasskey[] = [];
  private readonly identities: Identity[] = [];
  private readonly keys: Key[] = [];
  private readonly spent: { credential?: object | undefined; response?: object | undefined } = {};
  private now = 0;

  constructor(
    private readonly app: AuthApp,
    private readonly github: GithubServer,
  ) {}

  /** One user has a password, one a passkey, and one a login at the provider. */
  async begin(): Promise<void> {
    for (let place = 0; place < 3; place += 1) {
      const login = `member${(githubId += 1)}`;
      const emails = [{ email: `${login}@shop.example`, primary: true, verified: true }];
      this.github.users.set(login, { id: githubId, emails });
      this.identities.push({ login, isLinked: false });
    }
    const byPassword = await this.post('register', { email: uniqueEmail(), password: PASSWORD });
    this.registered(byPassword, true);
    const email = uniqueEmail();
    const device = new SoftwareAuthenticator(ORIGIN);
    const options = (await this.post('passkeys/register/options', { email })).json.data;
    const byPasskey = await this.post('passkeys/register', { email, credential: device.create(options) });
    const owner = this.registered(byPasskey, false, device);
    const [{ id }] = (await this.get('passkeys', owner)).json.data;
    this.addedPasskey(owner, id);
    const identity = this.identities[2] as Identity;
    const byProvider = await this.post('oidc', await this.respond(await this.beginLogin(), identity));
    Object.assign(identity, { user: this.registered(byProvider, false), isLinked: true });
  }

  async take(each: Step): Promise<void> {
    switch (each.name) {
      case 'logInByPassword':
        return this.logInByPassword(this.userAt(each.user));
      case 'logInByPasskey':
        return this.logInByPasskey(at(this.passkeys, each.index), each.isReplayed);
      case 'logInByProvider':
        return this.logInByProvider(at(this.identities, each.index), each.isReplayed);
      case 'addPasskey':
        return this.addPasskey(this.userAt(each.user), each.by, each.between);
      case 'removePasskey':
        return this.removePasskey(this.userAt(each.user), this.passkeyOf(each.user, each.of), each.by);
      case 'renamePasskey':
        return this.renamePasskey(this.userAt(each.user), this.passkeyOf(each.user, each.of));
      case 'link':
        return this.link(this.userAt(each.user), at(this.identities, each.user + each.of), each.between);
      case 'unlink':
        return this.unlink(this.userAt(each.user), at(this.identities, each.user + each.of));
      case 'createKey':
        return this.createKey(this.userAt(each.user), each.minutes);
      case 'useKey':
        return this.useKey(this.keys[each.index % this.keys.length]);
      case 'deleteKey':
        return this.deleteKey(this.userAt(each.user), this.keys[each.index % this.keys.length]);
      case 'change':
        return this.change(this.userAt(each.user), each.change);
      case 'wait':
        return this.wait(each.minutes * MINUTE);
    }
  }

  /** Every credential: a live one is accepted, and nothing else is. */
  async finish(): Promise<void> {
    for (const each of this.keys) await this.useKey(each);
    for (const each of this.passkeys) await this.logInByPasskey(each, false);
    for (const each of this.identities) await this.logInByProvider(each, false);
  }

  private async logInByPassword(found: User): Promise<void> {
    const answer = await this.post('login', { email: found.email, password: PASSWORD });
    this.expectLogin('password', answer, found.isActive && found.hasPassword ? found : 401);
  }

  private async logInByPasskey(passkey: OwnPasskey, isReplayed: boolean): Promise<void> {
    const isOld = isReplayed && this.spent.credential !== undefined;
    const fresh = async () => passkey.sign((await this.post('passkeys/login/options')).json.data);
    const credential = isOld ? this.spent.credential : await fresh();
    this.spent.credential = credential;
    const isAccepted = !isOld && passkey.isLive && passkey.user.isActive;
    const answer = await this.post('passkeys/login', { credential });
    this.expectLogin(isOld ? 'replayed passkey' : 'passkey', answer, isAccepted ? passkey.user : 401);
  }

  private async logInByProvider(identity: Identity, isReplayed: boolean): Promise<void> {
    const { user: owner, isLinked } = identity;
    // It would register a user.
    if (!owner) return;
    const isOld = isReplayed && this.spent.response !== undefined;
    const response = isOld ? this.spent.response : await this.respond(await this.beginLogin(), identity);
    this.spent.response = response;
    const answer = await this.post('oidc', response);
    const expected = isOld ? 401 : !isLinked ? 409 : owner.isActive ? owner : 401;
    this.expectLogin(isOld ? 'replayed response' : 'provider', answer, expected);
  }

  private async addPasskey(found: User, how: string, changed: Change): Promise<void> {
    const { body, ...sent } = await this.prove(found, how);
    const refusal = this.refusalOf(found, sent);
    const begun = await this.post('passkeys/options', body, found);
    expect(['begin to add', how, begun.status]).toEqual(['begin to add', how, refusal ?? 200]);
    if (refusal) return;
    await this.changeAndReturn(found, changed);
    const credential = found.device.create(begun.json.data);
    const { status, json } = await this.post('passkeys', { credential }, found);
    const isAdded = changed === 'none';
    const expected = !this.isOpen(found) ? 401 : isAdded ? 201 : 400;
    expect(['add', changed, status]).toEqual(['add', changed, expected]);
    if (status === 201) this.addedPasskey(found, json.data.passkey.id);
  }

  private async removePasskey(found: User, passkey: OwnPasskey, how: string): Promise<void> {
    const { body, ...sent } = await this.prove(found, how);
    const refusal = this.refusalOf(found, sent);
    const { status } = await this.send('DELETE', `passkeys/${passkey.id}`, body, found);
    const own = this.passkeys.filter(({ user: owner, isLive }) => owner === found && isLive);
    const isLast = own.length === 1 && !found.hasPassword;
    const removal = !own.includes(passkey) ? 404 : isLast ? 409 : 204;
    expect(['remove', how, status]).toEqual(['remove', how, refusal ?? removal]);
    if (status === 204) passkey.isLive = false;
  }

  private async renamePasskey(found: User, passkey: OwnPasskey): Promise<void> {
    const { status } = await this.send('PATCH', `passkeys/${passkey.id}`, { name: 'Other name' }, found);
    const isOwn = passkey.user === found && passkey.isLive;
    expect(['rename', status]).toEqual(['rename', !found.isLoggedIn ? 401 : isOwn ? 200 : 404]);
  }

  private async link(found: User, identity: Identity, changed: Change): Promise<void> {
    const { body, ...sent } = await this.prove(found, found.hasPassword ? 'password' : 'passkey');
    const refusal = this.refusalOf(found, sent);
    const begun = await this.post('identities/main', body, found);
    expect(['begin to link', begun.status]).toEqual(['begin to link', refusal ?? 200]);
    if (refusal) return;
    const response = await this.respond(begun.json.data, identity);
    await this.changeAndReturn(found, changed);
    const { status } = await this.post('identities', response, found);
    const isTaken = identity.isLinked && identity.user !== found;
    const expected = !this.isOpen(found) || changed !== 'none' ? 401 : isTaken ? 409 : 200;
    expect(['link', changed, status]).toEqual(['link', changed, expected]);
    if (status === 200) Object.assign(identity, { user: found, isLinked: true });
  }

  private async unlink(found: User, identity: Identity): Promise<void> {
    const listed = await this.get('identities', found);
    const own = this.identities.filter(({ user: owner, isLinked }) => owner === found && isLinked);
    expect(['list', listed.status]).toEqual(['list', found.isLoggedIn ? 200 : 401]);
    if (listed.status !== 200) return;
    const emails = (listed.json.data as { id: string; email: string }[]).map(({ email }) => email);
    expect(emails.toSorted()).toEqual(own.map(({ login }) => `${login}@shop.example`).toSorted());
    const row = listed.json.data.find(({ email }: { email: string }) => email === `${identity.login}@shop.example`);
    const { status } = await this.send('DELETE', `identities/${row?.id ?? 'f'.repeat(64)}`, undefined, found);
    const isLast = own.length === 1 && !found.hasPassword;
    const expected = !own.includes(identity) ? 404 : isLast ? 409 : 204;
    expect(['unlink', status]).toEqual(['unlink', expected]);
    if (status === 204) identity.isLinked = false;
  }

  private async createKey(found: User, minutes: number | undefined): Promise<void> {
    const lifetime = minutes === undefined ? Infinity : minutes * MINUTE;
    const expiresAt = minutes === undefined ? null : new Date(Date.now() + lifetime).toISOString();
    const { status, json } = await this.post('keys', { password: PASSWORD, name: 'key', expiresAt }, found);
    const refusal = this.refusalOf(found, { member: 'password', isRight: found.hasPassword });
    expect(['create', status]).toEqual(['create', refusal ?? 201]);
    if (status !== 201) return;
    const { id, key: text } = json.data as { id: string; key: string };
    this.keys.push({ id, user: found, text, expiresAt: this.now + lifetime, isLive: true });
  }

  private async useKey(key: Key | undefined): Promise<void> {
    if (!key) return;
    const { json } = await this.app.get('/who', { token: key.text });
    expect(['use', json.user?.id]).toEqual(['use', this.isKeyLive(key) ? key.user.id : undefined]);
  }

  private async deleteKey(found: User, key: Key | undefined): Promise<void> {
    // The row of an expired key may still exist.
    if (!key || (key.isLive && !this.isKeyLive(key))) return;
    const { status } = await this.send('DELETE', `keys/${key.id}`, undefined, found);
    const isOwn = key.user === found && key.isLive;
    expect(['delete', status]).toEqual(['delete', !found.isLoggedIn ? 401 : isOwn ? 204 : 404]);
    if (status === 204) key.isLive = false;
  }

  private async change(found: User, change: Change): Promise<void> {
    if (change === 'none') return;
    if (change === 'logoutAll') await this.accounts.endSessions(found.id);
    if (change === 'setPassword') {
      await this.accounts.setPassword(found.id, PASSWORD);
      found.hasPassword = true;
    }
    if (change === 'toggle') await this.accounts.setActive(found.id, (found.isActive = !found.isActive));
    if (change === 'toggle' && found.isActive) return;
    found.isLoggedIn = false;
    if (!found.isActive) for (const key of this.keys) if (key.user === found) key.isLive = false;
  }

  /** The user logs in again after the change, by the password where there is one. */
  private async changeAndReturn(found: User, change: Change): Promise<void> {
    await this.change(found, change);
    if (change === 'toggle') await this.change(found, 'toggle');
    if (change !== 'none') await this.logInByPassword(found);
  }

  private async wait(ms: number): Promise<void> {
    this.now += ms;
    for (const table of ['api_key', 'one_time_token'])
      await moveBack(this.app, `declarest_${table}`, ['expiresAt'], ms);
  }

  /** The password, an own passkey, or the passkey of somebody else. */
  private async prove(found: User, how: string): Promise<SentProof & { readonly body: object }> {
    if (how === 'password') return { body: { password: PASSWORD }, member: 'password', isRight: found.hasPassword };
    const passkey = this.passkeys.find(({ user: owner }) => (owner === found) === (how === 'passkey'));
    const { status, json } = await this.post('passkeys/confirm/options', {}, found);
    if (!passkey || status !== 200) return { body: { password: 'another one' }, member: 'password', isRight: false };
    const isRight = how === 'passkey' && passkey.isLive;
    return { body: { credential: passkey.sign(json.data) }, member: 'credential', isRight };
  }

  /** A user without a password and a passkey has just logged in. */
  private refusalOf(found: User, sent: SentProof): number | undefined {
    const hasPasskey = this.passkeys.some(({ user: owner, isLive }) => owner === found && isLive);
    const accepted = [...(found.hasPassword ? ['password'] : []), ...(hasPasskey ? ['credential'] : [])];
    return this.isOpen(found) ? refusalOf(accepted, sent, true) : 401;
  }

  private expectLogin(how: string, { status, json }: Answer, expected: User | number): void {
    const refusal = typeof expected === 'number' ? expected : 200;
    expect([how, status]).toEqual([how, refusal]);
    if (typeof expected === 'number') return;
    expect(json.data.user.id).toBe(expected.id);
    Object.assign(expected, { token: json.data.token, isLoggedIn: true });
  }

  private registered({ json }: Answer, hasPassword: boolean, device = new SoftwareAuthenticator(ORIGIN)): User {
    const { user: registered, token } = json.data;
    const { id, email } = registered as { id: number; email: string };
    const found = { id, email, isActive: true, hasPassword, token: String(token), isLoggedIn: true, device };
    this.users.push(found);
    return found;
  }

  private addedPasskey(owner: User, id: string): void {
    const made = owner.device.passkeys.at(-1);
    const sign = (options: Options): object => owner.device.get(options, {}, made);
    this.passkeys.push({ id, user: owner, sign, isLive: true });
  }

  private async beginLogin(): Promise<Begun> {
    return (await this.post('oidc/main')).json.data;
  }

  private async respond({ url, verifier }: Begun, { login }: Identity): Promise<object> {
    return { url: await browse(url, login), verifier };
  }

  /** Whether requests of the user are let in: the tokens of a session end with it. */
  private readonly isOpen = (found: User): boolean => found.isLoggedIn && found.isActive;

  private readonly isKeyLive = (key: Key): boolean => key.isLive && key.expiresAt > this.now;

  private passkeyOf(place: number, of: number): OwnPasskey {
    const own = this.passkeys.filter((each) => each.user === this.users[place] && each.isLive);
    return of === 0 && own.length > 0 ? (own[0] as OwnPasskey) : at(this.passkeys, of);
  }

  private readonly userAt = (place: number): User => this.users[place] as User;

  private send(method: string, path: string, json?: object, by?: User): Promise<Answer> {
    const sent = { ...(json && { json }), ...(by && { token: by.token }) };
    return request(this.app.url, method, `/api/auth/${path}`, sent);
  }

  private readonly post = (path: string, json: object = {}, as?: User): Promise<Answer> =>
    this.send('POST', path, json, as);

  private readonly get = (path: string, as: User): Promise<Answer> => this.send('GET', path, undefined, as);

  private get accounts(): UserAccounts {
    return this.app.app.get(UserAccounts, { strict: false });
  }
}

interface Begun {
  readonly url: string;
  readonly verifier: string;
}

const at = <T>(list: readonly T[], place: number): T => list[place % list.length] as T;

describe.each(DATABASES)('passkeys, identities and API keys on %s', (database) => {
  it(`${COUNT} random sequences agree with the model`, async () => {
    const github = await startGithub();
    const main = { type: 'github', issuer: github.issuer, ...CLIENT, redirectUris: [REDIRECT_URI] } as const;
    const plugins = [passkeys({ rpId: RP_ID, origins: [ORIGIN] }), oidc({ providers: { main } }), apiKeys()];
    const auth = { sessions: { revocation: 'immediate' as const }, throttle: false as const, plugins };
    const app = await startAuth('fastify', { database, auth });
    const length = { minLength: 4, maxLength: 40, size: 'max' } as const;
    await checkSequences(database, { step, length, count: COUNT, start: () => new Run(app, github) });
    await app.close();
    await github.close();
  }, 3_600_000);
});
