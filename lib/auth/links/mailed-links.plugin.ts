import { ForbiddenException } from '@nestjs/common';
import { authFailure } from '../../documents/failures.js';
import { flag, readNestedOptions } from '../../options/option-table.js';
import type { AuthPlugin } from '../plugins/plugin.js';
import { limitByAddress } from '../throttle/attempt.js';
import { AccountToken, VerifiedEmail } from './account-token.js';
import { RESET_ENDPOINTS, VERIFICATION_ENDPOINTS } from './link-endpoints.js';
import { MailedLinks } from './mailed-links.js';
import { MailedTokens } from './mailed-tokens.js';

export interface MailedLinksOptions {
  /** Whether users may set a new password by a link. @default true */
  reset?: boolean;
  /** Whether users must confirm their e-mail address before they may log in. @default false */
  required?: boolean;
}

const OPTIONS = { reset: flag(true), required: flag() };
const NOT_VERIFIED = 'The e-mail address is not verified';

/**
 * New passwords, and confirmed and changed e-mail addresses, by links that are mailed. The options `passwordReset` and
 * `requireVerified` are its short forms.
 * @throws InvalidOptionError
 * @example plugins: [mailedLinks({ required: true })]
 */
export function mailedLinks(options: MailedLinksOptions = {}): AuthPlugin {
  const { reset, required } = readNestedOptions('mailedLinks', OPTIONS, options);
  return {
    name: 'mailedLinks',
    option: reset ? 'passwordReset' : 'requireVerified',
    tables: [AccountToken, VerifiedEmail],
    providers: [MailedTokens, MailedLinks],
    endpoints: [...VERIFICATION_ENDPOINTS, ...(reset ? RESET_ENDPOINTS : [])],
    limits: {
      link: limitByAddress,
      welcome: limitByAddress,
      mail: ({ mails, addressTries }) => ({ account: mails, address: Math.ceil(addressTries / 10) }),
    },
    needsMail: true,
    accountChanged: ({ get }, change) => get(MailedTokens).follow(change),
    ...(required && verification),
  };
}

const verification: Partial<AuthPlugin> = {
  requiredFields: ['email'],
  async beforeLogin({ get }, user, { isNew, address }) {
    if (isNew) {
      get(MailedLinks).mailVerification(user, address);
      return { message: 'Registration successful. Confirm the e-mail address by the link in the mail, then log in' };
    }
    if (!(await get(MailedTokens).isVerified(user))) throw new ForbiddenException(NOT_VERIFIED);
    return undefined;
  },
  describe: ({ data, profile }) => ({
    login: { 403: authFailure('Not verified yet.', NOT_VERIFIED) },
    register: { 201: data('Registered', { user: profile }) },
  }),
};
