/** declarest-logins/administration: what lets other users in, for administrators. */
export { waysIn } from './ways-in.plugin.js';
