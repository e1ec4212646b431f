/** Writes to users. A mail is sent after the answer; where that fails, it is logged without the token. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ResolvedAuthOptions } from '../options/auth.options.js';
import { Background } from '../plugins/background.js';
import type { AuthPlugin } from '../plugins/plugin.js';
import { profileOf, type AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { MAILER, type AccountMail, type Mailer, type MailKind } from '../options/mailer.js';

const PAGES = { verify: 'verify', reset: 'reset' } as const;

@Injectable()
export class AccountMails {
  private readonly logger = new Logger('AuthModule');

  constructor(
    private readonly background: Background,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Inject(MAILER) private readonly mailer: Mailer | undefined,
  ) {}

  /** Sends a link, from work that goes on after the answer. */
  async sendLink(kind: 'verify' | 'reset', to: string, user: AuthUser, token: string): Promise<void> {
    const link = `${this.options.accountLinks}/${PAGES[kind]}#token=${token}`;
    // Without a mailer, production refuses to start.
    if (!this.mailer) return this.logger.log(`No mailer is set. The link of kind ${kind} for ${to}: ${link}`);
    await this.send({ kind, to, user: profileOf(user, this.options), link, token, changed: undefined });
  }

  /** Tells a user that the account was changed. Nothing is sent where the user has no address. */
  tellOfChange(changed: 'password' | 'email', to: string | null, user: AuthUser): void {
    if (!this.mailer || to === null) return;
    const mail = {
      kind: 'changed',
      to,
      user: profileOf(user, this.options),
      link: undefined,
      token: undefined,
      changed,
    };
    this.background.run(describeMail('changed'), () => this.send(mail as AccountMail));
  }

  private async send(mail: AccountMail): Promise<void> {
    await this.mailer?.send(mail);
  }
}

export const describeMail = (kind: MailKind): string => `The mail of kind ${kind}`;

/** Tells users of changes to their account, where the application has a mailer. */
export const changeMails: AuthPlugin = {
  name: 'changeMails',
  providers: [AccountMails],
  accountChanged({ get }, change) {
    const mails = get(AccountMails);
    if (change.name === 'password.changed') mails.tellOfChange('password', change.user.email, change.user);
    if (change.name === 'email.changed') mails.tellOfChange('email', change.from, change.user);
  },
};
