import {
  Inject,
  Logger,
  Module,
  type ConfigurableModuleAsyncOptions,
  type DynamicModule,
  type NestModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { APP_GUARD, DiscoveryModule, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import { expectKnownNames, InvalidOptionError } from '../options/invalid-option.js';
import { RouteTable } from '../routes/route-table.js';
import { deferUnreadableBodies, UnreadableBodyGuard } from '../routes/unreadable-body.js';
import { AccessDecision } from '../access/access-decision.js';
import { AccessMiddleware } from '../access/access-middleware.js';
import { AccessReport } from '../access/access-report.js';
import { Authenticator } from '../access/principal.js';
import { ACCESS_OPTIONS, AccessRules } from '../access/access-rules.js';
import { SecurityRulesGuard } from '../access/security-rules.guard.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './auth.module-definition.js';
import {
  AUTH_OPTIONS,
  AUTH_STATIC_OPTIONS,
  type AuthOptions,
  type AuthSettings,
  type AuthStaticOptions,
  type ResolvedStaticOptions,
} from './auth.options.js';
import { ASYNC_NAMES, OPTION_NAMES, resolveAuthOptions } from './resolve-options.js';
import { BearerAuthenticator } from './bearer-authenticator.js';
import { Login } from './login.js';
import { Passwords } from './passwords.js';
import { Registration } from './registration.js';
import { Tokens } from './tokens.js';
import { UserAccounts } from './user-accounts.js';
import { UserRepository } from './user.repository.js';

/** What cannot wait for a factory, and the factory of the rest. */
export type AuthAsyncOptions = AuthStaticOptions & ConfigurableModuleAsyncOptions<AuthSettings>;

/** Users and tokens, and the guard that applies the rules of every `SecurityConfig` to every route. Import it once. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: AUTH_OPTIONS, useFactory: resolveAuthOptions, inject: [MODULE_OPTIONS_TOKEN, AUTH_STATIC_OPTIONS] },
    { provide: ACCESS_OPTIONS, useExisting: AUTH_OPTIONS },
    Tokens,
    Passwords,
    Login,
    Registration,
    UserAccounts,
    AccessRules,
    AccessDecision,
    AccessMiddleware,
    AccessReport,
    { provide: Authenticator, useClass: BearerAuthenticator },
    SecurityRulesGuard,
    // In this order: a refusal comes before an error about the body.
    { provide: APP_GUARD, useExisting: SecurityRulesGuard },
    { provide: APP_GUARD, useClass: UnreadableBodyGuard },
  ],
  exports: [UserAccounts, UserRepository, SecurityRulesGuard, AccessReport],
})
export class AuthModule implements NestModule, OnModuleInit, OnApplicationBootstrap {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly modules: ModulesContainer,
    private readonly middleware: AccessMiddleware,
    @Inject(AUTH_STATIC_OPTIONS) private readonly options: ResolvedStaticOptions,
  ) {}

  /** @throws InvalidOptionError */
  static forRoot(options: AuthOptions): DynamicModule {
    expectKnownNames('AuthModule options', options, OPTION_NAMES);
    return { ...ConfigurableModuleClass.forRoot(options), module: AuthModule };
  }

  /**
   * With a factory for what is not static; `userClass`, `repositoryClass`, `authBasePath` and `registration` are given here.
   *
   * @throws InvalidOptionError
   */
  static forRootAsync(options: AuthAsyncOptions): DynamicModule {
    expectKnownNames('AuthModule.forRootAsync', options, ASYNC_NAMES);
    if (!options.useFactory && !options.useClass && !options.useExisting)
      throw new InvalidOptionError(
        'AuthModule.forRootAsync',
        'useFactory, useClass or useExisting',
        'none of them',
        'give a useFactory that returns the options, or use forRoot',
      );
    return { ...ConfigurableModuleClass.forRootAsync(options), module: AuthModule };
  }

  /** Nest calls it behind the body parser, before it binds middleware and registers routes. */
  configure(): void {
    const { httpAdapter } = this.host;
    this.middleware.install(httpAdapter);
    deferUnreadableBodies(httpAdapter, 'every route');
    RouteTable.of(httpAdapter).beginRouting(this.modules);
  }

  /** Importing AuthModule twice would create two guards with different secrets. */
  onModuleInit(): void {
    const { length } = [...this.modules.values()].filter(({ metatype }) => metatype === AuthModule);
    if (length > 1)
      throw new InvalidOptionError(
        'AuthModule',
        'to be imported once',
        `${length} of it`,
        'keep one forRoot or forRootAsync: what it exports is there for every module',
      );
  }

  onApplicationBootstrap(): void {
    const { authBasePath } = this.options;
    const login = RouteTable.of(this.host.httpAdapter).routes.find(({ path }) =>
      path.endsWith(`${authBasePath}/login`),
    );
    const prefix = login?.path.slice(0, -`${authBasePath}/login`.length) ?? '';
    if (prefix !== '' && `${authBasePath}/`.startsWith(`${prefix}/`))
      new Logger('AuthModule').warn(
        `authBasePath ${authBasePath} repeats the global prefix: the endpoints stand at ${prefix}${authBasePath}. Leave the prefix out of it.`,
      );
  }
}
