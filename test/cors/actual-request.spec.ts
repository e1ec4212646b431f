import type { ServerResponse } from 'node:http';
import { Injectable, type NestMiddleware } from '@nestjs/common';
import { cors, InvalidOptionError, routesOf } from 'declarest';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { shopError } from '../harness/shop.js';
import { claims, makeToken } from '../harness/tokens.js';
import {
  allCorsHeaders,
  corsHeadersOf,
  type GadgetApp,
  GadgetsController,
  GizmosController,
  ORIGIN,
  OwnController,
  startGadgets,
} from './gadget-app.js';

const USER = makeToken();
const ADMIN = makeToken({ payload: claims({ roles: ['ADMIN'] }) });
const MALFORMED = { body: '{"name": ', headers: { 'content-type': 'application/json' } };
const TOO_LARGE = { json: { name: 'x'.repeat(2_000_000) } };
const NO_JSON = { body: '<name/>', headers: { 'content-type': 'application/xml' } };

interface Case {
  what: string;
  status: number;
  method: string;
  path: string;
  options?: RequestOptions;
}

const SERVED: Case[] = [
  { what: 'a list', status: 200, method: 'GET', path: '/api/gadgets' },
  { what: 'a record', status: 200, method: 'GET', path: '/api/gadgets/1' },
  { what: 'a search', status: 200, method: 'GET', path: '/api/gadgets/search?name=o' },
  { what: 'an exists', status: 200, method: 'GET', path: '/api/gadgets/exists/1' },
  { what: 'a create', status: 201, method: 'POST', path: '/api/gadgets', options: { json: { name: 'new' } } },
  {
    what: 'an update',
    status: 200,
    method: 'PUT',
    path: '/api/gadgets/1',
    options: { json: { name: 'one' }, token: USER },
  },
  { what: 'a delete', status: 200, method: 'DELETE', path: '/api/gadgets/2', options: { token: ADMIN } },
  { what: 'a HEAD of a list', status: 200, method: 'HEAD', path: '/api/gadgets' },
  { what: "the application's own GET", status: 200, method: 'GET', path: '/api/own/read' },
  { what: "the application's own HEAD", status: 204, method: 'HEAD', path: '/api/own/head' },
  {
    what: "the application's own POST",
    status: 201,
    method: 'POST',
    path: '/api/own/post',
    options: { json: { a: 1 } },
  },
  {
    what: "the application's own PATCH",
    status: 200,
    method: 'PATCH',
    path: '/api/own/patch',
    options: { token: USER },
  },
  { what: 'a route of every method', status: 200, method: 'GET', path: '/api/own/all' },
];

const FAILED: Case[] = [
  // Of the package's routes
  { what: 'malformed JSON', status: 400, method: 'POST', path: '/api/gadgets', options: MALFORMED },
  { what: 'invalid data', status: 400, method: 'POST', path: '/api/gadgets', options: { json: { name: 5 } } },
  { what: 'an id that is none', status: 400, method: 'GET', path: '/api/gadgets/one' },
  { what: 'no token', status: 401, method: 'PUT', path: '/api/gadgets/1', options: { json: { name: 'x' } } },
  { what: 'no token and malformed JSON', status: 401, method: 'PUT', path: '/api/gadgets/1', options: MALFORMED },
  { what: 'a token without the role', status: 403, method: 'DELETE', path: '/api/gadgets/1', options: { token: USER } },
  { what: 'no such record', status: 404, method: 'GET', path: '/api/gadgets/4711' },
  { what: 'a taken value', status: 409, method: 'POST', path: '/api/gadgets', options: { json: { name: 'one' } } },
  { what: 'a body that is too large', status: 413, method: 'POST', path: '/api/gadgets', options: TOO_LARGE },
  { what: 'a body that is no JSON', status: 415, method: 'POST', path: '/api/gadgets', options: NO_JSON },
  { what: 'a failure of the inside', status: 500, method: 'GET', path: '/api/gizmos/1' },
  { what: 'malformed JSON at login', status: 400, method: 'POST', path: '/api/auth/login', options: MALFORMED },
  {
    what: 'wrong credentials',
    status: 401,
    method: 'POST',
    path: '/api/auth/login',
    options: { json: { email: 'nobody@example.com', password: 'wrong horse' } },
  },
  { what: 'me without a token', status: 401, method: 'GET', path: '/api/auth/me' },
  // Of the application's own
  { what: 'its own route: malformed JSON', status: 400, method: 'POST', path: '/api/own/post', options: MALFORMED },
  { what: 'its own route: no token', status: 401, method: 'PATCH', path: '/api/own/patch' },
  {
    what: 'its own route: no token and malformed JSON',
    status: 401,
    method: 'PATCH',
    path: '/api/own/patch',
    options: MALFORMED,
  },
  {
    what: 'its own route: a token without the role',
    status: 403,
    method: 'GET',
    path: '/api/own/for-admins',
    options: { token: USER },
  },
  { what: 'its own route: a NotFoundException', status: 404, method: 'GET', path: '/api/own/missing' },
  { what: 'its own route: an error of the inside', status: 500, method: 'GET', path: '/api/own/broken' },
  {
    what: 'its own route: an encoding that the platform does not know',
    status: 415,
    method: 'POST',
    path: '/api/own/post',
    options: NO_JSON,
  },
];

