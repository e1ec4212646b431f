import { urlSpellings } from './url-spellings.js';
import { startCpuClock } from '../harness/cpu-time.js';
import { PLATFORMS } from '../harness/platforms.js';
import { rawRequest, rawTarget } from '../harness/raw-socket.js';
import { bearer, type RuledApp, startRuled, TOKENS, wildcard } from './ruled-app.js';
import { mayBeEntered, ROUTERS, send, startSpellingApp } from './spelling-app.js';

/** Routers read each in their own way. Access must not depend on it. */
const SPELLINGS = urlSpellings('/api/kiosk/tasks').map(({ name }) => name);
/** By path, then by name of the spelling. */
const targets = new Map<string, Map<string, string>>();
function spell(name: string, path: string): string {
  const ofPath = targets.get(path) ?? new Map(urlSpellings(path).map((spelling) => [spelling.name, spelling.target]));
  targets.set(path, ofPath);
  return ofPath.get(name) ?? path;
}

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

    it.each(SPELLINGS)('[3.5] %s gives no access that the canonical path refuses', async (spelling) => {
      const wrong: string[] = [];
      await Promise.all(
        REQUESTS.map(async ([method, path]) => {
          const target = spell(spelling, path);
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

    it.each(SPELLINGS)('[3.5] %s of a path for ADMIN is refused for other roles', async (spelling) => {
      const target = spell(spelling, '/api/admin/stats');
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        const { answer, entries } = await send(app, target, { method, headers: bearer(TOKENS.SUPPORT_AGENT) });
        // A token opens what asks for a token only; nothing here but the ADMIN's route has this path.
        expect({ target, method, entries }).toEqual({ target, method, entries: [] });
        expect([400, 403, 404]).toContain(answer.status);
      }
    });

    it.each(SPELLINGS)('[3.5] %s with access is answered 200, 400 or 404', async (spelling) => {
      for (const path of PATHS) {
        const { answer } = await send(app, spell(spelling, path), { headers: bearer(TOKENS.ADMIN) });
        expect([200, 400, 404]).toContain(answer.status);
      }
    });

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
    ])('[3.5] a permission does not match a path with %s', async (_, target) => {
      const { answer, entries } = await send(app, target);
      expect(entries).toEqual([]);
      expect([400, 401, 404]).toContain(answer.status);
    });
  });

  // Some routers serve these targets. What the handler would receive is the restricted path.
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
  ])('[3.5] the method %s reaches no protected handler', async (method) => {
    for (const path of PATHS) {
      const { answer, entries } = await send(app, path, { method });
      expect(entries.filter((entry) => !mayBeEntered(entry, method, path))).toEqual([]);
      expect(answer.status).toBeLessThan(500);
      if (path === '/api/any' && answer.status !== 400) expect([401, 404]).toContain(answer.status);
    }
  });

  it.each(['get', 'Get', 'hEAD', 'post', 'FOO', 'GETT', 'GET\tX', 'CUSTOM-METHOD', ''])(
    '[3.5] the unknown method %o reaches no handler',
    async (method) => {
      for (const path of ['/open/page', '/api/any', '/api/plain']) {
        const { answer, entries } = await send(app, path, { method });
        expect([entries, answer.status]).toEqual([[], 400]);
      }
    },
  );

  it('[3.5] CONNECT reaches no handler', async () => {
    for (const target of ['127.0.0.1:80', '/api/any', '/open/any/1']) {
      const answer = await rawRequest(app.port, `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`, { timeoutMs: 300 });
      expect(answer.status ?? 0).toBeLessThan(500);
      expect(answer.body).not.toContain('route');
    }
  });

  it.each(['OPTIONS', 'GET', 'HEAD'])('[3.5] %s * reaches no handler', async (method) => {
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

  it('[3.5] [3.6] HEAD has the status of GET and no body', async () => {
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

  it('[3.5] HTTP/1.0 and a request without Host are refused as any other', async () => {
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

/** Node accepts 16 kB of request line and headers. */
const repeated = (text: string): string => text.repeat(Math.floor(15_000 / text.length));

/** A quadratic algorithm takes seconds for each of these paths. */
const MAX_MS = 500;

describe.each(PLATFORMS)('paths with thousands of levels on %s', (platform) => {
  it.each([
    ['levels', '/a'],
    ['empty levels', '/'],
    ['path parameters', ';a'],
    ['levels with path parameters', '/a;a'],
    ['parent segments', '/..'],
    ['escaped slashes', '%2f'],
  ])('[3.5] are decided in linear time: %s', async (_what, text) => {
    const app = await startRuled(platform, {
      routes: [`GET ${wildcard(platform, 'files')}`],
      rules: ({ requireAuth, requireRole, publicEndpoints }) => {
        // The second rule matches a part of a wildcard route, the third no route of Nest's at all.
        publicEndpoints('/files/**');
        requireRole('ADMIN', '/files/a/a/secret/**');
        requireAuth('/legacy/a/**');
      },
      configure: (nest) => void nest.use('/mount', (_request: unknown, _response: unknown, next: () => void) => next()),
    });
    for (const path of [`/files${repeated(text)}`, `/legacy/a${repeated(text)}`, `/mount${repeated(text)}`]) {
      const milliseconds = startCpuClock();
      const { status } = await rawTarget(app.port, path);
      expect([path.slice(0, 20), status === undefined, milliseconds() < MAX_MS]).toEqual([
        path.slice(0, 20),
        false,
        true,
      ]);
    }
    await app.close();
  });
});
