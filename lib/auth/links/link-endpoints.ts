/** The endpoints of mailed links: new passwords, and the verification of addresses. */
import { authFailure } from '../../documents/failures.js';
import { closedObject } from '../../documents/operation-document.js';
import { readTexts } from '../users/user-checks.js';
import { EMAIL, LIMITED, NEW_PASSWORD, SECRET, TEXT, WRONG_PASSWORD } from '../plugins/endpoint-document.js';
import type { Endpoint } from '../plugins/endpoint.js';

const LINK_TOKEN = { ...TEXT, description: 'From the link that was mailed.' };
const WRONG_LINK = { 401: authFailure('The link is not valid.', 'This link is not valid, or was used before') };

/** Answers the same for known and unknown addresses. */
const askForLink = (kind: 'verify' | 'reset', name: string, path: string, summary: string): Endpoint => ({
  name,
  route: `POST ${path}`,
  access: 'public',
  status: 202,
  body: 'required',
  run({ links }, { body, address }) {
    links.ask(kind, readTexts(body, ['email']).email, address);
    return { success: true, message: 'If the address is known, a mail was sent' };
  },
  describe: ({ accepted }) => ({
    summary,
    ...(kind === 'reset' && { description: 'The answer is the same for known and unknown addresses.' }),
    body: closedObject({ email: EMAIL }),
    responses: { 202: accepted },
  }),
});

/** Those of verification, which the option `passwordReset` needs too. */
export const VERIFICATION_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'verifyEmail',
    route: 'POST verify',
    access: 'public',
    status: 204,
    body: 'required',
    async run({ attempts, links }, { body, address }) {
      const { token } = readTexts(body, ['token']);
      await attempts.run({ action: 'link', address }, () => links.verify(token));
    },
    describe: () => ({
      summary: 'Confirm an e-mail address',
      body: closedObject({ token: LINK_TOKEN }),
      responses: { ...WRONG_LINK, ...LIMITED },
    }),
  },
  askForLink('verify', 'resendVerification', 'verify/resend', 'Ask for another link to confirm the address'),
  {
    name: 'changeEmail',
    route: 'POST email',
    access: 'authenticated',
    status: 202,
    body: 'required',
    async run({ logins, links }, { body, user: signedIn, request, address }) {
      const { password, email } = readTexts(body, ['password', 'email']);
      const user = await logins.repeatPassword(signedIn(), password, request);
      await links.startEmailChange(user, email, address);
      return { success: true, message: 'A mail was sent to the new address' };
    },
    describe: ({ accepted }) => ({
      summary: 'Change the own e-mail address',
      description: 'The new address counts when the link that is mailed to it is used.',
      body: closedObject({ password: SECRET, email: EMAIL }),
      responses: { 202: accepted, ...WRONG_PASSWORD, ...LIMITED },
    }),
  },
];

export const RESET_ENDPOINTS: readonly Endpoint[] = [
  askForLink('reset', 'forgotPassword', 'password/forgot', 'Ask for a new password'),
  {
    name: 'resetPassword',
    route: 'POST password/reset',
    access: 'public',
    status: 204,
    body: 'required',
    async run({ attempts, links }, { body, address }) {
      const { token, password } = readTexts(body, ['token', 'password']);
      await attempts.run({ action: 'link', address }, () => links.reset(token, password));
    },
    describe: () => ({
      summary: 'Set a new password',
      description: 'Ends all sessions.',
      body: closedObject({ token: LINK_TOKEN, password: NEW_PASSWORD }),
      responses: { ...WRONG_LINK, ...LIMITED },
    }),
  },
];
