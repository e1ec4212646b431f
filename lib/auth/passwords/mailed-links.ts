/** What happens with mailed links: they are asked for, and used once. */
import { Injectable, UnauthorizedException } from '@nestjs/common';
import { TooManyAttempts } from '../../http/failure.js';
import { AuthEvents } from '../auth-events.js';
import { Accounts } from '../accounts.js';
import type { AuthUser } from '../auth-user.js';
import { Background } from '../background.js';
import { Attempts } from '../throttle/attempts.js';
import { InvalidUserError, USER_CHECKS } from '../user-checks.js';
import { DuplicateUserError, UserRepository } from '../user.repository.js';
import { AccountMails, failed } from './account-mails.js';
import type { AccountToken } from './account-token.js';
import { AccountTokens } from './account-tokens.js';

const invalidLink = (): UnauthorizedException =>
  new UnauthorizedException('This link is not valid, or was used before');

/** @throws any other error */
function isTooMany(error: unknown): true {
  if (error instanceof TooManyAttempts) return true;
  throw error;
}

@Injectable()
export class MailedLinks {
  constructor(
    private readonly users: UserRepository,
    private readonly accounts: Accounts,
    private readonly tokens: AccountTokens,
    private readonly mails: AccountMails,
    private readonly background: Background,
    private readonly attempts: Attempts,
    private readonly events: AuthEvents,
  ) {}

  /** The same for known and unknown addresses: everything happens after the answer. */
  askForReset(email: string, address: string | undefined): void {
    this.ask('reset', email, address, (user) => this.sendReset(user));
  }

  askForVerification(email: string, address: string | undefined): void {
    this.ask('verify', email, address, async (user) => {
      if (!(await this.tokens.isVerified(user))) await this.sendVerification(user);
    });
  }

  /** Mails a link to a new user, after the answer. */
  welcome(user: AuthUser): void {
    this.background.run(failed('verify'), () => this.sendVerification(user));
  }

  /** For an administrator. */
  startReset(user: AuthUser): void {
    this.background.run(failed('reset'), () => this.sendReset(user));
  }

  /** A password that is refused does not spend the token. @throws 400, 401 */
  async reset(text: string, password: string): Promise<void> {
    const token = await this.expectToken(text, 'reset');
    const { userId, email } = token;
    const user = await this.users.findById(userId);
    if (!user?.active || user.email !== email) throw invalidLink();
    const hash = await this.accounts.hashNew(userId, password);
    if (hash === undefined || !(await this.tokens.spend(token))) throw invalidLink();
    await this.orRestore(token, () => this.accounts.storePassword(userId, hash));
    // The mail has arrived.
    await this.tokens.markVerified(userId, email);
  }

  /** Confirms the present address of a user, or replaces it by a new one. @throws 400 where the new one is taken, 401 */
  async verify(text: string): Promise<void> {
    const token = await this.expectToken(text, 'verify', 'email');
    const { userId, email, purpose } = token;
    const user = await this.users.findById(userId);
    if (!user?.active || (purpose === 'verify' && user.email !== email)) throw invalidLink();
    if (!(await this.tokens.spend(token))) throw invalidLink();
    await this.orRestore(token, async () => {
      if (purpose === 'email') await this.accounts.setEmail(userId, email);
      else await this.tokens.markVerified(userId, email);
    });
    this.events.emit('email.verified', { userId });
  }

  /**
   * Mails a link to the new address, which counts when the link is used.
   *
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
    this.background.run(failed('verify'), async () => {
      const token = await this.tokens.create('email', String(user.id), email);
      await this.mails.sendLink('verify', email, user, token);
    });
  }

  private ask(
    kind: 'reset' | 'verify',
    sent: string,
    address: string | undefined,
    send: (user: AuthUser) => Promise<void>,
  ): void {
    this.background.run(failed(kind), async () => {
      const read = USER_CHECKS.email(sent);
      const email = 'value' in read ? (read.value as string) : undefined;
      const attempt = { action: 'mail', account: `${kind} ${email}`, address } as const;
      const isRefused = await this.attempts.take(attempt).then(() => false, isTooMany);
      if (isRefused || email === undefined) return;
      const found = await this.users.findByLogin('email', email);
      const user = found && (await this.users.findById(String(found.id)));
      if (user?.active) await send(user);
    });
  }

  /** Fails where the mailer does. */
  async sendReset(user: AuthUser): Promise<void> {
    if (user.email === null) return;
    const userId = String(user.id);
    const token = await this.tokens.create('reset', userId, user.email);
    this.events.emit('password.forgotten', { userId });
    await this.mails.sendLink('reset', user.email, user, token);
  }

  private async sendVerification(user: AuthUser): Promise<void> {
    if (user.email === null) return;
    const token = await this.tokens.create('verify', String(user.id), user.email);
    await this.mails.sendLink('verify', user.email, user, token);
  }

  private async expectToken(text: string, ...purposes: AccountToken['purpose'][]): Promise<AccountToken> {
    const token = await this.tokens.find(text, ...purposes);
    if (!token) throw invalidLink();
    return token;
  }

  /** A database that fails must not cost the user the link. */
  private async orRestore(token: AccountToken, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof DuplicateUserError)) await this.tokens.restore(token).catch(() => undefined);
      throw error;
    }
  }
}
