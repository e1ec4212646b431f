/** What users change of their own account: the password, the profile, and whether it exists. */
import { UnauthorizedException } from '@nestjs/common';
import { authenticationOf } from '../../access/principal.js';
import { authFailure } from '../../documents/failures.js';
import { closedObject } from '../../documents/operation-document.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import { profileOf } from '../users/auth-user.js';
import { readTexts } from '../users/user-checks.js';
import { LIMITED, NAMES, NEW_PASSWORD, SECRET } from '../plugins/endpoint-document.js';
import { WRONG_PASSWORD } from '../plugins/endpoint-document.js';
import type { Endpoint } from '../plugins/endpoint.js';

export const PROFILE_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'changePassword',
    route: 'POST password',
    access: 'authenticated',
    status: 204,
    body: 'required',
    /** The session of the request goes on. */
    async run({ logins, accounts }, { body, user, request }) {
      const { current, new: password } = readTexts(body, ['current', 'new']);
      const found = await logins.repeatPassword(user(), current, request);
      const session = authenticationOf(request)?.session;
      if (!(await accounts.replacePassword(found, password, session)))
        throw new UnauthorizedException('Invalid credentials');
    },
    describe: () => ({
      summary: 'Change the own password',
      description: 'Ends the other sessions.',
      body: closedObject({ current: SECRET, new: NEW_PASSWORD }),
      responses: { ...WRONG_PASSWORD, ...LIMITED },
    }),
  },
  {
    name: 'updateMe',
    route: 'PATCH me',
    access: 'authenticated',
    status: 200,
    body: 'required',
    async run({ users, registration, accounts, attempts, options }, { body, user: signedIn, address }) {
      const id = String(signedIn().id);
      const before = await users.findById(id);
      if (!before?.active) throw new AuthenticationRequired(true);
      const fields = registration.readChanges(body);
      const change = () => accounts.change(id, fields);
      // The answer tells whether a value of a unique column is taken, as that of a registration does.
      const user =
        Object.keys(fields).length === 0 ? before : await attempts.run({ action: 'register', address }, change);
      if (!user) throw new AuthenticationRequired(true);
      return { success: true, message: 'Profile updated', data: { user: profileOf(user, options) } };
    },
    describe: ({ user, ownFields }) => ({
      summary: 'Change the own profile',
      body: closedObject({ ...NAMES, ...ownFields }, []),
      responses: { 200: user('The user'), ...LIMITED },
    }),
  },
  {
    name: 'deleteMe',
    route: 'DELETE me',
    access: 'authenticated',
    status: 204,
    body: 'required',
    async run({ logins, accounts }, { body, user, request }) {
      const { password } = readTexts(body, ['password']);
      const { id } = await logins.repeatPassword(user(), password, request);
      await accounts.remove(String(id));
    },
    describe: () => ({
      summary: 'Delete the own account',
      body: closedObject({ password: SECRET }),
      responses: {
        ...WRONG_PASSWORD,
        409: authFailure('Records refer to the user.', 'Other records refer to this user'),
        ...LIMITED,
      },
    }),
  },
];
