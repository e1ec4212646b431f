import { PLATFORMS } from '../harness/platforms.js';
import { rawRequest } from '../harness/raw-socket.js';
import { bearer, type RuledApp, TOKENS } from './ruled-app.js';
import { mayBeEntered, ROUTERS, send, startSpellingApp } from './spelling-app.js';

const upper = (path: string): string => path.toUpperCase();
const last = (path: string, change: (level: string) => string): string =>
  path.replace(/[^/]+$/, (level) => change(level));
const hex = (text: string, times = 1): string => {
  const escape = (char: string): string => `%${char.charCodeAt(0).toString(16)}`;
  let escaped = escape(text.charAt(0));
  for (let time = 1; time < times; time++) escaped = escaped.replaceAll('%', '%25');
  return escaped + text.slice(1);
};

/** Ways to write a path. What a router makes of each is its own affair; who gets in is not. */
const SPELLINGS: [what: string, of: (path: string) => string][] = [
  ['upper case', upper],
  ['one letter in upper case', (path) => last(path, (level) => level.charAt(0).toUpperCase() + level.slice(1))],
  ['the first level in upper case', (path) => path.replace(/^\/\w+/, upper)],
  ['a slash at the end', (path) => `${path}/`],
  ['two slashes at the end', (path) => `${path}//`],
  ['two slashes in front', (path) => `/${path}`],
  ['three slashes in front', (path) => `//${path}`],
  ['two slashes before the last level', (path) => last(path, (level) => `/${level}`)],
  ['two slashes everywhere', (path) => path.replaceAll('/', '//')],
  ['an escaped letter (%61)', (path) => last(path, (level) => hex(level))],
  ['an escaped letter of the first level', (path) => `/${hex(path.slice(1))}`],
  ['an escaped letter in upper-case hex', (path) => last(path, (level) => hex(level).toUpperCase())],
  ['a letter escaped twice (%2561)', (path) => last(path, (level) => hex(level, 2))],
  ['a letter escaped three times', (path) => last(path, (level) => hex(level, 3))],
  ['%2f for the last slash', (path) => path.replace(/\/(?=[^/]*$)/, '%2f')],
  ['%2F for the last slash', (path) => path.replace(/\/(?=[^/]*$)/, '%2F')],
  ['%252f for the last slash', (path) => path.replace(/\/(?=[^/]*$)/, '%252f')],
  ['%2f at the end', (path) => `${path}%2f`],
  ['%5c for the last slash', (path) => path.replace(/\/(?=[^/]*$)/, '%5c')],
  ['a dot segment', (path) => last(path, (level) => `./${level}`)],
  ['a dot segment at the end', (path) => `${path}/.`],
  ['an escaped dot segment', (path) => last(path, (level) => `%2e/${level}`)],
  ['two dots', (path) => last(path, (level) => `x/../${level}`)],
  ['two escaped dots', (path) => last(path, (level) => `x/%2e%2e/${level}`)],
  ['two half-escaped dots', (path) => last(path, (level) => `x/.%2e/${level}`)],
  ['two dots in front', (path) => `/..${path}`],
  ['two dots at the end', (path) => `${path}/x/..`],
  ['two dots and a semicolon', (path) => last(path, (level) => `x/..;/${level}`)],
  ['a path parameter (;x)', (path) => `${path};x`],
  ['a path parameter with a value', (path) => `${path};jsessionid=1`],
  ['an empty path parameter', (path) => `${path};`],
  ['a path parameter with levels below', (path) => `${path};/x/y`],
  ['a path parameter before the last level', (path) => path.replace(/\/(?=[^/]*$)/, ';x/')],
  ['an escaped semicolon', (path) => `${path}%3bx`],
  ['backslashes', (path) => path.replaceAll('/', '\\')],
  ['backslashes behind the first slash', (path) => `/${path.slice(1).replaceAll('/', '\\')}`],
  ['backslashes and a fragment', (path) => `/${path.slice(1).replaceAll('/', '\\')}#`],
  ['one backslash and a fragment', (path) => `${path.replace(/\/(?=[^/]*$)/, '\\')}#x`],
  ['one backslash, an escape and a fragment', (path) => `${last(path, hex).replace(/\/(?=[^/]*$)/, '\\')}#`],
  ['a fragment', (path) => `${path}#`],
  ['a fragment with another path', (path) => `${path}#/open/page`],
  ['a query', (path) => `${path}?x=/open/page`],
  ['a query with another path and a fragment', (path) => `${path}?/../open/page#/open/page`],
  ['a broken escape at the end', (path) => `${path}%`],
  ['a broken escape within', (path) => last(path, (level) => `%zz${level}`)],
  ['half an escape', (path) => `${path}%2`],
  ['an escape that is no UTF-8', (path) => `${path}%ff`],
  ['an overlong escape', (path) => path.replace(/\/(?=[^/]*$)/, '%c0%af')],
  ['an escaped NUL', (path) => `${path}%00`],
  ['an escaped line break', (path) => `${path}%0a`],
  ['an escaped space', (path) => `${path}%20`],
  ['an escaped question mark', (path) => `${path}%3f`],
  ['an escaped hash', (path) => `${path}%23`],
  ['a NUL', (path) => `${path}\0`],
  ['a tab', (path) => `${path}\t`],
  ['byte 80', (path) => `${path}\x80`],
  ['byte A0', (path) => `${path}\xa0`],
  ['byte A0 in front', (path) => `\xa0${path}`],
  ['byte FF', (path) => `${path}\xff`],
  ['the bytes of U+FEFF', (path) => `${path}\xef\xbb\xbf`],
  ['bytes 80 to FF within', (path) => last(path, (level) => `\xc3\xa9${level}`)],
  ['a letter that folds to ASCII (U+212A)', (path) => path.replace('k', '%E2%84%AA')],
  ['a letter that folds to ASCII (U+017F)', (path) => path.replace('s', '%C5%BF')],
  ['a full-width letter', (path) => last(path, (level) => `%EF%BD%8D${level.slice(1)}`)],
  ['an absolute target', (path) => `http://127.0.0.1${path}`],
  ['an absolute target of another host', (path) => `https://evil.example${path}`],
  ['an absolute target in upper case', (path) => `HTTP://127.0.0.1${upper(path)}`],
  ['an absolute target with two slashes', (path) => `http://127.0.0.1/${path}`],
  ['an absolute target with a user', (path) => `http://user:pass@127.0.0.1${path}`],
  ['an absolute target with a query as host', (path) => `http://a?b${path}`],
  ['an absolute target with another path as user', (path) => `http://open@page${path}`],
  ['an absolute target with a bracket', (path) => `http://[a${path}`],
  ['an absolute target with a semicolon', (path) => `http://a;b${path}`],
  ['an absolute target without host', (path) => `http://${path}`],
  ['an absolute target with a backslash', (path) => `http://a\\b${path}`],
  ['an absolute target of another scheme', (path) => `ftp://host${path}`],
  ['an absolute target of a scheme without host', (path) => `javascript://host${path}`],
  ['an absolute target with one slash', (path) => `http:${path}`],
  ['no slash in front', (path) => path.slice(1)],
];

