/** Logins at other providers, by OpenID Connect or OAuth 2. */
import { NotFoundException } from '@nestjs/common';
import { OneTimeToken } from 'declarest';
import {
  accountEndpoint,
  answers,
  AuthenticationRequired,
  type AuthPlugin,
  type Endpoint,
  type NamedSchema,
  schemas,
} from 'declarest/plugin';
import { ExternalIdentities } from './external-identities.js';
import { ExternalLogins } from './external-logins.js';
import { LoginFlows } from './login-flows.js';
import { OIDC_SETTINGS, readSettings, type OidcOptions } from './oidc-options.js';
import { ExternalIdentity } from './oidc-tables.js';
import { loginFailed } from './provider-client.js';
import { momentOf } from '../moments.js';
import { hasNewPassword } from '../ways-in.js';

const IDENTITY_SCHEMA: NamedSchema = {
  name: 'ExternalIdentity',
  schema: schemas.object({
    id: schemas.text,
    provider: schemas.text,
    email: schemas.orNull(schemas.text),
    linkedAt: schemas.moment,
  }),
};
const IDENTITY = schemas.named(IDENTITY_SCHEMA.name);

const text = (description: string) => ({ ...schemas.text, description });
const REDIRECT_URI = text('One of those that the application declares. The first by default.');
const RESPONSE = {
  url: text('Where the provider has sent the user back, with the whole query.'),
  verifier: text('From the request that began the login.'),
};
const BEGUN = answers.data('Begun', {
  url: text('Where to send the user.'),
  verifier: text('To keep, such as in `sessionStorage`, and to send back with the response.'),
});
const FAILED = loginFailed().message;
const begun = (data: object) => ({ success: true, message: 'Log in at the provider', data });

const toView = ({ id, provider, email, linkedAt }: ExternalIdentity) => ({
  id,
  provider,
  email,
  linkedAt: momentOf(linkedAt),
});

const ENDPOINTS: readonly Endpoint[] = [
  accountEndpoint({
    name: 'beginExternalLogin',
    route: 'POST oidc/:id',
    access: 'public',
    optionalTexts: { redirectUri: REDIRECT_URI },
    limit: false,
    summary: 'Begin a login at a provider',
    description: '`id` is the name of the provider. The login must be finished within 10 minutes, by the same client.',
    answers: { 200: BEGUN, ...answers.unknown('Provider'), ...answers.limited },
    async run({ get, attempts }, { id, body, address }) {
      await attempts.take({ action: 'externalLogin', address });
      return begun(await get(LoginFlows).begin(id, body.redirectUri, null));
    },
  }),
  accountEndpoint({
    name: 'finishExternalLogin',
    route: 'POST oidc',
    access: 'public',
    texts: RESPONSE,
    summary: 'Log in by the response of a provider',
    description: 'Creates a user where the application allows it.',
    answers: (parts) => ({
      200: answers.login('Logged in, or registered', parts),
      401: answers.failure('The response is not valid, or was used before.', FAILED),
      403: answers.failure('The application refuses the login.', 'The e-mail address is not verified'),
      409: answers.failure('No account is linked.', 'No account is linked to this login'),
    }),
    async run({ get }, { body, request }) {
      const profile = await get(LoginFlows).finish(body.url, body.verifier, null);
      return get(ExternalLogins).logIn(profile, request);
    },
  }),
  accountEndpoint({
    name: 'findIdentities',
    route: 'GET identities',
    summary: 'List own logins at providers',
    answers: { 200: answers.list('All of them', IDENTITY) },
    async run({ get }, { user }) {
      return { success: true, data: (await get(ExternalIdentities).listOf(String(user().id))).map(toView) };
    },
  }),
  accountEndpoint({
    name: 'beginIdentityLink',
    route: 'POST identities/:id',
    optionalTexts: { redirectUri: REDIRECT_URI },
    needsProof: 'any',
    summary: 'Begin to link a login at a provider',
    description: '`id` is the name of the provider.',
    answers: { 200: BEGUN, ...answers.unknown('Provider') },
    run: async ({ get }, { id, body, user }) =>
      begun(await get(LoginFlows).begin(id, body.redirectUri, String(user().id))),
  }),
  accountEndpoint({
    name: 'finishIdentityLink',
    route: 'POST identities',
    texts: RESPONSE,
    summary: 'Link a login by the response of a provider',
    answers: {
      200: answers.data('Linked', { identity: IDENTITY }),
      ...answers.unauthorizedOr('The token or the response is not valid.', FAILED),
      409: answers.failure('Another user has it.', 'This login is linked to another account'),
    },
    async run({ get, users }, { body, user }) {
      const userId = String(user().id);
      const profile = await get(LoginFlows).finish(body.url, body.verifier, userId);
      const found = await users.findWithHash(userId);
      if (!found?.active) throw new AuthenticationRequired(true);
      const identity = await get(ExternalIdentities).link(userId, profile);
      // A reset of the password may have come between, and removed the identities that it found.
      if (await hasNewPassword(users, found)) {
        await get(ExternalIdentities).remove(identity);
        throw loginFailed();
      }
      return { success: true, message: 'Login linked', data: { identity: toView(identity) } };
    },
  }),
  accountEndpoint({
    name: 'unlinkIdentity',
    route: 'DELETE identities/:id',
    status: 204,
    summary: 'Unlink a login at a provider',
    answers: {
      ...answers.unknown('Identity'),
      409: answers.failure('It is the last one of a user without a password.', 'One login at a provider must stay'),
    },
    async run({ get }, { id, user }) {
      if (!(await get(ExternalIdentities).unlink(String(user().id), id)))
        throw new NotFoundException(`Identity with id ${id} not found`);
    },
  }),
];

