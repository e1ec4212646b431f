import { Controller, Get, VersioningType } from '@nestjs/common';
import { byBreadth, exactly, keysMatching, parsePattern, type Relation, relationTo } from '../../lib/access/pattern.js';
import { shapesOf } from '../../lib/routes/route-shape.js';
import { request } from '../harness/client.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { ruledModule, startRuled, TOKENS } from './ruled-app.js';

const parsed = (text: unknown) => parsePattern(text, 'Shop.requireAuth');

/** Every route answers without a token unless the one restriction of the test matches it. */
const ROUTES = ['', 'p', 'p/a', 'p/b', 'p/a/b', 'pa', 'pa/a', 'api/admin/x', 'api/administrators', 'api/admin'];
const allRoutes = ROUTES.flatMap((path) => ['GET', 'POST', 'PUT', 'DELETE'].map((method) => `${method} ${path}`));

const FORMS: [meaning: string, pattern: string, closed: string[], open: string[]][] = [
  ['a plain path is exactly that path', '/p', ['GET /p', 'POST /p'], ['GET /', 'GET /p/a', 'GET /p/a/b', 'GET /pa']],
  ['"/" is exactly the root', '/', ['GET /'], ['GET /p', 'GET /p/a']],
  ['a plain path may have several levels', '/p/a', ['GET /p/a'], ['GET /p', 'GET /p/b', 'GET /p/a/b']],
  ['/p/* is one level below', '/p/*', ['GET /p/a', 'GET /p/b', 'DELETE /p/a'], ['GET /', 'GET /pa', 'GET /pa/a']],
  ['/p/* is exactly one non-empty level', '/p/*', ['GET /p/a'], ['GET /p', 'GET /p/a/b']],
  ['/* is one level below the root', '/*', ['GET /p', 'GET /pa'], ['GET /', 'GET /p/a']],
  ['/p/** is all levels below', '/p/**', ['GET /p/a', 'GET /p/b', 'GET /p/a/b'], ['GET /', 'GET /pa', 'GET /pa/a']],
  ['/p/** includes /p itself', '/p/**', ['GET /p', 'POST /p'], ['GET /']],
  ['/** is every path, the root included', '/**', ['GET /', 'GET /p', 'GET /p/a/b', 'PUT /pa/a'], []],
  [
    'levels are whole: /api/admin/** does not match /api/administrators',
    '/api/admin/**',
    ['GET /api/admin', 'GET /api/admin/x'],
    ['GET /api/administrators'],
  ],
  ['levels are whole in a plain path and before /* too', '/pa/*', ['GET /pa/a'], ['GET /p/a', 'GET /p/a/b']],
  ['a pattern may begin with a method', 'DELETE /p', ['DELETE /p'], ['GET /p', 'POST /p', 'PUT /p', 'HEAD /p']],
  ['a pattern may begin with several methods', 'POST,PUT /p/*', ['POST /p/a', 'PUT /p/b'], ['GET /p/a', 'DELETE /p/a']],
  ['GET includes HEAD', 'GET /p/**', ['GET /p', 'HEAD /p', 'HEAD /p/a/b'], ['POST /p', 'DELETE /p/a']],
  ['GET among several methods includes HEAD', 'POST,GET /p', ['GET /p', 'HEAD /p', 'POST /p'], ['PUT /p']],
  ['a pattern without methods is for every method, HEAD included', '/p', ['GET /p', 'HEAD /p', 'PUT /p'], []],
];

const MALFORMED: [what: string, pattern: unknown][] = [
  ['no leading slash', 'api/x'],
  ['no leading slash after a method', 'GET api/x'],
  ['only a star', '*'],
  ['only two stars', '**'],
  ['a star as a middle level', '/a/*/b'],
  ['two stars as a middle level', '/a/**/b'],
  ['a star at the end of a level', '/a*'],
  ['a star at the beginning of a level', '/a/*.js'],
  ['a star within a level', '/a/b*c'],
  ['two stars at the end of a level', '/a**'],
  ['three stars', '/a/***'],
  ['a parameter', '/users/:id'],
  ['a parameter at the end of a level', '/users/a:id'],
  ['a query', '/a?x=1'],
  ['a question mark alone', '/a?'],
  ['a fragment', '/a#b'],
  ['an escape', '/a%20b'],
  ['a broken escape', '/a/%'],
  ['two slashes and nothing else', '//'],
  ['two slashes in front', '//a'],
  ['two slashes within', '/a//b'],
  ['two slashes at the end', '/a//'],
  ['two slashes before a star', '/a//*'],
  ['a dot segment', '/a/./b'],
  ['a dot segment at the end', '/a/.'],
  ['two dots', '/a/../b'],
  ['two dots at the end', '/a/..'],
  ['two dots in front', '/..'],
  ['an empty string', ''],
  ['a space', ' '],
  ['a space within', '/a b'],
  ['a line break', '/a\n'],
  ['a method alone', 'GET'],
  ['a method without a space', 'GET/a'],
  ['a lower-case method', 'get /a'],
  ['two spaces after the method', 'GET  /a'],
  ['a space among the methods', 'GET, POST /a'],
  ['an empty method', 'GET, /a'],
  ['a word that is no method', 'FETCH /a'],
  ['a backslash', '/a\\b'],
  ['a semicolon', '/a;b'],
  ['a group', '/a{/b}'],
  ['undefined', undefined],
  ['null', null],
  ['a number', 7],
  ['an array', ['/a']],
  ['a regular expression', /^\/a/],
  ['an object', { path: '/a' }],
];