const PATHS = [
  '/open/users/me',
  '/open/kiosk/secret',
  '/open/wild/one',
  '/open/wild/deep/x',
  '/open/any/7',
  '/api/plain',
  '/api/admin/stats',
  '/api/any',
  '/api/kiosk/7',
  '/api/files/secret',
  '/api/wild/secret/x',
  // Opened by a permission for the clean path alone.
  '/api/files/readme',
  '/api/wild/readme',
  '/api/wild/public/x',
  '/api/kiosk/1',
];
const ANSWERS = [200, 201, 400, 401, 403, 404];
/** POST has handlers of its own on some of them. */
const REQUESTS = [
  ...PATHS.map((path) => ['GET', path] as const),
  ...['/open/any/7', '/api/plain', '/api/any'].map((path) => ['POST', path] as const),
];

describe.each(PLATFORMS)('spellings on %s', (platform) => {
  describe.each(ROUTERS)('with the %s router', (router) => {
    let app: RuledApp;
    beforeAll(async () => {
      app = await startSpellingApp(platform, router);
    });
    afterAll(() => app.close());

    it.each(SPELLINGS)('[3.5] %s lets nobody in whom the canonical path keeps out', async (_, spelling) => {
      const wrong: string[] = [];
      await Promise.all(
        REQUESTS.map(async ([method, path]) => {
          const target = spelling(path);
          const { answer, entries } = await send(app, target, { method });
          const said = `${method} ${JSON.stringify(target)} → ${answer.status}, entered ${JSON.stringify(entries)}`;
          if (!ANSWERS.includes(answer.status ?? 0)) wrong.push(`${said}: no such answer`);
          if (answer.status === 403) wrong.push(`${said}: without a token it is 401`);
          if (!entries.every((entry) => mayBeEntered(entry, method, target))) wrong.push(`${said}: not to be entered`);
          if ((answer.status ?? 0) < 300 && entries.length === 0) wrong.push(`${said}: answered by no handler`);
        }),
      );
      expect(wrong).toEqual([]);
    });

    it.each(SPELLINGS)('[3.5] %s of a path for ADMIN is entered by nobody else', async (_, spelling) => {
      const target = spelling('/api/admin/stats');
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        const { answer, entries } = await send(app, target, { method, headers: bearer(TOKENS.SUPPORT_AGENT) });
        // A token opens what asks for a token only; nothing here but the ADMIN's route has this path.
        expect({ target, method, entries }).toEqual({ target, method, entries: [] });
        expect([400, 403, 404]).toContain(answer.status);
      }
    });

    it.each(SPELLINGS)(
      '[3.5] %s gets who may the canonical answer or a stricter one, never a 5xx',
      async (_, spelling) => {
        for (const path of PATHS) {
          const { answer } = await send(app, spelling(path), { headers: bearer(TOKENS.ADMIN) });
          expect([200, 400, 404]).toContain(answer.status);
        }
      },
    );

    it.each<[target: string, status: number]>([
      ['/open/page', 200],
      ['/open/users/7', 200],
      ['/open/users/me', 401],
      ['/open/wild/one', 401],
      ['/open/wild/a/b', 200],
      ['/open/wild/deep/x', 401],
      ['/api/published', 200],
      ['/api/files/readme', 200],
      ['/api/files/readme?download', 200],
      ['http://127.0.0.1/api/files/readme', 200],
      ['/api/files/other', 401],
      ['/api/wild/readme', 200],
      ['/api/wild/readme/x', 401],
      ['/api/wild/public/x/y', 200],
      ['/api/wild/publicity', 401],
      ['/api/kiosk/1', 200],
      ['/api/kiosk/2', 401],
      ['/api/admin/stats', 401],
    ])('[3.5] the canonical %s is %i without a token', async (target, status) => {
      expect((await send(app, target)).answer.status).toBe(status);
    });

    it.each<[what: string, target: string]>([
      ['an escape', '/api/files/%72eadme'],
      ['a path parameter', '/api/files/readme;x'],
      ['a slash at the end', '/api/files/readme/'],
      ['another case', '/api/files/README'],
      ['dots', '/api/wild/public/../readme'],
      ['dots below an open level', '/api/wild/public/../secret'],
      ['escaped dots', '/api/wild/public/%2e%2e/secret'],
      ['an escaped slash', '/api/wild/public%2fx'],
      ['two slashes', '/api/wild/public//x'],
      ['a backslash', '/api/wild/public\\..\\secret'],
      ['a backslash and a fragment', '/api/files\\readme#'],
      ['a NUL in escape', '/api/files/readme%00'],
    ])('[3.5] a permission matches only the clean path, not one with %s', async (_, target) => {
      const { answer, entries } = await send(app, target);
      expect(entries).toEqual([]);
      expect([400, 401, 404]).toContain(answer.status);
    });
  });

  // Where the router lets them through, these reach the handlers; by what a handler is given, each is the restricted path.
  it.each<[what: string, target: string, router: (typeof ROUTERS)[number]]>([
    ['a letter that folds to ASCII (U+212A)', '/open/%E2%84%AAiosk/secret', 'unusual'],
    ['a letter beyond ASCII', '/open/caf%C3%A9/SECRET', 'default'],
    ['a letter beyond ASCII in another case', '/open/caf%C3%89/secret', 'unusual'],
    ['levels below a path parameter', '/open/users/me;/x', 'unusual'],
    ['levels below a path parameter behind an escaped slash', '/open/wild/a%2fb;/x', 'unusual'],
    ['a path parameter with dots below', '/open/users/me;/../..', 'unusual'],
    ['a backslash and an escaped slash', '/open\\wild\\a%2fb#', 'default'],
    ['a backslash and dots', '/open\\wild\\..#', 'default'],
    ['a backslash and escaped dots', '/open\\wild\\%2e%2e#', 'default'],
    ['two slashes and an escaped slash', '/open//wild/a%2fb', 'unusual'],
    ['an escaped slash', '/open/wild/a%2fb', 'default'],
    ['escaped dots', '/open/wild/%2e%2e', 'default'],
  ])('[3.5] a restriction matches every spelling: %s', async (_, target, router) => {
    const app = await startSpellingApp(platform, router);
    const { answer, entries } = await send(app, target);
    await app.close();
    expect(entries).toEqual([]);
    expect([400, 401, 404]).toContain(answer.status);
  });
});

