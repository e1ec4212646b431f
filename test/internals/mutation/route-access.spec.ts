import 'reflect-metadata';
import type { ControllerMethod } from '../../../lib/routes/controller-methods.js';
import { declareRoute } from '../../../lib/routes/declared-route.js';
import { makeRoute, type Route } from '../../../lib/routes/route.js';
import {
  AUTHENTICATED as ANY_TOKEN,
  DENIED as NOBODY,
  describeAccess,
  describeRule,
  type Access,
  type Rule,
} from '../../../lib/access/decide.js';
import { Authenticated, Public, Roles } from '../../../lib/access/access-decorators.js';
import { accessRows, formatAccessRows } from '../../../lib/access/access-rows.js';
import { compileRouteAccess } from '../../../lib/access/route-access.js';
import { AUTHENTICATED, DENIED, handling, policy, PUBLIC, refusalOf, roles, route, rule } from './declared.js';

const WIDE = false;
const STRICT = true;

const compiled = (
  routes: Route[],
  rules: Rule[],
  reading = WIDE,
  fallback: Access = ANY_TOKEN,
  methods: ControllerMethod[] = [],
) => compileRouteAccess(routes, { rules, fallback }, reading, methods);

const words = (access: Access | undefined): string => (access ? describeAccess(access, () => []) : 'no route');

/** Who gets in at a path that the one route serves. */
function reached(template: string, rules: Rule[], path: string, params: Record<string, unknown> = {}, reading = WIDE) {
  return words(compiled([route(`GET ${template}`)], rules, reading).of(template, 'GET')?.({ path, params }));
}

const rows = (routes: Route[], rules: Rule[], reading = WIDE) =>
  compiled(routes, rules, reading).entries.map(
    ({ method, path, access, part }) => `${method} ${path}: ${words(access)}${part ? ` by ${describeRule(part)}` : ''}`,
  );

/** A handler with what decorators say of it. */
function handlerWith(...decorators: MethodDecorator[]): object {
  const handler = (): void => undefined;
  class Shop {
    list = handler;
  }
  for (const decorate of decorators.toReversed())
    decorate(Shop.prototype, 'list', { value: handler } as TypedPropertyDescriptor<unknown>);
  return handler;
}

function declared(access?: 'public' | 'authenticated'): object {
  const handler = (): void => undefined;
  declareRoute(handler, { declaredBy: 'CRUD', ...(access && { access }) });
  return handler;
}

