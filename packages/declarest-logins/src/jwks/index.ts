/** declarest-logins/jwks: users by the access tokens of another issuer, for AccessModule and externalTokens. */
export { jwks } from './jwks.js';
export type { JwksOptions } from './jwks-options.js';
export type { ClaimPath, ClaimPaths, TokenPayload } from './token-claims.js';