/** Express reads what it does not know as no body: its own routes have no 415 for a media type. */
const unknownToExpress = ({ what }: Case): boolean => what.includes('encoding that the platform');

describe.each(PLATFORMS)('an actual request on %s', (platform) => {
  let app: GadgetApp;
  beforeAll(async () => {
    app = await startGadgets(platform, {
      bind: (consumer) => {
        consumer
          .apply(cors(ORIGIN))
          .forRoutes(
            ...routesOf(GadgetsController),
            ...routesOf(GizmosController),
            ...routesOf(OwnController),
            '/api/auth/*path',
          );
      },
    });
    for (const name of ['one', 'two']) await request(app.url, 'POST', '/api/gadgets', { json: { name } });
  });
  afterAll(() => app.close());
  beforeEach(() => void app.takeTrace());

  const send = ({ method, path, options }: Case): Promise<Answer> =>
    request(app.url, method, path, { ...options, headers: { origin: ORIGIN, ...options?.headers } });

  it.each(SERVED)('[5] is processed by its handler and has the CORS headers: $what', async (each) => {
    const answer = await send(each);
    expect(answer.status).toBe(each.status);
    expect(corsHeadersOf(answer)).toEqual(allCorsHeaders(ORIGIN));
    expect(app.takeTrace().at(-1)).toMatch(/^handler /);
  });

  it('[5] of HEAD has the headers of GET and no body', async () => {
    const answer = await request(app.url, 'HEAD', '/api/gadgets/1');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(corsHeadersOf(answer)).toEqual(corsHeadersOf(await request(app.url, 'GET', '/api/gadgets/1')));
  });

  it('[5] has the CORS headers without an Origin', async () => {
    const answer = await request(app.url, 'GET', '/api/gadgets');
    expect(corsHeadersOf(answer)).toEqual(allCorsHeaders(ORIGIN));
  });

  it('[5] from another origin is processed and has the allowed origin', async () => {
    const answer = await request(app.url, 'GET', '/api/gadgets', { headers: { origin: 'https://evil.example' } });
    expect([answer.status, corsHeadersOf(answer)]).toEqual([200, allCorsHeaders(ORIGIN)]);
  });

  it.each(FAILED)('[5] has the CORS headers when it fails: $status, $what', async (each) => {
    const answer = await send(each);
    if (platform === 'fastify' || !unknownToExpress(each)) expect(answer.status).toBe(each.status);
    expect(corsHeadersOf(answer)).toEqual(allCorsHeaders(ORIGIN));
  });

  it('[5] has the CORS headers for a method without a route', async () => {
    // The preflight has allowed PATCH: without the headers the page would see a network error instead of the 404.
    const answer = await request(app.url, 'PATCH', '/api/gadgets', { token: USER });
    expect([answer.status, corsHeadersOf(answer)]).toEqual([404, allCorsHeaders(ORIGIN)]);
  });

  it.each(['/api/outside', '/api/nowhere', '/'])('[5] outside of the group has no CORS header: %s', async (path) => {
    const answer = await request(app.url, 'GET', path, { headers: { origin: ORIGIN } });
    expect(corsHeadersOf(answer)).toEqual({});
  });

  it.each([
    `${ORIGIN}.evil.test`,
    `${ORIGIN}:8443`,
    `${ORIGIN}@evil.test`,
    ORIGIN.replace('https', 'http'),
    'null',
    '',
  ])('[5] has the one allowed origin for a similar one: %s', async (origin) => {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin, 'access-control-request-method': 'PUT' };
      const answer = await request(app.url, method, '/api/gadgets', { headers });
      expect([method, answer.headers['access-control-allow-origin']]).toEqual([method, ORIGIN]);
    }
  });

  it('[5] exposes every header that the package sends', async () => {
    const created = await request(app.url, 'POST', '/api/gadgets', { json: { name: 'another' } });
    const answers = await Promise.all(
      [...SERVED, ...FAILED].filter(({ path }) => !path.startsWith('/api/own')).map(send),
    );
    const sent = new Set([created, ...answers].flatMap(({ headers }) => Object.keys(headers)).filter(isOfThePackage));
    const exposed = (created.headers['access-control-expose-headers'] ?? '').split(', ');
    // Of an export, a record with a version, a repeated request, a server that is too busy for a login, an id and a page.
    for (const name of [
      'content-disposition',
      'etag',
      'idempotency-replayed',
      'retry-after',
      'x-request-id',
      'x-total-count',
    ])
      sent.add(name);
    expect(exposed.map((name) => name.toLowerCase()).toSorted()).toEqual([...sent].toSorted());
    expect(exposed).toEqual([
      'Content-Disposition',
      'ETag',
      'Idempotency-Replayed',
      'Location',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
      'X-Total-Count',
    ]);
  });
});

