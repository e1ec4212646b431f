/** Tokens of another issuer beside those of AuthModule: each stands for a stored user, whom the application names. */
import { sourceReaderProvider, type SourceReader } from '../../access/identity/source-reader.js';
import { sourceOf, tokenSourceOf, type AuthenticateOption } from '../../access/identity/user-source.js';
import type { Principal } from '../../http/caller.js';
import { describe, expectKnownNames, InvalidOptionError } from '../../options/invalid-option.js';
import { isFunction } from '../../options/option-table.js';
import type { AuthUser } from '../users/auth-user.js';
import type { AuthServices } from './auth-services.js';
import type { AuthPlugin } from './plugin.js';

export interface ExternalTokensOptions {
  /** Who sends a bearer token that `AuthModule` has not signed: such as `jwks(…)`. */
  readonly authenticate: AuthenticateOption;
  /**
   * The stored user for whom the token stands; nothing for a token that is not accepted. Ids of another issuer are not those of
   * your users: look them up where you have linked them.
   */
  readonly userOf: (
    external: Principal,
    services: AuthServices,
  ) => Promise<AuthUser | null | undefined> | AuthUser | null | undefined;
}

const OPTION = 'externalTokens option `authenticate`';
const ADVICE = 'set a function that returns the stored user';

/**
 * Accepts bearer tokens of another issuer beside those of `AuthModule`. A request has the stored user, with the stored role.
 * @throws InvalidOptionError
 * @example
 * plugins: [
 *   externalTokens({
 *     authenticate: jwks({ issuer: 'https://login.example', audience: 'shop' }),
 *     userOf: async ({ id }, { get, users }) => users.findById(await get(Links).userIdOf(id)),
 *   }),
 * ]
 */
export function externalTokens(options: ExternalTokensOptions): AuthPlugin {
  expectKnownNames('The options of externalTokens', options, ['authenticate', 'userOf']);
  const { authenticate, userOf } = options;
  const source = sourceOf(OPTION, authenticate);
  if ([authenticate].flat().some((each) => tokenSourceOf(OPTION, each).credential))
    throw new InvalidOptionError(OPTION, 'a source of bearer tokens', 'one with `credential`', 'remove that option');
  if (!isFunction(userOf))
    throw new InvalidOptionError('externalTokens option `userOf`', 'a function', describe(userOf), ADVICE);
  const reader = Symbol('declarest.externalTokens');
  const identify: NonNullable<AuthPlugin['authenticate']> = async (services, request, bearer) => {
    const found = (await services.get<SourceReader>(reader).read(request, bearer)) ?? bearer;
    const user = found.principal && (await userOf(found.principal, services));
    if (!user) return { ...bearer, ...(found.failure && { failure: found.failure }) };
    return { ...bearer, principal: { id: user.id, email: user.email ?? '', roles: [user.role] } };
  };
  return {
    name: 'externalTokens',
    decidesBy: { ...(source.decidesBy ?? { source: source.start }), userOf },
    providers: [sourceReaderProvider(reader, source)],
    authenticate: (services, request, bearer) =>
      bearer.bearerWasSent && !bearer.principal ? identify(services, request, bearer) : undefined,
  };
}
