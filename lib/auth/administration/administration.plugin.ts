/** What an ADMIN sees and changes of all users. */
import { ConflictException, NotFoundException } from '@nestjs/common';
import { AccessRules } from '../../access/access-rules.js';
import { authFailure } from '../../documents/failures.js';
import { closedObject, jsonResponse, openObject, PAGINATION, refTo, TEXT } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { ADMIN_ROLE, type Principal } from '../../http/caller.js';
import { AccessRefused } from '../../http/refusal.js';
import { UserAccounts } from '../accounts/user-accounts.js';
import { MailedLinks } from '../links/mailed-links.js';
import { ACCEPTED, BOOLEAN, dataAnswer, INVALID, MESSAGE, NAMES, PROFILE, unknown } from '../plugins/document-parts.js';
import type { AuthServices } from '../plugins/auth-services.js';
import { accountEndpoint, type AuthPlugin, type Endpoint } from '../plugins/plugin.js';
import type { AuthUser } from '../users/auth-user.js';
import { checkChanges, USER_SCHEMAS } from '../users/user-checks.js';
import { readUserQuery } from './user-list.js';

const ADMINS = { anyOf: [ADMIN_ROLE] };
const NO_ADDRESS = { 409: authFailure('No mail can be sent.', 'This user has no e-mail address') };
const LAST_ADMIN = { 409: authFailure('It is the last ADMIN.', 'This is the last active user with the role ADMIN') };
const USER_PAGE = openObject({
  ...MESSAGE,
  data: { type: 'array', items: PROFILE },
  metadata: openObject({ pagination: refTo(PAGINATION.name) }),
});
const inQuery = (name: string, schema: JsonSchema, description?: string) =>
  ({ in: 'query', name, schema, ...(description !== undefined && { description }) }) as const;

/** The id of a user in the path. */
const ofUser = ({ id }: { readonly id: JsonSchema }) =>
  [{ in: 'path', name: 'id', schema: id, required: true }] as const;

const unknownUser = (id: string): NotFoundException => new NotFoundException(`User with id ${id} not found`);

/** The user whom an administrator reads or changes. @throws 404, 403 where its role is above that of the caller */
export async function findManagedUser(services: AuthServices, id: string, caller: Principal): Promise<AuthUser> {
  const user = await services.users.findById(id);
  if (!user) throw unknownUser(id);
  expectNotAbove(services, user.role, caller);
  return user;
}

/** A role that includes ADMIN is above it: who has not got it must not get it, nor take it from others. */
function expectNotAbove({ expandRoles }: AuthServices, role: string, { roles }: Principal): void {
  if (!expandRoles([role]).includes(ADMIN_ROLE) || expandRoles(roles).includes(role)) return;
  throw new AccessRefused([role]);
}

// No name begins like that of a generated operation: a resource of users has `listUsers`.
const ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'findUsers',
    route: 'GET users',
    access: ADMINS,
    summary: 'List users',
    parameters: () => [
      inQuery('page', { type: 'integer', minimum: 1, default: 1 }),
      inQuery('size', { type: 'integer', minimum: 1, default: 20 }, 'At most 100.'),
      inQuery('q', TEXT, 'Text in the e-mail address, the username or a name.'),
      inQuery('filter[role]', TEXT),
      inQuery('filter[active]', BOOLEAN),
    ],
    answers: { 200: jsonResponse('A page of users', USER_PAGE), ...INVALID },
    async run({ users: repository, profileOf }, { request }) {
      const query = readUserQuery(request);
      const { page, size } = query;
      const { users, total } = await repository.list(query);
      const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
      return { success: true, message: 'User list', data: users.map(profileOf), metadata: { pagination } };
    },
  }),
  accountEndpoint({
    name: 'changeUser',
    route: 'PATCH users/:id',
    access: ADMINS,
    takesObject: () => closedObject({ role: USER_SCHEMAS['role'] as JsonSchema, active: BOOLEAN, ...NAMES }, []),
    summary: 'Change a user',
    parameters: ofUser,
    answers: { 200: dataAnswer('The user', { user: PROFILE }), ...unknown('User'), ...LAST_ADMIN },
    async run(services, { id, body, user }) {
      const accounts = services.get(UserAccounts);
      const caller = user();
      const before = await findManagedUser(services, id, caller);
      const { role, active, firstName, lastName } = accounts.checks;
      const checks = { role, active, firstName, lastName };
      const fields: Partial<Pick<AuthUser, 'role' | 'active'>> = checkChanges(body, checks, ['firstName', 'lastName']);
      // Who is dismissed while the request is handled must not undo it.
      const isOwn = String(before.id) === String(caller.id);
      if (isOwn && fields.active === true) delete fields.active;
      if (isOwn && fields.role === caller.roles[0]) delete fields.role;
      if (typeof fields.role === 'string') expectNotAbove(services, fields.role, caller);
      const changed = Object.keys(fields).length > 0 ? await accounts.changeKeepingAdmin(id, fields) : before;
      if (!changed) throw unknownUser(id);
      const isNamed = typeof fields.role !== 'string' || services.get(AccessRules).isNamed(fields.role);
      const message = isNamed ? 'User updated' : 'User updated. No rule or option names the role';
      return { success: true, message, data: { user: services.profileOf(changed) } };
    },
  }),
  accountEndpoint({
    name: 'mailPasswordReset',
    route: 'POST users/:id/reset',
    access: ADMINS,
    status: 202,
    needs: 'resetPassword',
    summary: 'Mail a user a link for a new password',
    parameters: ofUser,
    answers: { ...ACCEPTED, ...unknown('User'), ...NO_ADDRESS },
    async run(services, { id, user: caller }) {
      const user = await findManagedUser(services, id, caller());
      if (user.email === null) throw new ConflictException('This user has no e-mail address');
      if (!user.active) throw new ConflictException('This user is not active');
      services.get(MailedLinks).startReset(user);
      return { success: true, message: 'A mail was sent to the user' };
    },
  }),
  accountEndpoint({
    name: 'endUserSessions',
    route: 'DELETE users/:id/sessions',
    access: ADMINS,
    status: 204,
    needs: 'logoutAll',
    summary: 'End all sessions of a user',
    parameters: ofUser,
    answers: unknown('User'),
    async run(services, { id, user }) {
      await findManagedUser(services, id, user());
      await services.get(UserAccounts).endSessions(id);
    },
  }),
];

/** The plugin of the option `administration`. @example plugins: [sessions(), administration()] */
export const administration = (): AuthPlugin => ({
  name: 'administration',
  decidesBy: {},
  endpoints: ENDPOINTS,
  setup: (core) => core.needMethods('list', 'remove'),
});
