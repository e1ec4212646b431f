import { Inject, Logger, Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import type { ModuleMetadata, OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import { ACCESS_OPTIONS } from '../access/access-options.js';
import { AccessModule, APPLIED_GUARD } from '../access/access.module.js';
import { Credentials } from '../access/identity/authenticator.js';
import { ConnectionQueues } from '../database/connections.js';
import { CookieEndpoints } from '../http/cookies.js';
import { CallerRoles } from '../http/caller.js';
import { describe, expectKnownNames, InvalidOptionError } from '../options/invalid-option.js';
import { Application } from '../routes/application.js';
import { findFailureProviders } from '../routes/failure-filter.js';
import { accounts } from './accounts/account-endpoints.js';
import { Logins } from './accounts/logins.js';
import { UserAccounts } from './accounts/user-accounts.js';
import { UserFieldRules } from './accounts/user-field-rules.js';
import { administration } from './administration/administration.plugin.js';
import { signingKeys } from './signing-keys/signing-keys.plugin.js';
import { changeMails } from './links/change-mails.js';
import { mailedLinks } from './links/mailed-links.plugin.js';
import type { AuthOptions, AuthSettings, AuthStaticOptions } from './options/auth.options.js';
import { mailerProvider } from './options/mailer.js';
import { ASYNC_NAMES, OPTION_NAMES, resolveAuthOptions, resolveStaticOptions } from './options/resolve-options.js';
import { SETTING_NAMES, type DeclaringOptions, type ResolvedAuthOptions } from './options/resolve-options.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { Passwords } from './passwords/passwords.js';
import { AuthPlugins } from './plugins/auth-plugins.js';
import { Proofs } from './plugins/proofs.js';
import { Background } from './plugins/background.js';
import { AccountCredentials } from './plugins/account-credentials.js';
import { describeEndpoints } from './plugins/describe-endpoints.js';
import { endpointController } from './plugins/endpoint-controller.js';
import { AuthServices } from './plugins/auth-services.js';
import type { AuthPlugin } from './plugins/plugin.js';
import { sessions } from './sessions/sessions.plugin.js';
import { Attempts } from './throttle/attempts.js';
import type { ThrottleStorage } from './throttle/throttle-options.js';
import { storageProvider, THROTTLE_STORAGE, ThrottleCount } from './throttle/throttle-storages.js';
import { AccessTokens } from './tokens/access-tokens.js';
import { tableProviders } from './tables/account-tables.js';
import { OneTimeToken, OneTimeTokens } from './tables/one-time-tokens.js';
import { AuthEvents } from '../access/auth-events.js';
import type { AuthUser } from './users/auth-user.js';
import { AUTH_OPTIONS } from './users/options-token.js';
import { userProviders } from './users/typeorm-user.repository.js';
import { UserRepository } from './users/user.repository.js';

export type AuthAsyncOptions<U extends AuthUser = AuthUser, C extends object = object> = AuthStaticOptions<U> &
  Pick<ModuleMetadata, 'imports'> &
  Pick<FactoryProvider<AuthSettings<U, C>>, 'inject' | 'useFactory'>;

/**
 * Users, tokens, and the global guard that applies the rules of every `SecurityConfig`. Import it once; its exports are
 * available in every module.
 * @example AuthModule.forRoot({ userClass: User, jwtSecret: process.env['JWT_SECRET'] })
 */
@Module({
  imports: [AccessModule],
  providers: [
    { provide: ACCESS_OPTIONS, useExisting: AUTH_OPTIONS },
    AccessTokens,
    Passwords,
    Background,
    Logins,
    {
      provide: PasswordPolicy,
      inject: [AUTH_OPTIONS],
      useFactory: ({ passwordPolicy, passwordHasher }: ResolvedAuthOptions) =>
        PasswordPolicy.load(passwordPolicy, passwordHasher?.maxBytes),
    },
    {
      provide: Attempts,
      inject: [AUTH_OPTIONS, AuthEvents, THROTTLE_STORAGE],
      useFactory: ({ throttle, plugins }: ResolvedAuthOptions, events: AuthEvents, storage?: ThrottleStorage) =>
        new Attempts(throttle, storage, events, new Map(plugins.flatMap(({ limits = {} }) => Object.entries(limits)))),
    },
    UserFieldRules,
    UserAccounts,
    AuthServices,
    AuthPlugins,
    Proofs,
    { provide: Credentials, useClass: AccountCredentials },
    APPLIED_GUARD,
  ],
  exports: [UserAccounts, UserRepository, Logins, Attempts, Credentials, ACCESS_OPTIONS],
})
export class AuthModule implements OnModuleInit, OnApplicationBootstrap {
  constructor(
    private readonly application: Application,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const { keys, roles } = options.setup;
    const known = application.stateOf(CallerRoles);
    known.hasKeys = keys !== undefined;
    for (const role of [roles, options.registrationRole ?? []].flat()) known.ofOptions.add(role);
  }

  /** @throws InvalidOptionError */
  static forRoot<U extends AuthUser = AuthUser, C extends object = object>(options: AuthOptions<U, C>): DynamicModule {
    expectKnownNames('AuthModule options', options, OPTION_NAMES);
    const settings = Object.entries(options).filter(([name]) => SETTING_NAMES.includes(name));
    return defineModule({ ...options, useFactory: () => Object.fromEntries(settings) });
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
    const { useFactory } = options;
    if (typeof useFactory !== 'function') {
      const advice = 'set a useFactory that returns the options, or use forRoot';
      throw new InvalidOptionError('AuthModule.forRootAsync', 'given a useFactory', describe(useFactory), advice);
    }
    return defineModule(options as AuthAsyncOptions);
  }

  async onModuleInit(): Promise<void> {
    findFailureProviders(this.application);
    const { setup, authBasePath } = this.options;
    if (setup.readsCookies) this.application.stateOf(CookieEndpoints).basePath = `${authBasePath}/`;
    await this.application.stateOf(ConnectionQueues).checkLimits(this.options.strict);
  }

  onApplicationBootstrap(): void {
    this.warnOfUnverifiedFactors();
    this.warnOfRepeatedPrefix();
  }

  private warnOfUnverifiedFactors(): void {
    const { plugins, registration, loginField, setup } = this.options;
    const factor = plugins.find(({ proof }) => proof?.isFactor);
    if (factor && registration && loginField === 'email' && !setup.mailing)
      logger.warn(
        `The plugin ${factor.name} adds a second factor, and no e-mail address is verified: a stranger who registers with the address of somebody else keeps the account by a factor. Set \`passwordReset\` or \`requireVerified\`.`,
      );
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

const DESCRIBED = Symbol('declarest.authDescribed');

/** What each option declares. Nothing of it exists where the option is not set. */
function declarePlugins(options: DeclaringOptions): readonly AuthPlugin[] {
  const { registration, passwordReset: reset, requireVerified: required, throttle } = options;
  return [
    accounts(registration),
    ...(options.sessions === false ? [] : [sessions(options.sessions === true ? {} : options.sessions)]),
    ...(reset || required ? [mailedLinks({ reset, required })] : []),
    ...(options.administration ? [administration()] : []),
    ...(options.jwtKeys === undefined ? [] : [signingKeys(options.jwtKeys)]),
    ...(throttle?.storage === 'database' ? [{ name: 'throttle', tables: [ThrottleCount], decidesBy: {} }] : []),
    ...options.plugins,
    changeMails,
  ];
}

function defineModule({ imports = [], inject = [], useFactory, ...options }: AuthAsyncOptions): DynamicModule {
  const statics = resolveStaticOptions(options, declarePlugins);
  const { plugins } = statics;
  const tables = plugins.flatMap(({ name, option = name, tables: entities = [] }) =>
    entities.map((entity) => [entity, option] as const),
  );
  const controller = endpointController(statics.authBasePath, plugins, statics.setup.keys);
  return {
    module: AuthModule,
    global: true,
    imports,
    controllers: [controller],
    exports: plugins.flatMap(({ providers = [] }) => providers),
    providers: [
      mailerProvider(statics.mailer),
      storageProvider(statics.throttle),
      ...tableProviders(new Map(tables)),
      // A plugin that injects it without its table does not start.
      ...(tables.some(([entity]) => entity === OneTimeToken) ? [OneTimeTokens] : []),
      ...plugins.flatMap(({ providers = [] }) => providers),
      {
        provide: AUTH_OPTIONS,
        inject,
        useFactory: async (...injected: unknown[]) => resolveAuthOptions(await useFactory(...injected), statics),
      },
      ...userProviders(statics),
      {
        provide: DESCRIBED,
        inject: [Application, UserFieldRules, AUTH_OPTIONS],
        useFactory: (application: Application, { schemas, required }: UserFieldRules, resolved: ResolvedAuthOptions) =>
          describeEndpoints(application, controller, { ...resolved, schemas, required }),
      },
    ],
  };
}
