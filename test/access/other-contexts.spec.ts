/** Handlers that HTTP rules do not reach: gateways, GraphQL resolvers and microservices. */
import { type AddressInfo, createServer } from 'node:net';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Context,
  Field,
  GraphQLModule,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { ClientProxyFactory, EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Authenticated, CurrentUser, type Principal, Public, Roles, UserAccounts } from 'declarest';
import { createClient } from 'graphql-ws';
import { firstValueFrom } from 'rxjs';
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import { WebSocket } from 'ws';
import { request } from '../harness/client.js';
import { bootError, linesOf, type Platform, PLATFORMS, type RunningApp } from '../harness/platforms.js';
import { PASSWORD } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';
import { type Declare, ruledModule, type RuledParts, startRuled, TOKENS, type Who } from './ruled-app.js';

/** WebSocket gateways: decorators decide, and the token comes from the handshake of socket.io. */
describe('WebSocket gateways', () => {
  const nameOf = (user?: Principal): string => (user ? `user ${user.id}` : 'anonymous');

  abstract class InheritedMessages {
    @SubscribeMessage('inherited')
    inherited(@CurrentUser() user?: Principal) {
      return nameOf(user);
    }
  }

  @WebSocketGateway()
  class OrdersGateway extends InheritedMessages {
    @Public()
    @SubscribeMessage('public')
    public(@CurrentUser() user?: Principal) {
      return nameOf(user);
    }
    @Authenticated()
    @SubscribeMessage('authenticated')
    authenticated(@CurrentUser() user: Principal) {
      return nameOf(user);
    }
    @Roles('EDITOR', 'SUPPORT_AGENT')
    @SubscribeMessage('roles')
    roles(@CurrentUser() user: Principal) {
      return nameOf(user);
    }
    @SubscribeMessage('undecorated')
    undecorated(@CurrentUser() user?: Principal) {
      return nameOf(user);
    }
    notAHandler() {}
  }

  @Roles('ADMIN')
  @WebSocketGateway({ namespace: 'admin' })
  class AdminGateway {
    @SubscribeMessage('class')
    ofClass(@CurrentUser() user: Principal) {
      return nameOf(user);
    }
    @Roles('SUPPORT_AGENT')
    @SubscribeMessage('both')
    both(@CurrentUser() user: Principal) {
      return nameOf(user);
    }
  }

  @Public()
  @WebSocketGateway({ namespace: 'open' })
  class OpenGateway {
    @SubscribeMessage('class')
    ofClass(@CurrentUser() user?: Principal) {
      return nameOf(user);
    }
    @Roles('ADMIN')
    @SubscribeMessage('closed')
    closed(@CurrentUser() user: Principal) {
      return nameOf(user);
    }
  }

  const BEARER = `Bearer ${TOKENS.USER}`;
  const REFUSED = 'Authentication required';
  const GATEWAYS = [OrdersGateway, AdminGateway, OpenGateway];
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.disconnect();
  });

  type Options = Partial<ManagerOptions & SocketOptions>;

  function connect({ url }: RunningApp, options: Options = {}, namespace = ''): Socket {
    const socket = io(`${url}/${namespace}`, { forceNew: true, reconnection: false, ...options });
    sockets.push(socket);
    return socket;
  }

  /** The result of the handler, or the message of the exception. */
  function send(socket: Socket, event: string): Promise<string> {
    return new Promise((resolve, reject) => {
      socket.once('connect_error', reject);
      socket.once('exception', ({ message }: { message: string }) => resolve(message));
      socket.emit(event, { any: 'data' }, resolve);
    });
  }

  const withToken = (token: unknown): Options => ({ auth: { token } });

  describe.each(PLATFORMS)('on %s', (platform) => {
    const start = (parts: RuledParts = {}, gateways: Type[] = GATEWAYS) =>
      startRuled(platform, { providers: gateways, ...parts });

    describe('with a SecurityConfig', () => {
      let app: RunningApp;
      beforeAll(async () => {
        app = await start({
          rules: ({ requireRole }) => requireRole('ADMIN', '/**'),
          auth: { roleHierarchy: { CHIEF: ['ADMIN'] }, enforcedRoles: [] },
        });
      });
      afterAll(() => app.close());

      const CHIEF = makeToken({ payload: claims({ roles: ['CHIEF'] }) });
      const SENT = { ...TOKENS, CHIEF, invalid: 'invalid' };

      it.each<[message: string, token: keyof typeof SENT, expected: string]>([
        ['public', 'ANYBODY', 'anonymous'],
        ['public', 'USER', 'user 1'],
        ['public', 'invalid', 'anonymous'],
        ['authenticated', 'ANYBODY', REFUSED],
        ['authenticated', 'USER', 'user 1'],
        ['authenticated', 'invalid', REFUSED],
        ['roles', 'ANYBODY', REFUSED],
        ['roles', 'USER', 'Editor or support agent access required'],
        ['roles', 'SUPPORT_AGENT', 'user 1'],
        ['undecorated', 'ANYBODY', REFUSED],
        ['undecorated', 'USER', 'user 1'],
        ['inherited', 'ANYBODY', REFUSED],
        ['admin/class', 'USER', 'Admin access required'],
        ['admin/class', 'CHIEF', 'user 1'],
        ['admin/both', 'ADMIN', 'Support agent access required'],
        ['admin/both', 'BOTH', 'user 1'],
        ['open/class', 'ANYBODY', 'anonymous'],
        ['open/closed', 'USER', 'Admin access required'],
      ])('[3.7] decides by decorators, not by URL rules: %s with token %s', async (message, token, expected) => {
        const [event = '', namespace] = message.split('/').toReversed();
        const socket = connect(app, token === 'ANYBODY' ? {} : withToken(SENT[token]), namespace);
        expect(await send(socket, event)).toBe(expected);
      });

      const expired = makeToken({ payload: claims({ exp: 1 }) });
      it.each<[where: string, options: Options, expected: string]>([
        ['auth.token', withToken(TOKENS.USER), 'user 1'],
        ['auth.token with the scheme', withToken(`bearer ${TOKENS.USER}`), 'user 1'],
        ['the Authorization header', { extraHeaders: { authorization: BEARER } }, 'user 1'],
        ['the header of a WebSocket', { transports: ['websocket'], extraHeaders: { authorization: BEARER } }, 'user 1'],
        ['the header without the scheme', { extraHeaders: { authorization: TOKENS.USER } }, REFUSED],
        [
          'two headers',
          { transports: ['websocket'], extraHeaders: { authorization: [BEARER, BEARER] as never } },
          REFUSED,
        ],
        [
          'an expired auth.token beside a valid header',
          { ...withToken(expired), extraHeaders: { authorization: BEARER } },
          REFUSED,
        ],
        ['an empty auth.token', withToken(''), REFUSED],
        ['an auth.token that is not text', withToken([TOKENS.USER]), REFUSED],
        ['the query', { query: { token: TOKENS.USER } }, REFUSED],
      ])('[3.7] reads the token from %s', async (_, options, expected) => {
        expect(await send(connect(app, options), 'authenticated')).toBe(expected);
      });

      it('[3.7] refuses the messages of a connection whose token has expired', async () => {
        const now = Date.now();
        const socket = connect(app, withToken(makeToken({ payload: claims({ exp: Math.floor(now / 1000) + 5 }) })));
        expect(await send(socket, 'authenticated')).toBe('user 1');
        // Less than the time after which socket.io ends a silent connection.
        const clock = vi.spyOn(Date, 'now').mockReturnValue(now + 10_000);
        const answers = [await send(socket, 'authenticated'), await send(socket, 'public')];
        clock.mockRestore();
        expect(answers).toEqual([REFUSED, 'anonymous']);
      });

      it('[3.7] warns once about the handlers without a decorator', () => {
        const warnings = linesOf(app.logs, 'warn').filter((line) => line.includes('gateways and resolvers'));
        expect(warnings).toEqual([
          expect.stringMatching(/ for OrdersGateway\.undecorated, OrdersGateway\.inherited\. Add @Public\(\)/),
        ]);
      });
    });

    it.each<[title: string, parts: RuledParts, ...expected: [anonymous: string, user: string, isListed: boolean]]>([
      ['no SecurityConfig', { rules: false }, 'anonymous', 'user 1', false],
      ['authenticated', { rules: false, auth: { defaultAccess: 'authenticated' } }, REFUSED, 'user 1', true],
      ['public', { auth: { defaultAccess: 'public' } }, 'anonymous', 'user 1', false],
      ['denied', { auth: { defaultAccess: 'denied' } }, REFUSED, 'Access denied', true],
    ])('[3.7] the default access (%s) decides where no decorator does', async (_, parts, anonymous, user, isListed) => {
      const app = await start(parts);
      const socket = connect(app, withToken(TOKENS.USER));
      expect(await send(connect(app), 'undecorated')).toBe(anonymous);
      expect(await send(socket, 'undecorated')).toBe(user);
      expect([await send(connect(app), 'public'), await send(socket, 'authenticated')]).toEqual([
        'anonymous',
        'user 1',
      ]);
      expect(linesOf(app.logs, 'warn').some((line) => line.includes('OrdersGateway.undecorated'))).toBe(isListed);
      await app.close();
    });

    it('[3.7] uses the token that the application has given to the connection', async () => {
      @WebSocketGateway()
      class SessionGateway {
        @Public()
        @SubscribeMessage('sign out')
        signOut(client: { handshake: { auth: object } }) {
          client.handshake.auth = {};
          return 'done';
        }
        @SubscribeMessage('who')
        who(@CurrentUser() user: Principal) {
          return nameOf(user);
        }
      }
      const app = await start({}, [SessionGateway]);
      const socket = connect(app, withToken(TOKENS.USER));
      const answers = [await send(socket, 'who'), await send(socket, 'sign out'), await send(socket, 'who')];
      expect(answers).toEqual(['user 1', 'done', REFUSED]);
      await app.close();
    });

    it('[3.7] refuses to start where @Public() opens @Roles() of its class', async () => {
      @Roles('ADMIN')
      @WebSocketGateway()
      class LeakyGateway {
        @Public()
        @SubscribeMessage('leak')
        leak() {}
      }
      const error = await bootError(platform, ruledModule({ providers: [LeakyGateway] }));
      expect(error.message).toMatch(/@Public on LeakyGateway\.leak.*@Roles on LeakyGateway/);
    });
  });
});

