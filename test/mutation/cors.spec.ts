import 'reflect-metadata';
import { METHODS, type ServerResponse } from 'node:http';
import { jest } from '@jest/globals';
import { Controller, Get, Logger, type NestMiddleware, Post, RequestMethod, Version } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import { cors } from '../../lib/cors/cors.middleware.js';
import { corsHeaders } from '../../lib/cors/cors-headers.js';
import { checkOrigin } from '../../lib/cors/origin.js';
import { routesOf, unservedGroups } from '../../lib/cors/routes-of.js';
import { RouteTable } from '../../lib/routes/route-table.js';
import { refusalOf } from './declared.js';

const HEADERS = (origin: string): [string, string][] => [
  ['access-control-allow-origin', origin],
  ['access-control-allow-methods', 'GET, POST, PUT, DELETE, OPTIONS, PATCH'],
  ['access-control-allow-headers', 'Content-Type, Authorization, X-Requested-With'],
  ['access-control-max-age', '600'],
  ['access-control-expose-headers', 'Location, Retry-After, WWW-Authenticate'],
];

describe('the headers of CORS', () => {
  it.each(['*', 'https://shop.example'])('[5] are these, for %s', (origin) => {
    expect(corsHeaders(origin)).toEqual(HEADERS(origin));
    expect(Object.isFrozen(corsHeaders(origin))).toBe(true);
  });
});

