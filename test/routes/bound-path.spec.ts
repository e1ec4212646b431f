/** What is said of a bound path and a route before there is a request, against what Nest's own binding does with requests. */
import { Controller, Get, Inject, Injectable, Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { cors } from 'declarest';
import { isPlainTarget, matchesRoute } from '../../lib/routes/bound-path.js';
import { RouteTable } from '../../lib/routes/route-table.js';
import { request } from '../harness/client.js';
import { startApp } from '../harness/platforms.js';

describe('[4.2] whether a bound path matches a route', () => {
  it.each<[string[], string, boolean | undefined]>([
    [['/a'], '/a', true],
    [['/a', '/a/:id'], '/a/:id', true],
    [['/b', '/a/:id'], '/a/:id', true],
    [['/b'], '/a/:id', false],
    [['/b/:id', '/c'], '/a/:id', false],
    [['/a/b/c'], '/a/x/:id', false],
    // A parameter is for any word.
    [['/:x/b'], '/a/b', true],
    [['/a/:other'], '/a/:id', true],
    [['/a/:id'], '/a/b', true],
    [['/a/:id'], '/a/b/:id', undefined],
    [['/a/:id(\\d+)'], '/a/b', undefined],
    [['/a/:id.json'], '/a/b', undefined],
    // A binding may hold for what is below it.
    [['/a'], '/a/:id', undefined],
    [['/a/b'], '/a/:id', undefined],
    [['/A'], '/a', undefined],
    [['/b', '/a'], '/a/:id', undefined],
    // A wildcard holds for what is below it, and with braces for what is above it, too.
    [['/*all'], '/a', true],
    [['/{*all}'], '/a/:id', true],
    [['/a/*all'], '/a/:id', true],
    [['/a/*all'], '/a/b/:id', true],
    [['/a/*all'], '/a', undefined],
    [['/:x/*all'], '/a/b', true],
    [['/A/*all'], '/a/b', undefined],
    [['/b/*all'], '/a/:id', false],
    [['/b/:x{/c}'], '/a/:id', false],
    // What is not a word, a whole parameter or a wildcard decides nothing.
    [['*'], '/a', undefined],
    [['*all'], '/a', undefined],
    [['{*all}'], '/a', undefined],
    [['/a{/b}'], '/a/:id', undefined],
    [['/b*all'], '/a/:id', undefined],
    [['/*all/c'], '/a/b/c', undefined],
    [['/b'], '/a/:id.json', undefined],
    [['/b'], '/*', undefined],
    [['/b'], '/a/:id(^\\d+)', undefined],
    [['/b'], '/a/:id?', undefined],
    [['/b'], '/', undefined],
    [[], '/a', false],
  ])('%j at %s: %s', (bound, route, expected) => {
    expect(matchesRoute(bound, route)).toBe(expected);
  });

  it.each([
    ['/a', true],
    ['/a/7?x=/%2f', true],
    ['/a/b.c_d~e-f', true],
    ['/', false],
    ['/a/', false],
    ['//a', false],
    ['/a//b', false],
    ['/%61', false],
    ['/a;b=1', false],
    ['/a#b', false],
    ['/a\\b', false],
    ['/é', false],
    ['http://h/a', false],
    ['*', false],
  ])('the target %s can be read in one way only: %s', (target, expected) => {
    expect(isPlainTarget(target)).toBe(expected);
  });
});

@Controller()
class WordsController {
  @Get('a')
  a() {
    return {};
  }

  @Get('a/:id')
  below() {
    return {};
  }

  @Get('a/:id/b')
  furtherBelow() {
    return {};
  }

  @Get(':first/b')
  parameter() {
    return {};
  }

  @Get('*')
  rest() {
    return {};
  }
}

@Injectable()
class Early {
  constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
    RouteTable.watch(host);
  }
}

const GROUPS = [
  ['a'],
  ['a/:id'],
  ['a', 'a/:id'],
  [':first/b'],
  ['a/b'],
  ['b'],
  ['a/:other/b'],
  ['A'],
  ['a/*rest'],
  ['*rest'],
  ['{*rest}'],
  ['b/*rest'],
];
const WORDS = ['a', 'A', 'b', '7', '%61', 'a%2Fb', '..', ''];
const TARGETS = WORDS.flatMap((first) => [
  `/${first}`,
  ...WORDS.flatMap((second) => [`/${first}/${second}`, `/${first}/${second}/b`, `/${first}/${second}?x=1`]),
]);

describe.each([
  ['as Nest makes it', {}],
  [
    'of any case, without slashes at the end or twice',
    { caseSensitive: false, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
  ],
])('[4.2] cors() on a router of Fastify %s', (_, routerOptions) => {
  it.each(GROUPS.map((group) => [group] as const))(
    'bound to %j holds for the requests for which Nest binds it',
    async (paths) => {
      const start = (isAlone: boolean) => {
        @Module({ controllers: [WordsController], providers: [Early] })
        class WordsModule implements NestModule {
          configure(consumer: MiddlewareConsumer): void {
            consumer.apply(cors()).forRoutes(...paths);
            // With any other middleware Nest binds all of them.
            if (!isAlone)
              consumer.apply((_request: unknown, _response: unknown, next: () => void) => next()).forRoutes('nowhere');
          }
        }
        return startApp('fastify', WordsModule, { adapter: new FastifyAdapter({ routerOptions }) });
      };
      const [alone, nests] = [await start(true), await start(false)];
      try {
        const seen = async ({ url }: { readonly url: string }, target: string) => {
          const { status, headers } = await request(url, 'GET', target);
          return [target, status, headers['access-control-allow-origin']];
        };
        // Asked twice: what is known of a route is found out with its first request.
        for (const target of [...TARGETS, ...TARGETS.toReversed()])
          expect(await seen(alone, target)).toEqual(await seen(nests, target));
      } finally {
        await Promise.all([alone.close(), nests.close()]);
      }
    },
  );
});
