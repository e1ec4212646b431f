// The neighbours, the most downloaded first: one row each. `packages` are installed, `setup` does what the README of the
// neighbour says, and `works` checks over HTTP that it takes part. `reasons` documents checks that fail by its design.
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { Controller, Get, Inject } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE, HttpAdapterHost } from '@nestjs/core';

/** Decorators as functions, since these are plain modules: `decorated(class {…}, [Controller('x')], { list: [Get()] })`. */
function decorated(type, decorators, methods = {}) {
  for (const [name, all] of Object.entries(methods))
    for (const decorator of all) {
      Reflect.defineMetadata('design:paramtypes', [], type.prototype, name);
      decorator(type.prototype, name, Object.getOwnPropertyDescriptor(type.prototype, name));
    }
  for (const decorator of decorators) decorator(type);
  return type;
}
const plugin = (name, options) => async (app) => app.register((await import(name)).default, options);
const redis = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT ?? 6379) };

export const rows = [
  {
    name: 'OpenTelemetry auto-instrumentations',
    packages: {
      '@opentelemetry/sdk-node': '0.223.0',
      '@opentelemetry/api': '1.9.1',
      '@opentelemetry/instrumentation': '0.223.0',
      '@opentelemetry/auto-instrumentations-node': '0.81.2',
    },
    node: [
      '--experimental-loader=@opentelemetry/instrumentation/hook.mjs',
      '--import=@opentelemetry/auto-instrumentations-node/register',
    ],
    env: {
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_NODE_RESOURCE_DETECTORS: 'none',
    },
    works: async ({ printed, assert }) => assert.match(await printed(/traceId/), /traceId/),
  },
  {
    name: '@nestjs/config',
    packages: { '@nestjs/config': '12.0.1' },
    setup: async () => {
      const { ConfigModule } = await import('@nestjs/config');
      return { imports: [ConfigModule.forRoot({ isGlobal: true, load: [() => ({ shop: 'open' })] })] };
    },
  },
  {
    name: 'prom-client, @willsoto/nestjs-prometheus',
    packages: { 'prom-client': '15.1.3', '@willsoto/nestjs-prometheus': '6.1.1' },
    setup: async () => {
      const { PrometheusModule } = await import('@willsoto/nestjs-prometheus');
      return { imports: [PrometheusModule.register()], open: ['GET /metrics'] };
    },
    works: async ({ send, assert }) => assert.match((await send('GET /metrics')).text, /process_cpu/),
  },
  {
    name: '@nestjs/swagger',
    packages: { '@nestjs/swagger': '12.0.2' },
    setup: async () => {
      const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
      const configure = (app) =>
        SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, new DocumentBuilder().build()));
      return { configure, open: ['GET /docs-json'] };
    },
    works: async ({ send, assert }) => assert.ok((await send('GET /docs-json')).json.paths['/api/products/{id}']),
  },
  {
    name: '@nestjs/passport',
    packages: { '@nestjs/passport': '12.0.0', passport: '0.7.0', 'passport-custom': '1.1.1' },
    // A global guard that puts an administrator into `request.user` of every request.
    setup: async () => {
      const { AuthGuard, PassportStrategy } = await import('@nestjs/passport');
      const { Strategy } = createRequire(import.meta.url)('passport-custom');
      class AdminStrategy extends PassportStrategy(Strategy, 'admin') {
        validate = () => ({ id: 1, roles: ['ADMIN'] });
      }
      const providers = [
        { provide: 'strategy', useFactory: () => new AdminStrategy() },
        { provide: APP_GUARD, useClass: AuthGuard('admin') },
      ];
      return { providers };
    },
  },
  {
    name: '@nestjs/schedule',
    packages: { '@nestjs/schedule': '12.0.2' },
    setup: async () => {
      const { Interval, ScheduleModule } = await import('@nestjs/schedule');
      let count = 0;
      const Ticks = class Ticks {
        tick() {
          count++;
        }
        read() {
          return { count };
        }
      };
      decorated(Ticks, [Controller('ticks')], { tick: [Interval(5)], read: [Get()] });
      return { imports: [ScheduleModule.forRoot()], controllers: [Ticks], open: ['GET /ticks'] };
    },
    works: async ({ send, assert }) => assert.ok((await send('GET /ticks')).json.count > 0),
  },
  {
    name: '@nestjs/terminus',
    packages: { '@nestjs/terminus': '12.1.0' },
    setup: async () => {
      const { HealthCheckService, TerminusModule, TypeOrmHealthIndicator } = await import('@nestjs/terminus');
      class HealthController {
        constructor(health, database) {
          this.check = () => health.check([() => database.pingCheck('database')]);
        }
        read() {
          return this.check();
        }
      }
      Reflect.defineMetadata('design:paramtypes', [HealthCheckService, TypeOrmHealthIndicator], HealthController);
      decorated(HealthController, [Controller('health')], { read: [Get()] });
      return { imports: [TerminusModule], controllers: [HealthController], open: ['GET /health'] };
    },
    works: async ({ send, equal }) => equal((await send('GET /health')).json.status, 'ok'),
  },
  {
    name: '@nestjs/cache-manager',
    packages: { '@nestjs/cache-manager': '12.0.0', 'cache-manager': '7.2.9' },
    setup: async () => {
      const { CacheInterceptor, CacheModule } = await import('@nestjs/cache-manager');
      return {
        imports: [CacheModule.register({ isGlobal: true, ttl: 60_000 })],
        providers: [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor }],
        open: ['/cached'],
        controllers: [counter('cached')],
      };
    },
    works: async ({ send, equal }) => {
      await send('GET /cached');
      equal((await send('GET /cached')).json.count, 1);
    },
    reasons: {
      'gives hand-written routes the caller':
        'the interceptor keys its answers by URL only, so it gives one caller the answer of another on hand-written routes',
      'runs generated operations of a hand-written route as its caller': 'the same, on another hand-written route',
    },
  },
  {
    name: '@nestjs/throttler',
    packages: { '@nestjs/throttler': '6.7.1' },
    setup: async () => {
      const { ThrottlerGuard, ThrottlerModule } = await import('@nestjs/throttler');
      return {
        imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 1000 }])],
        providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
      };
    },
    works: async ({ send, equal }) => equal((await send('GET /api/products')).headers.get('x-ratelimit-limit'), '1000'),
  },
  {
    name: '@nestjs/websockets, socket.io',
    packages: { '@nestjs/websockets': '12.1.1', '@nestjs/platform-socket.io': '12.1.1' },
    setup: async () => {
      const { SubscribeMessage, WebSocketGateway } = await import('@nestjs/websockets');
      const Gateway = class Gateway {
        ping() {
          return 'pong';
        }
      };
      return { providers: [decorated(Gateway, [WebSocketGateway()], { ping: [SubscribeMessage('ping')] })] };
    },
    works: async ({ send, equal }) => equal((await send('GET /socket.io/?EIO=4&transport=polling')).status, 200),
  },
  {
    name: '@casl/ability',
    packages: { '@casl/ability': '7.0.1' },
    setup: async () => {
      const { AbilityBuilder, createMongoAbility } = await import('@casl/ability');
      class AbilityGuard {
        canActivate(context) {
          const { user } = context.switchToHttp().getRequest();
          const { can, build } = new AbilityBuilder(createMongoAbility);
          can('read', 'all');
          if (user) can('manage', 'all');
          return build().can(user ? 'manage' : 'read', 'all');
        }
      }
      return { providers: [{ provide: APP_GUARD, useClass: AbilityGuard }] };
    },
  },
  {
    name: 'nestjs-pino',
    packages: { 'nestjs-pino': '4.6.1', pino: '10.3.1', 'pino-http': '11.0.0' },
    setup: async () => {
      const { Logger, LoggerModule } = await import('nestjs-pino');
      return {
        imports: [LoggerModule.forRoot()],
        nestOptions: { bufferLogs: true },
        configure: (app) => app.useLogger(app.get(Logger)),
      };
    },
    works: async ({ printed, assert }) => {
      const log = await printed(/"url":"\/api\/products/);
      assert.match(log, /request completed/);
      assert.doesNotMatch(log, /correct horse battery/);
    },
  },
  {
    name: '@nestjs/event-emitter',
    packages: { '@nestjs/event-emitter': '12.0.1' },
    setup: async () => ({ imports: [(await import('@nestjs/event-emitter')).EventEmitterModule.forRoot()] }),
  },
  {
    name: '@nestjs/graphql, Apollo',
    packages: {
      '@nestjs/graphql': '14.0.3',
      '@nestjs/apollo': '14.0.3',
      '@apollo/server': '5.5.1',
      '@as-integrations/express5': '1.1.2',
      '@as-integrations/fastify': '3.1.0',
      graphql: '16.15.0',
    },
    setup: async () => {
      const { GraphQLModule, Query, Resolver } = await import('@nestjs/graphql');
      const { ApolloDriver } = await import('@nestjs/apollo');
      const Greetings = class Greetings {
        hello() {
          return 'hello';
        }
      };
      decorated(Greetings, [Resolver()], { hello: [Query(() => String)] });
      const module = GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true });
      return { imports: [module], providers: [Greetings], open: ['/graphql'] };
    },
    works: async ({ send, equal }) => {
      const hello = async (as) => (await send('POST /graphql', { as, json: { query: '{ hello }' } })).json.data?.hello;
      equal([await hello(), await hello('ann')], [undefined, 'hello']);
    },
  },
  {
    name: '@nestjs/bullmq',
    packages: { '@nestjs/bullmq': '12.0.0', bullmq: '6.7.0', ioredis: '5.11.1' },
    needsRedis: true,
    setup: async () => {
      const { BullModule, Processor, WorkerHost } = await import('@nestjs/bullmq');
      class Jobs extends WorkerHost {
        process = async () => 'done';
      }
      Processor('jobs')(Jobs);
      const imports = [BullModule.forRoot({ connection: redis }), BullModule.registerQueue({ name: 'jobs' })];
      return { imports, providers: [Jobs] };
    },
  },
  {
    name: 'nest-winston',
    packages: { 'nest-winston': '2.0.0', winston: '3.19.0' },
    setup: async () => {
      const { WinstonModule } = await import('nest-winston');
      const { default: winston } = await import('winston');
      return {
        nestOptions: { logger: WinstonModule.createLogger({ transports: [new winston.transports.Console()] }) },
      };
    },
    works: async ({ printed, assert }) => assert.match(await printed(/RouterExplorer/), /"level":"info"/),
  },
  {
    name: '@sentry/nestjs',
    packages: { '@sentry/nestjs': '11.0.0-rc.1' },
    setup: async () => {
      const sentry = await import('@sentry/nestjs');
      const { SentryGlobalFilter, SentryModule } = await import('@sentry/nestjs/setup');
      sentry.init({ dsn: 'http://key@127.0.0.1:9/1', tracesSampleRate: 1, transport: () => silent });
      const filter = (app) => app.useGlobalFilters(new SentryGlobalFilter(app.get(HttpAdapterHost).httpAdapter));
      return { imports: [SentryModule.forRoot()], configure: filter };
    },
  },
  {
    name: 'nestjs-cls',
    packages: { 'nestjs-cls': '7.0.0' },
    minNode: 22,
    setup: async () => {
      const { ClsModule } = await import('nestjs-cls');
      return { imports: [ClsModule.forRoot({ global: true, middleware: { mount: true, generateId: true } })] };
    },
  },
  {
    name: '@nestjs/serve-static',
    packages: { '@nestjs/serve-static': '12.0.0', '@fastify/static': '8.3.0' },
    setup: async () => {
      const { ServeStaticModule } = await import('@nestjs/serve-static');
      const rootPath = folder('static');
      writeFileSync(join(rootPath, 'secret.txt'), 'secret');
      return { imports: [ServeStaticModule.forRoot({ rootPath, serveRoot: '/admin/files' })] };
    },
    works: async ({ statuses, equal }) => equal(await statuses('GET /admin/files/secret.txt'), [401, 403, 200]),
  },
  {
    name: 'nestjs-zod',
    packages: { 'nestjs-zod': '5.5.0', zod: '4.6.7', '@nestjs/swagger': '12.0.2' },
    setup: async () => {
      const { ZodSerializerInterceptor, ZodValidationPipe } = await import('nestjs-zod');
      const providers = [
        { provide: APP_PIPE, useClass: ZodValidationPipe },
        { provide: APP_INTERCEPTOR, useClass: ZodSerializerInterceptor },
      ];
      return { providers };
    },
  },
  {
    name: '@nestjs/cqrs',
    packages: { '@nestjs/cqrs': '12.0.0' },
    setup: async () => ({ imports: [(await import('@nestjs/cqrs')).CqrsModule.forRoot()] }),
  },
  {
    name: 'nestjs-i18n',
    packages: { 'nestjs-i18n': '10.8.5' },
    minNode: 22,
    setup: async () => {
      const i18n = await import('nestjs-i18n');
      const { FailureMessages } = await import('declarest');
      const path = folder('i18n');
      for (const [language, required] of Object.entries({ en: 'is required', de: 'fehlt' })) {
        folder(`i18n/${language}`);
        writeFileSync(join(path, language, 'fields.json'), JSON.stringify({ 'is required': required }));
      }
      /** As docs/reference/errors.md says. */
      class Messages extends FailureMessages {
        translate(message) {
          const lang = i18n.I18nContext.current()?.lang;
          return message === 'is required' ? this.translations.t(`fields.${message}`, { lang }) : message;
        }
      }
      Inject(i18n.I18nService)(Messages.prototype, 'translations');
      const loaderOptions = { path, watch: false };
      const resolvers = [{ use: i18n.QueryResolver, options: ['lang'] }, i18n.AcceptLanguageResolver];
      const configure = (app) => {
        app.useGlobalPipes(new i18n.I18nValidationPipe());
        app.useGlobalFilters(new i18n.I18nValidationExceptionFilter());
      };
      const imports = [i18n.I18nModule.forRoot({ fallbackLanguage: 'en', loaderOptions, resolvers })];
      return { imports, providers: [Messages], configure };
    },
    works: async ({ send, equal }) => {
      for (const [language, message] of Object.entries({ de: 'fehlt', en: 'is required' })) {
        const headers = { 'accept-language': language };
        const { json } = await send('POST /api/products', { as: 'ann', json: { stock: 1 }, headers });
        equal(json.errors, [{ field: 'name', message }]);
      }
    },
  },
  {
    name: '@bull-board/nestjs',
    packages: {
      '@bull-board/nestjs': '9.10.2',
      '@bull-board/api': '9.10.2',
      '@bull-board/express': '9.10.1',
      '@bull-board/fastify': '9.10.1',
    },
    needsRedis: true,
    setup: async ({ platform }) => {
      const { BullModule } = await import('@nestjs/bullmq');
      const { BullBoardModule } = await import('@bull-board/nestjs');
      const adapters = { express: 'ExpressAdapter', fastify: 'FastifyAdapter' };
      const adapter = (await import(`@bull-board/${platform}`))[adapters[platform]];
      return {
        imports: [
          BullModule.forRoot({ connection: redis }),
          BullBoardModule.forRoot({ route: '/admin/queues', adapter }),
        ],
      };
    },
    works: async ({ statuses, equal }) => equal(await statuses('GET /admin/queues/api/queues'), [401, 403, 200]),
  },
  {
    name: 'typeorm-transactional',
    packages: { 'typeorm-transactional': '0.5.0' },
    setup: async () => {
      const { addTransactionalDataSource, initializeTransactionalContext } = await import('typeorm-transactional');
      const { DataSource } = await import('typeorm');
      initializeTransactionalContext();
      return { dataSourceFactory: async (options) => addTransactionalDataSource(new DataSource(options)) };
    },
  },
  {
    name: 'nestjs-ddtrace',
    packages: { 'nestjs-ddtrace': '6.0.0', 'dd-trace': '5.132.0' },
    node: ['--import=dd-trace/initialize.mjs'],
    env: { DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false', DD_REMOTE_CONFIGURATION_ENABLED: 'false' },
    setup: async () => {
      const { DatadogTraceModule } = createRequire(import.meta.url)('nestjs-ddtrace');
      return { imports: [DatadogTraceModule.forRoot({ controllers: true, providers: true })] };
    },
  },
  {
    name: '@nestjs-cls/transactional',
    packages: {
      'nestjs-cls': '7.0.0',
      '@nestjs-cls/transactional': '3.3.0',
      '@nestjs-cls/transactional-adapter-typeorm': '1.4.1',
    },
    minNode: 22,
    setup: async () => {
      const { ClsModule } = await import('nestjs-cls');
      const { ClsPluginTransactional } = await import('@nestjs-cls/transactional');
      const { TransactionalAdapterTypeOrm } = await import('@nestjs-cls/transactional-adapter-typeorm');
      const { getDataSourceToken, TypeOrmModule } = await import('@nestjs/typeorm');
      const adapter = new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() });
      const plugins = [new ClsPluginTransactional({ imports: [TypeOrmModule.forFeature([])], adapter })];
      return { imports: [ClsModule.forRoot({ global: true, middleware: { mount: true }, plugins })] };
    },
  },
  {
    name: 'nest-keycloak-connect',
    packages: { 'nest-keycloak-connect': '1.10.1', 'keycloak-connect': '26.1.1' },
    setup: async () => {
      const keycloak = createRequire(import.meta.url)('nest-keycloak-connect');
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const seconds = Math.floor(Date.now() / 1000);
      const tokenOf = (sub, roles) => {
        const iss = 'http://127.0.0.1:9/realms/shop';
        const claims = {
          iss,
          sub,
          typ: 'Bearer',
          iat: seconds,
          exp: seconds + 600,
          aud: 'shop',
          realm_access: { roles },
        };
        const text = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`;
        return {
          authorization: `Bearer ${text}.${sign('RSA-SHA256', Buffer.from(text), privateKey).toString('base64url')}`,
        };
      };
      const callers = {
        ann: tokenOf('ann', ['USER']),
        bob: tokenOf('bob', ['USER']),
        boss: tokenOf('boss', ['ADMIN']),
      };
      return {
        imports: [
          keycloak.KeycloakConnectModule.register({
            authServerUrl: 'http://127.0.0.1:9',
            realm: 'shop',
            clientId: 'shop',
            secret: 'secret',
            realmPublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
            tokenValidation: keycloak.TokenValidation.OFFLINE,
          }),
        ],
        providers: [{ provide: APP_GUARD, useClass: keycloak.AuthGuard }],
        onPublicRoutes: keycloak.Public(false),
        typeOfUserId: 'varchar',
        callers: async () => callers,
        // Keycloak's guard verifies the token too; here it is enough to know the callers.
        authenticate: ({ headers }) => {
          const name = Object.keys(callers).find((each) => callers[each].authorization === headers.authorization);
          return name && { id: name, roles: [name === 'boss' ? 'ADMIN' : 'USER'] };
        },
      };
    },
  },
  {
    name: '@thallesp/nestjs-better-auth',
    packages: { '@thallesp/nestjs-better-auth': '2.8.0', 'better-auth': '1.7.25' },
    minNode: 22,
    reasons: {
      'refuses a body that is not JSON in the envelope':
        'its own parser for Fastify throws an error without a status, which is 500 on hand-written routes too',
    },
    setup: async () => {
      const { AuthModule, OptionalAuth } = await import('@thallesp/nestjs-better-auth');
      const { betterAuth } = await import('better-auth');
      const { fromNodeHeaders } = await import('better-auth/node');
      const { memoryAdapter } = await import('better-auth/adapters/memory');
      const auth = betterAuth({
        basePath: '/auth',
        baseURL: 'http://127.0.0.1',
        secret: 'a secret of better-auth, long enough for it',
        database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
        emailAndPassword: { enabled: true },
        rateLimit: { enabled: false },
      });
      return {
        imports: [AuthModule.forRoot({ auth })],
        nestOptions: { bodyParser: false },
        open: ['/auth/**'],
        onPublicRoutes: OptionalAuth(),
        typeOfUserId: 'varchar',
        authenticate: async ({ headers }) => {
          const session = await auth.api.getSession({ headers: fromNodeHeaders(headers) });
          return session && { id: session.user.id, roles: [session.user.name === 'boss' ? 'ADMIN' : 'USER'] };
        },
        callers: async () => {
          const cookieOf = async (name) => {
            const body = { name, email: `${name}@shop.example`, password: 'correct horse battery' };
            const { headers } = await auth.api.signUpEmail({ body, asResponse: true });
            return [
              name,
              {
                cookie: headers
                  .getSetCookie()
                  .map((each) => each.split(';')[0])
                  .join('; '),
              },
            ];
          };
          return Object.fromEntries(await Promise.all(['ann', 'bob', 'boss'].map(cookieOf)));
        },
      };
    },
  },
  {
    name: '@nestjs/jwt',
    packages: { '@nestjs/jwt': '12.0.2' },
    setup: async () => {
      const { JwtModule } = await import('@nestjs/jwt');
      return {
        imports: [JwtModule.register({ global: true, secret: 'another secret', signOptions: { algorithm: 'HS512' } })],
      };
    },
  },
  {
    name: 'helmet, @fastify/helmet',
    packages: { helmet: '8.3.0', '@fastify/helmet': '13.2.0' },
    setup: async ({ platform }) => ({
      configure:
        platform === 'fastify' ? plugin('@fastify/helmet') : async (app) => app.use((await import('helmet')).default()),
    }),
    works: async ({ send, equal }) => {
      for (const path of ['/api/products', '/api/notes', '/nowhere'])
        equal((await send(`GET ${path}`)).headers.get('x-content-type-options'), 'nosniff');
    },
  },
  {
    name: 'compression, @fastify/compress',
    packages: { compression: '1.8.2', '@fastify/compress': '9.2.0' },
    setup: async ({ platform }) => ({
      configure:
        platform === 'fastify'
          ? plugin('@fastify/compress', { threshold: 0 })
          : async (app) => app.use((await import('compression')).default({ threshold: 0 })),
    }),
    works: async ({ send, equal }) => {
      const { headers } = await send('GET /api/products', { headers: { 'accept-encoding': 'gzip' } });
      equal(headers.get('content-encoding'), 'gzip');
    },
  },
];

/** In the folder of the installation. */
function folder(name) {
  mkdirSync(name, { recursive: true });
  return resolve(name);
}

/** A hand-written route that counts its calls. */
function counter(path) {
  let count = 0;
  const Counter = class Counter {
    read() {
      return { count: ++count };
    }
  };
  return decorated(Counter, [Controller(path)], { read: [Get()] });
}

/** Sends nothing. */
const silent = { send: async () => ({}), flush: async () => true };
