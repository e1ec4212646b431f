/**
 * Random sequences of users with any factors and logins, whose sessions end in every way, against a model, with the plugins in
 * several orders. The token of an ended session changes nothing, what lasts needs a fresh proof, and each change of an account
 * ends what it says and nothing else.
 */
import * as fc from 'fast-check';
import { administration, mailedLinks, sessions, UserAccounts } from 'declarest';
import { apiKeys } from 'declarest-logins/api-keys';
import { oidc } from 'declarest-logins/oidc';
import { passkeys } from 'declarest-logins/passkeys';
import { secondFactor } from 'declarest-logins/second-factor';
import type { AuthPlugin } from 'declarest/plugin';
import { DataSource } from 'typeorm';
import { MailedLinks } from '../../lib/auth/links/mailed-links.js';
import { endpointsOf } from '../../lib/auth/plugins/auth-plugins.js';
import { type AuthApp, PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import { Mailbox } from '../auth/mailbox.js';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { AuthenticatorApp, payloadOf } from '../logins/authenticator-app.js';
import { type GithubServer, startGithub } from '../logins/github-server.js';
import { browse, CLIENT } from '../logins/identity-provider.js';
import { ORIGIN, RP_ID } from '../logins/passkeys/passkey-app.js';
import { SoftwareAuthenticator } from '../logins/passkeys/software-authenticator.js';
import { checkSequences, type ModelRun, moveBack, named, refusalOf, SEQUENCES, type SentProof } from './model.js';

/** In each order of the plugins. A sequence takes about a hundred times as long as one of the sessions. */
const COUNT = Math.ceil(SEQUENCES / 100);
const REDIRECT_URI = 'https://shop.example/login';
/** More than the 5 minutes after which a login is no proof, in milliseconds. */
const TOO_LONG = 301_000;
const MAX_TRIES = 5;

interface User {
  readonly id: number;
  readonly email: string;
  /** The name at the provider. */
  readonly login: string;
  readonly phone: AuthenticatorApp;
  readonly device: SoftwareAuthenticator;
  hasPassword: boolean;
  hasApp: boolean;
  isLinked: boolean;
  isVerified: boolean;
  role: string;
}

interface Session {
  readonly user: User;
  readonly id: string;
  token: string;
  refreshToken: string;
  isRecent: boolean;
  isLive: boolean;
}

/** A passkey or an API key. */
interface Credential {
  readonly id: string;
  readonly user: User;
  isLive: boolean;
}
interface OwnPasskey extends Credential {
  readonly sign: (options: Options) => object;
}
interface Key extends Credential {
  readonly text: string;
}

interface Challenge {
  readonly value: string;
  readonly user: User;
  tries: number;
  isLive: boolean;
}

type Options = Parameters<SoftwareAuthenticator['get']>[0];

/** What begins or creates something that lasts, and whether a user with a factor must give it. */
const LASTING = {
  key: { path: 'keys', body: { name: 'key' }, status: 201, isOfFactor: false },
  login: { path: 'identities/main', body: {}, status: 200, isOfFactor: false },
  app: { path: 'mfa/enrol', body: {}, status: 200, isOfFactor: true },
  passkey: { path: 'passkeys/options', body: {}, status: 200, isOfFactor: true },
} as const;
type Lasting = keyof typeof LASTING;
type Member = 'password' | 'code' | 'credential';

/** What ends sessions, challenges, or what was begun. */
const ENDS = [
  'logout',
  'logoutByRefresh',
  'logoutAll',
  'inList',
  'newPassword',
  'reset',
  'reset',
  'administration',
  'application',
  'setPassword',
  'toggle',
  'role',
] as const;
type End = (typeof ENDS)[number];

/** `right` is one that counts, and `other` may be one that does not. */
const PROOFS = ['right', 'other', 'wrong', 'none', 'two'] as const;
const user = fc.nat(2);
/** Mostly the newest session of the user. */
const back = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) });
const proof = fc.oneof(
  { weight: 5, arbitrary: fc.constant('right' as const) },
  { weight: 3, arbitrary: fc.constantFrom(...PROOFS) },
);
const member = fc.constantFrom('password', 'code', 'credential' as const);
const end = fc.constantFrom(...ENDS);
/** What happens between the two requests that log in, or that set something up. */
const between = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: end as fc.Arbitrary<End | undefined> },
  // The session goes on.
  { weight: 1, arbitrary: fc.constantFrom<End[]>('newPassword', 'role') },
);
const step = fc.oneof(
  named(10, 'logIn', { user, by: member, between }),
  named(3, 'answer', { user, by: member, isRight: fc.boolean() }),
  named(14, 'add', {
    user,
    back,
    what: fc.constantFrom(...(Object.keys(LASTING) as Lasting[])),
    proof,
    member,
    between,
  }),
  named(6, 'remove', { user, back, what: fc.constantFrom('key', 'app', 'passkey' as const), proof, member }),
  named(5, 'end', { user, back, end }),
  named(3, 'useEnded', { user, back }),
  named(1, 'refresh', { user, back }),
  named(2, 'verify', { user }),
  named(2, 'age', {}),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let count = 0;

class Run implements ModelRun<Step> {
  private readonly users: User[] = [];
  private readonly sessions: Session[] = [];
  private readonly challenges: Challenge[] = [];
  private readonly passkeys: OwnPasskey[] = [];
  private readonly keys: Key[] = [];
  private admin = '';

  constructor(
    private readonly app: AuthApp,
    private readonly github: GithubServer,
    /** Those that need a token and change something. */
    private readonly routes: readonly string[],
  ) {}

  /** One user has a password and an app, one a password and a passkey, and one a login at the provider. */
  async begin(): Promise<void> {
    const { entityMetadatas, manager } = this.app.app.get(DataSource, { strict: false });
    for (const { target } of entityMetadatas) await manager.createQueryBuilder().delete().from(target).execute();
    const email = uniqueEmail();
    await this.accounts.create({ email, password: PASSWORD, role: 'ADMIN' });
    this.admin = (await this.post('login', { email, password: PASSWORD })).json.data.token;
    const [byPassword, byPasskey, byProvider] = [newMember(this.app), newMember(this.app), newMember(this.app)];
    this.registered(await this.post('register', { email: byPassword.email, password: PASSWORD }), byPassword, {
      hasPassword: true,
    });
    const options = (await this.post('passkeys/register/options', { email: byPasskey.email })).json.data;
    const credential = byPasskey.device.create(options);
    const answer = await this.post('passkeys/register', { email: byPasskey.email, credential });
    const owner = this.registered(answer, byPasskey, {});
    const listed = await this.send('GET', 'passkeys', undefined, this.sessionOf(owner));
    this.addedPasskey(owner, listed.json.data[0].id);
    for (const each of [byPassword, byPasskey, byProvider]) this.setAddress(each, 'shop.example');
    const registered = await this.post(
      'oidc',
      await this.respond((await this.post('oidc/main')).json.data, byProvider),
    );
    this.registered(registered, byProvider, { isLinked: true, isVerified: true });
    // No account has the address from now on, so that the provider's login is found by its id only.
    for (const each of this.users) this.setAddress(each, 'other.example');
    const [withApp, withPasskey] = this.users as [User, User];
    await this.add(this.sessionOf(withApp), { what: 'app', proof: 'right', member: 'password', between: undefined });
    await this.end('setPassword', this.sessionOf(withPasskey));
    for (const each of [withApp, withPasskey]) await this.logIn(each, 'password');
  }

  async take(each: Step): Promise<void> {
    if (each.name === 'age') {
      await moveBack(this.app, 'declarest_auth_session', ['createdAt'], TOO_LONG);
      for (const session of this.sessions) session.isRecent = false;
      return;
    }
    const found = this.users[each.user] as User;
    switch (each.name) {
      case 'logIn':
        return this.logIn(found, each.by, each.between);
      case 'answer':
        return this.answer(found, each.by, each.isRight);
      case 'verify':
        await this.links.send('verify', found as never);
        expect((await this.post('verify', { token: Mailbox.mails.at(-1)?.token })).status).toBe(204);
        found.isVerified = true;
        return;
      case 'add':
        return this.add(this.sessionOf(found, each.back), each);
      case 'remove':
        return this.remove(this.sessionOf(found, each.back), each);
      case 'end':
        await this.end(each.end, this.sessionOf(found, each.back));
        return;
      case 'useEnded':
        return this.useEnded(this.sessionOf(found, each.back));
      case 'refresh':
        return this.refresh(this.sessionOf(found, each.back));
    }
  }

  /** Each way in: a live one is accepted, and nothing else is. */
  async finish(): Promise<void> {
    for (const each of this.sessions) await this.refresh(each);
    for (const { text, user: owner, isLive } of this.keys) {
      const { json } = await this.app.get('/who', { token: text });
      expect(['key', json.user?.id]).toEqual(['key', isLive ? owner.id : undefined]);
    }
    for (const { sign, user: owner, isLive } of this.passkeys) {
      const options = (await this.post('passkeys/login/options')).json.data;
      const { status, json } = await this.post('passkeys/login', { credential: sign(options) });
      const expected = isLive ? [200, owner.id] : [401, undefined];
      expect(['passkey', status, json.data?.user.id]).toEqual(['passkey', ...expected]);
    }
    for (const each of this.users) {
      await this.logIn(each, 'password');
      await this.logIn(each, 'code');
      if (each.isLinked) continue;
      // It belongs to nobody, or to a user whom the login creates.
      const { json } = await this.identify(each, 'code', undefined);
      expect(this.users.map(({ id }) => id)).not.toContain(json.data?.user?.id ?? each.id);
    }
  }

  /** @param by `code` means the login at the provider */
  private async logIn(found: User, by: Member, change?: End): Promise<void> {
    const passkey = this.passkeysOf(found)[0];
    if ((by === 'code' && !found.isLinked) || (by === 'credential' && !passkey)) return;
    const { status, json } = await this.identify(found, by, passkey);
    const isKnown = by !== 'password' || found.hasPassword;
    expect(['log in', by, status]).toEqual(['log in', by, isKnown ? 200 : 401]);
    if (!isKnown) return;
    const needsStep = by !== 'credential' && this.factorsOf(found).length > 0;
    const { challenge: value, mfaRequired } = json.data;
    expect(['step', mfaRequired]).toEqual(['step', needsStep ? true : undefined]);
    if (!needsStep) return this.started(found, json.data);
    this.challenges.push({ value, user: found, tries: 0, isLive: true });
    if (change) await this.end(change, this.sessionOf(found));
    await this.answer(found, found.hasApp ? 'code' : 'credential', true);
  }

  private async identify(found: User, by: Member, passkey: OwnPasskey | undefined): Promise<Answer> {
    if (by === 'password') return this.post('login', { email: found.email, password: PASSWORD });
    if (by === 'code') return this.post('oidc', await this.respond((await this.post('oidc/main')).json.data, found));
    return this.post('passkeys/login', {
      credential: passkey?.sign((await this.post('passkeys/login/options')).json.data),
    });
  }

  /** Answers the last challenge of a login. */
  private async answer(found: User, by: Member, isRight: boolean): Promise<void> {
    const challenge = this.challenges.findLast((each) => each.user === found);
    const passkey = this.passkeysOf(found)[0];
    if (!challenge || (by === 'credential' && !passkey)) return;
    const { value } = challenge;
    const credential = passkey?.sign({ challenge: value, rpId: RP_ID });
    const code = isRight && found.hasApp ? await found.phone.nextCode() : '000000';
    const { status, json } =
      by === 'credential'
        ? await this.post('passkeys/challenge', { credential })
        : await this.post('mfa/challenge', { challenge: value, code });
    const mayTry = challenge.isLive && challenge.tries < MAX_TRIES;
    const isAccepted = mayTry && (by === 'credential' || (isRight && found.hasApp));
    expect(['answer', by, status]).toEqual(['answer', by, isAccepted ? 200 : 401]);
    if (mayTry) challenge.tries += 1;
    if (!isAccepted) return;
    challenge.isLive = false;
    this.started(found, json.data);
  }

  private async add(by: Session, { what, between: change, ...sent }: Addition): Promise<void> {
    const { path, body, status, isOfFactor } = LASTING[what];
    const { user: owner } = by;
    const own = this.proofsOf(owner);
    const factors = isOfFactor ? this.factorsOf(owner) : [];
    const accepted = factors.length > 0 ? factors : own;
    const proved = await this.prove(by, accepted, sent);
    const refusal = by.isLive ? refusalOf(accepted, proved, by.isRecent) : 401;
    const before = await this.contents();
    const begun = await this.post(path, { ...body, ...proved.body }, by);
    const context = [what, sent.proof, by.isLive, own];
    expect([...context, begun.status]).toEqual([...context, refusal ?? status]);
    if (refusal) {
      const isTooOld = by.isLive && own.length === 0;
      if (!by.isLive || isTooOld)
        expect(begun.headers['www-authenticate']).toMatch(
          isTooOld ? 'insufficient_user_authentication' : 'invalid_token',
        );
      return expect(await this.contents()).toEqual(before);
    }
    const { data } = begun.json;
    if (what === 'key') {
      this.keys.push({ id: data.id, user: owner, text: data.key, isLive: true });
      return;
    }
    const response = what === 'login' ? await this.respond(data, owner) : {};
    const voided = change ? await this.end(change, by) : [];
    await this.finishAdding(by, what, data, response, voided.includes(what));
  }

  /** @param isVoid a change of the account has ended what was begun */
  private async finishAdding(
    by: Session,
    what: Lasting,
    data: Begun,
    response: object,
    isVoid: boolean,
  ): Promise<void> {
    const { user: owner, isLive } = by;
    const before = await this.contents();
    if (what === 'app') {
      const { phone } = owner;
      const { status, json } = await this.post('mfa/confirm', { code: await phone.code(0, data.secret) }, by);
      expect(['confirm', status]).toEqual(['confirm', isLive ? 200 : 401]);
      if (isLive) {
        Object.assign(phone, { secret: data.secret, recoveryCodes: json.data.recoveryCodes });
        owner.hasApp = true;
        this.endAll(owner);
      }
    } else if (what === 'login') {
      const { status } = await this.post('identities', response, by);
      expect(['link', isVoid, status]).toEqual(['link', isVoid, isLive && !isVoid ? 200 : 401]);
      if (status === 200) owner.isLinked = true;
    } else {
      const { status, json } = await this.post('passkeys', { credential: owner.device.create(data) }, by);
      expect(['add', isVoid, status]).toEqual(['add', isVoid, isLive ? (isVoid ? 400 : 201) : 401]);
      if (status === 201) {
        this.addedPasskey(owner, json.data.passkey.id);
        this.endAll(owner, by);
      }
    }
    if (!isLive) expect(await this.contents()).toEqual(before);
  }

  private async remove(by: Session, { what, ...chosen }: Extract<Step, { name: 'remove' }>): Promise<void> {
    const { user: owner, isLive } = by;
    if (what === 'app') {
      if (!owner.hasApp && isLive) return;
      const code = owner.hasApp ? await owner.phone.nextCode() : '000000';
      const { status } = await this.post('mfa/disable', { code }, by);
      expect(['disable', status]).toEqual(['disable', isLive && owner.hasApp ? 204 : 401]);
      if (status !== 204) return;
      owner.hasApp = false;
      return this.endAll(owner);
    }
    const own = (what === 'key' ? this.keys : this.passkeys).filter((each) => each.user === owner && each.isLive);
    const [credential] = own;
    if (!credential) return;
    const { body, ...sent } = what === 'key' ? NO_PROOF : await this.prove(by, this.proofsOf(owner), chosen);
    const refusal = what === 'key' ? undefined : refusalOf(this.proofsOf(owner), sent, by.isRecent);
    const { status } = await this.send('DELETE', `${what}s/${credential.id}`, body, by);
    const isLast = what === 'passkey' && own.length === 1 && !owner.hasPassword;
    expect(['remove', what, status]).toEqual(['remove', what, isLive ? (refusal ?? (isLast ? 409 : 204)) : 401]);
    if (status === 204) credential.isLive = false;
  }

  /** @returns what was begun by the user, and cannot be finished now */
  private async end(how: End, found: Session): Promise<readonly Lasting[]> {
    const { user: owner } = found;
    const by = this.sessionOf(owner);
    const expectStatus = (status: number, { status: answered }: Answer): void =>
      expect(['end', how, answered]).toEqual(['end', how, status]);
    switch (how) {
      case 'logout':
      case 'logoutByRefresh': {
        const { refreshToken } = found;
        const isByRefresh = how === 'logoutByRefresh';
        expectStatus(
          204,
          isByRefresh ? await this.post('logout', { refreshToken }) : await this.post('logout', {}, found),
        );
        found.isLive = false;
        return [];
      }
      case 'logoutAll':
        expectStatus(found.isLive ? 204 : 401, await this.post('logout-all', {}, found));
        if (found.isLive) this.endAll(owner);
        return [];
      case 'inList':
        expectStatus(
          by.isLive ? (found.isLive ? 204 : 404) : 401,
          await this.send('DELETE', `sessions/${found.id}`, undefined, by),
        );
        if (by.isLive) found.isLive = false;
        return [];
      case 'newPassword': {
        const isChanged = by.isLive && owner.hasPassword;
        expectStatus(isChanged ? 204 : 401, await this.post('password', { current: PASSWORD, new: PASSWORD }, by));
        if (isChanged) this.endAll(owner, by);
        return isChanged ? ['login', 'passkey'] : [];
      }
      case 'reset':
        await this.links.send('reset', owner as never);
        expectStatus(
          204,
          await this.post('password/reset', { token: Mailbox.mails.at(-1)?.token, password: PASSWORD }),
        );
        this.endAll(owner);
        if (!owner.isVerified) {
          for (const each of [...this.keys, ...this.passkeys]) if (each.user === owner) each.isLive = false;
          Object.assign(owner, { hasApp: false, isLinked: false });
        }
        Object.assign(owner, { hasPassword: true, isVerified: true });
        return [];
      case 'administration': {
        const sent = { token: this.admin };
        expectStatus(204, await request(this.app.url, 'DELETE', `/api/auth/users/${owner.id}/sessions`, sent));
        this.endAll(owner);
        return [];
      }
      case 'application':
        await this.accounts.endSessions(owner.id);
        this.endAll(owner);
        return [];
      case 'setPassword':
        await this.accounts.setPassword(owner.id, PASSWORD);
        this.endAll(owner);
        owner.hasPassword = true;
        return [];
      case 'toggle':
        for (const active of [false, true]) await this.accounts.setActive(owner.id, active);
        this.endAll(owner);
        for (const each of this.keys) if (each.user === owner) each.isLive = false;
        return [];
      case 'role':
        await this.accounts.setRole(owner.id, (owner.role = owner.role === 'USER' ? 'CLERK' : 'USER'));
        this.endChallenges(owner);
        return ['login'];
    }
  }

  /** No endpoint of accounts takes the token of an ended session, whatever the body. */
  private async useEnded(by: Session): Promise<void> {
    if (by.isLive) return;
    const { user: owner } = by;
    const credentials = [...this.keys, ...this.passkeys].filter((each) => each.user === owner);
    const body = { password: PASSWORD, ...(owner.hasApp && { code: await owner.phone.nextCode() }) };
    const before = await this.contents();
    for (const route of this.routes) {
      const [method, path] = route.split(' ') as [string, string];
      const id = credentials.find(({ isLive }) => isLive === path.startsWith('keys'))?.id ?? this.sessionOf(owner).id;
      const { status } = await this.send(
        method,
        path.replace(':id', path.startsWith('identities') ? 'main' : id),
        body,
        by,
      );
      expect([route, status]).toEqual([route, 401]);
    }
    expect(await this.contents()).toEqual(before);
  }

  /** A refresh is no login. */
  private async refresh(found: Session): Promise<void> {
    const { status, json } = await this.post('refresh', { refreshToken: found.refreshToken });
    expect(['refresh', status]).toEqual(['refresh', found.isLive ? 200 : 401]);
    if (status === 200) Object.assign(found, { token: json.data.token, refreshToken: json.data.refreshToken });
  }

  private async prove(by: Session, accepted: readonly Member[], { proof: how, member }: Chosen): Promise<Proved> {
    const { user: owner } = by;
    const isRight = how === 'right' || how === 'other';
    const kind = how === 'right' && !accepted.includes(member) ? accepted[0] : member;
    if (how === 'none' || kind === undefined) return NO_PROOF;
    if (how === 'two') return { body: { password: PASSWORD, code: '000000' }, member: undefined, isRight };
    if (kind === 'password')
      return { body: { password: isRight ? PASSWORD : 'not the password' }, member: kind, isRight };
    if (kind === 'code') {
      const code = isRight && owner.hasApp ? await owner.phone.nextCode() : '000000';
      return { body: { code }, member: kind, isRight };
    }
    const { status, json } = await this.post('passkeys/confirm/options', {}, by);
    expect(['confirm', status]).toEqual(['confirm', by.isLive ? 200 : 401]);
    const options = status === 200 ? json.data : (await this.post('passkeys/login/options')).json.data;
    const [passkey] = this.passkeysOf(owner);
    const credential = passkey && isRight ? passkey.sign(options) : new SoftwareAuthenticator(ORIGIN).get(options);
    return { body: { credential }, member: kind, isRight };
  }

  private proofsOf(owner: User): readonly Member[] {
    return [...(owner.hasPassword ? (['password'] as const) : []), ...this.factorsOf(owner)];
  }

  private factorsOf(owner: User): readonly Member[] {
    return [
      ...(owner.hasApp ? (['code'] as const) : []),
      ...(this.passkeysOf(owner).length > 0 ? (['credential'] as const) : []),
    ];
  }

  private passkeysOf(owner: User): readonly OwnPasskey[] {
    return this.passkeys.filter(({ user: each, isLive }) => each === owner && isLive);
  }

  /** The rows of all tables; challenges of proofs are spent by refused requests too. */
  private async contents(): Promise<unknown[]> {
    const dataSource = this.app.app.get(DataSource, { strict: false });
    const tables = dataSource.entityMetadatas.filter(({ tableName }) => !/throttle/.test(tableName));
    const rows = tables.map(async ({ tableName }): Promise<{ purpose?: string }[]> =>
      dataSource.query(`SELECT * FROM ${tableName}`),
    );
    return (await Promise.all(rows)).map((all) => all.filter(({ purpose }) => purpose !== 'passkey confirm'));
  }

  private registered({ status, json }: Answer, found: NewMember, facts: Partial<User>): User {
    expect([found.login, status, json.data?.token]).toEqual([found.login, status, expect.any(String)]);
    const start = { hasPassword: false, hasApp: false, isLinked: false, isVerified: false, role: 'USER' };
    const owner = { ...found, ...start, id: json.data.user.id, email: json.data.user.email ?? found.email, ...facts };
    this.users.push(owner);
    this.started(owner, json.data);
    return owner;
  }

  private started(owner: User, { token, refreshToken }: { token: string; refreshToken: string }): void {
    const { sid: id, sub } = payloadOf(token);
    expect(sub).toBe(String(owner.id));
    this.sessions.push({ user: owner, id, token, refreshToken, isRecent: true, isLive: true });
  }

  private addedPasskey(owner: User, id: string): void {
    const made = owner.device.passkeys.at(-1);
    const sign = (options: Options): object => owner.device.get(options, {}, made);
    this.passkeys.push({ id, user: owner, sign, isLive: true });
  }

  private endAll(owner: User, kept?: Session): void {
    for (const each of this.sessions) if (each.user === owner && each !== kept) each.isLive = false;
    this.endChallenges(owner);
  }

  private endChallenges(owner: User): void {
    for (const each of this.challenges) if (each.user === owner) each.isLive = false;
  }

  /** @param steps back from the newest one */
  private sessionOf(owner: User, steps = 0): Session {
    const own = this.sessions.filter((each) => each.user === owner);
    return own[Math.max(0, own.length - 1 - steps)] as Session;
  }

  private setAddress({ login }: NewMember, domain: string): void {
    const emails = [{ email: `${login}@${domain}`, primary: true, verified: true }];
    this.github.users.set(login, { id: Number(login.slice(1)), emails });
  }

  private async respond({ url, verifier }: Begun, { login }: NewMember): Promise<object> {
    return { url: await browse(url, login), verifier };
  }

  private send(method: string, path: string, json?: object, by?: Session): Promise<Answer> {
    const sent = { ...(json && { json }), ...(by && { token: by.token }) };
    return request(this.app.url, method, `/api/auth/${path}`, sent);
  }

  private readonly post = (path: string, json: object = {}, by?: Session): Promise<Answer> =>
    this.send('POST', path, json, by);

  private get accounts(): UserAccounts {
    return this.app.app.get(UserAccounts, { strict: false });
  }

  private get links(): MailedLinks {
    return this.app.app.get(MailedLinks, { strict: false });
  }
}

type Begun = Record<'url' | 'verifier' | 'secret', string> & Options;
type NewMember = Pick<User, 'email' | 'login' | 'phone' | 'device'>;
type Addition = Omit<Extract<Step, { name: 'add' }>, 'name' | 'user' | 'back'>;
type Chosen = { readonly proof: (typeof PROOFS)[number]; readonly member: Member };
type Proved = SentProof & { readonly body: object };

const NO_PROOF: Proved = { body: {}, member: undefined, isRight: false };

const newMember = (app: AuthApp): NewMember => {
  const email = uniqueEmail();
  const device = new SoftwareAuthenticator(ORIGIN);
  return { email, login: `m${(count += 1)}`, phone: new AuthenticatorApp(app, email, ''), device };
};

const ORDERS: Record<string, (all: readonly AuthPlugin[]) => readonly AuthPlugin[]> = {
  'sessions first': (all) => all,
  'sessions last': (all) => all.toReversed(),
  'factors between': (all) => [...all.slice(4), ...all.slice(0, 4)],
};

describe.each(DATABASES)('all factors and logins on %s', (database) => {
  it.each(Object.entries(ORDERS))(
    `[2.9] [issue 18] ${COUNT} random sequences agree with the model, %s`,
    async (_, order) => {
      const github = await startGithub();
      const main = { type: 'github', issuer: github.issuer, ...CLIENT, redirectUris: [REDIRECT_URI] } as const;
      const plugins = order([
        sessions({ accessTokenMinutes: 100_000 }),
        mailedLinks(),
        administration(),
        apiKeys(),
        secondFactor({ issuer: 'Shop' }),
        passkeys({ rpId: RP_ID, origins: [ORIGIN], secondFactor: true }),
        oidc({ providers: { main } }),
      ]);
      const mail = { mailer: { useClass: Mailbox }, accountLinks: 'https://shop.example/account' };
      const app = await startAuth('fastify', { database, auth: { ...mail, throttle: false, plugins } as never });
      const changing = endpointsOf(plugins).filter(
        ({ access = '', route }) => access === '' && !route.startsWith('GET'),
      );
      const routes = changing.map(({ route }) => route);
      // The time stands still within a time step of the codes.
      vi.useFakeTimers({ toFake: ['Date'] });
      const length = { minLength: 4, maxLength: 40, size: 'max' } as const;
      await checkSequences(database, { step, length, count: COUNT, start: () => new Run(app, github, routes) });
      vi.useRealTimers();
      await app.close();
      await github.close();
    },
    3_600_000,
  );
});
