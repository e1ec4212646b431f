/** What users change of their own account: the password, the profile, and whether it exists. */
import { UnauthorizedException } from '@nestjs/common';
import { authenticationOf } from '../../http/caller.js';
import { authFailure } from '../../documents/failures.js';
import { closedObject } from '../../documents/operation-document.js';
import { AuthenticationRequired } from '../../http/refusal.js';
import { Logins } from '../accounts/logins.js';
import { UserAccounts } from '../accounts/user-accounts.js';
import { UserFieldRules } from '../accounts/user-field-rules.js';
import { dataAnswer, LIMITED, NAMES, NEW_PASSWORD, PROFILE, SECRET } from '../plugins/document-parts.js';
import { WRONG_PASSWORD } from '../plugins/document-parts.js';
import { accountEndpoint, type Endpoint } from '../plugins/plugin.js';

export const PROFILE_ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'changePassword',
    route: 'POST password',
    status: 204,
    texts: { current: SECRET, new: NEW_PASSWORD },
    summary: 'Change the own password',
    description: 'Ends the other sessions.',
    answers: WRONG_PASSWORD,
    /** The session of the request goes on. */
    async run({ get }, { body, user, request }) {
      const found = await get(Logins).repeatPassword(user(), body.current, request);
      const session = authenticationOf(request)?.session;
      if (!(await get(UserAccounts).replacePassword(found, body.new, session)))
        throw new UnauthorizedException('Invalid credentials');
    },
  }),
  accountEndpoint({
    name: 'updateMe',
    route: 'PATCH me',
    takesObject: ({ ownFields }) => closedObject({ ...NAMES, ...ownFields }, []),
    summary: 'Change the own profile',
    answers: { 200: dataAnswer('The user', { user: PROFILE }), ...LIMITED },
    async run({ users, get, attempts, profileOf }, { body, user: signedIn, address }) {
      const id = String(signedIn().id);
      const before = await users.findById(id);
      if (!before?.active) throw new AuthenticationRequired(true);
      const fields = get(UserFieldRules).readChanges(body);
      const change = () => get(UserAccounts).change(id, fields);
      // The answer tells whether a value of a unique column is taken, as that of a registration does.
      const user =
        Object.keys(fields).length === 0 ? before : await attempts.run({ action: 'register', address }, change);
      if (!user) throw new AuthenticationRequired(true);
      return { success: true, message: 'Profile updated', data: { user: profileOf(user) } };
    },
  }),
  accountEndpoint({
    name: 'deleteMe',
    route: 'DELETE me',
    status: 204,
    texts: { password: SECRET },
    summary: 'Delete the own account',
    answers: {
      ...WRONG_PASSWORD,
      409: authFailure('Records refer to the user.', 'Other records refer to this user'),
    },
    async run({ get }, { body, user, request }) {
      const { id } = await get(Logins).repeatPassword(user(), body.password, request);
      await get(UserAccounts).remove(String(id));
    },
  }),
];
