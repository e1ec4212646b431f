import 'reflect-metadata';
import type { ServerResponse } from 'node:http';
import {
  Controller,
  Get,
  Logger,
  type NestMiddleware,
  Post,
  RequestMethod,
  Version,
  VersioningType,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { cors, corsHeaders } from '../../../lib/cors/cors.middleware.js';
import { checkOrigin } from '../../../lib/cors/cors.middleware.js';
import { routesOf, takeReturnedPaths, uncoveredPaths } from '../../../lib/cors/routes-of.js';
import { CookieEndpoints } from '../../../lib/http/cookies.js';
import { makeRoute } from '../../../lib/routes/route.js';
import { RouteTable } from '../../../lib/routes/route-table.js';
import { applicationOf } from '../../../lib/routes/application.js';
import { refusalOf } from './declared.js';

const HEADERS = (origin: string): [string, string][] => [
  ['access-control-allow-origin', origin],
  ['access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS, PATCH'],
  [
    'access-control-allow-headers',
    'Content-Type, Authorization, X-Requested-With, If-Match, If-None-Match, Idempotency-Key',
  ],
  ['access-control-max-age', '600'],
  [
    'access-control-expose-headers',
    'Content-Disposition, ETag, Idempotency-Replayed, Location, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count',
  ],
];

describe('the headers of CORS', () => {
  it.each(['*', 'https://shop.example'])('[5] have the origin %s', (origin) => {
    expect(corsHeaders(origin)).toEqual(HEADERS(origin));
    expect(Object.isFrozen(corsHeaders(origin))).toBe(true);
  });
});

describe('an allowed origin', () => {
  const refused = (got: string, advice: string): string =>
    `The argument of cors() must be an origin such as "https://shop.example", or left out for every origin, got ${got}. ${advice}.`;
  const NO_TEXT = 'Pass one string: a missing environment variable does not mean every origin';
  const PARTS = 'Pass scheme, host and, unless it is the default, port';
  const exactly = (origin: string): string => `Pass exactly ${JSON.stringify(origin)}, as browsers send it`;

  it.each(['https://shop.example', 'http://localhost:5173', 'http://[::1]:3000', 'capacitor://localhost'])(
    '[5] is %s as it is',
    (origin) => {
      expect(checkOrigin(origin)).toBe(origin);
    },
  );

  it.each<[origin: unknown, got: string, advice: string]>([
    [undefined, 'undefined', NO_TEXT],
    [7, '7', NO_TEXT],
    [['https://a.example'], 'an array of 1', NO_TEXT],
    [{ includes: () => true }, 'an object', NO_TEXT],
    ['null', '"null"', 'Pass the real origin: every sandboxed page has the origin "null"'],
    ['', 'an empty string', PARTS],
    ['shop.example', '"shop.example"', PARTS],
    ['mailto:shop', '"mailto:shop"', PARTS],
    ['file:///a', '"file:///a"', PARTS],
    ['*', '"*"', PARTS],
    ['https://*.example', '"https://*.example"', PARTS],
    ['https://shop.example/', '"https://shop.example/"', exactly('https://shop.example')],
    ['https://shop.example:443', '"https://shop.example:443"', exactly('https://shop.example')],
    ['HTTPS://Shop.example', '"HTTPS://Shop.example"', exactly('https://shop.example')],
    ['https://ann:pw@shop.example', 'a URL with a user name', exactly('https://shop.example')],
  ])('[5] is not %j', (origin, got, advice) => {
    expect(refusalOf(() => checkOrigin(origin))).toBe(refused(got, advice));
  });
});

@Controller('gadgets')
class GadgetsController {
  @Get()
  findAll(): void {}
  @Get(':id')
  findOne(): void {}
  @Post(':id')
  change(): void {}
  helper(): void {}
}

describe('the routes of a controller', () => {
  const ALL = { method: RequestMethod.ALL };
  const refused = (name: string, expected: string, got: string, advice: string): string =>
    `${name} must be ${expected}, got ${got}. ${advice}.`;

  it('[5] are its paths, each once, for every method', () => {
    expect(routesOf(GadgetsController)).toStrictEqual([
      { path: '/gadgets', ...ALL },
      { path: '/gadgets/:id', ...ALL },
    ]);
    expect(routesOf(GadgetsController, 'findOne')).toEqual([{ path: '/gadgets/:id', ...ALL }]);
  });

  it('[5] may have several paths, with any slashes', () => {
    @Controller(['/a//', 'b'])
    class Several {
      @Get(['/x/', 'y'])
      list(): void {}
    }
    expect(routesOf(Several).map(({ path }) => path)).toEqual(['/a/x', '/a/y', '/b/x', '/b/y']);
    @Controller()
    class Root {
      @Get()
      list(): void {}
    }
    expect(routesOf(Root)).toEqual([{ path: '/', ...ALL }]);
  });

  it('[5] have the version of the method, or that of the controller', () => {
    @Controller({ path: 'a', version: '1' })
    class Versioned {
      @Get()
      list(): void {}
      @Version(['2', '3'])
      @Get('b')
      other(): void {}
    }
    expect(routesOf(Versioned)).toEqual([
      { path: '/a', version: '1', ...ALL },
      { path: '/a/b', version: '2', ...ALL },
      { path: '/a/b', version: '3', ...ALL },
    ]);
  });

  it('[5] include inherited methods that are not overridden', () => {
    @Controller('base')
    class Base {
      @Get('list')
      list(): void {}
      @Get('find')
      find(): void {}
    }
    @Controller('sub')
    class Sub extends Base {
      @Get('mine')
      override find(): void {}
    }
    Object.defineProperty(Sub.prototype, 'limit', { value: { path: 'none' } });
    Reflect.defineMetadata('path', 'limit', (Sub.prototype as unknown as { limit: object }).limit);
    expect(routesOf(Sub).map(({ path }) => path)).toEqual(['/sub/mine', '/sub/list']);
  });

  it('[5] an empty path is that of the controller', () => {
    class Plain {
      list(): void {}
    }
    Reflect.defineMetadata('path', 'plain', Plain);
    Reflect.defineMetadata('path', '', Plain.prototype.list);
    expect(routesOf(Plain).map(({ path }) => path)).toEqual(['/plain']);
  });

  it.each<[what: string, controller: unknown, got: string]>([
    ['undefined', undefined, 'undefined'],
    ['a path', '/gadgets', '"/gadgets"'],
    ['a class that is no controller', RouteTable, '`RouteTable`'],
    ['a function with a path', Object.assign(() => undefined, { path: 'a' }), 'a function'],
  ])('[5] %s is refused', (_, controller, got) => {
    expect(refusalOf(() => routesOf(controller as never))).toBe(
      refused(
        'The first argument of routesOf',
        'a controller class',
        got,
        'Pass a class that is decorated with @Controller()',
      ),
    );
  });

  it('[5] a controller without a route and an unknown operation are refused', () => {
    @Controller('a')
    class Empty {
      helper(): void {}
    }
    const advice = 'Decorate a method with @Get() or another verb, or name one that is';
    expect(refusalOf(() => routesOf(Empty))).toBe(
      refused('The controller of routesOf(Empty)', 'a class with a route', 'a class without one', advice),
    );
    expect(refusalOf(() => routesOf(GadgetsController, 'helper'))).toBe(
      refused(
        'The operation of routesOf(GadgetsController)',
        'the name of a method that has a route',
        '"helper"',
        advice,
      ),
    );
  });

  it('[5] are taken once by the application that binds them', () => {
    takeReturnedPaths();
    routesOf(GadgetsController, 'findOne');
    expect([takeReturnedPaths(), takeReturnedPaths()]).toEqual([['/gadgets/:id'], []]);
  });

  it.each<[routes: string[], uncovered: string[]]>([
    [[], ['/gadgets']],
    [['/gadgets'], []],
    [['/api/gadgets'], []],
    [['/api/v1/gadgets'], []],
    [['/v1/gadgets'], []],
    [['/shop/gadgets'], ['/gadgets']],
    [['/api/shop/gadgets'], ['/gadgets']],
    [['/api/v1/shop/gadgets'], ['/gadgets']],
    [['/gadgets/more'], ['/gadgets']],
  ])('[5] with the routes %j, uncovered paths are %j', (routes, uncovered) => {
    const config = new ApplicationConfig();
    config.setGlobalPrefix('api');
    config.enableVersioning({ type: VersioningType.URI });
    const table = { controllerRoutes: routes.map((path) => makeRoute('GET', path)) } as unknown as RouteTable;
    expect(uncoveredPaths(['/gadgets', '/files/*path'], table, config)).toEqual(uncovered);
  });
});

it.each<[versioning: object | undefined, route: string, uncovered: string[]]>([
  [{ type: VersioningType.URI, prefix: false }, '/1/gadgets', []],
  [{ type: VersioningType.URI, prefix: 'ver.' }, '/ver.1/gadgets', []],
  [{ type: VersioningType.URI, prefix: 'ver.' }, '/verx1/gadgets', ['/gadgets']],
  [{ type: VersioningType.HEADER, header: 'x' }, '/v1/gadgets', ['/gadgets']],
  [undefined, '/v1/gadgets', ['/gadgets']],
  [undefined, '/gadgets', []],
])('[5] with the versioning %j, the route %s leaves %j uncovered', (versioning, path, uncovered) => {
  const config = new ApplicationConfig();
  if (versioning) config.enableVersioning(versioning as never);
  const table = { controllerRoutes: [makeRoute('GET', path)] } as unknown as RouteTable;
  expect(uncoveredPaths(['/gadgets'], table, config)).toEqual(uncovered);
});

/** As much of Express as the route table reads. */
function adapterWith(paths: string[] = [], isCorsEnabled?: boolean): object {
  const stack = paths.map((path) => ({
    handle: () => undefined,
    route: { path, methods: { get: true }, stack: [] },
    rawPath: path,
    matchers: [(asked: string) => asked === path && { path }],
  }));
  return {
    ...(isCorsEnabled !== undefined && { isCorsEnabled }),
    getType: () => 'express',
    use: () => undefined,
    getInstance: () => ({ router: { stack } }),
    getRouteMatchingOptions: () => ({ caseSensitive: false, ignoreTrailingSlash: true }),
  };
}

/** An application, as the middleware finds it. */
function injectorWith(httpAdapter: object): object {
  const config = new ApplicationConfig();
  const host = { httpAdapter };
  const found = new Map<unknown, unknown>([
    [ApplicationConfig, config],
    [HttpAdapterHost, host],
  ]);
  return { get: (type: unknown) => found.get(type) ?? new Map() };
}

const create = (injector: object, ...origin: [string?]) =>
  new (cors(...origin) as new (injector: object) => NestMiddleware & { onApplicationBootstrap(): void })(injector);

/** The middleware of an application whose account endpoints may read cookies. */
function createReading(cookiePath: string | undefined, ...origin: [string?]) {
  const injector = injectorWith(adapterWith(['/a']));
  const middleware = create(injector, ...origin);
  if (cookiePath !== undefined) applicationOf(injector as never).stateOf(CookieEndpoints).basePath = cookiePath;
  return middleware;
}

describe('the middleware', () => {
  function answer(method: string, url: string, ...origin: [string?]) {
    const middleware = create(injectorWith(adapterWith(['/a'])), ...origin);
    const headers: [string, string][] = [];
    let ended = 0;
    let passed = 0;
    const response = {
      statusCode: 200,
      hasHeader: () => false,
      setHeader: (name: string, value: string) => headers.push([name, value]),
      end: () => ended++,
    };
    middleware.use({ method, url, headers: {} }, response as unknown as ServerResponse, () => passed++);
    return { headers, status: response.statusCode, ended, passed };
  }

  it('[5] answers a preflight where the application has a route', () => {
    expect(answer('OPTIONS', '/a?x=1', 'https://shop.example')).toEqual({
      headers: HEADERS('https://shop.example'),
      status: 204,
      ended: 1,
      passed: 0,
    });
  });

  it('[5] passes a preflight on where the application has no route', () => {
    expect(answer('OPTIONS', '/b')).toEqual({ headers: [], status: 200, ended: 0, passed: 1 });
  });

  it.each(['GET', 'POST'])('[5] sets the headers on %s and passes on', (method) => {
    expect(answer(method, '/a')).toEqual({ headers: HEADERS('*'), status: 200, ended: 0, passed: 1 });
    expect(answer(method, '/b').headers).toEqual(HEADERS('*'));
  });

  it('[5] allows credentials to one origin, where cookies are read', () => {
    const withCookies = (url: string, cookiePath: string | undefined, ...origin: [string?]) => {
      const names: string[] = [];
      const response = { hasHeader: () => false, setHeader: (...header: string[]) => names.push(header.join(': ')) };
      const request = { method: 'GET', url, headers: {} };
      createReading(cookiePath, ...origin).use(request, response as unknown as ServerResponse, () => undefined);
      return names.includes('access-control-allow-credentials: true');
    };
    const ONE = 'https://shop.example';
    expect(withCookies('/api/auth/refresh', '/api/auth/', ONE)).toBe(true);
    expect(withCookies('/api/orders', '/api/auth/', ONE)).toBe(false);
    expect(withCookies('/api/auth/refresh', undefined, ONE)).toBe(false);
    expect(withCookies('/api/undefined', undefined, ONE)).toBe(false);
    expect(withCookies('/api/auth/refresh', '/api/auth/')).toBe(false);
  });

  it('[5] refuses undefined and a text that is no origin', () => {
    expect(refusalOf(() => cors(undefined))).toContain('got undefined');
    expect(refusalOf(() => cors('shop.example'))).toContain('got "shop.example"');
  });
});

describe('warnings of the middleware', () => {
  let lines: unknown[][];
  beforeEach(() => {
    takeReturnedPaths();
    lines = [];
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(function (this: Logger, line: unknown) {
      lines.push([(this as unknown as { context: string }).context, line]);
    });
  });
  afterEach(() => void vi.restoreAllMocks());

  const ENABLED =
    'app.enableCors() and cors() are both used, and app.enableCors() answers every OPTIONS request. Remove one of the two.';

  it('[5] report app.enableCors() at startup, once for each application', () => {
    const application = injectorWith(adapterWith([], true));
    create(application).onApplicationBootstrap();
    create(application, 'https://shop.example').onApplicationBootstrap();
    expect(lines).toEqual([['cors', ENABLED]]);
    create(injectorWith(adapterWith([], true))).onApplicationBootstrap();
    create(injectorWith(adapterWith([], false))).onApplicationBootstrap();
    create(injectorWith(adapterWith())).onApplicationBootstrap();
    expect(lines).toHaveLength(2);
  });

  it('[5] report app.enableCors() with the first response that already has its header', () => {
    const application = injectorWith(adapterWith());
    const respond = (names: string[], ...middleware: NestMiddleware[]): void => {
      const response = {
        hasHeader: (name: string) => names.includes(name),
        setHeader: (name: string) => names.push(name),
      };
      for (const each of middleware) each.use({ method: 'GET', url: '/a', headers: {} }, response, () => undefined);
    };
    // Two groups may set the header on one response.
    respond([], create(application), create(application, 'https://shop.example'));
    expect(lines).toEqual([]);
    for (let count = 0; count < 2; count++) respond(['access-control-allow-origin'], create(application));
    expect(lines).toEqual([['cors', ENABLED]]);
  });

  it('[5] report every origin where cookies are read', () => {
    createReading('/api/auth/', 'https://shop.example').onApplicationBootstrap();
    createReading(undefined).onApplicationBootstrap();
    expect(lines).toEqual([]);
    createReading('/api/auth/').onApplicationBootstrap();
    expect(lines).toEqual([
      [
        'cors',
        'cors() allows every origin, and browsers send cookies to /api/auth/* from none of them. Pass the origin of the pages that log in, such as cors("https://shop.example").',
      ],
    ]);
  });

  it('[5] report app.enableCors() of Fastify when it is ready', () => {
    for (const isEnabled of [false, true]) {
      const ready: [string, (done: () => void) => void][] = [];
      const instance = {
        addHook: (...hook: (typeof ready)[number]) => ready.push(hook),
        hasRequestDecorator: (name: string) => isEnabled && name === 'corsPreflightEnabled',
      };
      const fastify = { ...adapterWith(), getType: () => 'fastify', getInstance: () => instance };
      create(injectorWith(fastify)).onApplicationBootstrap();
      let done = 0;
      for (const [, hook] of ready.filter(([name]) => name === 'onReady')) hook(() => done++);
      expect(done).toBe(1);
      expect(lines).toEqual(isEnabled ? [['cors', ENABLED]] : []);
    }
  });

  it('[5] report a group without a route', () => {
    routesOf(GadgetsController, 'findAll');
    create(injectorWith(adapterWith())).onApplicationBootstrap();
    expect(lines).toEqual([
      [
        'cors',
        'routesOf: no route of the application has the path /gadgets. Under a RouterModule prefix, pass the whole path to forRoutes.',
      ],
    ]);
  });
});