/** GraphQL resolvers: decorators decide, and the token comes from the request in the context. */
describe('GraphQL resolvers', () => {
  const nameOf = (user?: Principal): string => (user ? `user ${user.id}` : 'anonymous');

  @ObjectType()
  class Order {
    @Field(() => Int)
    id!: number;
  }

  @Resolver(() => Order)
  class OrderResolver {
    @Public()
    @Query(() => String)
    open(@CurrentUser() user?: Principal) {
      return nameOf(user);
    }
    @Public()
    @Query(() => String)
    whoAmI(@Context() { req }: { req: { user?: Principal } }) {
      return nameOf(req.user);
    }
    @Authenticated()
    @Query(() => String)
    mine(@CurrentUser() user: Principal) {
      return nameOf(user);
    }
    @Roles('ADMIN')
    @Mutation(() => String)
    remove(@CurrentUser() user: Principal) {
      return nameOf(user);
    }
    @Query(() => String)
    undecorated(@CurrentUser() user?: Principal) {
      return nameOf(user);
    }
    @Public()
    @Query(() => Order)
    order() {
      return { id: 7 };
    }
    @ResolveField(() => String)
    buyer(@Parent() { id }: Order) {
      return `buyer ${id}`;
    }
    @Roles('ADMIN')
    @ResolveField(() => String)
    margin() {
      return 'margin';
    }
  }

  @Roles('ADMIN')
  @Resolver()
  class AdminResolver {
    @Query(() => String)
    stats() {
      return 'stats';
    }
  }

  type Config = Partial<ApolloDriverConfig>;

  const graphql = (config: Config = {}) =>
    GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      graphiql: false,
      ...config,
    });

  const start = (platform: Platform, parts: RuledParts = {}, config: Config = {}) =>
    startRuled(platform, { imports: [graphql(config)], providers: [OrderResolver, AdminResolver], ...parts });

  /** The value of the field, or the message and code of its error. */
  async function ask({ url }: RunningApp, query: string, token?: string): Promise<unknown> {
    const answer = await request(url, 'POST', '/graphql', { json: { query }, ...(token !== undefined && { token }) });
    const [error] = answer.json?.errors ?? [];
    if (!answer.json || answer.json.error) return `${answer.status} ${answer.text}`;
    return error ? `${error.message} (${error.extensions.code})` : Object.values(answer.json.data)[0];
  }

  const REFUSED = 'Authentication required (UNAUTHENTICATED)';
  /** The body of the response to a refused HTTP request. */
  const HTTP_REFUSED = '401 {"error":"Authentication required"}';
  const FORBIDDEN = 'Admin access required (FORBIDDEN)';

  describe.each(PLATFORMS)('on %s', (platform) => {
    describe('with a SecurityConfig', () => {
      let app: RunningApp;
      beforeAll(async () => {
        app = await start(platform, { routes: ['GET x'], auth: { enforcedRoles: [] } });
      });
      afterAll(() => app.close());

      it.each<[operation: string, who: Who | 'invalid', expected: unknown]>([
        ['{ open }', 'ANYBODY', 'anonymous'],
        ['{ open }', 'invalid', 'anonymous'],
        ['{ open }', 'USER', 'user 1'],
        ['{ mine }', 'ANYBODY', REFUSED],
        ['{ mine }', 'invalid', REFUSED],
        ['{ mine }', 'USER', 'user 1'],
        ['mutation { remove }', 'ANYBODY', REFUSED],
        ['mutation { remove }', 'USER', FORBIDDEN],
        ['mutation { remove }', 'ADMIN', 'user 1'],
        ['{ stats }', 'USER', FORBIDDEN],
        ['{ stats }', 'ADMIN', 'stats'],
        ['{ undecorated }', 'ANYBODY', REFUSED],
        ['{ undecorated }', 'USER', 'user 1'],
        // Without fieldResolverEnhancers, Nest runs no guard for fields.
        ['{ order { id buyer margin } }', 'ANYBODY', { id: 7, buyer: 'buyer 7', margin: 'margin' }],
      ])('[3.7] decides by decorators: %s with token %s', async (operation, who, expected) => {
        expect(await ask(app, operation, who === 'invalid' ? who : TOKENS[who])).toEqual(expected);
      });

      it('[3.7] decides on each field of one operation', async () => {
        const answer = await request(app.url, 'POST', '/graphql', { json: { query: '{ open mine }' } });
        expect(answer.json.errors).toEqual([expect.objectContaining({ path: ['mine'] })]);
      });

      it('[3.7] warns once about the queries without a decorator, not about fields', () => {
        expect(linesOf(app.logs, 'warn').filter((line) => line.includes('gateways and resolvers'))).toEqual([
          expect.stringContaining('decides for OrderResolver.undecorated. Add'),
        ]);
      });
    });

    it.each<[title: string, parts: RuledParts, anonymous: string, user: string]>([
      ['no SecurityConfig', { rules: false }, 'anonymous', 'user 1'],
      ['public', { auth: { defaultAccess: 'public' } }, 'anonymous', 'user 1'],
      ['denied', { auth: { defaultAccess: 'denied' } }, REFUSED, 'Access denied (FORBIDDEN)'],
    ])('[3.7] the default access (%s) decides where no decorator does', async (_, parts, anonymous, user) => {
      const app = await start(platform, parts);
      expect(await ask(app, '{ undecorated }')).toBe(anonymous);
      expect(await ask(app, '{ undecorated }', TOKENS.USER)).toBe(user);
      expect([await ask(app, '{ open }'), await ask(app, '{ mine }', TOKENS.USER)]).toEqual(['anonymous', 'user 1']);
      await app.close();
    });

    it.each<[title: string, config: Config]>([
      [
        'a context with req',
        { context: (given: { req?: unknown }) => ({ req: platform === 'express' ? given.req : given }) },
      ],
      ['a context with request', { context: (given: { req?: unknown }) => ({ request: given.req ?? given, req: {} }) }],
      ['a context with nothing', { context: () => ({}) }],
    ])('[3.7] reads the token from the request of %s', async (_, config) => {
      const app = await start(platform, {}, config);
      expect([await ask(app, '{ mine }', TOKENS.USER), await ask(app, '{ mine }')]).toEqual(['user 1', REFUSED]);
      await app.close();
    });

    it('[3.7] decides on fields where fieldResolverEnhancers has guards', async () => {
      const app = await start(platform, {}, { fieldResolverEnhancers: ['guards'] });
      expect(await ask(app, '{ order { buyer } }')).toBe(REFUSED);
      expect(await ask(app, '{ order { buyer } }', TOKENS.USER)).toEqual({ buyer: 'buyer 7' });
      expect(await ask(app, '{ order { margin } }', TOKENS.USER)).toBe(FORBIDDEN);
      await app.close();
    });

    it('[3.7] refuses to start where @Public() opens @Roles() of its class', async () => {
      @Roles('ADMIN')
      @Resolver()
      class LeakyResolver {
        @Public()
        @Query(() => String)
        leak() {
          return '';
        }
      }
      const root = ruledModule({ imports: [graphql()], providers: [LeakyResolver as Type] });
      expect((await bootError(platform, root)).message).toMatch(
        /@Public on LeakyResolver\.leak.*@Roles on LeakyResolver/,
      );
    });

    it('[3.7] authenticates each operation of a graphql-ws connection', async () => {
      const token = makeToken({ payload: claims({ exp: Math.floor(Date.now() / 1000) + 5 }) });
      class AuthorizedSocket extends WebSocket {
        constructor(url: string, protocols: string[]) {
          super(url, protocols, { headers: { authorization: `Bearer ${token}` } });
        }
      }
      const context = ({ extra }: { extra?: { request: object } }) => (extra ? { req: extra.request } : {});
      const app = await start(platform, {}, { subscriptions: { 'graphql-ws': true }, context });
      const url = `${app.url.replace('http', 'ws')}/graphql`;
      const client = createClient({ url, webSocketImpl: AuthorizedSocket, lazy: false });
      const query = async (text: string): Promise<unknown> => {
        const { value } = await client.iterate({ query: text }).next();
        return value.errors?.[0].message ?? Object.values(value.data);
      };
      expect(await query('{ open mine }')).toEqual(['user 1', 'user 1']);
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 10_000);
      const answers = [await query('{ mine }'), await query('{ open whoAmI }')];
      clock.mockRestore();
      expect(answers).toEqual(['Authentication required', ['anonymous', 'anonymous']]);
      await client.dispose();
      await app.close();
    });

    it('[3.7] finds no token in a graphql-ws connection without a request in the context', async () => {
      const app = await start(platform, {}, { subscriptions: { 'graphql-ws': true } });
      const url = `${app.url.replace('http', 'ws')}/graphql`;
      const client = createClient({ url, webSocketImpl: WebSocket, connectionParams: { token: TOKENS.USER } });
      const { value } = await client.iterate({ query: '{ mine }' }).next();
      expect(value.errors).toEqual([expect.objectContaining({ message: 'Authentication required' })]);
      await client.dispose();
      await app.close();
    });

    it.each<[rules: string, open: unknown, mine: unknown, declare: Declare]>([
      ["requireAuth('/**')", HTTP_REFUSED, HTTP_REFUSED, ({ requireAuth }) => requireAuth('/**')],
      ["requireAuth('/graphql/**')", HTTP_REFUSED, HTTP_REFUSED, ({ requireAuth }) => requireAuth('/graphql/**')],
      [
        "publicEndpoints('/graphql/**') over requireAuth('/**')",
        'anonymous',
        REFUSED,
        ({ requireAuth, publicEndpoints }) => {
          requireAuth('/**');
          publicEndpoints('/graphql/**');
        },
      ],
    ])('[3.6] URL rules decide on the HTTP request of an operation: %s', async (_, open, mine, rules) => {
      const app = await start(platform, { routes: ['GET x', 'POST y'], rules });
      expect([await ask(app, '{ open }'), await ask(app, '{ mine }')]).toEqual([open, mine]);
      expect(await ask(app, '{ mine }', TOKENS.USER)).toBe('user 1');
      await app.close();
    });
  });
});

