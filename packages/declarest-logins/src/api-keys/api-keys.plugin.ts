/** API keys: the endpoints with which users manage their own, and the bearer tokens that they are. */
import { NotFoundException } from '@nestjs/common';
import { accountEndpoint, answers, type AuthPlugin, type Endpoint, type NamedSchema, schemas } from 'declarest/plugin';
import { ApiKey } from './api-key.js';
import { ApiKeyStore } from './api-key-store.js';
import { ApiKeys, TOO_MANY_KEYS, toKeyView } from './api-keys.js';
import { KEY_PREFIX } from './key-form.js';

const NAME = { ...schemas.name, examples: ['backup'] };
const ROLES = { type: 'array', items: schemas.text };
const VIEW = {
  id: schemas.text,
  name: NAME,
  prefix: { ...schemas.text, description: 'The first characters of the key.' },
  roles: ROLES,
  createdAt: schemas.moment,
  lastUsedAt: { ...schemas.orNull(schemas.moment), description: 'To the minute.' },
  expiresAt: schemas.orNull(schemas.moment),
};
const KEY_SCHEMA: NamedSchema = { name: 'AuthKey', schema: schemas.object(VIEW) };

/** Administrators create keys of other users by the same body. */
export const CREATE_KEY: Endpoint = accountEndpoint({
  name: 'createKey',
  route: 'POST keys',
  status: 201,
  needsProof: 'any',
  takesObject: () =>
    schemas.closed({ name: NAME, roles: schemas.orNull(ROLES), expiresAt: schemas.orNull(schemas.moment) }, ['name']),
  summary: 'Create an API key',
  description: `A program sends it as \`Authorization: Bearer ${KEY_PREFIX}…\`. No other answer shows it. It has those of its roles that its user has when it is used. With a token of another issuer, \`expiresAt\` is required.`,
  answers: {
    201: answers.data('Created', { ...VIEW, key: { ...schemas.text, description: 'For `Authorization: Bearer`.' } }),
    409: answers.failure('There are too many.', TOO_MANY_KEYS),
  },
  async run({ get }, { body, user, request }) {
    const data = await get(ApiKeys).create(body, String(user().id), request);
    return { success: true, message: 'Key created', data };
  },
});

const ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'findKeys',
    route: 'GET keys',
    summary: 'List own API keys',
    answers: { 200: answers.list('The own keys', schemas.named(KEY_SCHEMA.name)) },
    async run({ get }, { user }) {
      return { success: true, data: (await get(ApiKeyStore).listOf(String(user().id))).map(toKeyView) };
    },
  }),
  CREATE_KEY,
  accountEndpoint({
    name: 'deleteKey',
    route: 'DELETE keys/:id',
    status: 204,
    summary: 'Delete an own API key',
    description: 'It is refused from then on.',
    answers: answers.unknown('Key'),
    async run({ get }, { user, id }) {
      if (!(await get(ApiKeyStore).removeOwn(String(user().id), id)))
        throw new NotFoundException(`Key with id ${id} not found`);
    },
  }),
];

/**
 * Keys for programs: users create them at `POST {base}/keys`, and programs send them as bearer tokens. They open no account
 * endpoint. Requests by a key have the role `KEY`, all others `LOGIN`: rules and `@Authenticated({ by: ['key'] })` require
 * one of them. Needs the table of `ApiKey`.
 * @example AuthModule.forRoot({ userClass: User, plugins: [apiKeys()] })
 */
export const apiKeys = (): AuthPlugin => ({
  name: 'apiKeys',
  tables: [ApiKey],
  providers: [ApiKeyStore, ApiKeys],
  endpoints: ENDPOINTS,
  setup: (core) => core.identifyKeys(),
  decidesBy: {},
  authenticate: ({ get }, _request, { token }) =>
    token?.startsWith(KEY_PREFIX) ? get(ApiKeys).identify(token) : undefined,
  accountChanged: ({ get }, change) => get(ApiKeys).onAccountChange(change),
  waysIn: ({ get }) => ({
    kind: 'key',
    list: async (userId) => (await get(ApiKeyStore).listOf(userId)).map(toKeyView),
    revoke: (userId, id) => get(ApiKeyStore).removeOwn(userId, id),
  }),
  describe: () => ({ schemas: [KEY_SCHEMA] }),
});
