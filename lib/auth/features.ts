/** What each option adds to the module: endpoints, providers and tables. Nothing of it exists where the option is not set. */
import type { Provider } from '@nestjs/common';
import type { NeededTable } from './users/account-tables.js';
import type { ResolvedStaticOptions } from './options/auth.options.js';
import { ADMINISTRATION_ENDPOINTS } from './administration/administration-endpoints.js';
import type { Endpoint } from './plugins/endpoint.js';
import { RESET_ENDPOINTS, VERIFICATION_ENDPOINTS } from './links/link-endpoints.js';
import { LOGIN_ENDPOINTS } from './accounts/login-endpoints.js';
import { PROFILE_ENDPOINTS } from './sessions/profile-endpoints.js';
import { SESSION_ENDPOINTS } from './sessions/session-endpoints.js';
import { AccountToken, VerifiedEmail } from './links/account-token.js';
import { AccountTokens } from './links/mailed-tokens.js';
import { MailedLinks } from './links/mailed-links.js';
import { AuthSession } from './sessions/auth-session.js';
import { RefreshTokens } from './sessions/refresh-tokens.js';
import { SessionChecks } from './sessions/session-checks.js';
import { SessionStore } from './sessions/session-store.js';
import { Sessions } from './sessions/sessions.js';
import { ThrottleCount } from './throttle/throttle-storages.js';

interface AuthFeature {
  readonly isDeclared: (options: ResolvedStaticOptions) => boolean;
  readonly endpoints?: readonly Endpoint[];
  readonly providers?: readonly Provider[];
  readonly tables?: readonly NeededTable[];
}

const FEATURES: readonly AuthFeature[] = [
  { isDeclared: () => true, endpoints: LOGIN_ENDPOINTS },
  {
    isDeclared: ({ sessions }) => sessions !== undefined,
    endpoints: [...SESSION_ENDPOINTS, ...PROFILE_ENDPOINTS],
    providers: [SessionStore, RefreshTokens, SessionChecks, Sessions],
    tables: [{ entity: AuthSession, option: 'sessions' }],
  },
  {
    isDeclared: ({ passwordReset, requireVerified }) => passwordReset || requireVerified,
    endpoints: VERIFICATION_ENDPOINTS,
    providers: [AccountTokens, MailedLinks],
    tables: [
      { entity: AccountToken, option: 'passwordReset` or `requireVerified' },
      { entity: VerifiedEmail, option: 'passwordReset` or `requireVerified' },
    ],
  },
  { isDeclared: ({ passwordReset }) => passwordReset, endpoints: RESET_ENDPOINTS },
  { isDeclared: ({ administration }) => administration, endpoints: ADMINISTRATION_ENDPOINTS },
  {
    isDeclared: ({ throttle }) => throttle?.storage === 'database',
    tables: [{ entity: ThrottleCount, option: 'throttle' }],
  },
];

export function declaredFeatures(options: ResolvedStaticOptions) {
  const declared = FEATURES.filter(({ isDeclared }) => isDeclared(options));
  return {
    endpoints: declared
      .flatMap(({ endpoints = [] }) => endpoints)
      .filter((endpoint) => endpoint.isDeclared?.(options) ?? true),
    providers: declared.flatMap(({ providers = [] }) => providers),
    tables: declared.flatMap(({ tables = [] }) => tables),
  };
}