/**
 * Users log in at Google, GitHub, Entra, Keycloak or any issuer of OpenID Connect. Needs the tables of
 * `OneTimeToken` and `ExternalIdentity`.
 * @throws InvalidOptionError
 * @example
 * plugins: [
 *   oidc({
 *     providers: {
 *       google: {
 *         issuer: 'https://accounts.google.com',
 *         clientId: '1234.apps.googleusercontent.com',
 *         clientSecret: process.env['GOOGLE_SECRET'],
 *         redirectUris: ['https://shop.example/login/google'],
 *       },
 *     },
 *   }),
 * ]
 */
export function oidc(options: OidcOptions): AuthPlugin {
  const settings = readSettings(options);
  return {
    name: 'oidc',
    tables: [OneTimeToken, ExternalIdentity],
    providers: [{ provide: OIDC_SETTINGS, useValue: settings }, LoginFlows, ExternalIdentities, ExternalLogins],
    endpoints: ENDPOINTS,
    decidesBy: {
      register: settings.register,
      update: settings.update,
      ...Object.fromEntries([...settings.providers].map(([name, { verifiedClaim }]) => [name, verifiedClaim])),
    },
    // Each begin stores a row, and many users may share an address.
    limits: { externalLogin: ({ addressTries }) => ({ address: addressTries * 10 }) },
    setup(core) {
      if (settings.register !== false) core.needMethods('remove');
      if (settings.update) core.needMethods('list');
    },
    async accountChanged({ get }, change) {
      const { name, userId } = change;
      if (name !== 'user.created') await get(LoginFlows).removeAll(userId);
      await get(ExternalLogins).onAccountChange(change);
    },
    waysIn: ({ get }) => ({
      kind: 'identity',
      list: async (userId) => (await get(ExternalIdentities).listOf(userId)).map(toView),
      revoke: (userId, id) => get(ExternalIdentities).unlink(userId, id, true),
    }),
    describe: () => ({ schemas: [IDENTITY_SCHEMA] }),
  };
}
