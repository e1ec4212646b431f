/** Access rules for users of any origin, without AuthModule. */
import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ACCESS_OPTIONS, ACCESS_SETTINGS, type AccessSettings } from '../access/access-options.js';
import { Authenticator } from '../access/principal.js';
import { RulesModule } from '../access/rules.module.js';
import { RefusalObserver } from '../access/security-rules.guard.js';
import { RefusalEvents } from '../auth/refusals/refusal-events.js';
import { AuthEvents } from '../auth/users/auth-events.js';
import { expectKnownNames } from '../options/invalid-option.js';
import { readOptions, refuserOf } from '../options/option-table.js';
import { authenticatorProvider, IdentifyingGuard } from './source-authenticator.js';
import { sourceOf, type AuthenticateOption } from './user-source.js';

export interface AccessModuleOptions extends AccessSettings {
  /** Who sends a request: a function, an injectable class, `jwks(…)`, or `fromRequest(…)`. */
  authenticate: AuthenticateOption;
}

/**
 * The rules of every `SecurityConfig`, decorators, scopes, owners and `CurrentUser`, for users of another login: a server
 * such as Keycloak, passport, better-auth, or a gateway. It takes the place of `AuthModule`. Import it once.
 * @example AccessModule.forRoot({ authenticate: jwks({ issuer: 'https://login.example', audience: 'shop' }) })
 */
@Module({ imports: [RulesModule] })
export class AccessModule {
  /** @throws InvalidOptionError */
  static forRoot(options: AccessModuleOptions): DynamicModule {
    expectKnownNames('AccessModule options', options, ['authenticate', ...Object.keys(ACCESS_SETTINGS)]);
    const settings = readOptions(ACCESS_SETTINGS, options, refuserOf('AccessModule'));
    const source = sourceOf('AccessModule option `authenticate`', options.authenticate);
    return {
      module: AccessModule,
      global: true,
      providers: [
        { provide: ACCESS_OPTIONS, useValue: Object.freeze(settings) },
        authenticatorProvider(Authenticator, source),
        AuthEvents,
        { provide: RefusalObserver, useClass: RefusalEvents },
        ...(source.inGuard ? [{ provide: APP_GUARD, useClass: IdentifyingGuard }] : []),
      ],
      exports: [ACCESS_OPTIONS, Authenticator, AuthEvents, RefusalObserver],
    };
  }
}
