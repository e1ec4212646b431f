/** What is brought past a platform is answered as the platform would have had it, and nothing is that anybody stands before. */
import { EventEmitter } from 'node:events';
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  Agent,
  createServer,
  get as httpGet,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  ServerResponse,
} from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  Controller,
  Get,
  type INestApplication,
  Injectable,
  type MiddlewareConsumer,
  RequestMethod,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { cors, SecurityConfig, SecurityRulesGuard } from 'declarest';
import { ExpressAdapter as OwnExpressAdapter } from 'declarest/express';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { linesOf, type Platform } from '../harness/platforms.js';
import { type Shop, type ShopOptions, startShop } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';

type Done = () => void;
interface Reply {
  header(name: string, value: string): unknown;
}
interface Express {
  handle: (...args: unknown[]) => unknown;
  get(path: string, handler: (request: unknown, response: ServerResponse) => void): unknown;
  set(name: string, value: unknown): unknown;
  use(handler: (request: unknown, response: ServerResponse, next: Done) => void): unknown;
}
interface Fastify {
  get(path: string, handler: () => unknown): unknown;
  close(): Promise<void>;
  addHook(name: string, hook: (...args: never[]) => unknown): unknown;
}

/** A shop, and how many requests its platform was brought. */
interface Watched extends Shop {
  brought: () => number;
}

type Adapter = 'express' | 'declarest/express' | 'fastify';
const ADAPTERS: readonly Adapter[] = ['express', 'declarest/express', 'fastify'];
const platformOf = (adapter: Adapter): Platform => (adapter === 'fastify' ? 'fastify' : 'express');
const expressOf = (app: INestApplication): Express => app.getHttpAdapter().getInstance() as Express;
const fastifyOf = (app: INestApplication): Fastify => app.getHttpAdapter().getInstance() as unknown as Fastify;
const serverOf = (app: INestApplication): Server => app.getHttpServer() as Server;

/** `early`: what its instance is given before there is an application. */
type FastifyOptions = { early?: (instance: Fastify) => unknown } & Record<string, unknown>;

async function start(
  adapter: Adapter,
  options: ShopOptions = {},
  { early, ...fastify }: FastifyOptions = {},
): Promise<Watched> {
  let brought = 0;
  const made = {
    express: () => new ExpressAdapter(),
    'declarest/express': () => new OwnExpressAdapter(),
    fastify: () =>
      new FastifyAdapter({ forceCloseConnections: true, genReqId: () => String((brought += 1)), ...fastify }),
  }[adapter]();
  if (adapter !== 'fastify') {
    const express = made.getInstance<Express>();
    const { handle } = express;
    // By its name it is still Express's.
    express.handle = Object.defineProperty(
      function (this: unknown, ...args: unknown[]) {
        brought += 1;
        return handle.apply(this, args);
      },
      'name',
      { value: 'handle' },
    );
  }
  early?.(made.getInstance<Fastify>());
  const shop = await startShop(platformOf(adapter), {
    adapter: made,
    overridden: false,
    origin: 'https://shop.example',
    ...options,
  });
  return { ...shop, brought: () => brought };
}

/** Without the time of the answer. */
const shown = ({ status, headers, text }: Answer): unknown => ({
  status,
  headers: { ...headers, date: '', ...(headers['etag'] && { etag: 'a tag' }) },
  text: text.replace(/"timestamp":"[^"]+"/, '"timestamp":""'),
});

const LAMP = { name: 'Lamp', price: 7.5, stock: 3 };
const json = (body: string | Buffer, type = 'application/json', further = {}): RequestOptions => ({
  body,
  headers: { 'content-type': type, ...further },
});
const TEXT = JSON.stringify(LAMP);

type Row = readonly [method: string, path: string, options?: RequestOptions];
const preflight = { headers: { origin: 'https://shop.example', 'access-control-request-method': 'PUT' } };