/** Microservice handlers: there is no token, so only public handlers run. */
describe('microservice handlers', () => {
  const nameOf = (user?: Principal): string => (user ? `user ${user.id}` : 'anonymous');
  const events: string[] = [];

  @Controller()
  class OrdersHandlers {
    @Public()
    @MessagePattern('public')
    public(@CurrentUser() user?: Principal) {
      return nameOf(user);
    }
    @Authenticated()
    @MessagePattern('authenticated')
    authenticated() {
      return 'ran';
    }
    @Roles('ADMIN')
    @MessagePattern('roles')
    roles() {
      return 'ran';
    }
    @MessagePattern('undecorated')
    undecorated() {
      return 'ran';
    }
    @EventPattern<string>('restricted event')
    restrictedEvent() {
      events.push('restricted');
    }
    @Public()
    @EventPattern<string>('public event')
    publicEvent() {
      events.push('public');
    }
    @Public()
    @Get('status')
    status() {
      return { up: true };
    }
  }

  async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  const REFUSED = { status: 'error', message: 'Authentication required' };

  async function startHybrid(platform: Platform, parts: RuledParts = {}) {
    const options = { host: '127.0.0.1', port: await freePort() };
    const app = await startRuled(platform, {
      controllers: [OrdersHandlers],
      ...parts,
      configure: async (nest) => {
        nest.connectMicroservice({ transport: Transport.TCP, options }, { inheritAppConfig: true });
        await nest.startAllMicroservices();
      },
    });
    const { client, send } = clientOf(options);
    const close = async () => {
      await client.close();
      await app.close();
    };
    return { ...app, client, send, close };
  }

  /** `send` resolves with the result of the handler, or with the error that it sent. */
  function clientOf(options: { host: string; port: number }) {
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
    const send = (pattern: string): Promise<unknown> =>
      firstValueFrom(client.send(pattern, { any: 'data' })).catch((error: unknown) => error);
    return { client, send };
  }

  @Module(ruledModule({ controllers: [OrdersHandlers] }))
  class Standalone {}

  describe.each(PLATFORMS)('on %s', (platform) => {
    it('[3.7] runs public handlers only', async () => {
      const app = await startHybrid(platform);
      for (const pattern of ['public', 'authenticated', 'roles', 'undecorated'])
        expect([pattern, await app.send(pattern)]).toEqual([pattern, pattern === 'public' ? 'anonymous' : REFUSED]);
      app.client.emit('restricted event', {});
      await firstValueFrom(app.client.emit('public event', {}), { defaultValue: undefined });
      await app.send('public');
      expect(events.splice(0)).toEqual(['public']);
      expect((await request(app.url, 'GET', '/status')).status).toBe(200);
      expect(linesOf(app.logs, 'warn')).toEqual([]);
      await app.close();
    });

    it.each<[title: string, parts: RuledParts, expected: unknown]>([
      ['no SecurityConfig', { rules: false }, 'ran'],
      ['public', { auth: { defaultAccess: 'public' } }, 'ran'],
      ['denied', { auth: { defaultAccess: 'denied' } }, REFUSED],
    ])('[3.7] the default access (%s) decides where no decorator does', async (_, parts, expected) => {
      const app = await startHybrid(platform, parts);
      expect(await app.send('undecorated')).toEqual(expected);
      expect(await app.send('public')).toBe('anonymous');
      await app.close();
    });

    it('[3.7] refuses to start where @Public() opens @Roles() of its class', async () => {
      @Roles('ADMIN')
      @Controller()
      class LeakyHandlers {
        @Public()
        @MessagePattern('leak')
        leak() {}
      }
      const error = await bootError(platform, ruledModule({ controllers: [LeakyHandlers as Type] }));
      expect(error.message).toMatch(/@Public on LeakyHandlers\.leak.*@Roles on LeakyHandlers/);
    });
  });

  describe('of an application without HTTP', () => {
    it('[3.7] runs public handlers of a standalone microservice only', async () => {
      const options = { host: '127.0.0.1', port: await freePort() };
      const app = await NestFactory.createMicroservice(Standalone, {
        transport: Transport.TCP,
        options,
        logger: false,
      });
      await app.listen();
      const { send, client } = clientOf(options);
      expect([await send('public'), await send('undecorated')]).toEqual(['anonymous', REFUSED]);
      await client.close();
      await app.close();
    });

    it('starts as an application context, with UserAccounts', async () => {
      const app = await NestFactory.createApplicationContext(Standalone, { logger: false });
      const { email } = await app.get(UserAccounts).create({ email: 'ann@example.com', password: PASSWORD });
      expect(email).toBe('ann@example.com');
      await app.close();
    });
  });
});
