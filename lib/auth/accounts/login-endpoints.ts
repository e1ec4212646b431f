/** Registration, login and the own user: what every application has. */
import { openObject, refTo } from '../../documents/operation-document.js';
import { authFailure } from '../../documents/failures.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import { profileOf } from '../users/auth-user.js';
import { LIMITED } from '../plugins/endpoint-document.js';
import type { Endpoint } from '../plugins/endpoint.js';

const VERIFY = 'Registration successful. Confirm the e-mail address by the link in the mail, then log in';

export const LOGIN_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'register',
    route: 'POST register',
    access: 'public',
    status: 201,
    body: 'required',
    sendsTokens: true,
    isDeclared: ({ registration }) => registration,
    async run({ attempts, registration, options, events, links, logins }, { body, address, request }) {
      const created = await attempts.run({ action: 'register', address }, () => registration.register(body));
      const user = profileOf(created, options);
      if (options.requireVerified) {
        events.emit('user.registered', { userId: String(created.id) });
        links.welcome(created, address);
        return { success: true, message: VERIFY, data: { user } };
      }
      const tokens = await logins.welcome(created, request);
      return { success: true, message: 'Registration successful', data: { user, ...tokens } };
    },
    describe: ({ requireVerified, user, loggedIn, profile }) => ({
      summary: 'Register',
      body: refTo('Registration'),
      responses: {
        201: requireVerified ? user('Registered') : loggedIn('Registered and logged in', profile),
        400: authFailure('A field is not valid, or taken.', 'User with email ann@shop.example already exists'),
        ...LIMITED,
      },
    }),
  },
  {
    name: 'login',
    route: 'POST login',
    access: 'public',
    status: 200,
    body: 'required',
    sendsTokens: true,
    async run({ logins, options }, { body, request }) {
      const { user, tokens } = await logins.login(body, request);
      const { id, email, username, role } = profileOf(user, options);
      return { success: true, message: 'Login successful', data: { user: { id, email, username, role }, ...tokens } };
    },
    describe: ({ loggedIn, identity, requireVerified }) => ({
      summary: 'Log in',
      body: refTo('Credentials'),
      responses: {
        200: loggedIn('Logged in', identity),
        400: authFailure('A field is missing.', 'password: required'),
        401: authFailure('Nobody has these credentials.', 'Invalid credentials'),
        ...(requireVerified && { 403: authFailure('Not verified yet.', 'The e-mail address is not verified') }),
        ...LIMITED,
      },
    }),
  },
  {
    name: 'me',
    route: 'GET me',
    access: 'authenticated',
    status: 200,
    /** Reads the user from the database, so that deleted and inactive users get 401 before their token expires. */
    async run({ users, options }, { user: signedIn }) {
      const user = await users.findById(String(signedIn().id));
      if (!user?.active) throw new AuthenticationRequired(true);
      return { success: true, data: { user: profileOf(user, options) } };
    },
    describe: ({ answer, profile }) => ({
      operationId: 'getCurrentUser',
      summary: 'Get the user of the token',
      responses: {
        200: answer('The user', openObject({ success: { const: true }, data: openObject({ user: profile }) })),
      },
    }),
  },
];