describe('an allowed origin', () => {
  const refused = (got: string, advice: string): string =>
    `cors(allowedOrigin): expected an origin such as "https://shop.example", or no argument for every origin, got ${got}; ${advice}.`;
  const NO_TEXT = 'give one string; a missing environment variable is not "every origin"';
  const PARTS = 'give scheme, host and, if it is not the default one, port';
  const exactly = (origin: string): string => `give exactly ${JSON.stringify(origin)}, which is what browsers send`;

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
    ['null', '"null"', '"null" is the origin of every sandboxed page: name the real one'],
    ['', 'an empty string', PARTS],
    ['shop.example', '"shop.example"', PARTS],
    ['mailto:shop', '"mailto:shop"', PARTS],
    ['file:///a', '"file:///a"', PARTS],
    ['*', '"*"', PARTS],
    ['https://*.example', '"https://*.example"', PARTS],
    ['https://shop.example/', '"https://shop.example/"', exactly('https://shop.example')],
    ['https://shop.example:443', '"https://shop.example:443"', exactly('https://shop.example')],
    ['HTTPS://Shop.example', '"HTTPS://Shop.example"', exactly('https://shop.example')],
    ['https://ann:pw@shop.example', 'a text with a user in it', exactly('https://shop.example')],
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
    `${name}: expected ${expected}, got ${got}; ${advice}.`;

  it('[5] are its paths, once each, for every method', () => {
    expect(routesOf(GadgetsController)).toStrictEqual([
      { path: '/gadgets', ...ALL },
      { path: '/gadgets/:id', ...ALL },
    ]);
    expect(routesOf(GadgetsController, 'findOne')).toEqual([{ path: '/gadgets/:id', ...ALL }]);
  });

  it('[5] may have several paths, and slashes as one likes', () => {
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

  it('[5] know their versions, the method before the controller', () => {
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

  it('[5] include what a class inherits, unless it says otherwise', () => {
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

  it('[5] a path that was left empty by hand is that of the controller', () => {
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
  ])('[5] %s has none', (_, controller, got) => {
    expect(refusalOf(() => routesOf(controller as never))).toBe(
      refused('routesOf', 'a controller class', got, 'give a class that is decorated with @Controller()'),
    );
  });

  it('[5] a controller without a route, and an operation that is none, are refused', () => {
    @Controller('a')
    class Empty {
      helper(): void {}
    }
    const advice = 'decorate a method with @Get() or another verb, or name one that is';
    expect(refusalOf(() => routesOf(Empty))).toBe(
      refused('routesOf(Empty)', 'a controller with a route', 'one without', advice),
    );
    expect(refusalOf(() => routesOf(GadgetsController, 'helper'))).toBe(
      refused('routesOf(GadgetsController)', 'the name of a method that has a route', '"helper"', advice),
    );
  });

  it('[5] a bound path at which no route stands is told', () => {
    const told = (routes: string[], middlewarePaths: string[]): string[] =>
      unservedGroups({ routes: routes.map((path) => ({ path })), middlewarePaths } as unknown as RouteTable);
    routesOf(GadgetsController);
    expect(told([], [])).toEqual([]);
    expect(told([], ['/gadgets'])).toEqual(['/gadgets']);
    expect(told(['/gadgets'], ['/gadgets'])).toEqual([]);
    expect(told(['/shop/gadgets'], ['/gadgets'])).toEqual(['/gadgets']);
    expect(told(['/api/gadgets'], ['/api/gadgets'])).toEqual([]);
    expect(told(['/api/gadgets'], ['/api/gadgets', '/gadgets'])).toEqual([]);
    expect(told([], ['/api/gadgets', '/gadgets/more'])).toEqual(['/gadgets']);
    expect(told([], ['/gadgets', '/gadgets/:id'])).toEqual(['/gadgets', '/gadgets/:id']);
    expect(told(['/other'], ['/other'])).toEqual([]);
  });
});

/** As much of an HTTP adapter as the route table watches. */
function adapterHost(stack: { name: string }[] = []): HttpAdapterHost {
  const verbs = ['all', ...METHODS.map((method) => method.toLowerCase())];
  const none = verbs.map((verb) => [verb, () => undefined]);
  const express: Record<string, unknown> = {
    ...Object.fromEntries(none),
    router: { stack: stack.map(({ name }) => ({ name, handle: () => undefined, rawPath: '/' })) },
  };
  const passing = verbs.map((verb) => [verb, (...args: unknown[]) => (express[verb] as Function)(...args)]);
  const httpAdapter = {
    ...Object.fromEntries(passing),
    getType: () => 'express',
    getInstance: () => express,
    getRouteMatchingOptions: () => ({ caseSensitive: false, ignoreTrailingSlash: true }),
    createMiddlewareFactory: async () => () => undefined,
  };
  return { httpAdapter } as unknown as HttpAdapterHost;
}

const made = (host: HttpAdapterHost, ...origin: [string?]) =>
  new (cors(...origin))(host) as NestMiddleware & { onApplicationBootstrap(): void };

describe('the middleware', () => {
  function answer(method: string, url: string, ...origin: [string?]) {
    const host = adapterHost();
    const middleware = made(host, ...origin);
    (host.httpAdapter as unknown as Record<string, (path: string, handler: object) => void>)['get']?.('/a', () => 'a');
    const headers: [string, string][] = [];
    let ended = 0;
    let passed = 0;
    const response = {
      statusCode: 200,
      setHeader: (name: string, value: string) => headers.push([name, value]),
      writeHead(status: number, head: Record<string, string>) {
        this.statusCode = status;
        headers.push(...Object.entries(head));
        return this;
      },
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

  it('[5] leaves a preflight alone where it has none', () => {
    expect(answer('OPTIONS', '/b')).toEqual({ headers: [], status: 200, ended: 0, passed: 1 });
  });

  it.each(['GET', 'POST'])('[5] writes the headers on %s and passes on', (method) => {
    expect(answer(method, '/a')).toEqual({ headers: HEADERS('*'), status: 200, ended: 0, passed: 1 });
    expect(answer(method, '/b').headers).toEqual(HEADERS('*'));
  });

  it('[5] refuses what is no origin, also undefined', () => {
    expect(refusalOf(() => cors(undefined))).toContain('got undefined');
    expect(refusalOf(() => cors('shop.example'))).toContain('got "shop.example"');
  });
});

describe('what the middleware tells at boot', () => {
  let lines: unknown[][];
  beforeEach(() => {
    lines = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation(function (this: Logger, line: unknown) {
      lines.push([(this as unknown as { context: string }).context, line]);
    });
  });
  afterEach(() => void jest.restoreAllMocks());

  const PLATFORM = 'app.enableCors() is on beside cors(): it answers every OPTIONS itself. Remove one of the two.';

  it('[5] is nothing where all is well', () => {
    made(adapterHost()).onApplicationBootstrap();
    expect(lines).toEqual([]);
  });

  it('[5] is that the platform answers too, once for each application', () => {
    const host = adapterHost([{ name: 'corsMiddleware' }]);
    made(host).onApplicationBootstrap();
    made(host, 'https://shop.example').onApplicationBootstrap();
    expect(lines).toEqual([['cors', PLATFORM]]);
    made(adapterHost([{ name: 'corsMiddleware' }])).onApplicationBootstrap();
    expect(lines).toHaveLength(2);
  });

  it('[5] is a group at which no route stands', () => {
    const host = adapterHost();
    routesOf(GadgetsController);
    RouteTable.of(host.httpAdapter).middlewarePaths.push('/gadgets');
    made(host).onApplicationBootstrap();
    expect(lines).toEqual([
      [
        'cors',
        'routesOf: no route of the application stands at /gadgets. Under a RouterModule prefix, write the path out in forRoutes.',
      ],
    ]);
  });
});