/** Neither the platform's nor CORS's own, nor safelisted (Fetch standard, "CORS-safelisted response-header name"). */
function isOfThePackage(name: string): boolean {
  const known = ['connection', 'date', 'etag', 'keep-alive', 'transfer-encoding', 'vary', 'x-powered-by'];
  const safelisted = [
    'cache-control',
    'content-language',
    'content-length',
    'content-type',
    'expires',
    'last-modified',
  ];
  return ![...known, ...safelisted].includes(name) && !name.startsWith('access-control-');
}

@Injectable()
class VaryByEncoding implements NestMiddleware {
  use(_request: unknown, response: ServerResponse, next: () => void): void {
    response.setHeader('Vary', 'Accept-Encoding');
    next();
  }
}

describe.each(PLATFORMS)('an existing Vary on %s', (platform) => {
  let app: GadgetApp;
  beforeAll(async () => {
    app = await startGadgets(platform, {
      bind: (consumer) => {
        const group = [...routesOf(GadgetsController), ...routesOf(OwnController)];
        consumer.apply(VaryByEncoding, cors(ORIGIN)).forRoutes(...group);
      },
    });
  });
  afterAll(() => app.close());

  it('[5] is kept when it was set before, on the actual request', async () => {
    const answer = await request(app.url, 'GET', '/api/gadgets', { headers: { origin: ORIGIN } });
    expect(valuesOf(answer)).toContain('Accept-Encoding');
    expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
  });

  it('[5] is kept when it was set before, on a preflight', async () => {
    const answer = await request(app.url, 'OPTIONS', '/api/gadgets', { headers: { origin: ORIGIN } });
    expect([answer.status, valuesOf(answer)]).toEqual([204, expect.arrayContaining(['Accept-Encoding'])]);
  });

  it('[5] is kept when it was set before, on a failure', async () => {
    const answer = await request(app.url, 'GET', '/api/gadgets/4711', { headers: { origin: ORIGIN } });
    expect([answer.status, valuesOf(answer)]).toEqual([404, expect.arrayContaining(['Accept-Encoding'])]);
  });

  it('[5] of the handler stays as it set it', async () => {
    const answer = await request(app.url, 'GET', '/api/own/read', { headers: { origin: ORIGIN } });
    expect(valuesOf(answer)).toContain('Accept-Language');
  });

  const valuesOf = ({ headers }: Answer): string[] => (headers['vary'] ?? '').split(', ');
});

describe.each(PLATFORMS)('CORS without an allowed origin on %s', (platform) => {
  let app: GadgetApp;
  beforeAll(async () => {
    app = await startGadgets(platform, {
      auth: false,
      bind: (consumer) => {
        consumer.apply(cors()).forRoutes(...routesOf(GadgetsController), ...routesOf(OwnController));
      },
    });
  });
  afterAll(() => app.close());

  it.each([
    ['OPTIONS', '/api/gadgets', 204],
    ['GET', '/api/gadgets', 200],
    ['GET', '/api/gadgets/4711', 404],
  ])('[5] allows every origin: %s %s', async (method, path, status) => {
    const answer = await request(app.url, method, path, { headers: { origin: 'https://any.example' } });
    expect([answer.status, corsHeadersOf(answer)]).toEqual([status, allCorsHeaders('*')]);
  });

  it('[5] allows exactly these methods', async () => {
    const answer = await request(app.url, 'GET', '/api/gadgets');
    expect(answer.headers['access-control-allow-methods']).toBe('GET, POST, PUT, DELETE, OPTIONS, PATCH');
  });

  it.each([
    ['malformed JSON', 400, MALFORMED],
    ['too large a body', 413, TOO_LARGE],
    ['a body that is no JSON', 415, NO_JSON],
  ])('[5] has its headers on a generated route without AuthModule, too: %s', async (_, status, options) => {
    const answer = await request(app.url, 'POST', '/api/gadgets', options);
    expect([answer.status, corsHeadersOf(answer)]).toEqual([status, allCorsHeaders('*')]);
  });

  it.each([
    ['malformed JSON', 400, MALFORMED],
    ['too large a body', 413, TOO_LARGE],
  ])("[5] has its headers on the application's own route without AuthModule, too: %s", async (_, status, options) => {
    const answer = await request(app.url, 'POST', '/api/own/post', options);
    expect([answer.status, corsHeadersOf(answer)]).toEqual([status, allCorsHeaders('*')]);
    expect(app.takeTrace()).not.toContain('handler post');
  });
});