describe('the access of each route', () => {
  it.each<[what: string, routes: string[], rules: Rule[], rows: string[]]>([
    ['the default where no rule matches', ['GET /a'], [rule('/b', PUBLIC)], ['GET /a: any token']],
    ['a rule for the whole route', ['GET /a'], [rule('/a', PUBLIC)], ['GET /a: public']],
    ['HEAD is governed as GET', ['HEAD /a'], [rule('GET /a', PUBLIC)], ['GET /a: public']],
    [
      'a rule may name methods',
      ['GET /a', 'POST /a', 'PUT /a'],
      [rule('GET,POST /a', roles('A')), rule('POST /a', roles('B'))],
      ['GET /a: A', 'POST /a: A, and B', 'PUT /a: any token'],
    ],
    [
      'a route of every method serves those that rules name, and any other',
      ['ALL /a'],
      [rule('PUT /a', roles('A')), rule('/a', PUBLIC), rule('DELETE /b', DENIED)],
      ['PUT /a: A', 'any other method /a: public'],
    ],
    [
      'narrow rules apply after broad ones',
      ['GET /a/b'],
      [rule('/a/b', roles('B')), rule('/**', roles('Z')), rule('/a/*', PUBLIC)],
      ['GET /a/b: B'],
    ],
    [
      'a part of a route has its own row',
      ['GET /a/:id'],
      [rule('/a/**', roles('A')), rule('/a/me', PUBLIC), rule('/a/x', roles('X'))],
      ['GET /a/:id: A', 'GET /a/me: public by Shop.public("/a/me")', 'GET /a/x: A, and X by Shop.roles("X", "/a/x")'],
    ],
    [
      'parts within parts',
      ['GET /*rest'],
      [rule('/a/b', roles('P')), rule('/a/*', roles('S')), rule('/a/**', roles('T')), rule('/b/**', roles('U'))],
      [
        'GET /*rest: any token',
        'GET /a/b: T, and S, and P by Shop.roles("P", "/a/b")',
        'GET /a/*: T, and S by Shop.roles("S", "/a/*")',
        'GET /a/**: T by Shop.roles("T", "/a/**")',
        'GET /b/**: U by Shop.roles("U", "/b/**")',
      ],
    ],
    [
      'parts far within parts',
      ['GET /*rest'],
      [rule('/a/b/**', roles('N')), rule('/a/**', roles('T')), rule('/a/b/*', roles('S')), rule('/a/b', roles('P'))],
      [
        'GET /*rest: any token',
        'GET /a/b/**: T, and N by Shop.roles("N", "/a/b/**")',
        'GET /a/**: T by Shop.roles("T", "/a/**")',
        'GET /a/b/*: T, and N, and S by Shop.roles("S", "/a/b/*")',
        'GET /a/b: T, and N, and P by Shop.roles("P", "/a/b")',
      ],
    ],
  ])('[3.3] %s', (_, routes, rules, expected) => {
    expect(
      rows(
        routes.map((line) => route(line)),
        rules,
      ),
    ).toEqual(expected);
  });

  it.each([
    ['the whole of the first', ['GET /a', 'GET /:x']],
    ['the whole of the second', ['GET /:x', 'GET /a']],
  ])('[3.3] of two routes that one rule matches, %s', (_, routes) => {
    const found = rows(
      routes.map((line) => route(line)),
      [rule('/A', roles('A'))],
      STRICT,
    );
    expect(found.toSorted()).toEqual(['GET /:x: any token', 'GET /A: A by Shop.roles("A", "/A")', 'GET /a: A']);
  });

  it.each([
    ['the letters of the first', ['GET /A', 'GET /a']],
    ['the letters of the second', ['GET /a', 'GET /A']],
  ])('[3.4] of two routes that one rule matches, %s: it opens only the exact one', (_, routes) => {
    const { entries } = compiled(
      routes.map((line) => route(line)),
      [rule('/A', AUTHENTICATED)],
      STRICT,
      NOBODY,
    );
    const found = entries.map(({ path, access }) => `${path}: ${words(access)}`);
    expect(found.toSorted()).toEqual(['/A: any token', '/a: nobody']);
  });

  it('[3.4] the default may be another', () => {
    const access = compiled([route('GET /a'), route('GET /b/:c')], [rule('/b/x', roles('A'))], WIDE, NOBODY);
    expect(access.entries.map(({ path, access }) => `${path} ${words(access)}`)).toEqual([
      '/a nobody',
      '/b/:c nobody',
      '/b/x A',
    ]);
    expect(words(access.of('/b/:c', 'GET')?.({ path: '/b/y', params: { c: 'y' } }))).toBe('nobody');
  });

  it('[3.5] a route is found by template and method', () => {
    const access = compiled(
      [route('GET /a'), route('POST /a'), route('ALL /b')],
      [rule('POST /a', roles('A')), rule('PUT /b', roles('B')), rule('/b', PUBLIC)],
    );
    const at = (template: string, method: string) =>
      words(access.of(template, method)?.({ path: template, params: {} }));
    expect([at('/a', 'GET'), at('/a', 'HEAD'), at('/a', 'POST'), at('/a', 'PUT')]).toEqual([
      'any token',
      'any token',
      'A',
      'no route',
    ]);
    expect([at('/b', 'PUT'), at('/b', 'GET'), at('/b', 'PURGE'), at('/c', 'GET')]).toEqual([
      'B',
      'public',
      'public',
      'no route',
    ]);
  });

  it('[3.1] the rules that match some route are known', () => {
    const rules = [rule('/a', PUBLIC), rule('POST /a', DENIED), rule('/b/x', DENIED), rule('/c', DENIED)];
    expect([...compiled([route('GET /a'), route('GET /b/:id')], rules).used]).toEqual([rules[0], rules[2]]);
  });

  it.each<[what: string, rule: Rule, reading: boolean, words: string]>([
    ['a permission as the router does', rule('/A', PUBLIC), WIDE, 'public'],
    ['a permission as a strict router does', rule('/A', PUBLIC), STRICT, 'any token'],
    ['a permission by the letters of ASCII only', rule('/\u212a', PUBLIC), WIDE, 'any token'],
    ['a restriction without case', rule('/A', roles('A')), STRICT, 'A'],
  ])('[3.5] case: %s', (_, declaredRule, reading, expected) => {
    expect(reached('/a', [declaredRule], '/a', {}, reading)).toBe(expected);
    expect(reached('/k', [declaredRule], '/k', {}, reading)).toBe('any token');
  });

  it('[3.5] a restriction compares letters as widely as any router', () => {
    expect(reached('/k', [rule('/\u212a', roles('A'))], '/k')).toBe('A');
  });
});

