/** Where our middleware runs on Fastify (lib/routes/fastify-middleware.ts), and that nobody can tell by its order. */
import {
  ConsoleLogger,
  Controller,
  Get,
  HttpException,
  Inject,
  Injectable,
  Module,
  RequestMethod,
  Req,
  Res,
  type ExecutionContext,
  type INestApplication,
  type MiddlewareConsumer,
  type NestInterceptor,
  type NestMiddleware,
  type NestModule,
  type Provider,
  type Type,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { cors } from 'declarest';
import { EMPTY, type Observable } from 'rxjs';
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RouteTable } from '../../lib/routes/route-table.js';
import { request } from '../harness/client.js';
import { PLATFORMS, startApp, type Platform, type RunningApp, type StartOptions } from '../harness/platforms.js';
import { startShop } from '../harness/shop.js';
import { allCorsHeaders, corsHeadersOf, ORIGIN, preflight, startGadgets } from './gadget-app.js';

const OTHER = 'http://localhost:5173';
type Next = (error?: unknown) => void;
type Bind = (consumer: MiddlewareConsumer) => void;

@Controller()
class PlacesController {
  @Get()
  root() {
    return {};
  }

  @Get('places')
  list(@Req() asked: { raw?: { url: string; originalUrl: string }; url: string; originalUrl: string }) {
    const { url, originalUrl } = asked.raw ?? asked;
    return { url, originalUrl };
  }

  @Get('places/:id')
  one() {
    return {};
  }

  @Get('other')
  other() {
    return {};
  }
}

/** Makes the table with the first providers, as everything of the package does but cors() itself. */
@Injectable()
class Early {
  constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
    RouteTable.watch(host);
  }
}

function moduleOf(bind: Bind, providers: Provider[] = [Early]): Type {
  @Module({ controllers: [PlacesController], providers })
  class PlacesModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      bind(consumer);
    }
  }
  return PlacesModule;
}

const start = (platform: Platform, bind: Bind, options: StartOptions & { providers?: Provider[] } = {}) =>
  startApp(platform, moduleOf(bind, options.providers), options);

interface Instance {
  use(...args: unknown[]): unknown;
  addHook(name: 'onRequest', hook: (request: unknown, reply: Reply, done: () => void) => unknown): unknown;
  register(plugin: (instance: Instance) => Promise<void>, options?: object): PromiseLike<unknown>;
  get(path: string, handler: () => Promise<unknown>): unknown;
}
interface Reply {
  code(status: number): { send(body: string): unknown };
}
const instanceOf = (app: INestApplication): Instance => app.getHttpAdapter().getInstance() as Instance;

/** How many functions middie would run. */
function inMiddie({ app }: Pick<RunningApp, 'app'>): number {
  const instance = app.getHttpAdapter().getInstance() as Record<symbol, unknown[]>;
  const key = Object.getOwnPropertySymbols(instance).find((each) => each.description === 'fastify-middie-middlewares');
  return key ? instance[key]!.length : NaN;
}

/** Answers 503 when it is asked to by name. */
const stopping =
  (name: string) =>
  (incoming: IncomingMessage, response: ServerResponse, next: Next): void => {
    if (incoming.headers['x-stop'] !== name) return next();
    response.statusCode = 503;
    response.end(name);
  };

function stoppingClass(name: string): Type<NestMiddleware> {
  @Injectable()
  class Stopping implements NestMiddleware {
    readonly use = stopping(name);
  }
  return Stopping;
}

/** The origin that an answer carries where this one ends the request. */
async function originAt({ url }: Pick<RunningApp, 'url'>, stop: string, path = '/places'): Promise<unknown[]> {
  const answer = await request(url, 'GET', path, { headers: { 'x-stop': stop } });
  return [answer.status, answer.text, answer.headers['access-control-allow-origin']];
}

