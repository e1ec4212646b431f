import type { AuthPlugin } from '../plugins/plugin.js';
import { lookUp } from '../plugins/bearer-authenticator.js';
import { limitByAddress } from '../throttle/attempt.js';
import { AuthSession } from './auth-session.js';
import { PROFILE_ENDPOINTS } from './profile-endpoints.js';
import { RefreshTokens } from './refresh-tokens.js';
import { SessionChecks } from './session-checks.js';
import { SESSION_ENDPOINTS, SESSION_SCHEMA, SESSION_TOKENS } from './session-endpoints.js';
import { resolveSessions, SESSION_SETTINGS, type SessionOptions } from '../options/session-options.js';
import { SessionStore } from './session-store.js';
import { Sessions } from './sessions.js';

/**
 * Short access tokens with refresh tokens, logout, a list of sessions, and changes of the own password and profile. The
 * option `sessions` is its short form.
 * @throws InvalidOptionError
 * @example plugins: [sessions({ accessTokenMinutes: 5 })]
 */
export function sessions(options: SessionOptions = {}): AuthPlugin {
  const settings = resolveSessions(options);
  return {
    name: 'sessions',
    tables: [AuthSession],
    providers: [
      { provide: SESSION_SETTINGS, useValue: settings },
      SessionStore,
      RefreshTokens,
      ...(settings.isImmediate ? [SessionChecks] : []),
      Sessions,
    ],
    endpoints: [...SESSION_ENDPOINTS, ...PROFILE_ENDPOINTS],
    limits: {
      // The token is authentic, so failures of other clients at the address do not count.
      refresh: ({ tries }) => ({ pair: tries }),
      forgedRefresh: limitByAddress,
    },
    needsMethods: ['remove'],
    accessTokens: { seconds: settings.accessTokenSeconds, option: 'sessions.accessTokenMinutes' },
    issue: ({ get }, user, context) => get(Sessions).start(user, context),
    accountChanged: ({ get }, change) => get(Sessions).follow(change),
    describe: () => ({ members: SESSION_TOKENS, schemas: [SESSION_SCHEMA] }),
    ...(settings.isImmediate && {
      authenticate: ({ get }, _request, bearer) =>
        bearer.principal && lookUp('The session of a token', () => get(SessionChecks).confirm(bearer)),
    }),
  };
}