describe('the access of a concrete path', () => {
  const RULES = [rule('/a/**', roles('A')), rule('/a/me', PUBLIC), rule('/a/x', roles('X')), rule('/a/y', DENIED)];

  it.each<[path: string, params: Record<string, unknown>, words: string]>([
    ['/a/me', { id: 'me' }, 'public'],
    ['/a/other', { id: 'other' }, 'A'],
    ['/a/x', { id: 'x' }, 'A, and X'],
    ['/a/X', { id: 'X' }, 'A, and X'],
    ['/a/%78', { id: 'x' }, 'A, and X'],
    ['/a/x;b', { id: 'x;b' }, 'A, and X'],
    ['/a/y', { id: 'y' }, 'nobody'],
    ['/a/ME', { id: 'ME' }, 'A'],
    ['/a/%6De', { id: 'me' }, 'A'],
    ['/a/me/', { id: 'me' }, 'A'],
    ['/a/me', { id: 'other' }, 'A'],
    ['/a/other', { id: 'x' }, 'A, and X'],
    ['/a/x', { id: 'other' }, 'A, and X'],
  ])('[3.5] %s with the parameters %j: %s', (path, params, expected) => {
    expect(reached('/a/:id', RULES, path, params)).toBe(expected);
    expect(reached('/a/:id', RULES.toReversed(), path, params)).toBe(expected);
  });

  it('[3.5] a permission requires a clean path, in any case of the router', () => {
    expect(reached('/A/:id', [rule('/a/me', PUBLIC)], '/a/me', { id: 'me' })).toBe('public');
    expect(reached('/*rest', [rule('/a/me', PUBLIC)], '/a/me', { rest: ['a', 'me'] })).toBe('public');
    expect(reached('/*rest', [rule('/a/me', PUBLIC)], '/a/me', { rest: ['ame'] })).toBe('any token');
    expect(reached('/*rest', [rule('/a/me', PUBLIC)], '/a//me', { rest: ['a', '', 'me'] })).toBe('any token');
  });

  it('[3.3] several matching parts apply from broad to narrow', () => {
    const rules = [
      rule('/a/b', PUBLIC),
      rule('/a/*', roles('S')),
      rule('/a/**', roles('T')),
      rule('GET /a/b', roles('G')),
    ];
    expect(reached('/:x/:y', rules, '/a/b', { x: 'a', y: 'b' })).toBe('G');
    expect(reached('/:x/:y', rules, '/a/c', { x: 'a', y: 'c' })).toBe('T, and S');
    expect(reached('/:x/:y', rules, '/c/c', { x: 'c', y: 'c' })).toBe('any token');
  });

  it('[3.3] several rules may have the same pattern', () => {
    const rules = [rule('/a/x', roles('P')), rule('GET /A/x', roles('Q')), rule('GET /a/X', roles('R'))];
    expect(reached('/a/:id', rules, '/a/x', { id: 'x' })).toBe('P, and Q, and R');
    const opened = [rule('/a/**', roles('Z')), rule('/a/x', PUBLIC), rule('GET /a/x', PUBLIC), rule('/a/x', PUBLIC)];
    expect(reached('/a/:id', opened, '/a/x', { id: 'x' })).toBe('public');
  });
});