const originOf = async ({ url }: Pick<RunningApp, 'url'>, path: string): Promise<string | undefined> =>
  (await request(url, 'GET', path)).headers['access-control-allow-origin'];

describe('[5] cors() alone on Fastify', () => {
  it.each<[title: string, providers: Provider[]]>([
    ['beside the rest of the package', [Early]],
    ['on its own', []],
  ])('[5] runs without middie: %s', async (_title, providers) => {
    const app = await start('fastify', (consumer) => void consumer.apply(cors(ORIGIN)).forRoutes('places'), {
      providers,
    });
    expect(inMiddie(app)).toBe(0);
    const { status, headers, text } = await request(app.url, 'OPTIONS', '/places', { headers: preflight() });
    expect([status, corsHeadersOf({ headers }), text]).toEqual([204, allCorsHeaders(ORIGIN), '']);
    expect(await originOf(app, '/places?a=b')).toBe(ORIGIN);
    expect(await originOf(app, '/places/nothing/here')).toBe(undefined);
    expect(await originOf(app, '/other')).toBe(undefined);
    await app.close();
  });

  it('[5] the application of the other suites has an empty middie, and so has a shop', async () => {
    const bind: Bind = (consumer) => void consumer.apply(cors(ORIGIN)).forRoutes('{*all}');
    for (const app of [await startGadgets('fastify', { bind }), await startShop('fastify', { origin: ORIGIN })]) {
      expect(inMiddie(app)).toBe(0);
      await app.close();
    }
  });

  it('[5] the last group that matches wins, and a preflight ends at the first', async () => {
    const app = await start('fastify', (consumer) => {
      consumer.apply(cors(ORIGIN)).forRoutes('places', 'places/:id');
      consumer.apply(cors(OTHER)).forRoutes('places');
    });
    expect(inMiddie(app)).toBe(0);
    expect([await originOf(app, '/places'), await originOf(app, '/places/1')]).toEqual([OTHER, ORIGIN]);
    const { headers } = await request(app.url, 'OPTIONS', '/places', { headers: preflight() });
    expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    await app.close();
  });

  it("[5] leaves node's request as it is where there is no group", async () => {
    const app = await start('fastify', () => {});
    expect((await request(app.url, 'GET', '/places')).json).toEqual({ url: '/places' });
    await app.close();
  });

  it('[5] what a handler writes to the response of node itself has the headers', async () => {
    @Controller()
    class ByHandController {
      @Get('by-hand/:id')
      answer(@Res() reply: { hijack(): void; raw: ServerResponse }) {
        reply.hijack();
        reply.raw.end('by hand');
      }
    }
    @Module({ controllers: [ByHandController], providers: [Early] })
    class ByHandModule implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(cors(ORIGIN)).forRoutes('by-hand/:id');
      }
    }
    const app = await startApp('fastify', ByHandModule);
    expect(inMiddie(app)).toBe(0);
    const { text, headers } = await request(app.url, 'GET', '/by-hand/7');
    expect([text, headers['access-control-allow-origin']]).toEqual(['by hand', ORIGIN]);
    await app.close();
  });

  it.each([
    ['as Nest makes it', {}],
    ['whose router takes any case, where Nest cuts the path off', { routerOptions: { caseSensitive: false } }],
  ])('[5] the handler sees the target as it was sent, on an adapter %s', async (_title, options) => {
    const app = await start('fastify', (consumer) => void consumer.apply(cors()).forRoutes('places', '{*all}'), {
      adapter: new FastifyAdapter(options),
    });
    expect(inMiddie(app)).toBe(0);
    const { json, headers } = await request(app.url, 'GET', '/places?page=2');
    expect(json).toEqual({ url: '/places?page=2', originalUrl: '/places?page=2' });
    expect(headers['access-control-allow-origin']).toBe('*');
    await app.close();
  });

  describe('[5] at a generated route, whose answer Fastify writes', () => {
    type AnyHook = (request: { url: string }, reply: CorsReply, ...rest: never[]) => unknown;
    interface CorsReply extends Reply {
      raw: ServerResponse;
      hijack(): void;
      header(name: string, value: string): unknown;
    }
    const NAME = 'access-control-allow-origin';
    const byHand = (reply: CorsReply): void => {
      reply.hijack();
      reply.raw.statusCode = 429;
      reply.raw.end('by hand');
    };
    /** A hook of the application, before or behind cors(), and the origin that is sent. */
    it.each<[string, 'before' | 'behind', string, AnyHook, string | undefined]>([
      ['answers by hand', 'behind', 'onRequest', async (_, reply) => byHand(reply), ORIGIN],
      ['answers by hand', 'behind', 'preParsing', async (_, reply) => byHand(reply), ORIGIN],
      ['answers by hand', 'behind', 'preValidation', async (_, reply) => byHand(reply), ORIGIN],
      ['answers by hand', 'behind', 'preHandler', async (_, reply) => byHand(reply), ORIGIN],
      ['has said another', 'before', 'onRequest', async (_, reply) => void reply.header(NAME, OTHER), OTHER],
      [
        'has told node another',
        'before',
        'onRequest',
        async (_, reply) => void reply.raw.setHeader(NAME, OTHER),
        ORIGIN,
      ],
      ['tells node another', 'behind', 'onRequest', async (_, reply) => void reply.raw.setHeader(NAME, OTHER), OTHER],
      ['takes it from node', 'behind', 'preHandler', async (_, reply) => void reply.raw.removeHeader(NAME), undefined],
      [
        'looks for it at the end',
        'behind',
        'onSend',
        async (_, reply) => void reply.header('x-seen', String(reply.raw.getHeader(NAME))),
        ORIGIN,
      ],
      ['does nothing', 'behind', 'onRequest', async () => {}, ORIGIN],
    ])('a hook that %s, %s it in %s', async (_title, when, place, hook, origin) => {
      const adapter = new FastifyAdapter();
      const add = (): void => void (adapter.getInstance() as unknown as Hooked).addHook(place, hook);
      interface Hooked {
        addHook(name: string, hook: AnyHook): unknown;
      }
      if (when === 'before') add();
      const shop = await startShop('fastify', {
        rules: false,
        overridden: false,
        origin: ORIGIN,
        adapter,
        configure: () => void (when === 'behind' && add()),
      });
      const { headers } = await request(shop.url, 'GET', '/api/products');
      expect(headers[NAME]).toBe(origin);
      if (place === 'onSend') expect(headers['x-seen']).toBe(ORIGIN);
      await shop.close();
    });

    it('an interceptor answers by hand', async () => {
      @Injectable()
      class ByHand implements NestInterceptor {
        intercept(context: ExecutionContext): Observable<never> {
          byHand(context.switchToHttp().getResponse());
          return EMPTY;
        }
      }
      const shop = await startShop('fastify', {
        rules: false,
        overridden: false,
        origin: ORIGIN,
        logger: new ConsoleLogger({ logLevels: ['fatal'] }),
        configure: (app) => void app.useGlobalInterceptors(new ByHand()),
      });
      const { status, headers } = await request(shop.url, 'GET', '/api/products');
      expect([status, headers[NAME]]).toEqual([429, ORIGIN]);
      await shop.close();
    });

    it('the headers are of its reply, and not of the response of node, where no hook is behind', async () => {
      const ofNode: boolean[] = [];
      const shop = await startShop('fastify', {
        rules: false,
        overridden: false,
        origin: ORIGIN,
        configure: (app) => {
          const hook = (_: unknown, reply: { raw: ServerResponse }, done: () => void): void => {
            ofNode.push(reply.raw.hasHeader(NAME));
            done();
          };
          (app.getHttpAdapter() as FastifyAdapter).getInstance().addHook('onResponse', hook as never);
        },
      });
      for (const path of ['/api/products', '/api/auth/nowhere']) expect(await originOf(shop, path)).toBe(ORIGIN);
      expect(ofNode).toEqual([false, true]);
      await shop.close();
    });

    it('of two groups the second has the last word', async () => {
      const bind: Bind = (consumer) => {
        consumer.apply(cors(OTHER)).forRoutes('api/products');
        consumer.apply(cors(ORIGIN)).forRoutes('api/{*path}');
      };
      @Module({ providers: [Early] })
      class Groups implements NestModule {
        configure(consumer: MiddlewareConsumer): void {
          bind(consumer);
        }
      }
      const shop = await startShop('fastify', { rules: false, overridden: false, imports: [Groups] });
      expect(await originOf(shop, '/api/products')).toBe(ORIGIN);
      await shop.close();
    });
  });

  it('[5] two applications in one process do not know of each other', async () => {
    const shared = cors(ORIGIN);
    const bind: Bind = (consumer) => void consumer.apply(shared).forRoutes('places');
    const [alone, together] = await Promise.all([
      start('fastify', bind),
      start('fastify', (consumer) => {
        consumer.apply(stoppingClass('first')).forRoutes('places');
        bind(consumer);
      }),
    ]);
    expect([inMiddie(alone), inMiddie(together)]).toEqual([0, 2]);
    expect([await originOf(alone, '/places'), await originOf(together, '/places')]).toEqual([ORIGIN, ORIGIN]);
    await alone.close();
    await together.close();
  });

  it('[5] runs without middie under @nestjs/testing, where the adapter comes later', async () => {
    const built = await Test.createTestingModule({
      imports: [moduleOf((consumer) => void consumer.apply(cors(ORIGIN)).forRoutes('places'))],
    }).compile();
    const app = built.createNestApplication(new FastifyAdapter(), { logger: false });
    // Before middie, and so before cors().
    instanceOf(app).addHook('onRequest', (_request, reply, done) => (refuses ? reply.code(401).send('hook') : done()));
    let refuses = false;
    await app.listen(0, '127.0.0.1');
    const running = { app, url: `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}` };
    expect([inMiddie(running), await originOf(running, '/places')]).toEqual([0, ORIGIN]);
    refuses = true;
    expect(await originOf(running, '/places')).toBe(undefined);
    await app.close();
  });

  it('[5] holds in the routes of plugins', async () => {
    const app = await start('fastify', (consumer) => void consumer.apply(cors(ORIGIN)).forRoutes('{*all}'), {
      configure: async (nest) => {
        const plugin = async (instance: Instance) => void instance.get('/x', async () => 'x');
        void instanceOf(nest).register(plugin, { prefix: '/later' });
        await instanceOf(nest).register(plugin, { prefix: '/at-once' });
      },
    });
    expect(inMiddie(app)).toBe(0);
    expect([await originOf(app, '/later/x'), await originOf(app, '/at-once/x')]).toEqual([ORIGIN, ORIGIN]);
    await app.close();
  });
});

