/** Mails links, and does what a link says, once. A mail is sent after the answer; a failure is logged without the token. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger, UnauthorizedException } from '@nestjs/common';
import { TooManyAttempts } from '../../http/failure.js';
import { UserAccounts } from '../accounts/user-accounts.js';
import { MAILER, type Mailer } from '../options/mailer.js';
import type { ResolvedAuthOptions } from '../options/resolve-options.js';
import { Background } from '../plugins/background.js';
import type { Attempt } from '../throttle/attempt.js';
import { Attempts } from '../throttle/attempts.js';
import { hashOf } from '../tokens/secret-tokens.js';
import { AuthEvents } from '../users/auth-events.js';
import { profileOf, type AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { InvalidUserError, USER_CHECKS } from '../users/user-checks.js';
import { DuplicateUserError, UserRepository } from '../users/user.repository.js';
import { type AccountToken, MailedTokens } from './mailed-tokens.js';

const invalidLink = (): UnauthorizedException =>
  new UnauthorizedException('This link is not valid, or was used before');

const MAX_DELAY_MS = 100;

type LinkKind = 'reset' | 'verify';

const describeMail = (kind: LinkKind): string => `The mail of kind ${kind}`;

@Injectable()
export class MailedLinks {
  private readonly logger = new Logger('AuthModule');

  constructor(
    private readonly users: UserRepository,
    private readonly accounts: UserAccounts,
    private readonly tokens: MailedTokens,
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
      const isVerified = kind === 'verify' && (await this.tokens.isVerified(recipient));
      const token = await this.tokens.create(kind, recipient, email);
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

  /** Fails where the mailer does. */
  async send(kind: LinkKind, { id }: AuthUser): Promise<void> {
    const user = await this.users.findWithHash(String(id));
    const email = user?.email ?? null;
    if (user && email !== null) await this.mail(kind, user, email, await this.tokens.create(kind, user, email));
  }

  /** A password that is refused does not spend the token. @throws 400, 401 */
  async reset(text: string, password: string): Promise<void> {
    const { token, user } = await this.readLink(text, 'reset');
    const hash = await this.accounts.hashNew(user, password);
    const isTakenBack = !(await this.tokens.isVerified(user));
    await this.use(token, () => this.accounts.resetPassword(user, hash, isTakenBack));
    // The mail has arrived.
    await this.tokens.markVerified(token.userId, token.email);
  }

  /** Confirms the present address of a user, or replaces it by a new one. @throws 400 where the new one is taken, 401 */
  async verify(text: string): Promise<void> {
    const { token, user } = await this.readLink(text, 'verify', 'email');
    const { userId, email, purpose } = token;
    await this.use(token, async () => {
      if (purpose === 'email') return this.accounts.setEmail(user, email);
      await this.tokens.markVerified(userId, email);
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
      const token = await this.tokens.create('email', user, email);
      await this.mail('verify', user, email, token);
    });
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
  private async readLink(text: string, ...purposes: AccountToken['purpose'][]) {
    const token = await this.tokens.find(text, ...purposes);
    if (!token) throw invalidLink();
    const { userId, userEmail, userHash, purpose } = token;
    const user = await this.users.findWithHash(userId);
    if (!user?.active || user.email !== userEmail) throw invalidLink();
    if (purpose !== 'verify' && hashOf(user.password) !== userHash) throw invalidLink();
    return { token, user };
  }

  /** A database that fails must not cost the user the link. @param work returns whether the link still held */
  private async use(token: AccountToken, work: () => Promise<boolean>): Promise<void> {
    if (!(await this.tokens.spend(token))) throw invalidLink();
    const isDone = await work().catch(async (error: unknown) => {
      if (!(error instanceof DuplicateUserError)) await this.tokens.restore(token).catch(() => undefined);
      throw error;
    });
    if (!isDone) throw invalidLink();
  }
}
