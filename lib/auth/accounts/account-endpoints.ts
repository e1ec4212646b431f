/** Registration, login and the own user: what every application has. */
import { authFailure } from '../../documents/failures.js';
import { jsonResponse, openObject, refTo, TRUE } from '../../documents/operation-document.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import { NO_PASSWORD } from '../passwords/password-hasher.js';
import { dataAnswer, LIMITED, PROFILE, SECRET, TOKEN } from '../plugins/document-parts.js';
import { accountEndpoint, type AuthPlugin, type Endpoint } from '../plugins/plugin.js';
import { limitByAddress } from '../throttle/attempt.js';
import { readTexts } from '../users/user-checks.js';
import { Logins } from './logins.js';
import { UserFieldRules } from './user-field-rules.js';

const register = accountEndpoint({
  name: 'register',
  route: 'POST register',
  access: 'public',
  status: 201,
  takesObject: () => refTo('Registration'),
  limit: 'register',
  summary: 'Register',
  answers: ({ members }) => ({
    201: dataAnswer('Registered and logged in', { user: PROFILE, ...TOKEN, ...members }),
    400: authFailure('A field is not valid, or taken.', 'User with email ann@shop.example already exists'),
  }),
  async run({ get }, { body, request }) {
    return get(Logins).issueForNewUser(await get(UserFieldRules).register(body), request);
  },
});

export const ACCOUNT_ENDPOINTS: readonly Endpoint[] = [
  register,
  accountEndpoint({
    name: 'login',
    route: 'POST login',
    access: 'public',
    takesObject: () => refTo('Credentials'),
    limit: false,
    summary: 'Log in',
    answers: ({ identity, members }) => ({
      200: dataAnswer('Logged in', { user: identity, ...TOKEN, ...members }),
      400: authFailure('A field is missing.', 'password: required'),
      401: authFailure('Nobody has these credentials.', 'Invalid credentials'),
      ...LIMITED,
    }),
    run: ({ get }, { body, request }) => get(Logins).login(body, request),
  }),
  accountEndpoint({
    name: 'me',
    route: 'GET me',
    summary: 'Get the user of the token',
    operationId: 'getCurrentUser',
    answers: {
      200: jsonResponse('The user', openObject({ success: TRUE, data: openObject({ user: PROFILE }) })),
    },
    /** Reads the user from the database, so that deleted and inactive users get 401 before their token expires. */
    async run({ users, profileOf }, { user: signedIn }) {
      const user = await users.findById(String(signedIn().id));
      if (!user?.active) throw new AuthenticationRequired(true);
      return { success: true, data: { user: profileOf(user) } };
    },
  }),
];

export const accounts = (registration: boolean): AuthPlugin => ({
  name: 'accounts',
  decidesBy: {},
  endpoints: ACCOUNT_ENDPOINTS.filter((endpoint) => registration || endpoint !== register),
  proof: {
    member: 'password',
    schema: SECRET,
    has: (_services, { password }) => password !== NO_PASSWORD,
    check: ({ get }, { user, request }, sent) =>
      get(Logins).repeatPassword(user(), readTexts({ password: sent }, ['password']).password, request),
  },
  limits: {
    password: ({ tries, accountTries, addressTries }) => ({
      pair: tries,
      site: tries,
      account: accountTries,
      address: addressTries,
      isFinal: true,
    }),
    register: limitByAddress,
  },
});
