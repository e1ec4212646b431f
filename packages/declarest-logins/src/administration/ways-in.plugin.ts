/** Administrators list and revoke what lets other users in, and create keys for them. */
import { ConflictException, NotFoundException } from '@nestjs/common';
import { UserAccounts } from 'declarest';
import {
  accountEndpoint,
  answers,
  type AuthPlugin,
  type DocumentParts,
  type Endpoint,
  type EndpointCall,
  findManagedUser,
  type JsonSchema,
  type NamedSchema,
  schemas,
} from 'declarest/plugin';
import { CREATE_KEY } from '../api-keys/api-keys.plugin.js';
import { ApiKeys } from '../api-keys/api-keys.js';

interface WayInEvent {
  readonly userId: string;
  /** `key`, `session`, `passkey`, `factor`, `identity`, or that of another plugin. */
  readonly kind: string;
  readonly id: string;
  /** The id of the administrator. */
  readonly by: string;
}

declare module 'declarest' {
  interface AuthEventMap {
    /** An administrator has created a key of another user. */
    'wayIn.created': WayInEvent;
    /** An administrator has revoked what let a user in. */
    'wayIn.revoked': WayInEvent;
  }
}

const ADMINS = { anyOf: ['ADMIN'] };
/** Sessions that began by another kind end with it. */
const OPENS_NO_SESSION = ['session', 'key'];

const WAY_IN: NamedSchema = { name: 'WayIn', schema: schemas.object({ kind: schemas.text, id: schemas.text }) };
const inPath = (name: string, schema: JsonSchema) => ({ in: 'path', name, schema, required: true }) as const;
const ofUser = ({ id }: DocumentParts) => [inPath('id', id)];

/** A parameter of the path, besides `:id`. */
const parameterOf = ({ request }: EndpointCall, name: string): string => String(request.params?.[name]);

const ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'findUserWaysIn',
    route: 'GET users/:id/ways-in',
    access: ADMINS,
    summary: 'List what lets a user in, besides the password',
    description: 'Each has the members that its user sees in the own list, and its kind.',
    parameters: ofUser,
    answers: { 200: answers.list('All of them', schemas.named(WAY_IN.name)), ...answers.unknown('User') },
    async run(services, { id, user }) {
      const userId = String((await findManagedUser(services, id, user())).id);
      const data: object[] = [];
      for (const each of services.waysIn())
        data.push(...(await each.list(userId)).map((way) => ({ ...way, kind: each.kind })));
      return { success: true, data };
    },
  }),
  accountEndpoint({
    name: 'revokeUserWayIn',
    route: 'DELETE users/:id/ways-in/:kind/:way',
    access: ADMINS,
    status: 204,
    needsProof: 'factor',
    summary: 'Revoke what lets a user in, also the last way',
    description: 'Ends the sessions of the user too, unless it is a key or one session.',
    parameters: (parts) => [...ofUser(parts), inPath('kind', schemas.text), inPath('way', schemas.text)],
    answers: answers.unknown('Way in'),
    async run(services, call) {
      const caller = call.user();
      const userId = String((await findManagedUser(services, call.id, caller)).id);
      const [kind, id] = [parameterOf(call, 'kind'), parameterOf(call, 'way')];
      const found = services.waysIn().find((each) => each.kind === kind);
      if (!(await found?.revoke(userId, id))) throw new NotFoundException(`Way in with id ${id} not found`);
      if (!OPENS_NO_SESSION.includes(kind)) await services.get(UserAccounts).endSessions(userId);
      services.events.emit('wayIn.revoked', { userId, kind, id, by: String(caller.id) });
    },
  }),
  accountEndpoint({
    ...CREATE_KEY,
    name: 'createUserKey',
    route: 'POST users/:id/keys',
    access: ADMINS,
    needs: CREATE_KEY.name,
    summary: 'Create an API key of a user',
    parameters: ofUser,
    answers: { ...(CREATE_KEY.answers as object), ...answers.unknown('User') },
    async run(services, { id, body, user, request }) {
      const caller = user();
      const owner = await findManagedUser(services, id, caller);
      if (!owner.active) throw new ConflictException('This user is not active');
      const userId = String(owner.id);
      const data = await services.get(ApiKeys).create(body, userId, request);
      services.events.emit('wayIn.created', { userId, kind: 'key', id: data.id, by: String(caller.id) });
      return { success: true, message: 'Key created', data };
    },
  }),
];

/**
 * For the role `ADMIN`: lists and revokes keys, sessions, passkeys, factors and logins at providers of other users, below
 * `{base}/users/{id}/ways-in`, and creates API keys for them.
 * @example AuthModule.forRoot({ userClass: User, administration: true, plugins: [apiKeys(), waysIn()] })
 */
export const waysIn = (): AuthPlugin => ({
  name: 'waysIn',
  decidesBy: {},
  endpoints: ENDPOINTS,
  describe: () => ({ schemas: [WAY_IN] }),
});
