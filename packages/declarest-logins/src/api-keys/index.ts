/** declarest-logins/api-keys: keys with which programs act for a user. */
export { apiKeys } from './api-keys.plugin.js';
export { ApiKey } from './api-key.js';
