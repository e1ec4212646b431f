/** Applies the rules of every `SecurityConfig` to the users of AuthModule or of AccessModule. */
import { Global, Module, type NestModule, type OnModuleInit } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, DiscoveryModule, ModuleRef } from '@nestjs/core';
import { InvalidOptionError } from '../options/invalid-option.js';
import { ProblemFilter } from '../problem-details/problem-details.js';
import { Application, applicationOf, AppliedRules } from '../routes/application.js';
import { idleConnections } from '../routes/idle-connections.js';
import { deferOnEveryRoute } from '../routes/unreadable-body.js';
import { installRequestContext } from '../routes/request-middleware.js';
import { installAccessMiddleware } from './access-middleware.js';
import { AccessReport, AccessRules } from './access-rules.js';
import { Authenticator } from './principal.js';
import { RequestContextInterceptor } from './request-context.interceptor.js';
import { AccessDecision, SecurityRulesGuard } from './security-rules.guard.js';

/** The module that imports it is global, and exports `Authenticator` and `ACCESS_OPTIONS`. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: Application, inject: [ModuleRef], useFactory: applicationOf },
    AccessRules,
    { provide: AppliedRules, useExisting: AccessRules },
    AccessDecision,
    AccessReport,
    SecurityRulesGuard,
    idleConnections,
    { provide: APP_GUARD, useExisting: SecurityRulesGuard },
    { provide: APP_INTERCEPTOR, useClass: RequestContextInterceptor },
    { provide: APP_FILTER, useClass: ProblemFilter },
  ],
  exports: [Application, AccessRules, AccessReport, SecurityRulesGuard],
})
export class RulesModule implements NestModule, OnModuleInit {
  constructor(
    private readonly application: Application,
    private readonly decision: AccessDecision,
  ) {
    application.whenAdapterIsReady(() => {
      application.once(installRequestContext);
      application.once(installAccessMiddleware, decision);
    });
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

  /** Two imports would create two authenticators, such as with different secrets. */
  onModuleInit(): void {
    const importing = [...this.application.modules.values()].filter(({ providers }) => providers.has(Authenticator));
    if (importing.length < 2) return;
    const names = new Set(importing.map(({ metatype }) => metatype.name));
    const advice = 'keep one forRoot or forRootAsync: its exports are available in every module';
    throw new InvalidOptionError([...names].join(' and '), 'imported once', `${importing.length} imports`, advice);
  }
}
