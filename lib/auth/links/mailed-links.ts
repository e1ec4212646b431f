/** Mails links, and does what a link says, once. A mail is sent after the answer; a failure is logged without the token. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger, UnauthorizedException } from '@nestjs/common';
import { TooManyAttempts } from '../../http/failure.js';
import { UserAccounts } from '../accounts/user-accounts.js';
import { MAILER, type Mailer } from '../options/mailer.js';
import type { ResolvedAuthOptions } from '../options/resolve-options.js';
import { Background } from '../plugins/background.js';
import type { AccountChange } from '../plugins/plugin.js';
import type { Attempt } from '../throttle/attempt.js';
import { Attempts } from '../throttle/attempts.js';
import { OneTimeTokens, type StoredToken } from '../tables/one-time-tokens.js';
import { hashOf } from '../tables/secret-tokens.js';
import { AuthEvents } from '../../access/auth-events.js';
import { profileOf, type AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { InvalidUserError, USER_CHECKS } from '../users/user-checks.js';
import { DuplicateUserError } from '../users/duplicate-user.js';
import { UserRepository } from '../users/user.repository.js';
import { VerifiedEmails } from './verified-emails.js';

const invalidLink = (): UnauthorizedException =>
  new UnauthorizedException('This link is not valid, or was used before');

const MAX_DELAY_MS = 100;

const HOUR_MS = 60 * 60 * 1000;

type LinkKind = 'reset' | 'verify';
/** `reset`: a new password. `verify`: the address that the user has. `email`: a new address. */
const PURPOSES = ['reset', 'verify', 'email'] as const;
type Purpose = (typeof PURPOSES)[number];
const nameOf = (purpose: Purpose): string => `mailed ${purpose}`;

interface LinkData {
  /** The address that the token was sent to. */
  readonly email: string;
  /** The address that the user had then: the token ends where that changes. */
  readonly userEmail: string | null;
  /** SHA-256 of the password hash that the user had then: the token ends where the password changes. */
  readonly userHash: string;
}

/** Whom a link is for, including the password hash. */
type Addressee = Pick<AuthUser, 'email' | 'password'> & { readonly id: string | number };

const describeMail = (kind: LinkKind): string => `The mail of kind ${kind}`;

@Injectable()
export class MailedLinks {
  private readonly logger = new Logger('AuthModule');

