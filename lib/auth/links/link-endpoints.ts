/** The endpoints of mailed links: new passwords, and the verification of addresses. */
import { authFailure } from '../../documents/failures.js';
import { TEXT } from '../../documents/operation-document.js';
import { Logins } from '../accounts/logins.js';
import { ACCEPTED, EMAIL, NEW_PASSWORD, SECRET, WRONG_PASSWORD } from '../plugins/document-parts.js';
import { accountEndpoint, type Endpoint } from '../plugins/endpoint.js';
import { MailedLinks } from './mailed-links.js';

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
export const VERIFICATION_ENDPOINTS: readonly Endpoint[] = [
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
    access: 'authenticated',
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

export const RESET_ENDPOINTS: readonly Endpoint[] = [
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
