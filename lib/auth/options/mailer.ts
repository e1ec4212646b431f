/** What sends mails to users. */
import type { Provider, Type } from '@nestjs/common';
import type { profileOf } from '../users/auth-user.js';

/**
 * `verify`: the user shall confirm that the address is theirs. `reset`: a new password was asked for. `changed`: the
 * password or the address of the account was changed.
 */
export type MailKind = 'verify' | 'reset' | 'changed';

export interface AccountMail {
  readonly to: string;
  readonly kind: MailKind;
  /** The page of the front end that takes the token; it stands behind `#`, so that no server and no `Referer` gets it. */
  readonly link: string | undefined;
  /** A secret of this user: it must not be logged. `undefined` for `changed`. */
  readonly token: string | undefined;
  /** What was changed, in a mail of the kind `changed`. */
  readonly changed: 'password' | 'email' | undefined;
  readonly user: ReturnType<typeof profileOf>;
}

/** Sends one mail. An error is logged; the request that caused the mail was answered before. */
export interface Mailer {
  send(mail: AccountMail): Promise<void> | void;
}

/** @example mailer: { useClass: ShopMailer } */
export type MailerProvider =
  | { readonly useClass: Type<Mailer> }
  | { readonly useExisting: Type<Mailer> }
  | { readonly useValue: Mailer }
  | { readonly useFactory: (...injected: never[]) => Mailer | Promise<Mailer>; readonly inject?: readonly unknown[] };

export const MAILER = Symbol('declarest.mailer');

export const mailerProvider = (mailer: MailerProvider | undefined): Provider =>
  ({ provide: MAILER, ...(mailer ?? { useValue: undefined }) }) as Provider;