describe.each(PLATFORMS)('methods on %s', (platform) => {
  let app: RuledApp;
  beforeAll(async () => {
    app = await startSpellingApp(platform, 'default');
  });
  afterAll(() => app.close());

  it.each([
    'PROPFIND',
    'PROPPATCH',
    'TRACE',
    'OPTIONS',
    'PATCH',
    'LOCK',
    'MKCOL',
    'REPORT',
    'PURGE',
    'SEARCH',
    'QUERY',
    'M-SEARCH',
    'LINK',
    'ACL',
  ])('[3.5] the method %s reaches no protected handler, on any route', async (method) => {
    for (const path of PATHS) {
      const { answer, entries } = await send(app, path, { method });
      expect(entries.filter((entry) => !mayBeEntered(entry, method, path))).toEqual([]);
      expect(answer.status).toBeLessThan(500);
      if (path === '/api/any' && answer.status !== 400) expect([401, 404]).toContain(answer.status);
    }
  });

  it.each(['get', 'Get', 'hEAD', 'post', 'FOO', 'GETT', 'GET\tX', 'CUSTOM-METHOD', ''])(
    '[3.5] the method %p is none that node knows, and enters nothing',
    async (method) => {
      for (const path of ['/open/page', '/api/any', '/api/plain']) {
        const { answer, entries } = await send(app, path, { method });
        expect([entries, answer.status]).toEqual([[], 400]);
      }
    },
  );

  it('[3.5] CONNECT enters nothing', async () => {
    for (const target of ['127.0.0.1:80', '/api/any', '/open/any/1']) {
      const answer = await rawRequest(app.port, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`, { timeoutMs: 300 });
      expect(answer.status ?? 0).toBeLessThan(500);
      expect(answer.body).not.toContain('route');
    }
  });

  it.each(['OPTIONS', 'GET', 'HEAD'])('[3.5] %s * enters nothing', async (method) => {
    const { answer, entries } = await send(app, '*', { method });
    expect(entries).toEqual([]);
    expect([400, 401, 404]).toContain(answer.status);
  });

  it.each([
    'X-HTTP-Method-Override: GET',
    'X-Method-Override: GET',
    'X-HTTP-Method: GET',
    'X-Original-URL: /open/page',
    'X-Rewrite-URL: /open/page',
    'X-Forwarded-Prefix: /open',
    'X-Forwarded-Host: open',
  ])('[3.5] the header "%s" changes no decision', async (header) => {
    expect((await send(app, '/open/any/1', { method: 'POST', headers: [header] })).answer.status).toBe(401);
    expect((await send(app, '/api/plain', { headers: [header] })).answer.status).toBe(401);
  });

  it('[3.5] [3.6] HEAD is governed as GET: the same status and no body, on every route', async () => {
    for (const path of [...PATHS, '/open/page', '/api/published', '/api/files/readme', '/nowhere'])
      for (const token of [undefined, TOKENS.USER, TOKENS.ADMIN]) {
        const [get, head] = await Promise.all(
          ['GET', 'HEAD'].map((method) => send(app, path, { method, headers: bearer(token) })),
        );
        expect([path, head!.answer.status]).toEqual([path, get!.answer.status]);
        expect(head!.answer.body).toBe('');
        expect(head!.entries.map(({ route }) => route)).toEqual(get!.entries.map(({ route }) => route));
      }
  });

  it('[3.5] HTTP/1.0 and a request without Host are decided like any other', async () => {
    for (const head of [
      'GET /api/plain HTTP/1.0',
      'GET http://x/api/plain HTTP/1.0',
      'GET /api/admin/stats HTTP/1.0',
    ]) {
      const answer = await rawRequest(app.port, `${head}\r\nConnection: close\r\n\r\n`);
      expect(answer.status).toBe(401);
    }
  });
});