describe('the default access denied', () => {
  const opened = (
    line: string,
    rules: Rule[],
    path: string,
    params: Record<string, unknown>,
    handler?: object,
  ): string =>
    words(compiled([route(line, handler)], rules, STRICT, NOBODY).of(line.slice(4), 'GET')?.({ path, params }));

  it.each<
    [what: string, template: string, rules: Rule[], path: string, params: Record<string, unknown>, words: string]
  >([
    ['a rule in the letters of the route lifts it', '/me', [rule('/me', AUTHENTICATED)], '/me', {}, 'any token'],
    ['a rule in other letters does not', '/Me', [rule('/me', AUTHENTICATED)], '/Me', {}, 'nobody'],
    ['a rule for the clean path lifts it', '/:id', [rule('/me', AUTHENTICATED)], '/me', { id: 'me' }, 'any token'],
    ['another spelling of the path does not', '/:id', [rule('/me', AUTHENTICATED)], '/ME', { id: 'ME' }, 'nobody'],
    ['nor does a path parameter', '/:id', [rule('/me', AUTHENTICATED)], '/me;x', { id: 'me;x' }, 'nobody'],
    ['nor does an escape', '/:id', [rule('/me', AUTHENTICATED)], '/%6De', { id: 'me' }, 'nobody'],
    [
      'once it is lifted, every spelling restricts',
      '/:id',
      [rule('/*', AUTHENTICATED), rule('/me', roles('A'))],
      '/ME',
      { id: 'ME' },
      'A',
    ],
    [
      'a rule for the clean path brings the others with it',
      '/:id',
      [rule('/ME', roles('A')), rule('/me', AUTHENTICATED)],
      '/me',
      { id: 'me' },
      'A',
    ],
  ])('[3.4] %s', (_, template, rules, path, params, expected) => {
    expect(opened(`GET ${template}`, rules, path, params)).toBe(expected);
  });

  it('[3.4] is lifted by a decorator', () => {
    const rules = [rule('/ME', roles('A'))];
    expect(opened('GET /me', rules, '/me', {})).toBe('nobody');
    expect(opened('GET /me', rules, '/me', {}, handlerWith(Authenticated()))).toBe('A');
  });

  it('[3.4] is not reported for a part of a route that a rule opens', () => {
    const { entries } = compiled([route('GET /:id')], [rule('/me', AUTHENTICATED)], STRICT, NOBODY);
    expect(entries.map(({ path, access }) => `${path} ${words(access)}`)).toEqual(['/:id nobody', '/me any token']);
  });
});

describe('rules of the package for its own routes', () => {
  const own = (access: 'public' | 'authenticated' | undefined, rules: Rule[], line = 'GET /own') =>
    rows([route(line, declared(access))], rules);

  it('[3.4] apply where no rule has the very same path', () => {
    expect(own('public', [])).toEqual(['GET /own: public']);
    expect(own('authenticated', [rule('/**', PUBLIC)])).toEqual(['GET /own: any token']);
    expect(own('public', [rule('/**', roles('A')), rule('/*', roles('B'))])).toEqual(['GET /own: public']);
    expect(own(undefined, [rule('/**', roles('A'))])).toEqual(['GET /own: A']);
    expect(own('public', [], 'HEAD /own')).toEqual(['GET /own: public']);
  });

  it('[3.4] are replaced by a rule for the very same path', () => {
    expect(own('public', [rule('/own', roles('A'))])).toEqual(['GET /own: A']);
    expect(own('authenticated', [rule('GET /own', PUBLIC)])).toEqual(['GET /own: public']);
    expect(own('public', [rule('POST /own', DENIED)])).toEqual(['GET /own: public']);
  });

  it('[3.4] are not replaced by a rule for a part', () => {
    expect(own('public', [rule('/own/x', AUTHENTICATED), rule('/**', roles('A'))], 'GET /own/:id')[0]).toBe(
      'GET /own/:id: public',
    );
  });

  it('[3.4] apply to the method of that route only', () => {
    const routes = [
      route('GET /own', declared('public')),
      route('POST /own'),
      route('POST /own', declared('authenticated')),
    ];
    expect(rows(routes, [rule('/**', roles('A'))])).toEqual([
      'GET /own: public',
      // Two handlers, each with its own rules.
      'POST /own: A',
      'POST /own: A',
    ]);
  });

  it('[2.5] say whether the user of the token is read again', () => {
    const reads = (reloadsUser?: () => boolean) => {
      const handler = (): void => undefined;
      declareRoute(handler, { declaredBy: 'CRUD', ...(reloadsUser && { reloadsUser }) });
      return compiled([route('GET /own', handler)], [rule('/own', roles('A'))]).of(
        '/own',
        'GET',
      )?.({
        path: '/own',
        params: {},
      });
    };
    expect(reads(() => true)).toMatchObject({ kind: 'authenticated', reloadsUser: true });
    expect([reads(() => false), reads()].map((access) => access && 'reloadsUser' in access)).toEqual([false, false]);
  });

  it('[3.4] leave a route without a handler to the URL rules', () => {
    expect(rows([makeRoute('GET', '/a')], [rule('/a', roles('A'))])).toEqual(['GET /a: A']);
  });

  it('[3.4] have the method and path of the route', () => {
    const [entry] = compiled([route('GET /own/:id', declared('public'))], []).entries;
    expect(entry?.access.rules).toEqual([
      {
        pattern: { text: '/own/:id', methods: ['GET'], levels: ['own', ':id'], tail: '' },
        effect: PUBLIC,
        declaredBy: 'declarest',
      },
    ]);
  });
});