describe.each(PLATFORMS)('[5] cors() beside other middleware on %s', (platform) => {
  const isFastify = platform === 'fastify';

  it.each(['*path', '/*path', '{*path}', '/{*path}', '*', 'places/*path', 'places{/*path}', ':any', '/'])(
    '[5] bound to %s is for the same paths as without it',
    async (path) => {
      const seen = [];
      for (const others of [[], ['other']]) {
        const app = await start(platform, (consumer) => {
          consumer.apply(cors(ORIGIN)).forRoutes(path);
          for (const other of others) consumer.apply(stoppingClass(other)).forRoutes('other');
        });
        const asked = [
          '/',
          '//',
          '/places',
          '/places/',
          '/places/1',
          '/other',
          '/none',
          '/places?x',
          'http://h/',
          'http://h/places',
        ];
        const answers = asked.flatMap((target) =>
          ['GET', 'OPTIONS'].map(async (method) => {
            const { status, headers } = await request(app.url, method, target);
            return [method, target, status, headers['access-control-allow-origin']];
          }),
        );
        seen.push(await Promise.all(answers));
        await app.close();
      }
      expect(seen[0]).toEqual(seen[1]);
    },
  );

  it('[5] bound before, between and behind two groups', async () => {
    const app = await start(platform, (consumer) => {
      consumer.apply(stoppingClass('before')).forRoutes('places');
      consumer.apply(cors(ORIGIN)).forRoutes('places');
      consumer.apply(stopping('between')).forRoutes('places');
      consumer.apply(cors(OTHER), stoppingClass('behind')).forRoutes('places');
    });
    if (isFastify) expect(inMiddie(app)).toBe(5);
    expect(await originAt(app, 'before')).toEqual([503, 'before', undefined]);
    expect(await originAt(app, 'between')).toEqual([503, 'between', ORIGIN]);
    expect(await originAt(app, 'behind')).toEqual([503, 'behind', OTHER]);
    expect(await originOf(app, '/places')).toBe(OTHER);
    await app.close();
  });

  it.each([
    ['behind', (stop: Bind, group: Bind): Bind[] => [group, stop], ORIGIN],
    ['before', (stop: Bind, group: Bind): Bind[] => [stop, group], undefined],
  ])('[5] bound %s one group only', async (_title, order, expected) => {
    const app = await start(platform, (consumer) => {
      const stop: Bind = (to) => void to.apply(stoppingClass('it')).forRoutes('places');
      const group: Bind = (to) => void to.apply(cors(ORIGIN)).forRoutes('places');
      for (const bind of order(stop, group)) bind(consumer);
    });
    if (isFastify) expect(inMiddie(app)).toBe(2);
    expect(await originAt(app, 'it')).toEqual([503, 'it', expected]);
    await app.close();
  });

  it('[5] bound to one method, which stays with Nest', async () => {
    const app = await start(platform, (consumer) => {
      consumer.apply(cors(ORIGIN)).forRoutes('places');
      consumer.apply(cors(OTHER)).forRoutes({ path: 'places', method: RequestMethod.GET });
    });
    if (isFastify) expect(inMiddie(app)).toBe(2);
    expect(await originOf(app, '/places')).toBe(OTHER);
    const { headers } = await request(app.url, 'POST', '/places');
    expect(headers['access-control-allow-origin']).toBe(ORIGIN);
    await app.close();
  });

  it.each([
    ['before the application is up', false, undefined],
    ['once it is up', true, ORIGIN],
  ])('[5] app.use() %s', async (_title, isUp, expected) => {
    for (const providers of [[Early], []]) {
      const add = (nest: INestApplication): void => void nest.use(stopping('used'));
      const app = await start(platform, (consumer) => void consumer.apply(cors(ORIGIN)).forRoutes('places'), {
        providers,
        configure: (nest) => (isUp ? undefined : add(nest)),
      });
      // Express's routes answer before what comes behind them.
      if (isUp && platform === 'express') expect(await originOf(app, '/places')).toBe(ORIGIN);
      else {
        if (isUp) add(app.app);
        if (isFastify) expect(inMiddie(app)).toBe(2);
        expect(await originAt(app, 'used')).toEqual([503, 'used', expected]);
      }
      await app.close();
    }
  });

  it('[5] calls no middleware of others at boot, whatever it makes of ours', async () => {
    const seen: unknown[] = [];
    const group = cors(ORIGIN);
    /** Has our method bound, long before Nest registers anything. */
    @Injectable()
    class Composed implements NestMiddleware {
      private readonly inner: NestMiddleware['use'];

      constructor(@Inject(group) ours: NestMiddleware) {
        this.inner = ours.use.bind(ours);
      }

      use(incoming: unknown, response: unknown, next: Next): void {
        seen.push(incoming);
        this.inner(incoming, response, next);
      }
    }
    @Injectable()
    class Overriding extends group {
      override use(incoming: unknown, response: unknown, next: Next): void {
        seen.push(incoming);
        super.use(incoming, response, next);
      }
    }
    const plain = (incoming: unknown, _response: unknown, next: Next): void => {
      seen.push(incoming);
      next();
    };
    const app = await start(
      platform,
      (consumer) => {
        consumer.apply(Composed, plain).forRoutes('places');
        consumer.apply(group).forRoutes('other');
        consumer.apply(Overriding).forRoutes('places/:id');
      },
      { providers: [Early, group] },
    );
    expect(seen).toEqual([]);
    expect([await originOf(app, '/places'), await originOf(app, '/places/1')]).toEqual([ORIGIN, ORIGIN]);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.every((each) => each instanceof IncomingMessage)).toBe(true);
    await app.close();
  });

  it('[5] is not taken out of what is wrapped around it', async () => {
    const group = cors(ORIGIN);
    /** Has our method bound as Nest asks for its own. */
    @Injectable()
    class Wrapping implements NestMiddleware {
      private wrapped: NestMiddleware['use'] | undefined;

      constructor(@Inject(group) private readonly ours: NestMiddleware) {}

      get use(): NestMiddleware['use'] {
        return (this.wrapped ??= this.wrap(this.ours.use.bind(this.ours)));
      }

      private wrap(inner: NestMiddleware['use']): NestMiddleware['use'] {
        return (incoming, response: ServerResponse, next: Next) =>
          void inner(incoming, response, () => {
            response.setHeader('x-wrapped', 'yes');
            next();
          });
      }
    }
    const app = await start(platform, (consumer) => void consumer.apply(Wrapping).forRoutes('places'), {
      providers: [Early, group],
    });
    const { headers } = await request(app.url, 'GET', '/places');
    expect([headers['x-wrapped'], headers['access-control-allow-origin']]).toEqual(['yes', ORIGIN]);
    await app.close();
  });

  it('[5] an error of other middleware carries the headers of the group before it', async () => {
    const app = await start(platform, (consumer) => {
      consumer
        .apply(cors(ORIGIN), () => {
          throw new HttpException('teapot', 418);
        })
        .forRoutes('places');
    });
    const { status, headers } = await request(app.url, 'GET', '/places');
    expect([status, headers['access-control-allow-origin']]).toEqual([418, ORIGIN]);
    await app.close();
  });
});

