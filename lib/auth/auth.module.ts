import { ConfigurableModuleBuilder, Inject, Logger, Module, Optional } from '@nestjs/common';
import type { ConfigurableModuleAsyncOptions } from '@nestjs/common';
import type { BeforeApplicationShutdown, DynamicModule, NestModule, OnApplicationBootstrap } from '@nestjs/common';
import type { OnModuleInit, Provider } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule, ModuleRef } from '@nestjs/core';
import { DataSources } from '../database/connections.js';
import { expectKnownNames, InvalidOptionError } from '../options/invalid-option.js';
import { Application, applicationOf } from '../routes/application.js';
import { observersOf } from '../routes/failure-filter.js';
import { StartupFacts } from '../routes/startup-facts.js';
import { ADMIN_ROLE } from '../http/principal.js';
import { deferOnEveryRoute } from '../routes/unreadable-body.js';
import { installAccessMiddleware } from '../access/access-middleware.js';
import { Authenticator } from '../access/principal.js';
import { ACCESS_OPTIONS, AccessReport, AccessRules } from '../access/access-rules.js';
import { AccessDecision, SecurityRulesGuard } from '../access/security-rules.guard.js';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './options/auth.options.js';
import type { AuthOptions, AuthSettings, AuthStaticOptions } from './options/auth.options.js';
import type { AuthUser } from './users/auth-user.js';
import { Registration } from './accounts/user-field-rules.js';
import { ASYNC_NAMES, OPTION_NAMES, resolveAuthOptions, resolveStaticOptions } from './options/resolve-options.js';
import { SETTING_NAMES } from './options/resolve-options.js';
import { AuthEvents } from './users/auth-events.js';
import { AccountTables, tableProviders } from './users/account-tables.js';
import { describeEndpoints } from './plugins/endpoint-document.js';
import { AccountServices, endpointController } from './plugins/endpoint.js';
import { declaredFeatures } from './features.js';
import { Logins } from './accounts/logins.js';
import { UserAccounts } from './accounts/user-accounts.js';
import { Background } from './plugins/background.js';
import { AccountMails } from './links/account-mails.js';
import { mailerProvider } from './links/mailer.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { Attempts } from './throttle/attempts.js';
import { storageOf } from './throttle/throttle-storages.js';
import { Passwords } from './passwords/passwords.js';
import { BearerAuthenticator, Tokens } from './tokens/access-tokens.js';
import { userProviders } from './users/typeorm-user.repository.js';
import { UserRepository } from './users/user.repository.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<AuthSettings>().build();

export type AuthAsyncOptions<U extends AuthUser = AuthUser, C extends object = object> = AuthStaticOptions<U> &
  ConfigurableModuleAsyncOptions<AuthSettings<U, C>>;

/**
 * Users, tokens, and the global guard that applies the rules of every `SecurityConfig`. Import it once; its exports are
 * available in every module.
 * @example AuthModule.forRoot({ userClass: User, jwtSecret: process.env['JWT_SECRET'] })
 */
@Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: ACCESS_OPTIONS, useExisting: AUTH_OPTIONS },
    { provide: Application, inject: [ModuleRef], useFactory: applicationOf },
    Tokens,
    AuthEvents,
    Passwords,
    Background,
    AccountMails,
    Logins,
    {
      provide: PasswordPolicy,
      inject: [AUTH_OPTIONS],
      useFactory: ({ passwordPolicy }: ResolvedAuthOptions) => PasswordPolicy.load(passwordPolicy),
    },
    {
      provide: Attempts,
      inject: [AUTH_OPTIONS, AuthEvents, { token: AccountTables, optional: true }],
      useFactory: ({ throttle }: ResolvedAuthOptions, events: AuthEvents, tables?: AccountTables) =>
        new Attempts(throttle, storageOf(throttle, tables), events),
    },
    Registration,
    UserAccounts,
    AccountServices,
    AccessRules,
    AccessDecision,
    AccessReport,
    { provide: Authenticator, useClass: BearerAuthenticator },
    SecurityRulesGuard,
    { provide: APP_GUARD, useExisting: SecurityRulesGuard },
  ],
  exports: [UserAccounts, UserRepository, AuthEvents, SecurityRulesGuard, AccessReport, Authenticator],
})
export class AuthModule implements NestModule, OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private cleanup: NodeJS.Timeout | undefined;

  constructor(
    private readonly application: Application,
    private readonly decision: AccessDecision,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Optional() private readonly tables?: AccountTables,
  ) {
    application.whenAdapterIsReady(() => this.installMiddleware());
  }

  /** @throws InvalidOptionError */
  static forRoot<U extends AuthUser = AuthUser, C extends object = object>(options: AuthOptions<U, C>): DynamicModule {
    expectKnownNames('AuthModule options', options, OPTION_NAMES);
    const settings = Object.entries(options).filter(([name]) => SETTING_NAMES.includes(name));
    return defineModule(ConfigurableModuleClass.register(Object.fromEntries(settings)), options);
  }

  /**
   * Takes the options that decide about routes and providers here (`AuthStaticOptions`), and the others from a factory.
   * @example AuthModule.forRootAsync({ userClass: User, useFactory: () => ({ jwtSecret: readSecret() }) })
   * @throws InvalidOptionError
   */
  static forRootAsync<U extends AuthUser = AuthUser, C extends object = object>(
    options: AuthAsyncOptions<U, C>,
  ): DynamicModule {
    expectKnownNames('AuthModule.forRootAsync', options, ASYNC_NAMES);
    if (!options.useFactory && !options.useClass && !options.useExisting) {
      const advice = 'set a useFactory that returns the options, or use forRoot';
      const expected = 'useFactory, useClass or useExisting';
      throw new InvalidOptionError('AuthModule.forRootAsync', expected, 'none of them', advice);
    }
    const definition = ConfigurableModuleClass.registerAsync(options as ConfigurableModuleAsyncOptions<AuthSettings>);
    const { providers = [] } = definition;
    return defineModule(
      options.useFactory ? definition : { ...definition, providers: providers.map(checkFactory) },
      options,
    );
  }

  /** Nest calls it behind the body parser, before it binds middleware and registers routes. */
  configure(): void {
    const { application } = this;
    // A testing module that is compiled twice gets its second adapter after the constructor.
    this.installMiddleware();
    deferOnEveryRoute(application);
    application.beginRouting();
    if (application.probes) application.config.useGlobalGuards(application.probes.guard);
  }

  private installMiddleware(): void {
    this.application.once(installAccessMiddleware, this.decision);
    if (this.application.probes) this.application.once(this.application.probes.install);
  }

  /** Importing AuthModule twice would create two guards with different secrets. */
  onModuleInit(): void {
    const { length } = [...this.application.modules.values()].filter(({ metatype }) => metatype === AuthModule);
    if (length > 1) {
      const advice = 'keep one forRoot or forRootAsync: its exports are available in every module';
      throw new InvalidOptionError('AuthModule', 'imported once', `${length} imports`, advice);
    }
    observersOf(this.application);
    if (this.options.administration) this.application.stateOf(StartupFacts).optionRoles.add(ADMIN_ROLE);
  }

  /** @throws InvalidOptionError where the database lacks a table that an option needs */
  async onApplicationBootstrap(): Promise<void> {
    this.warnOfRepeatedPrefix();
    await this.application.stateOf(DataSources).checkLimits(this.options.strict);
    const { tables } = this;
    if (!tables) return;
    await tables.check();
    const removeExpired = (): void => void tables.removeExpired().catch(() => logger.warn(NOT_REMOVED));
    this.cleanup = setInterval(removeExpired, CLEANUP_MS).unref();
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.cleanup);
  }

  private warnOfRepeatedPrefix(): void {
    const { authBasePath } = this.options;
    const login = this.application.routeTable.routes.find(({ path }) => path.endsWith(`${authBasePath}/login`))?.path;
    const prefix = login?.slice(0, -`${authBasePath}/login`.length);
    if (prefix && `${authBasePath}/`.startsWith(`${prefix}/`))
      logger.warn(
        `authBasePath ${authBasePath} repeats the global prefix: login is at ${login}. Remove the prefix from authBasePath.`,
      );
  }
}

const logger = new Logger('AuthModule');
const CLEANUP_MS = 60 * 60 * 1000;
const NOT_REMOVED = 'Expired sessions and tokens could not be removed. The next attempt is in an hour.';

/** `create` may be a property of the instance, so that the class itself cannot be checked. */
function checkFactory(provider: Provider): Provider {
  if (!('useFactory' in provider) || provider.provide !== MODULE_OPTIONS_TOKEN) return provider;
  const useFactory = (factory: { readonly create?: unknown }): unknown => {
    if (typeof factory.create === 'function') return provider.useFactory(factory);
    const advice = 'add the method `create`, which returns the options';
    throw new InvalidOptionError('AuthModule.forRootAsync', 'given a class with a method `create`', 'none', advice);
  };
  return { ...provider, useFactory };
}

const DESCRIBED = Symbol('declarest.authDescribed');

function defineModule(definition: DynamicModule, options: AuthStaticOptions): DynamicModule {
  const statics = resolveStaticOptions(options);
  const { endpoints, providers, tables } = declaredFeatures(statics);
  const controller = endpointController(statics.authBasePath, endpoints);
  return {
    ...definition,
    module: AuthModule,
    global: true,
    controllers: [controller],
    providers: [
      mailerProvider(statics.mailer),
      ...tableProviders(tables),
      ...providers,
      ...(definition.providers ?? []),
      {
        provide: AUTH_OPTIONS,
        inject: [MODULE_OPTIONS_TOKEN],
        useFactory: (settings: AuthSettings) => resolveAuthOptions(settings, statics),
      },
      ...userProviders(statics),
      {
        provide: DESCRIBED,
        inject: [Registration, AUTH_OPTIONS],
        useFactory: (registration: Registration, resolved: ResolvedAuthOptions) =>
          describeEndpoints(controller, endpoints, registration, resolved),
      },
    ],
  };
}