describe('decorators after the rules', () => {
  const decorated = (rules: Rule[], line: string, ...decorators: MethodDecorator[]) =>
    rows([route(line, handlerWith(...decorators))], rules);

  it('[3.3] are narrower than every URL rule', () => {
    expect(decorated([rule('/a', AUTHENTICATED)], 'GET /a', Public())).toEqual(['GET /a: public']);
    expect(decorated([rule('GET /a', PUBLIC)], 'GET /a', Roles('A'))).toEqual(['GET /a: A']);
    expect(decorated([rule('/a', roles('B'))], 'HEAD /a', Roles('A', 'C'))).toEqual(['GET /a: B, and A or C']);
    expect(decorated([rule('/a', PUBLIC)], 'GET /a', Authenticated())).toEqual(['GET /a: any token']);
    expect(decorated([rule('/a/x', roles('X'))], 'GET /a/:id', Roles('A'))).toEqual([
      'GET /a/:id: A',
      'GET /a/x: X, and A by Shop.roles("X", "/a/x")',
    ]);
  });

  it('[3.3] apply to each method of a route of every method', () => {
    expect(decorated([rule('PUT /a', roles('B'))], 'ALL /a', Roles('A'))).toEqual([
      'PUT /a: B, and A',
      'any other method /a: A',
    ]);
  });

  it('[3.3] apply to the method of their own route', () => {
    const routes = [route('GET /a', handlerWith(Public())), route('POST /a', handlerWith(Roles('A'))), route('PUT /a')];
    expect(rows(routes, [rule('POST,PUT /a', roles('B'))])).toEqual([
      'GET /a: public',
      'POST /a: B, and A',
      'PUT /a: B',
    ]);
  });

  it('[3.3] apply to a path that a pattern matches', () => {
    const routes = [route('GET /a/:id', handlerWith(Roles('A')))];
    const access = compiled(routes, [rule('/a/x', roles('X'))]).of('/a/:id', 'GET');
    expect(words(access?.({ path: '/a/x', params: { id: 'x' } }))).toBe('X, and A');
    expect(words(access?.({ path: '/a/y', params: { id: 'y' } }))).toBe('A');
  });

  it('[3.3] of several handlers of one template apply to their own handler', () => {
    const [closed, open, own, plain] = [
      handlerWith(Roles('A')),
      handlerWith(Public()),
      declared('public'),
      (): void => undefined,
    ];
    const everyMethod = handlerWith(Roles('C'));
    const routes = [
      ...[closed, open, own, plain].map((handler) => route('GET /a', handler)),
      route('POST /a', handlerWith(Roles('B'))),
      route('ALL /a', everyMethod),
    ];
    class Shop {
      list(): void {}
    }
    class Other extends Shop {}
    const access = compiled(
      routes,
      [],
      WIDE,
      ANY_TOKEN,
      [closed, open, own, plain, everyMethod].map((method) => ({ controller: Shop, method })),
    );
    const at = (method: string, handler?: object, controller = Shop) =>
      words(
        access.of('/a', method, handler && handling({ controller, method: handler }))?.({ path: '/a', params: {} }),
      );
    expect([closed, open, own, plain].map((handler) => at('GET', handler))).toEqual([
      'A',
      'public',
      'public',
      'any token',
    ]);
    // A handler that did not exist at startup, another controller, and no handler.
    expect([at('GET', handlerWith(Roles('A'))), at('GET', closed, Other), at('GET')]).toEqual([
      'no route',
      'no route',
      'no route',
    ]);
    expect(at('PUT')).toBe('C');
    // Two handlers of one method.
    expect([at('POST', everyMethod), at('POST')]).toEqual(['C', 'no route']);
  });

  it('[3.3] of a class apply to its own route of an inherited method', () => {
    class Base {
      list(): void {}
    }
    Reflect.defineMetadata('path', '/', Base.prototype.list);
    @Public()
    class Open extends Base {}
    @Roles('A')
    class Closed extends Base {}
    Reflect.defineMetadata('path', 'open', Open);
    Reflect.defineMetadata('path', 'closed', Closed);
    const { list } = Base.prototype;
    const { entries } = compiled([route('GET /x/open', list), route('GET /closed', list)], [], WIDE, ANY_TOKEN, [
      { controller: Open, method: list },
      { controller: Closed, method: list },
    ]);
    expect(entries.map(({ path, access }) => `${path}: ${words(access)}`)).toEqual(['/x/open: public', '/closed: A']);
  });

  it('[3.3] of a method may restrict what those of its class open', () => {
    @Public()
    class Shop {
      @Roles('A')
      list(): void {}
    }
    const methods = [{ controller: Shop, method: Shop.prototype.list }];
    const { entries } = compiled([route('GET /', Shop.prototype.list)], [], WIDE, ANY_TOKEN, methods);
    expect(entries.map(({ access }) => words(access))).toEqual(['A']);
  });

  it('[3.3] have the levels of their route, and no text of a pattern', () => {
    const [entry] = compiled([route('GET /a/b', handlerWith(Roles('A')))], []).entries;
    expect(entry?.access.rules).toEqual([
      {
        pattern: { text: '', methods: ['GET'], levels: ['a', 'b'], tail: '' },
        effect: roles('A'),
        declaredBy: '@Roles on Shop.list',
      },
    ]);
  });

  it.each<[rules: Rule[], words: string]>([
    [[rule('/**', roles('A'))], 'Shop.roles("A", "/**")'],
    [[rule('/a', AUTHENTICATED), rule('/a', policy('owner'))], 'Shop.policy("owner", "/a")'],
    [[rule('/a', DENIED)], 'Shop.denied("/a")'],
  ])('[3.3] @Public() may not open what %j restricts', (rules, words) => {
    expect(refusalOf(() => decorated(rules, 'GET /a', Public()))).toBe(
      'The route of @Public on Shop.list must be without a broader rule that requires a role or a policy, or denies everyone, ' +
        `got GET /a, restricted by ${words}. Remove one of the two.`,
    );
  });

  it('[3.3] @Public() beside rules for other methods and paths is accepted', () => {
    expect(decorated([rule('POST /a', roles('A')), rule('/b', DENIED)], 'GET /a', Public())).toEqual([
      'GET /a: public',
    ]);
  });
});