/** What is brought past the platform as soon as it has brought one to the handler. */
const PLAIN: readonly Row[] = [
  ['GET', '/api/products/1'],
  ['GET', '/api/products/1?x=1&y=%20z+'],
  ['GET', '/api/products/999'],
  ['GET', '/api/products/no-id'],
  ['GET', '/api/products/-1'],
  ['GET', '/api/products?page=1&size=2'],
  ['GET', '/api/products?page=0'],
  ['GET', '/api/products?page=1&page=2&%zz'],
  ['GET', '/api/products'],
  ['GET', '/api/products/search?name=amp&size=1'],
  ['GET', '/api/products/search'],
  ['GET', '/api/products/exists/1'],
  ['GET', '/api/products/exists/999'],
  ['POST', '/api/products', { json: LAMP }],
  ['POST', '/api/products', { json: { name: 7, unknown: true } }],
  ['POST', '/api/products', json(TEXT, 'application/json; charset=utf-8')],
  ['POST', '/api/products', json(TEXT, 'Application/JSON;charset=UTF-8')],
  ['POST', '/api/products', json(`\uFEFF${TEXT}`)],
  ['POST', '/api/products', json(` \t\r\n${TEXT}\n`)],
  ['POST', '/api/products', json(Buffer.from(TEXT.replace('Lamp', 'L\u00E4mpchen \u{1F4A1}')))],
  ['POST', '/api/products', json(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))],
  ['POST', '/api/products', json('{"name":')],
  ['POST', '/api/products', json('[1]')],
  ['POST', '/api/products', json('"Lamp"')],
  ['POST', '/api/products', json('null')],
  ['POST', '/api/products', json(' ')],
  ['POST', '/api/products', json('{}')],
  ['POST', '/api/products', json('{"__proto__":{"admin":true},"name":"Lamp","price":1}')],
  ['POST', '/api/products', json('{"constructor":{"prototype":{"a":1}},"name":"Lamp","price":1}')],
  ['POST', '/api/products', json('{"\\u005f_proto__":1,"name":"Lamp","price":1}')],
  ['POST', '/api/products', json(`{"name":${'['.repeat(500)}${']'.repeat(500)}}`)],
  ['PUT', '/api/products/1', { json: { ...LAMP, name: 'Bow' } }],
  ['PUT', '/api/products/1', { json: { price: 'much' } }],
  ['PUT', '/api/products/999', { json: LAMP }],
  ['PUT', '/api/products/search', { json: LAMP }],
  ['PUT', '/api/products/1', json('{')],
  ['DELETE', '/api/products/2'],
  ['DELETE', '/api/products/2'],
  ['DELETE', '/api/products/none'],
  ['GET', '/api/categories/1'],
  ['OPTIONS', '/api/products/1', preflight],
  ['OPTIONS', '/api/products/999'],
  ['OPTIONS', '/api/products/1', json('{')],
  ['OPTIONS', '/api/products', preflight],
];