describe('[5] cors() beside what plugins give to Fastify', () => {
  const bind: Bind = (consumer) => void consumer.apply(cors(ORIGIN)).forRoutes('{*all}');
  const plugin = async (instance: Instance): Promise<void> => {
    instance.use(stopping('plugin'));
    instance.get('/x', async () => 'x');
  };

  it.each<[title: string, expected: string | undefined, providers: Provider[], isAwaited: boolean]>([
    ['before Nest binds cors()', undefined, [Early], true],
    ['before Nest binds cors(), which is there alone', undefined, [], true],
    ['after Nest has bound cors()', ORIGIN, [Early], false],
    ['after Nest has bound cors(), which is there alone', ORIGIN, [], false],
  ])('[5] middleware of a plugin, %s', async (_title, expected, providers, isAwaited) => {
    const app = await start('fastify', bind, {
      providers,
      configure: async (nest) => {
        const registered = instanceOf(nest).register(plugin, { prefix: '/plugin' });
        if (isAwaited) await registered;
      },
    });
    expect(inMiddie(app)).toBe(1);
    // Nothing of ours is taken for something that main.ts has mounted.
    const { outsiders } = RouteTable.of(app.app.get(HttpAdapterHost).httpAdapter);
    expect(outsiders.filter(({ path }) => path !== '/plugin/x')).toEqual([]);
    expect(await originAt(app, 'plugin', '/plugin/x')).toEqual([503, 'plugin', expected]);
    expect([await originOf(app, '/plugin/x'), await originOf(app, '/places')]).toEqual([ORIGIN, ORIGIN]);
    await app.close();
  });

  it('[5] a plugin that is there before middie shares what the root has', async () => {
    const adapter = new FastifyAdapter();
    const shared: Instance[] = [];
    await (adapter.getInstance() as unknown as Instance).register(
      async (instance) => {
        shared.push(instance);
        instance.get('/x', async () => 'x');
      },
      { prefix: '/plugin' },
    );
    const app = await start('fastify', bind, { adapter });
    expect(await originOf(app, '/plugin/x')).toBe(ORIGIN);
    for (const instance of shared) instance.use(stopping('plugin'));
    expect(inMiddie(app)).toBe(2);
    expect(await originAt(app, 'plugin', '/plugin/x')).toEqual([503, 'plugin', ORIGIN]);
    await app.close();
  });

  it.each<[title: string, providers: Provider[]]>([
    ['is there', [Early]],
    ['is there alone', []],
  ])('[5] a hook of main.ts runs behind it where cors() %s', async (_title, providers) => {
    const app = await start('fastify', bind, {
      providers,
      configure: (nest) =>
        void instanceOf(nest).addHook('onRequest', (_request, reply) => reply.code(401).send('the hook')),
    });
    // A table that is made after main.ts has run comes too late to stand before the hook.
    expect(inMiddie(app)).toBe(providers.length === 0 ? 1 : 0);
    const { status, headers } = await request(app.url, 'GET', '/places');
    expect([status, headers['access-control-allow-origin']]).toEqual([401, ORIGIN]);
    await app.close();
  });
});

