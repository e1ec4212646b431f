/** declarest-logins/oidc: logins at providers such as Google, GitHub, Entra and Keycloak. */
export { oidc } from './oidc.plugin.js';
export type { ExternalProfile, ExternalUserFields, OidcOptions, OidcProvider } from './oidc-options.js';
export { ExternalIdentity } from './oidc-tables.js';