describe.each(PLATFORMS)('patterns on %s', (platform) => {
  it.each(FORMS)('[3.1] %s (%s)', async (_, pattern, closed, open) => {
    const app = await startRuled(platform, {
      routes: allRoutes,
      auth: { defaultAccess: 'public' },
      rules: ({ requireAuth }) => requireAuth(pattern),
    });
    const statusOf = async (line: string): Promise<string> => {
      const [method = '', path = ''] = line.split(' ');
      return `${line} ${(await request(app.url, method, path)).status === 401 ? 'closed' : 'open'}`;
    };
    expect(await Promise.all([...closed, ...open].map(statusOf))).toEqual([
      ...closed.map((line) => `${line} closed`),
      ...open.map((line) => `${line} open`),
    ]);
    await app.close();
  });

  it.each(MALFORMED)('[3.1] %s refuses to boot and names itself', async (_, pattern) => {
    const error = await bootError(
      platform,
      ruledModule({
        routes: ['GET a'],
        rules: ({ publicEndpoints }) => publicEndpoints('/a', pattern as string),
      }),
    );
    expect(error.name).toBe('InvalidOptionError');
    expect(error.message).toContain('TestSecurity.publicEndpoints');
    if (typeof pattern === 'string' && pattern !== '') expect(error.message).toContain(JSON.stringify(pattern));
    else if (pattern === '') expect(error.message).toContain('empty');
    else expect(error.message).toMatch(/undefined|null|7|array|object/);
  });

  it.each(['publicEndpoints', 'requireAuth', 'requireRole'] as const)(
    '[3.1] %s checks its patterns, and one that names none at all refuses to boot',
    async (method) => {
      const boot = (...patterns: string[]) =>
        bootError(
          platform,
          ruledModule({
            rules: (rules) =>
              method === 'requireRole' ? rules.requireRole('ADMIN', ...patterns) : rules[method](...patterns),
          }),
        );
      expect((await boot('/a/:b')).message).toContain(`TestSecurity.${method}`);
      expect((await boot()).message).toContain(`TestSecurity.${method}`);
    },
  );

  it('[3.1] patterns are written against the path as served, global prefix and URI version included', async () => {
    @Controller({ path: 'cats', version: '1' })
    class CatsController {
      @Get()
      all() {
        return [];
      }
    }
    @Controller('health')
    class HealthController {
      @Get()
      up() {
        return 'up';
      }
    }
    const app = await startRuled(platform, {
      controllers: [CatsController, HealthController],
      auth: { defaultAccess: 'public' },
      rules: ({ requireAuth, requireRole }) => {
        requireAuth('/outer/v1/cats');
        requireRole('ADMIN', '/cats', '/v1/cats', '/outer/cats', '/outer/health');
      },
      configure: (nest) => {
        nest.setGlobalPrefix('outer', { exclude: ['health'] });
        nest.enableVersioning({ type: VersioningType.URI });
      },
    });
    expect((await request(app.url, 'GET', '/outer/v1/cats')).status).toBe(401);
    expect((await request(app.url, 'GET', '/outer/v1/cats', { token: TOKENS.USER })).status).toBe(200);
    expect((await request(app.url, 'GET', '/health')).status).toBe(200);
    const idle = linesOf(app.logs, 'warn').filter((line) => line.includes('matches no route'));
    expect(idle).toHaveLength(4);
    expect(idle.join('\n')).not.toContain('/outer/v1/cats');
    await app.close();
  });
});

