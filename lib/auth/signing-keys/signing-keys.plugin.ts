/** The public keys of `jwtKeys`, by which other services verify access tokens. */
import { jsonResponse, openObject, TEXT } from '../../documents/operation-document.js';
import { accountEndpoint, type AuthPlugin } from '../plugins/plugin.js';
import { resolveJwtKeys } from './jwt-keys.js';

const KEY = openObject({ kty: TEXT, kid: TEXT, alg: TEXT, use: TEXT });

/** The plugin of the option `jwtKeys`. @throws InvalidOptionError */
export function signingKeys(given: unknown): AuthPlugin {
  const keys = resolveJwtKeys(given);
  const keySet = { keys: keys.map(({ jwk }) => jwk) };
  const findTokenKeys = accountEndpoint({
    name: 'findTokenKeys',
    route: 'GET /.well-known/jwks.json',
    access: 'public',
    limit: false,
    summary: 'Get the public keys of access tokens',
    operationId: 'getJsonWebKeySet',
    answers: {
      200: jsonResponse('The key set (RFC 7517)', openObject({ keys: { type: 'array', items: KEY } })),
    },
    run({ setHeaders }, { request }) {
      setHeaders(request, { 'Cache-Control': 'public, max-age=300' });
      return keySet;
    },
  });
  return { name: 'jwtKeys', decidesBy: {}, endpoints: [findTokenKeys], setup: (core) => core.signBy(keys) };
}
