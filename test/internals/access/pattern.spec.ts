import { Controller, Get, VersioningType } from '@nestjs/common';
import { parsePattern } from '../../../lib/access/pattern.js';
import { request } from '../../harness/client.js';
import { bootError, linesOf, PLATFORMS } from '../../harness/platforms.js';
import { ruledModule, startRuled, TOKENS } from '../../access/ruled-app.js';

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
  ['a star within a level', '/a/b*c'],
  ['three stars', '/a/***'],
  ['a parameter', '/users/:id'],
  ['a query', '/a?x=1'],
  ['a question mark alone', '/a?'],
  ['a fragment', '/a#b'],
  ['an escape', '/a%20b'],
  ['a broken escape', '/a/%'],
  ['two slashes in front', '//a'],
  ['two slashes within', '/a//b'],
  ['two slashes at the end', '/a//'],
  ['a dot segment', '/a/./b'],
  ['two dots', '/a/../b'],
  ['two dots in front', '/..'],
  ['an empty string', ''],
  ['a space within', '/a b'],
  ['a line break', '/a\n'],
  ['a method alone', 'GET'],
  ['a lower-case method', 'get /a'],
  ['two spaces after the method', 'GET  /a'],
  ['a space among the methods', 'GET, POST /a'],
  ['a word that is no method', 'FETCH /a'],
  ['a backslash', '/a\\b'],
  ['a semicolon', '/a;b'],
  ['undefined', undefined],
  ['a number', 7],
  ['a regular expression', /^\/a/],
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

  it.each(MALFORMED.filter(([what]) => ['a star within a level', 'an empty string', 'undefined'].includes(what)))(
    '[3.1] %s refuses to start and is named in the message',
    async (_, pattern) => {
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
    },
  );

  it.each(['publicEndpoints', 'requireAuth', 'requireRole'] as const)(
    '[3.1] %s refuses a malformed pattern, and none at all',
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

  it('[3.1] patterns describe the path with global prefix and URI version', async () => {
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
  it.each(MALFORMED)('[3.1] %s is no pattern', (_, text) => {
    expect(() => parsed(text)).toThrow(/^The pattern of Shop\.requireAuth must be a path such as/);
  });
});
