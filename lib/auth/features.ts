/** What each option adds to the module: routes, providers and tables. Nothing of it exists where the option is not set. */
import type { Provider, Type } from '@nestjs/common';
import type { NeededTable } from './account-tables.js';
import { administrationController } from './administration/administration.controller.js';
import { profileController } from './administration/profile.controller.js';
import type { ResolvedStaticOptions } from './auth.options.js';
import { AccountToken } from './passwords/account-token.js';
import { AccountTokens } from './passwords/account-tokens.js';
import { resetController, verificationController } from './passwords/link.controllers.js';
import { MailedLinks } from './passwords/mailed-links.js';
import { VerifiedEmail } from './passwords/verified-email.js';
import { AuthSession } from './sessions/auth-session.js';
import { RefreshTokens } from './sessions/refresh-tokens.js';
import { SessionChecks } from './sessions/session-checks.js';
import { sessionController } from './sessions/session.controller.js';
import { SessionStore } from './sessions/session-store.js';
import { Sessions } from './sessions/sessions.js';
import { ThrottleCount } from './throttle/throttle-count.js';

export interface AuthFeature {
  readonly isDeclared: (options: ResolvedStaticOptions) => boolean;
  /** A function makes each, because routes are metadata of the class. */
  readonly controllers?: readonly ((options: ResolvedStaticOptions) => Type<unknown>)[];
  readonly providers?: readonly Provider[];
  readonly tables?: readonly NeededTable[];
}

export const FEATURES: readonly AuthFeature[] = [
  {
    isDeclared: ({ sessions }) => sessions !== undefined,
    controllers: [sessionController, profileController],
    providers: [SessionStore, RefreshTokens, SessionChecks, Sessions],
    tables: [{ entity: AuthSession, option: 'sessions' }],
  },
  {
    isDeclared: ({ passwordReset, requireVerified }) => passwordReset || requireVerified,
    controllers: [verificationController],
    providers: [AccountTokens, MailedLinks],
    tables: [
      { entity: AccountToken, option: 'passwordReset` or `requireVerified' },
      { entity: VerifiedEmail, option: 'passwordReset` or `requireVerified' },
    ],
  },
  { isDeclared: ({ passwordReset }) => passwordReset, controllers: [resetController] },
  { isDeclared: ({ administration }) => administration, controllers: [administrationController] },
  {
    isDeclared: ({ throttle }) => throttle?.storage === 'database',
    tables: [{ entity: ThrottleCount, option: 'throttle' }],
  },
];