/** As JavaScript and `as never` allow it. */
const declare = (...origin: unknown[]) => cors(...(origin as []));

function refusal(...origin: unknown[]): InvalidOptionError {
  try {
    declare(...origin);
  } catch (error) {
    return error as InvalidOptionError;
  }
  throw new Error('cors() was expected to refuse this.');
}

describe('the allowed origin', () => {
  it.each([
    'https://shop.example',
    'https://shop.example:8443',
    'http://localhost:5173',
    'http://[::1]:3000',
    'https://xn--bcher-kva.example',
    'capacitor://localhost',
  ])('[5] may be %s', (origin) => {
    expect(declare(origin)).toBeInstanceOf(Function);
  });

  it('[5] may be left out', () => {
    expect(declare()).toBeInstanceOf(Function);
  });

  it.each([
    ['undefined, such as a missing environment variable', undefined],
    ['null', null],
    ['the text null', 'null'],
    ['a number', 3000],
    ['an array', ['https://shop.example']],
    ['a URL', new URL('https://shop.example')],
    ['everything', '*'],
    ['a wildcard inside', 'https://*.shop.example'],
    ['a trailing slash', 'https://shop.example/'],
    ['a path', 'https://shop.example/front'],
    ['a fragment', 'https://shop.example#top'],
    ['no scheme', 'shop.example'],
    ['upper case in the host', 'https://Shop.example'],
    ['the default port of https', 'https://shop.example:443'],
    ['a user and a password', 'https://ann:secret@shop.example'],
    ['letters that a browser sends as punycode', 'https://bücher.example'],
    ['two origins', 'https://shop.example, https://other.example'],
    ['a trailing line end', 'https://shop.example\n'],
    ['a second header', 'https://shop.example\r\nSet-Cookie: a=b'],
    ['a file', 'file:///srv/shop'],
  ])('[5] refuses %s when declared', (_, origin) => {
    const error = refusal(origin);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.name).toBe('InvalidOptionError');
    expect(error.message).toMatch(/^The argument of cors\(\) must be an origin .*, got .+\. .+\.$/);
    expect(error.message).not.toMatch(/[\r\n]/);
  });

  it.each([
    ['https://shop.example/', 'https://shop.example'],
    ['https://shop.example/front', 'https://shop.example'],
    ['https://Shop.example', 'https://shop.example'],
    ['https://shop.example:443', 'https://shop.example'],
    ['HTTP://SHOP.example:80/a?b#c', 'http://shop.example'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('[5] the message has the right spelling of %s', (origin, right) => {
    expect(refusal(origin).message).toContain(`"${right}"`);
  });

  it('[5] a missing environment variable does not allow every origin', () => {
    expect(refusal(undefined).message).toMatch(/got undefined\. .*environment variable/);
  });

  it.each([
    'https://ann:hunter2secret@shop.example',
    'https:ann:hunter2secret@shop.example',
    '//ann:hunter2secret@shop.example',
    'ann:hunter2secret@shop.example',
  ])('[1] [5] the message contains no password: %s', (origin) => {
    expect(refusal(origin).message).not.toContain('hunter2secret');
  });
});

it.each(PLATFORMS)('[5] a wrong origin refuses to start on %s', async (platform) => {
  const error = await shopError(platform, { origin: 'https://shop.example/' });
  expect([error.name, error.message]).toEqual([
    'InvalidOptionError',
    expect.stringMatching(/^The argument of cors\(\) must be .+, got "https:\/\/shop\.example\/"\. .+\.$/),
  ]);
});
