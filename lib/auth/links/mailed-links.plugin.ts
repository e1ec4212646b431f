/** New passwords, and confirmed and changed e-mail addresses, by mailed links. */
import { ForbiddenException } from '@nestjs/common';
import { authFailure } from '../../documents/failures.js';
import { TEXT } from '../../documents/operation-document.js';
import { flag, readNestedOptions } from '../../options/option-table.js';
import { Logins } from '../accounts/logins.js';
import { ACCEPTED, dataAnswer, EMAIL, NEW_PASSWORD, PROFILE, SECRET } from '../plugins/document-parts.js';
import { WRONG_PASSWORD } from '../plugins/document-parts.js';
import { accountEndpoint, type AuthPlugin, type Endpoint } from '../plugins/plugin.js';
import { OneTimeToken } from '../tables/one-time-tokens.js';
import { MailedLinks } from './mailed-links.js';
import { VerifiedEmail, VerifiedEmails } from './verified-emails.js';

const LINK_TOKEN = { ...TEXT, description: 'From the link that was mailed.' };
const WRONG_LINK = { 401: authFailure('The link is not valid.', 'This link is not valid, or was used before') };

/** Answers the same for known and unknown addresses, also beyond the limit. */
const requestLink = (
  kind: 'verify' | 'reset',
  endpoint: Pick<Endpoint, 'name' | 'route' | 'summary' | 'description'>,
): Endpoint =>
  accountEndpoint({
    ...endpoint,
    access: 'public',
    status: 202,
    texts: { email: EMAIL },
    limit: false,
    answers: ACCEPTED,
    run({ get }, { body, address }) {
      get(MailedLinks).requestLink(kind, body.email, address);
      return { success: true, message: 'If the address is known, a mail was sent' };
    },
  });

/** The endpoints of verification, which new passwords need too. */
const VERIFICATION_ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'verifyEmail',
    route: 'POST verify',
    access: 'public',
    status: 204,
    texts: { token: LINK_TOKEN },
    limit: 'link',
    summary: 'Confirm an e-mail address',
    answers: WRONG_LINK,
    run: ({ get }, { body }) => get(MailedLinks).verify(body.token),
  }),
  requestLink('verify', {
    name: 'resendVerification',
    route: 'POST verify/resend',
    summary: 'Ask for another link to confirm the address',
  }),
  accountEndpoint({
    name: 'changeEmail',
    route: 'POST email',
    status: 202,
    texts: { password: SECRET, email: EMAIL },
    summary: 'Change the own e-mail address',
    description: 'The new address counts when the link that is mailed to it is used.',
    answers: { ...ACCEPTED, ...WRONG_PASSWORD },
    async run({ get }, { body, user: signedIn, request, address }) {
      const user = await get(Logins).repeatPassword(signedIn(), body.password, request);
      await get(MailedLinks).startEmailChange(user, body.email, address);
      return { success: true, message: 'A mail was sent to the new address' };
    },
  }),
];

const RESET_ENDPOINTS: readonly Endpoint[] = [
  requestLink('reset', {
    name: 'forgotPassword',
    route: 'POST password/forgot',
    summary: 'Ask for a new password',
    description: 'The answer is the same for known and unknown addresses.',
  }),
  accountEndpoint({
    name: 'resetPassword',
    route: 'POST password/reset',
    access: 'public',
    status: 204,
    texts: { token: LINK_TOKEN, password: NEW_PASSWORD },
    limit: 'link',
    summary: 'Set a new password',
    description: 'Ends all sessions.',
    answers: WRONG_LINK,
    run: ({ get }, { body }) => get(MailedLinks).reset(body.token, body.password),
  }),
];

export interface MailedLinksOptions {
  /** Whether users may set a new password by a link. @default true */
  reset?: boolean;
  /** Whether users must confirm their e-mail address before they may log in. @default false */
  required?: boolean;
}

const OPTIONS = { reset: flag(true), required: flag() };
const NOT_VERIFIED = 'The e-mail address is not verified';

/**
 * The plugin of the options `passwordReset` and `requireVerified`.
 * @throws InvalidOptionError @example plugins: [mailedLinks({ required: true })]
 */
export function mailedLinks(options: MailedLinksOptions = {}): AuthPlugin {
  const { reset, required } = readNestedOptions('mailedLinks', OPTIONS, options);
  return {
    name: 'mailedLinks',
    option: reset ? 'passwordReset' : 'requireVerified',
    tables: [OneTimeToken, VerifiedEmail],
    providers: [VerifiedEmails, MailedLinks],
    endpoints: [...VERIFICATION_ENDPOINTS, ...(reset ? RESET_ENDPOINTS : [])],
    limits: {
      mail: ({ mails, addressTries }) => ({ account: mails, address: Math.ceil(addressTries / 10) }),
    },
    setup(core) {
      core.needMailer();
      if (required) core.needFields('email');
    },
    decidesBy: { addresses: required ? 'requires verified addresses' : undefined },
    async accountChanged({ get }, change) {
      await get(MailedLinks).onAccountChange(change);
      await get(VerifiedEmails).onAccountChange(change);
    },
    ...(required && verification),
  };
}

const verification: Partial<AuthPlugin> = {
  async beforeLogin({ get }, user, { isNew, address }) {
    if (await get(VerifiedEmails).has(user)) return undefined;
    if (!isNew) throw new ForbiddenException(NOT_VERIFIED);
    get(MailedLinks).mailVerification(user, address);
    return { message: 'Registration successful. Confirm the e-mail address by the link in the mail, then log in' };
  },
  describe: () => ({
    login: { 403: authFailure('Not verified yet.', NOT_VERIFIED) },
    register: { 201: dataAnswer('Registered', { user: PROFILE }) },
  }),
};