describe('the pattern language', () => {
  it.each<[string, { methods: string[]; levels: string[]; tail: string }]>([
    ['/', { methods: [], levels: [], tail: '' }],
    ['/**', { methods: [], levels: [], tail: '**' }],
    ['/*', { methods: [], levels: [], tail: '*' }],
    ['/a/b', { methods: [], levels: ['a', 'b'], tail: '' }],
    ['GET /a/*', { methods: ['GET'], levels: ['a'], tail: '*' }],
    ['POST,PUT /a/b/**', { methods: ['POST', 'PUT'], levels: ['a', 'b'], tail: '**' }],
    ['/a-b_c~d.e/.hidden/x..y', { methods: [], levels: ['a-b_c~d.e', '.hidden', 'x..y'], tail: '' }],
    ['PROPFIND /dav/**', { methods: ['PROPFIND'], levels: ['dav'], tail: '**' }],
  ])('[3.1] %s is read as methods, levels and tail', (text, expected) => {
    expect(parsed(text)).toMatchObject({ text, ...expected });
  });

  it.each(MALFORMED)('[3.1] %s is no pattern', (_, text) => {
    expect(() => parsed(text)).toThrow(/^Shop\.requireAuth: expected a pattern/);
  });

  it.each<[template: string, pattern: string, Relation]>([
    ['/api/users', '/api/users', 'covers'],
    ['/api/users', '/api/users/**', 'covers'],
    ['/api/users', '/api/users/*', 'disjoint'],
    ['/api/users', '/api/*', 'covers'],
    ['/api/users', '/api', 'disjoint'],
    ['/api/users', '/**', 'covers'],
    ['/', '/', 'covers'],
    ['/', '/**', 'covers'],
    ['/', '/*', 'disjoint'],
    ['/api/users/:id', '/api/users/*', 'covers'],
    ['/api/users/:id', '/api/users/**', 'covers'],
    ['/api/users/:id', '/api/users/me', 'partial'],
    ['/api/users/:id', '/api/users/me/**', 'partial'],
    ['/api/users/:id', '/api/users/me/*', 'disjoint'],
    ['/api/users/:id', '/api/users', 'disjoint'],
    ['/api/users/:id', '/api/orders/*', 'disjoint'],
    ['/:any/users', '/api/users', 'partial'],
    ['/:any/users', '/api/**', 'partial'],
    ['/:any', '/*', 'covers'],
    ['/files/*path', '/files/**', 'covers'],
    ['/files/*path', '/files/*', 'partial'],
    ['/files/*path', '/files/readme', 'partial'],
    ['/files/*path', '/files/a/b/c', 'partial'],
    ['/files/*path', '/other/**', 'disjoint'],
    ['/files/*', '/files/**', 'covers'],
    ['/files/*', '/files/readme', 'partial'],
    ['/*path', '/**', 'covers'],
    ['/*path', '/api/**', 'partial'],
    ['/a{/:b}', '/a/**', 'covers'],
    ['/a{/:b}', '/a', 'partial'],
    ['/a{/:b}', '/a/*', 'partial'],
    ['/a/:b?', '/a', 'partial'],
    ['/a/:b?', '/a/**', 'covers'],
    ['/flights/:from-:to', '/flights/*', 'covers'],
    ['/flights/:from-:to', '/flights/vie-zrh', 'partial'],
    ['/users/:id(\\d+)', '/users/me', 'partial'],
  ])('[3.5] of what %s serves, %s %s', (template, pattern, relation) => {
    expect(relationTo(parsed(pattern), shapesOf(template), exactly)).toBe(relation);
  });

  it('[3.3] patterns stand from the broadest to the narrowest, however they were declared', () => {
    const ordered = [
      '/**',
      'GET /**',
      '/*',
      '/',
      'GET /',
      '/a/**',
      'GET /a/**',
      '/a/*',
      'GET /a/*',
      '/a',
      'GET /a',
      '/a/b/**',
    ];
    const sorted = ordered.toReversed().map(parsed).toSorted(byBreadth);
    expect(sorted.map(({ text }) => text)).toEqual(ordered);
  });

  it('[3.5] a path has as many keys to look up as it has levels, and three more, however many rules there are', () => {
    expect(keysMatching(['a', 'b'])).toHaveLength(5);
    expect(new Set(keysMatching(['a', 'b']))).toEqual(new Set(['/**', '/a/**', '/a/b/**', '/a/b', '/a/*']));
    expect(new Set(keysMatching([]))).toEqual(new Set(['/**', '/']));
  });
});
