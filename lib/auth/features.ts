/** What each option adds to the module: routes, providers and tables. Nothing of it exists where the option is not set. */
import type { Provider, Type } from '@nestjs/common';
import type { NeededTable } from './account-tables.js';
import type { ResolvedStaticOptions } from './auth.options.js';
import { AuthSession } from './sessions/auth-session.js';
import { RefreshTokens } from './sessions/refresh-tokens.js';
import { SessionChecks } from './sessions/session-checks.js';
import { sessionController } from './sessions/session.controller.js';
import { SessionStore } from './sessions/session-store.js';
import { Sessions } from './sessions/sessions.js';

export interface AuthFeature {
  readonly isDeclared: (options: ResolvedStaticOptions) => boolean;
  /** A function makes each, because routes are metadata of the class. */
  readonly controllers: readonly ((options: ResolvedStaticOptions) => Type<unknown>)[];
  readonly providers: readonly Provider[];
  readonly tables: readonly NeededTable[];
}

export const FEATURES: readonly AuthFeature[] = [
  {
    isDeclared: ({ sessions }) => sessions !== undefined,
    controllers: [sessionController],
    providers: [SessionStore, RefreshTokens, SessionChecks, Sessions],
    tables: [{ entity: AuthSession, option: 'sessions' }],
  },
];