  constructor(
    private readonly users: UserRepository,
    private readonly accounts: UserAccounts,
    private readonly tokens: OneTimeTokens,
    private readonly verified: VerifiedEmails,
    private readonly background: Background,
    private readonly attempts: Attempts,
    private readonly events: AuthEvents,
    @Inject(MAILER) private readonly mailer: Mailer | undefined,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {}

  /**
   * Mails a link after the answer. An unknown address leads to the same statements, at a random time: how long the next
   * request takes must not tell it from a known one either.
   */
  requestLink(kind: LinkKind, sent: string, address: string | undefined): void {
    this.background.run(describeMail(kind), async () => {
      const read = USER_CHECKS.email(sent);
      const email = 'value' in read ? (read.value as string) : undefined;
      if (!(await this.mayMail({ action: 'mail', account: `${kind} ${email}`, address })) || email === undefined)
        return;
      await delay(randomInt(MAX_DELAY_MS));
      const user = await this.users.findByLogin('email', email);
      const recipient = user ?? { id: '', email, password: '' };
      const isVerified = kind === 'verify' && (await this.verified.has(recipient));
      const token = await this.createToken(kind, recipient, email);
      if (user?.active && !isVerified) await this.mail(kind, user, email, token);
    });
  }

  mailVerification(user: AuthUser, address: string | undefined): void {
    this.background.run(describeMail('verify'), async () => {
      if (await this.mayMail({ action: 'welcome', address })) await this.send('verify', user);
    });
  }

  startReset(user: AuthUser): void {
    this.background.run(describeMail('reset'), () => this.send('reset', user));
  }

  /** Ends the links that a change of the account outdates. */
  async onAccountChange(change: AccountChange): Promise<void> {
    const { name, userId } = change;
    const isOfProfile = name === 'user.changed' && change.fields.active !== false;
    if (!isOfProfile && name !== 'user.created' && name !== 'user.loggedOut')
      await this.tokens.removeAll(userId, ...PURPOSES.map(nameOf));
  }

  /** Fails where the mailer does. */
  async send(kind: LinkKind, { id }: AuthUser): Promise<void> {
    const user = await this.users.findWithHash(String(id));
    const email = user?.email ?? null;
    if (user && email !== null) await this.mail(kind, user, email, await this.createToken(kind, user, email));
  }

  /** A password that is refused does not spend the token. @throws 400, 401 */
  async reset(text: string, password: string): Promise<void> {
    const { token, user } = await this.readLink(text, 'reset');
    const hash = await this.accounts.hashNew(user, password);
    const isTakenBack = !(await this.verified.has(user));
    await this.use(token, () => this.accounts.resetPassword(user, hash, isTakenBack));
    // The mail has arrived.
    await this.verified.add(token.userId, token.data.email);
  }

  /** Confirms the present address of a user, or replaces it by a new one. @throws 400 where the new one is taken, 401 */
  async verify(text: string): Promise<void> {
    const { token, user } = await this.readLink(text, 'verify', 'email');
    const { userId, purpose } = token;
    const { email } = token.data;
    await this.use(token, async () => {
      if (purpose === nameOf('email')) return this.accounts.setEmail(user, email);
      await this.verified.add(userId, email);
      return true;
    });
    this.events.emit('email.verified', { userId });
  }

  /**
   * Mails a link to the new address, which counts when the link is used.
   * @param user including the hash that the password was compared with
   * @throws InvalidUserError, DuplicateUserError, TooManyAttempts
   */
  async startEmailChange(user: AuthUser, sent: string, address: string | undefined): Promise<void> {
    const read = USER_CHECKS.email(sent);
    if ('expected' in read) throw new InvalidUserError([`email: expected ${read.expected}`]);
    const email = read.value as string;
    await this.attempts.run({ action: 'register', address }, async () => {
      if (await this.users.findByLogin('email', email)) throw new DuplicateUserError('email', email);
    });
    await this.attempts.take({ action: 'mail', account: `email ${user.id}`, address });
    this.background.run(describeMail('verify'), async () => {
      // A reset that comes later ends the token.
      if ((await this.users.findWithHash(String(user.id)))?.password !== user.password) return;
      const token = await this.createToken('email', user, email);
      await this.mail('verify', user, email, token);
    });
  }

  /** @param email the address to verify, or to mail the token to */
  private createToken(purpose: Purpose, { id, email: userEmail, password }: Addressee, email: string): Promise<string> {
    // The token for an unknown address is stored expired, so that both cases run the same statements.
    const lifetimeMs = id === '' ? 0 : purpose === 'reset' ? HOUR_MS : 24 * HOUR_MS;
    const data: LinkData = { email, userEmail, userHash: hashOf(password) };
    return this.tokens.create(nameOf(purpose), { userId: String(id), lifetimeMs, data });
  }

  private async mail(kind: LinkKind, user: AuthUser, to: string, token: string): Promise<void> {
    if (kind === 'reset') this.events.emit('password.forgotten', { userId: String(user.id) });
    const link = `${this.options.accountLinks}/${kind}#token=${token}`;
    // Without a mailer, production refuses to start.
    if (!this.mailer) return this.logger.log(`No mailer is set. The link of kind ${kind} for ${to}: ${link}`);
    await this.mailer.send({ kind, to, user: profileOf(user, this.options), link, token, changed: undefined });
  }

  private async mayMail(attempt: Attempt): Promise<boolean> {
    try {
      await this.attempts.take(attempt);
      return true;
    } catch (error) {
      if (error instanceof TooManyAttempts) return false;
      throw error;
    }
  }

  /**
   * A link ends with the address that its user had, and one that changes the account with the password, however these were
   * changed.
   * @returns the token, and the user including the hash @throws 401
   */
  private async readLink(text: string, ...purposes: Purpose[]) {
    const token = await this.tokens.find<LinkData>(text, ...purposes.map(nameOf));
    if (!token) throw invalidLink();
    const { userId, purpose } = token;
    const { userEmail, userHash } = token.data;
    const user = await this.users.findWithHash(userId);
    if (!user?.active || user.email !== userEmail) throw invalidLink();
    if (purpose !== nameOf('verify') && hashOf(user.password) !== userHash) throw invalidLink();
    return { token, user };
  }

  /** A database that fails must not cost the user the link. @param work returns whether the link still held */
  private async use(token: StoredToken<LinkData>, work: () => Promise<boolean>): Promise<void> {
    if (!(await this.tokens.spend(token))) throw invalidLink();
    const isDone = await work().catch(async (error: unknown) => {
      if (!(error instanceof DuplicateUserError)) await this.tokens.restore(token).catch(() => undefined);
      throw error;
    });
    if (!isDone) throw invalidLink();
  }
}
