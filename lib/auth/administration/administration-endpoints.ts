/** What an ADMIN sees and changes of all users. */
import { ConflictException, NotFoundException } from '@nestjs/common';
import { authFailure } from '../../documents/failures.js';
import { closedObject, openObject } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { ADMIN_ROLE, type Principal } from '../../http/principal.js';
import { AccessRefused } from '../../http/refusal.js';
import { profileOf, type AuthUser } from '../users/auth-user.js';
import { checkChanges, USER_SCHEMAS } from '../users/user-checks.js';
import { BOOLEAN, INVALID, MESSAGE, NAMES, pathId, TEXT, unknown } from '../plugins/endpoint-document.js';
import type { AccountServices, Endpoint } from '../plugins/endpoint.js';
import { readUserQuery } from './user-list.js';

const ADMINS = { anyOf: [ADMIN_ROLE] };
const LAST_ADMIN = { 409: authFailure('It is the last ADMIN.', 'This is the last active user with the role ADMIN') };
const PAGINATION = openObject(
  Object.fromEntries(['page', 'size', 'total', 'totalPages'].map((name) => [name, { type: 'integer' }])),
);
const inQuery = (name: string, schema: JsonSchema, description?: string) =>
  ({ in: 'query', name, schema, ...(description !== undefined && { description }) }) as const;

const unknownUser = (id: string): NotFoundException => new NotFoundException(`User with id ${id} not found`);

async function findUser(services: AccountServices, id: string, caller: Principal): Promise<AuthUser> {
  const user = await services.users.findById(id);
  if (!user) throw unknownUser(id);
  expectNotAbove(services, user.role, caller);
  return user;
}

/** A role that includes ADMIN is above it: who has not got it must not get it, nor take it from others. */
function expectNotAbove({ rules }: AccountServices, role: string, { roles }: Principal): void {
  const expand = (names: readonly string[]) => rules.compiled?.roles.expand(names) ?? names;
  if (!expand([role]).includes(ADMIN_ROLE) || expand(roles).includes(role)) return;
  throw new AccessRefused([role]);
}

// No name begins like that of a generated operation: a resource of users has `listUsers`.
export const ADMINISTRATION_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'findUsers',
    route: 'GET users',
    access: ADMINS,
    status: 200,
    async run({ users: repository, options }, { request }) {
      const query = readUserQuery(request);
      const { page, size } = query;
      const { users, total } = await repository.list(query);
      const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
      const data = users.map((user) => profileOf(user, options));
      return { success: true, message: 'User list', data, metadata: { pagination } };
    },
    describe: ({ answer, profile }) => ({
      summary: 'List users',
      parameters: [
        inQuery('page', { type: 'integer', minimum: 1, default: 1 }),
        inQuery('size', { type: 'integer', minimum: 1, default: 20 }, 'At most 100.'),
        inQuery('q', TEXT, 'Text in the e-mail address, the username or a name.'),
        inQuery('filter[role]', TEXT),
        inQuery('filter[active]', BOOLEAN),
      ],
      responses: {
        200: answer(
          'A page of users',
          openObject({
            ...MESSAGE,
            data: { type: 'array', items: profile },
            metadata: openObject({ pagination: PAGINATION }),
          }),
        ),
        ...INVALID,
      },
    }),
  },
  {
    name: 'changeUser',
    route: 'PATCH users/:id',
    access: ADMINS,
    status: 200,
    body: 'required',
    async run(services, { id, body, user }) {
      const { accounts, options } = services;
      const caller = user();
      const before = await findUser(services, id, caller);
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
      return { success: true, message: 'User updated', data: { user: profileOf(changed, options) } };
    },
    describe: ({ id, user }) => ({
      summary: 'Change a user',
      parameters: pathId(id),
      body: closedObject({ role: USER_SCHEMAS['role'] as JsonSchema, active: BOOLEAN, ...NAMES }, []),
      responses: { 200: user('The user'), ...unknown('User'), ...LAST_ADMIN },
    }),
  },
  {
    name: 'mailPasswordReset',
    route: 'POST users/:id/reset',
    access: ADMINS,
    status: 202,
    isDeclared: ({ passwordReset }) => passwordReset,
    async run(services, { id, user: caller }) {
      const user = await findUser(services, id, caller());
      if (user.email === null) throw new ConflictException('This user has no e-mail address');
      if (!user.active) throw new ConflictException('This user is not active');
      services.links.startReset(user);
      return { success: true, message: 'A mail was sent to the user' };
    },
    describe: ({ id, accepted }) => ({
      summary: 'Mail a user a link for a new password',
      parameters: pathId(id),
      responses: {
        202: accepted,
        ...unknown('User'),
        409: authFailure('No mail can be sent.', 'This user has no e-mail address'),
      },
    }),
  },
  {
    name: 'endUserSessions',
    route: 'DELETE users/:id/sessions',
    access: ADMINS,
    status: 204,
    isDeclared: ({ sessions }) => sessions !== undefined,
    async run(services, { id, user }) {
      await findUser(services, id, user());
      await services.sessions.endAll(id);
    },
    describe: ({ id }) => ({
      summary: 'End all sessions of a user',
      parameters: pathId(id),
      responses: unknown('User'),
    }),
  },
];