/** What the platform is brought at all times. */
const ITS_OWN: readonly Row[] = [
  ['HEAD', '/api/products/1'],
  ['GET', '/api/products/1/'],
  ['GET', '/API/products/1'],
  ['GET', '//api/products/1'],
  ['GET', '/api//products/1'],
  ['GET', '/api/products/%31'],
  ['GET', '/api/products/%ff'],
  ['GET', '/api/products/1.0'],
  ['GET', '/api/products/..'],
  ['GET', '/api/products/1;x=1'],
  ['GET', '/api/products/1?x=<y>'],
  ['GET', `/api/products/${'1'.repeat(101)}`],
  ['GET', 'http://shop.example/api/products/1'],
  ['GET', '/api/products/1', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['GET', '/api/products/1', json('{')],
  ['DELETE', '/api/products/999', json('{}')],
  ['POST', '/api/products', json(gzipSync(TEXT), 'application/json', { 'content-encoding': 'gzip' })],
  ['POST', '/api/products', json(TEXT, 'text/plain')],
  ['POST', '/api/products', json(TEXT, 'application/json; charset=latin1')],
  ['POST', '/api/products', json('', 'application/json')],
  ['POST', '/api/products', json(`{"name":"${'x'.repeat(1_100_000)}"}`)],
  ['POST', '/api/products'],
  ['PATCH', '/api/products/1', { json: LAMP }],
  ['GET', '/api/none/1'],
  ['OPTIONS', '/api/none/1'],
];

describe.each(ADAPTERS)('on %s', (adapter) => {
  const open: Shop[] = [];
  const started = async (options?: ShopOptions, fastify?: FastifyOptions): Promise<Watched> => {
    const shop = await start(adapter, options, fastify);
    open.push(shop);
    return shop;
  };
  afterEach(async () => {
    for (const shop of open.splice(0)) await shop.close();
  });

  /** Somebody else who hears of all requests: then the platform is brought each of them. */
  const behindItsPlatform = async (options?: ShopOptions, fastify?: FastifyOptions): Promise<Watched> => {
    const shop = await started(options, fastify);
    serverOf(shop.app).on('request', () => {});
    return shop;
  };

  /** @returns an administrator's token */
  const warmUp = async (shop: Shop): Promise<string> => {
    const { url } = shop;
    const token = await shop.admin();
    for (const [method, path, sent] of [
      ['POST', '/api/products', { json: LAMP }],
      ['POST', '/api/products', { json: LAMP }],
      ['POST', '/api/products', { json: LAMP }],
      ['POST', '/api/categories', { json: { name: 'Light' } }],
      ['GET', '/api/products/1'],
      ['GET', '/api/products?page=1'],
      ['GET', '/api/products/search?name=amp'],
      ['GET', '/api/products/exists/1'],
      ['GET', '/api/categories/1'],
      ['PUT', '/api/products/1', { json: LAMP }],
      ['DELETE', '/api/products/3'],
    ] as const satisfies Row[])
      await request(url, method, path, { ...sent, token });
    return token;
  };

  it('answers what is plain past the platform, and as the platform would', async () => {
    const [past, behind] = [await started(), await behindItsPlatform()];
    const tokens = [await warmUp(past), await warmUp(behind)];
    for (const [method, path, options = {}] of PLAIN) {
      const before = [past.brought(), behind.brought()];
      const answer = await request(past.url, method, path, { ...options, token: tokens[0] as string });
      const expected = await request(behind.url, method, path, { ...options, token: tokens[1] as string });
      expect([method, path, shown(answer)]).toEqual([method, path, shown(expected)]);
      expect([method, path, past.brought(), behind.brought()]).toEqual([method, path, before[0], (before[1] ?? 0) + 1]);
    }
  });

  it('leaves everything else to the platform', async () => {
    const [past, behind] = [await started(), await behindItsPlatform()];
    const tokens = [await warmUp(past), await warmUp(behind)];
    for (const [method, path, options = {}] of ITS_OWN) {
      const before = past.brought();
      const answer = await request(past.url, method, path, { ...options, token: tokens[0] as string });
      const expected = await request(behind.url, method, path, { ...options, token: tokens[1] as string });
      expect([method, path, shown(answer)]).toEqual([method, path, shown(expected)]);
      expect([method, path, options, past.brought()]).toEqual([method, path, options, before + 1]);
    }
  });

  it('leaves a body of unknown length to the platform', async () => {
    const shop = await started();
    const token = await warmUp(shop);
    const post = (): Promise<Response> =>
      fetch(`${shop.url}/api/products`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: new Blob([TEXT]).stream(),
        duplex: 'half',
      } as RequestInit);
    expect(await bringing(shop, async () => expect((await post()).status).toBe(201))).toBe(1);
  });

  it('refuses as the platform would, before it says anything of a body', async () => {
    const options = { auth: { explainRefusals: true } };
    const [past, behind] = [await started(options), await behindItsPlatform(options)];
    const users = [await past.register(), await behind.register()];
    await warmUp(past);
    await warmUp(behind);
    const sent: [string, string, RequestOptions, ((token: string) => RequestOptions)?][] = [
      ['GET', '/api/categories/1', {}],
      ['GET', '/api/categories/1', { token: 'no.token.at-all' }],
      ['GET', '/api/categories/1', { token: makeToken({ payload: claims({ exp: 1 }) }) }],
      ['GET', '/api/categories/1', { headers: { authorization: 'Basic YTpi' } }],
      ['PUT', '/api/products/1', { json: LAMP }],
      ['PUT', '/api/products/1', json('{')],
      ['POST', '/api/products', json('{')],
      ['DELETE', '/api/products/1', {}],
      ['DELETE', '/api/products/1', {}, (token) => ({ token })],
    ];
    for (const [method, path, options, with_] of sent) {
      const before = past.brought();
      const answer = await request(past.url, method, path, { ...options, ...with_?.(users[0] as string) });
      const expected = await request(behind.url, method, path, { ...options, ...with_?.(users[1] as string) });
      expect(answer.status).toBe(with_ ? 403 : 401);
      expect([method, path, shown(answer)]).toEqual([method, path, shown(expected)]);
      expect([method, path, past.brought()]).toEqual([method, path, before]);
    }
  });

  const get = (shop: Shop, path = '/api/products/1', options?: RequestOptions): Promise<Answer> =>
    request(shop.url, 'GET', path, options);
  /** Whether this many requests were brought to the platform. */
  const bringing = async (shop: Watched, ask: () => Promise<unknown>): Promise<number> => {
    const before = shop.brought();
    await ask();
    return shop.brought() - before;
  };
  const hearNothing = (): void => {};
  afterEach(() => {
    for (const name of ['http.server.response.finish', 'tracing:express.router.request:start'])
      unsubscribe(name, hearNothing);
  });
  const late = (response: ServerResponse): unknown => response.setHeader('x-late', 'yes');

  const middleware = (_request: unknown, response: ServerResponse, next: Done): void => {
    late(response);
    next();
  };

  describe('brings the platform all requests before', () => {
    const hook = (_request: unknown, reply: Reply, done: Done): void => {
      reply.header('x-late', 'yes');
      done();
    };
    const bound = (...paths: string[]): ShopOptions => ({
      imports: [
        class LateModule {
          configure(consumer: MiddlewareConsumer): void {
            consumer.apply(middleware).forRoutes(...paths);
          }
        },
      ],
    });
    const hooked = (place: string, added: (...args: never[]) => unknown = hook): ShopOptions => ({
      configure: (app) => void fastifyOf(app).addHook(place, added),
    });
    const nests = (name: 'setOnRequestHook' | 'setOnResponseHook', added: (...args: never[]) => unknown) => ({
      configure: (app: INestApplication): void =>
        (app.getHttpAdapter() as never as Record<string, (hook: unknown) => void>)[name]?.(added),
    });

    const OF_BOTH: Record<string, ShopOptions> = {
      'a middleware of the application': { configure: (app) => void app.use(middleware) },
      'a middleware that is bound to the path': bound('/api/products/:id'),
      'a middleware that is bound to all paths': bound('*path'),
      'a middleware that is bound to what may be the path': bound('/api/:any/:id'),
      'a function around what tells of requests': {
        configure: (app) => {
          const server = serverOf(app);
          const { emit } = server;
          server.emit = function (this: Server, ...args: unknown[]) {
            if (args[0] === 'request') late(args[2] as ServerResponse);
            return emit.apply(this, args as never);
          };
        },
      },
      'another one who hears of requests': {
        configure: (app) =>
          void serverOf(app).prependListener('request', (_: IncomingMessage, response) => void late(response)),
      },
    };
    const OF_EXPRESS: Record<string, ShopOptions> = {
      'a function that is called as a parser': {
        configure: (app) =>
          void app.use(function rawParser(_: unknown, response: ServerResponse, next: Done) {
            middleware(_, response, next);
          }),
      },
      'a callback of a parameter': {
        configure: (app) =>
          void (expressOf(app) as never as { param(name: string, called: unknown): void }).param(
            'id',
            (_: unknown, response: ServerResponse, next: Done) => middleware(_, response, next),
          ),
      },
      'a hook of another adapter on the same Express': {
        configure: (app) =>
          void new ExpressAdapter(expressOf(app)).setOnRequestHook((_, response, done) =>
            middleware(_, response as ServerResponse, done),
          ),
      },
      'a head that is written in another way': {
        configure: (app) => {
          const { response } = expressOf(app) as never as { response: ServerResponse };
          const { writeHead } = response;
          response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
            late(this);
            return writeHead.apply(this, args as never) as never;
          };
        },
      },
      'a function around Express': {
        configure: (app) => {
          const express = expressOf(app);
          const { handle } = express;
          express.handle = function (this: unknown, ...args) {
            late(args[1] as ServerResponse);
            return handle.apply(this, args);
          };
        },
      },
      "a hook of Nest's": nests('setOnRequestHook', (_: unknown, response: ServerResponse, done: Done) =>
        middleware(_, response, done),
      ),
      'a layer at a path above': {
        configure: (app) => void (app as never as { use(path: string, layer: unknown): void }).use('/api', middleware),
      },
    };
    const OF_FASTIFY: Record<string, ShopOptions> = {
      "a hook of Nest's": nests('setOnRequestHook', hook),
      ...Object.fromEntries(
        ['onRequest', 'preValidation', 'preHandler'].map((place) => [`a hook ${place}`, hooked(place)]),
      ),
      'a hook onSend': hooked(
        'onSend',
        (_: unknown, reply: Reply, payload: unknown, done: (e: null, p: unknown) => void) => {
          reply.header('x-late', 'yes');
          done(null, payload);
        },
      ),
      'a hook of the route': hooked('onRoute', (options: { preHandler?: unknown }) => {
        options.preHandler = [hook];
      }),
    };
    it.each(Object.entries({ ...OF_BOTH, ...(adapter === 'fastify' ? OF_FASTIFY : OF_EXPRESS) }))(
      '%s',
      async (_, options) => {
        const shop = await started(options);
        // A login is among them.
        expect(await bringing(shop, () => warmUp(shop))).toBe(12);
        expect(await bringing(shop, async () => expect((await get(shop)).headers['x-late']).toBe('yes'))).toBe(1);
        expect(await bringing(shop, async () => expect((await get(shop)).headers['x-late']).toBe('yes'))).toBe(1);
      },
    );

    it('those who only hear of answers', async () => {
      let heard = 0;
      const hear = (_request: unknown, _reply: unknown, done?: Done): void => {
        heard += 1;
        done?.();
      };
      const shop = await started(adapter === 'fastify' ? hooked('onResponse', hear) : nests('setOnResponseHook', hear));
      await warmUp(shop);
      const before = [heard, shop.brought()] as const;
      for (let asked = 1; asked < 5; asked += 1) {
        await get(shop);
        await new Promise((resolve) => setTimeout(resolve, 5));
        expect([heard - before[0], shop.brought() - before[1]]).toEqual([asked, asked]);
      }
    });
  });

  if (adapter === 'fastify')
    describe('brings all requests to a Fastify that does more for them', () => {
      const schema = { params: { type: 'object', properties: { id: { type: 'integer' } } } };
      const withRoutes = (change: (options: Record<string, unknown>) => void): [ShopOptions] => [
        { configure: (app) => void fastifyOf(app).addHook('onRoute', change as never) },
      ];
      const quiet = { write: (): void => {} };
      const MORE: Record<string, [ShopOptions, FastifyOptions?]> = {
        'a log of requests': [{}, { logger: { stream: quiet } }],
        'a limit for handlers': [{}, { handlerTimeout: 10_000 }],
        'other URLs': [{}, { rewriteUrl: ({ url }: { url: string }) => url }],
        'a schema for the route': withRoutes((options) => {
          options['schema'] = { ...(options['schema'] as object), ...schema };
        }),
        'a limit for the handler of the route': withRoutes((options) => {
          options['handlerTimeout'] = 10_000;
        }),
        'a host for the route': withRoutes((options) => {
          options['constraints'] = { host: /127/ };
        }),
        'words of few letters': [{}, { routerOptions: { maxParamLength: 20 } }],
        'a logger that is silent yet': [{}, { logger: { level: 'silent', stream: quiet } }],
        'routes that were there before Nest': [
          {},
          { early: (instance) => instance.get('/api/products/top', () => ({})) },
        ],
        'a server of its own': [
          {},
          { serverFactory: (handler: (...args: unknown[]) => void) => createServer((...args) => handler(...args)) },
        ],
      };
      it.each(Object.entries(MORE))('%s', async (_, [options, fastify]) => {
        const shop = await started(options, fastify);
        await warmUp(shop);
        expect(await bringing(shop, () => get(shop))).toBe(1);
      });

      it('when it is closing', async () => {
        const shop = await started({
          configure: (app) =>
            void fastifyOf(app).addHook('preClose', () => new Promise((done) => setTimeout(done, 300))),
        });
        await warmUp(shop);
        const agent = new Agent({ keepAlive: true });
        const ask = (): Promise<number> =>
          new Promise((resolve, reject) => {
            httpGet(`${shop.url}/api/products/1`, { agent }, (response) => {
              response.resume().on('end', () => resolve(response.statusCode ?? 0));
            }).on('error', reject);
          });
        expect(await ask()).toBe(200);
        const closed = fastifyOf(shop.app).close();
        await new Promise((done) => setTimeout(done, 50));
        expect(await ask()).toBe(503);
        agent.destroy();
        await closed;
      });

      it('while somebody traces them', async () => {
        const shop = await started();
        await warmUp(shop);
        const hear = (): void => {};
        subscribe('tracing:fastify.request.handler:start', hear);
        expect(await bringing(shop, () => get(shop))).toBe(1);
        unsubscribe('tracing:fastify.request.handler:start', hear);
        expect(await bringing(shop, () => get(shop))).toBe(0);
      });
    });
  else
    it('leaves conditions to Express, which compares its tag', async () => {
      const shop = await started();
      await warmUp(shop);
      const tag = (await get(shop)).headers['etag'] as string;
      for (const headers of [{ 'if-none-match': tag }, { 'if-none-match': '*' }, { 'if-modified-since': 'now' }])
        expect(await bringing(shop, () => get(shop, '/api/products/1', { headers }))).toBe(1);
      expect((await get(shop, '/api/products/1', { headers: { 'if-none-match': '*' } })).status).toBe(304);
    });

  describe('brings the platform requests again', () => {
    const JUST_BROUGHT: Record<string, (shop: Shop) => unknown> = {
      'when somebody hears what node tells of them': () => subscribe('http.server.response.finish', hearNothing),
      'when somebody else hears of them': ({ app }) =>
        serverOf(app).on('request', (_request, response) => late(response)),
      'when somebody puts a function around what tells of them': ({ app }) => {
        const server = serverOf(app);
        server.emit = EventEmitter.prototype.emit.bind(server);
      },
      "when Nest's adapter has a hook": ({ app }) =>
        (app.getHttpAdapter() as ExpressAdapter).setOnRequestHook((_request, _response, done) => done()),
      "when somebody stands in the place of the adapter's answers": ({ app }) => {
        const http = app.getHttpAdapter() as ExpressAdapter;
        const { reply } = http;
        http.reply = (response, body, status) => reply.call(http, response, body, status) as unknown;
      },
      'when somebody stands in the place of a guard': ({ app }) => {
        const guard = app.get(SecurityRulesGuard, { strict: false });
        guard.canActivate = () => true;
      },
      ...(adapter === 'fastify' && {
        'when it gets middleware': ({ app }) => app.use(middleware),
      }),
      ...(adapter !== 'fastify' && {
        "when somebody traces Express's router": () => subscribe('tracing:express.router.request:start', hearNothing),
        'when somebody stands before its router': ({ app }) => {
          const { router } = expressOf(app) as never as { router: { handle: (...args: unknown[]) => unknown } };
          const { handle } = router;
          router.handle = function (this: unknown, ...args) {
            return handle.apply(this, args);
          };
        },
        'when a parameter gets a callback': ({ app }) =>
          (expressOf(app) as never as { param(name: string, called: unknown): void }).param(
            'id',
            (_: unknown, _response: unknown, next: Done) => next(),
          ),
        'when answers are written in another way': ({ app }) => {
          const { response } = expressOf(app) as never as { response: { json: (body: unknown) => unknown } };
          const { json: usual } = response;
          response.json = function (body) {
            return usual.call(this, body);
          };
        },
        'when answers get another tag': ({ app }) => expressOf(app).set('etag', () => 'W/"same"'),
        'when a layer is added': ({ app }) => expressOf(app).get('/elsewhere', (_request, response) => response.end()),
        'when JSON is written in another way': ({ app }) => expressOf(app).set('json spaces', 1),
      }),
    };
    it.each(Object.entries(JUST_BROUGHT))('%s', async (_, change) => {
      const shop = await started();
      await warmUp(shop);
      expect(await bringing(shop, () => get(shop))).toBe(0);
      change(shop);
      expect(await bringing(shop, () => get(shop))).toBe(1);
    });
  });

  it('leaves the exact path of a route to middleware that is bound to it', async () => {
    @Injectable()
    class KeyCheck {
      use({ headers }: IncomingMessage, response: ServerResponse, next: Done): void {
        if (headers['x-key'] === 'secret') return next();
        response.statusCode = 418;
        response.end();
      }
    }
    for (const bound of [
      ['/api/categories'],
      [{ path: '/api/categories', method: RequestMethod.POST }],
      [{ path: '/api/CATEGORIES', method: RequestMethod.ALL }],
    ]) {
      const options: ShopOptions = {
        rules: ({ publicEndpoints }) => publicEndpoints('/**'),
        imports: [
          class Keys {
            configure(consumer: MiddlewareConsumer): void {
              consumer.apply(KeyCheck).forRoutes(...bound);
            }
          },
        ],
      };
      const [past, behind] = [await started(options), await behindItsPlatform(options)];
      for (const key of ['secret', 'secret', 'none', 'secret'])
        for (const method of ['POST', 'GET']) {
          const sent = {
            ...(method === 'POST' && { json: { name: `${key}-${Math.random()}` } }),
            headers: { 'x-key': key },
          };
          const statuses = [past, behind].map(
            async ({ url }) => (await request(url, method, '/api/categories', sent)).status,
          );
          const [status, expected] = await Promise.all(statuses);
          expect([bound, method, key, status]).toEqual([bound, method, key, expected]);
        }
    }
  });

  it('is not there for whoever puts his own around the listener of the platform', async () => {
    const store = new AsyncLocalStorage<string>();
    const shop = await started();
    const server = serverOf(shop.app);
    const [own, ...others] = server.listeners('request');
    expect(others).toEqual([]);
    server.removeAllListeners('request');
    server.on('request', (...args) =>
      store.run('here', () => (own as (...args: unknown[]) => void).call(server, ...args)),
    );
    await warmUp(shop);
    expect(await bringing(shop, () => get(shop))).toBe(1);
  });

  it('lets somebody take the listener of the platform away', async () => {
    const shop = await started();
    await warmUp(shop);
    const server = serverOf(shop.app);
    server.off('request', server.listeners('request')[0] as () => void);
    server.on('request', (_request, response) => void response.end('closed'));
    expect((await get(shop)).text).toBe('closed');
  });

  /** Sends a body in two parts, when it is told to go on, and the rest after this many milliseconds. */
  const agent = new Agent({ keepAlive: true });
  afterAll(() => agent.destroy());
  const slowly = ({ url }: Shop, token: string, wait: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': TEXT.length,
        authorization: `Bearer ${token}`,
        expect: '100-continue',
      };
      const sent = httpRequest(`${url}/api/products`, { method: 'POST', headers, agent }, (response) =>
        response.resume().on('end', () => resolve(response.statusCode ?? 0)),
      );
      sent.on('error', reject).on('continue', () => {
        sent.write(TEXT.slice(0, 9));
        setTimeout(() => sent.end(TEXT.slice(9)), wait);
      });
      sent.flushHeaders();
    });

  it('reads a body where its request was heard of, and gives no second answer', async () => {
    const store = new AsyncLocalStorage<string>();
    const shop = await started();
    const token = await warmUp(shop);
    const server = serverOf(shop.app);
    server.on('checkContinue', (asked: IncomingMessage, response: ServerResponse) => {
      // A time limit of the application's.
      setTimeout(() => {
        if (!response.headersSent) response.writeHead(503).end();
      }, 100);
      response.writeContinue();
      asked.setEncoding('utf8');
      store.run('here', () => server.emit('request', asked, response));
    });
    const { parse } = JSON;
    const seen: unknown[] = [];
    JSON.parse = (text: string, ...further) => {
      if (text === TEXT) seen.push(store.getStore());
      return parse(text, ...further) as unknown;
    };
    const statuses: number[] = [];
    expect(
      await bringing(shop, async () => statuses.push(await slowly(shop, token, 10), await slowly(shop, token, 200))),
    ).toBe(0);
    await new Promise((done) => setTimeout(done, 200));
    JSON.parse = parse;
    expect(linesOf(shop.logs, 'error')).toEqual([]);
    expect([statuses, seen]).toEqual([
      [201, 503],
      ['here', 'here'],
    ]);
    expect((await get(shop)).status).toBe(200);
  });

  // Express tries again and again.
  if (adapter === 'fastify')
    it('ends no process where an answer cannot be written', async () => {
      const shop = await started();
      await warmUp(shop);
      const { writeHead } = ServerResponse.prototype;
      ServerResponse.prototype.writeHead = () => {
        throw new Error('no');
      };
      await expect(get(shop)).rejects.toThrow();
      ServerResponse.prototype.writeHead = writeHead;
      expect((await get(shop)).status).toBe(200);
    });

  describe('leaves bodies to the parsers of the application', () => {
    const refused = (headers: Record<string, unknown> | undefined): Error | undefined =>
      headers?.['x-signature'] === 'forged'
        ? Object.assign(new Error('forged'), { status: 403, statusCode: 403 })
        : undefined;
    const verify = ({ headers }: IncomingMessage): void => {
      const error = refused(headers);
      if (error) throw error;
    };
    type Parse = (
      asked: IncomingMessage | undefined,
      body: string,
      done: (error: unknown, body?: unknown) => void,
    ) => void;
    interface Parsing {
      addContentTypeParser(type: string, options: object, parse: Parse): unknown;
    }
    const parse: Parse = (asked, body, done) => {
      const error = refused(asked?.headers);
      if (error) done(error);
      else done(null, { ...(JSON.parse(body) as object), name: 'Parsed' });
    };
    class SignedExpress extends ExpressAdapter {
      override registerParserMiddleware(): void {
        this.useBodyParser('json', false, { verify } as object);
      }
    }
    class SignedOwn extends OwnExpressAdapter {
      override registerParserMiddleware(): void {
        this.useBodyParser('json', false, { verify } as object);
      }
    }
    class SignedFastify extends FastifyAdapter {
      override useBodyParser(...[type, ...rest]: Parameters<FastifyAdapter['useBodyParser']>): void {
        if (type !== 'application/json') return super.useBodyParser(type, ...rest);
        this.getInstance<Parsing>().addContentTypeParser('application/json', { parseAs: 'string' }, parse);
      }
    }
    const post = (shop: Shop, token: string, headers: Record<string, string>): Promise<Answer> =>
      request(shop.url, 'POST', '/api/products', { token, ...json(TEXT, 'application/json; charset=utf-8', headers) });

    it('that a subclass of the adapter has', async () => {
      const Signed = { express: SignedExpress, 'declarest/express': SignedOwn, fastify: SignedFastify }[adapter];
      const shop = await started({ adapter: new Signed() });
      const token = await warmUp(shop);
      const statuses: number[] = [];
      for (const signature of ['good', 'forged', 'good', 'forged'])
        statuses.push((await post(shop, token, { 'x-signature': signature })).status);
      expect(statuses).toEqual([201, 403, 201, 403]);
    });

    if (adapter === 'fastify')
      it('that are for a type of theirs, and closes connections as Fastify does', async () => {
        const shop = await started({
          configure: (app) =>
            void (fastifyOf(app) as never as Parsing).addContentTypeParser(
              'application/json; charset=utf-8',
              { parseAs: 'string' },
              parse,
            ),
        });
        const token = await warmUp(shop);
        for (let time = 0; time < 3; time += 1) expect((await post(shop, token, {})).json.data.name).toBe('Parsed');

        const plain = await started();
        const bearer = `Bearer ${await warmUp(plain)}`;
        const answered = await fetch(`${plain.url}/api/products`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: bearer },
          body: '{',
        });
        expect([answered.status, answered.headers.get('connection')]).toEqual([400, 'close']);
      });
  });

  if (adapter !== 'fastify')
    it('brings all requests to an Express that was put around before there was an application', async () => {
      const shop = await started(
        {},
        {
          early: (instance) => {
            const express = instance as never as Express;
            const { handle } = express;
            express.handle = function (this: unknown, ...args) {
              late(args[1] as ServerResponse);
              return handle.apply(this, args);
            };
          },
        },
      );
      await warmUp(shop);
      expect((await get(shop)).headers['x-late']).toBe('yes');
    });

  if (adapter !== 'fastify')
    it('asks a route of Express that gets its handlers later', async () => {
      const made: { all(handler: unknown): void }[] = [];
      const shop = await started({
        configure: (app) => {
          const express = expressOf(app) as never as { route(path: string): { all(handler: unknown): void } };
          made.push(express.route('/api/products/:id'));
        },
      });
      await warmUp(shop);
      expect((await get(shop)).status).toBe(200);
      made[0]?.all(middleware);
      expect((await get(shop)).headers['x-late']).toBe('yes');
    });

  describe('leaves to other routes what is theirs', () => {
    @Controller('api/products')
    class OffersController {
      @Get('offers')
      offers() {
        return { offers: [] };
      }
    }

    it('a word in the place of an id', async () => {
      const options = { controllers: [OffersController] };
      const [past, behind] = [await started(options), await behindItsPlatform(options)];
      for (const shop of [past, behind]) await warmUp(shop);
      for (const path of ['/api/products/offers', '/api/products/OFFERS', '/api/products/1'])
        expect(shown(await get(past, path))).toEqual(shown(await get(behind, path)));
      expect(await bringing(past, () => get(past))).toBe(0);
    });
  });

  it('gives no answer of other methods the headers of cors() that is bound to one', async () => {
    const options: ShopOptions = {
      imports: [
        class OneMethod {
          configure(consumer: MiddlewareConsumer): void {
            consumer
              .apply(cors('https://page.example'))
              .forRoutes({ path: 'api/categories/:id', method: RequestMethod.GET });
          }
        },
      ],
      rules: ({ publicEndpoints }) => publicEndpoints('/**'),
    };
    const [past, behind] = [await started(options), await behindItsPlatform(options)];
    for (const shop of [past, behind]) await warmUp(shop);
    for (const method of ['GET', 'PUT', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'OPTIONS', 'DELETE']) {
      const sent = method === 'PUT' ? { json: { name: 'Light' } } : {};
      const ask = (shop: Shop): Promise<Answer> => request(shop.url, method, '/api/categories/1', sent);
      expect(shown(await ask(past))).toEqual(shown(await ask(behind)));
    }
  });

  it('shows a policy the request of its platform', async () => {
    const seen: unknown[] = [];
    @Injectable()
    class Policies extends SecurityConfig {
      configure(): void {
        this.requirePolicy(
          'owner',
          (_, asked) => {
            seen.push((asked as { ip?: unknown }).ip);
            return true;
          },
          'PUT /api/categories/*',
        );
      }
    }
    const shop = await started({ providers: [Policies] });
    const token = await warmUp(shop);
    for (let time = 0; time < 3; time += 1)
      expect(
        (await request(shop.url, 'PUT', '/api/categories/1', { token, json: { name: `Light ${time}` } })).status,
      ).toBe(200);
    expect(seen).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    // Other routes have none.
    expect(await bringing(shop, () => get(shop, '/api/categories/1', { token }))).toBe(0);
  });

  describe('reads bodies only as the platform does', () => {
    const post = (shop: Shop, body: string): Promise<Answer> => request(shop.url, 'POST', '/api/products', json(body));
    const large = JSON.stringify({ ...LAMP, description: 'x'.repeat(2_000) });
    const LIMITS: Record<string, [ShopOptions, FastifyOptions?]> = {
      'when the raw body is kept': [{ nestOptions: { rawBody: true } }],
      'when the application has a parser of its own': [
        {
          configure: (app) =>
            void (app as never as { useBodyParser(type: string, options?: object): void }).useBodyParser(
              adapter === 'fastify' ? 'application/json' : 'json',
              { limit: 100 },
            ),
        },
      ],
      'when nobody reads them': [{ nestOptions: { bodyParser: false } }],
      ...(adapter === 'fastify' && { 'when they are to be short': [{}, { bodyLimit: 1_000 }] }),
    };
    it.each(Object.entries(LIMITS))('%s', async (_, [options, fastify]) => {
      const rules: ShopOptions['rules'] = ({ publicEndpoints }) => publicEndpoints('/**');
      const [past, behind] = [
        await started({ ...options, rules }, fastify),
        await behindItsPlatform({ ...options, rules }, fastify),
      ];
      for (const body of [TEXT, TEXT, large, TEXT])
        expect(shown(await post(past, body))).toEqual(shown(await post(behind, body)));
    });
  });

  it('answers no more than its platform when it is to be closed', async () => {
    const shop = await started({ nestOptions: { return503OnClosing: true } });
    await warmUp(shop);
    const http = shop.app.getHttpAdapter() as ExpressAdapter;
    (http as never as { beforeClose(): void }).beforeClose();
    expect((await get(shop)).status).toBe(503);
  });
});