describe('[5] cors() beside another Nest', () => {
  const bind: Bind = (consumer) => void consumer.apply(cors(ORIGIN)).forRoutes('places');
  type Factory = (method: number) => Promise<(path: string, handler: unknown) => unknown>;

  class Untracked extends FastifyAdapter {
    constructor() {
      super();
      Object.assign(this, { middieContexts: undefined });
    }
    override createMiddlewareFactory(...args: Parameters<Factory>) {
      const beside: unknown = Object.create(this, { middieContexts: { value: [] } });
      return Reflect.apply(super.createMiddlewareFactory, beside, args) as ReturnType<Factory>;
    }
  }
  class Private extends FastifyAdapter {
    readonly #own = true;
    override async createMiddlewareFactory(...args: Parameters<Factory>) {
      return this.#own ? super.createMiddlewareFactory(...args) : () => {};
    }
  }
  class Doubling extends FastifyAdapter {
    override async createMiddlewareFactory(...args: Parameters<Factory>) {
      const bound = await super.createMiddlewareFactory(...args);
      return (...each: Parameters<typeof bound>) => {
        bound(...each);
        bound(...each);
      };
    }
  }
  class Waiting extends FastifyAdapter {
    override createMiddlewareFactory(...args: Parameters<Factory>) {
      const use = (path: string, run: (...call: unknown[]) => void): unknown =>
        (this.instance as unknown as Instance).use(path, (...call: unknown[]) => setImmediate(() => run(...call)));
      const instance: unknown = Object.create(this.instance, { use: { value: use } });
      const beside: unknown = Object.create(this, { instance: { value: instance } });
      return Reflect.apply(super.createMiddlewareFactory, beside, args) as ReturnType<Factory>;
    }
  }

  it.each([
    ['binds middleware in the root only', Untracked, 1],
    ['can only bind on an adapter of its own class', Private, 1],
    ['gives middie several functions for a path', Doubling, 2],
    ['takes its time to find out whether a path matches', Waiting, 1],
  ])('[5] that %s binds it by itself', async (_title, Adapter, expected) => {
    const app = await start('fastify', bind, { adapter: new Adapter() });
    expect([inMiddie(app), await originOf(app, '/places')]).toEqual([expected, ORIGIN]);
    await app.close();
  });
});
