/** Access rules for users of any origin. AuthModule is this module, and accounts. */
import { Global, Module, type DynamicModule, type NestModule, type OnModuleInit } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule, ModuleRef } from '@nestjs/core';
import { expectKnownNames, InvalidOptionError } from '../options/invalid-option.js';
import { readOptions, refuserOf } from '../options/option-table.js';
import { ProblemFilter } from '../problem-details/problem-details.js';
import { Application, applicationOf, AppliedRules } from '../routes/application.js';
import { installRequestContext } from '../routes/request-middleware.js';
import { deferOnEveryRoute } from '../routes/unreadable-body.js';
import { ShutdownModule } from '../shutdown/shutdown.module.js';
import { installAccessMiddleware } from './access-middleware.js';
import { ACCESS_OPTIONS, ACCESS_SETTINGS, type AccessSettings } from './access-options.js';
import { AccessReport, AccessRules } from './access-rules.js';
import { AuthEvents } from './auth-events.js';
import { Authenticator, Credentials } from './identity/authenticator.js';
import { IdentifyingGuard, SourceReader, sourceReaderProvider } from './identity/source-reader.js';
import { sourceOf, type AuthenticateOption } from './identity/user-source.js';
import { RefusalEvents } from './refusal-events.js';
import { RequestContextInterceptor } from './identity/handled-request.js';
import { AccessDecision, SecurityRulesGuard } from './security-rules.guard.js';

export interface AccessModuleOptions extends AccessSettings {
  /** Who sends a request: a function, an injectable class, `jwks(…)`, or `fromRequest(…)`. */
  authenticate: AuthenticateOption;
}

/** Behind the guard that identifies users, where there is one. */
export const APPLIED_GUARD = { provide: APP_GUARD, useExisting: SecurityRulesGuard };

/**
 * The rules of every `SecurityConfig`, decorators, scopes, owners and `CurrentUser`, for users of another login: a server
 * such as Keycloak, passport, better-auth, or a gateway. It takes the place of `AuthModule`. Import it once.
 * @example AccessModule.forRoot({ authenticate: jwks({ issuer: 'https://login.example', audience: 'shop' }) })
 */
@Global()
@Module({
  imports: [DiscoveryModule, ShutdownModule],
  providers: [
    { provide: Application, inject: [ModuleRef], useFactory: applicationOf },
    AuthEvents,
    RefusalEvents,
    Authenticator,
    AccessRules,
    { provide: AppliedRules, useExisting: AccessRules },
    AccessDecision,
    AccessReport,
    SecurityRulesGuard,
    { provide: APP_INTERCEPTOR, useClass: RequestContextInterceptor },
    { provide: APP_FILTER, useClass: ProblemFilter },
  ],
  exports: [Application, AccessRules, AccessReport, SecurityRulesGuard, Authenticator, AuthEvents],
})
export class AccessModule implements NestModule, OnModuleInit {
  constructor(
    private readonly application: Application,
    private readonly decision: AccessDecision,
  ) {
    application.whenAdapterIsReady(() => {
      application.once(installRequestContext);
      application.once(installAccessMiddleware, decision);
    });
  }

  /** @throws InvalidOptionError */
  static forRoot(options: AccessModuleOptions): DynamicModule {
    expectKnownNames('AccessModule options', options, ['authenticate', ...Object.keys(ACCESS_SETTINGS)]);
    const settings = readOptions(ACCESS_SETTINGS, options, refuserOf('AccessModule'));
    const source = sourceOf('AccessModule option `authenticate`', options.authenticate);
    const credentials = (reader: SourceReader): Credentials => ({
      readers: [reader],
      reload: (known) => Promise.resolve(known),
    });
    return {
      module: AccessModule,
      providers: [
        { provide: ACCESS_OPTIONS, useValue: Object.freeze(settings) },
        sourceReaderProvider(SourceReader, source),
        { provide: Credentials, inject: [SourceReader], useFactory: credentials },
        ...(source.inGuard ? [{ provide: APP_GUARD, useClass: IdentifyingGuard }] : []),
        APPLIED_GUARD,
      ],
      exports: [ACCESS_OPTIONS],
    };
  }

  /** Nest calls it behind the body parser, before it binds middleware and registers routes. */
  configure(): void {
    const { application } = this;
    // A testing module that is compiled twice gets its second adapter after the constructor.
    application.once(installRequestContext);
    application.once(installAccessMiddleware, this.decision);
    deferOnEveryRoute(application);
    application.beginRouting();
    const { probes } = this.decision;
    if (probes) application.config.useGlobalGuards(probes.guard);
  }

  /** Two imports would identify users in two ways, such as with different secrets. */
  onModuleInit(): void {
    const importing = [...this.application.modules.values()].filter(({ providers }) => providers.has(Credentials));
    if (importing.length < 2) return;
    const names = new Set(importing.map(({ metatype }) => metatype.name));
    const advice = 'keep one forRoot or forRootAsync: its exports are available in every module';
    throw new InvalidOptionError([...names].join(' and '), 'imported once', `${importing.length} imports`, advice);
  }
}