describe('the report', () => {
  const entries = () =>
    compiled([route('GET /a'), route('DELETE /a/:id')], [rule('/a', roles('EDITOR'), 'Shop.requireRole')]).entries;
  const report = () => accessRows(entries(), (role) => (role === 'EDITOR' ? ['ADMIN'] : []));

  it('[3.4] lists access and rules of each row', () => {
    expect(report()).toEqual([
      {
        method: 'GET',
        path: '/a',
        template: '/a',
        access: 'EDITOR or ADMIN',
        requirements: [['EDITOR', 'ADMIN']],
        rules: ['Shop.requireRole("EDITOR", "/a")'],
      },
      { method: 'DELETE', path: '/a/:id', template: '/a/:id', access: 'any token', requirements: [], rules: [] },
    ]);
  });

  it('[3.4] lists every rule from broad to narrow, and equal rows once', () => {
    const rules = [rule('/a', PUBLIC), rule('/**', DENIED)];
    const {
      entries: [entry],
    } = compiled([route('GET /a')], rules);
    expect(accessRows([entry!, entry!], () => [])).toEqual([
      {
        method: 'GET',
        path: '/a',
        template: '/a',
        access: 'public',
        requirements: [],
        rules: ['Shop.denied("/**")', 'Shop.public("/a")'],
      },
    ]);
  });

  it('[3.4] is a table of aligned columns', () => {
    expect(formatAccessRows(report())).toBe(
      'GET     /a      EDITOR or ADMIN  Shop.requireRole("EDITOR", "/a")\nDELETE  /a/:id  any token        default',
    );
    expect(formatAccessRows([])).toBe('');
    expect(
      formatAccessRows([
        { method: 'GET', path: '/a', template: '/a', access: 'public', requirements: [], rules: ['one', 'two'] },
        { method: 'GET', path: '/a', template: '/*b', access: 'public', requirements: [], rules: ['one', 'two'] },
      ]),
    ).toBe('GET  /a  public  one, two');
  });
});
