/** Bodies that are no JSON object, on the package's routes and on the application's own. */
import {
  Body,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  type ArgumentsHost,
  Injectable,
  UseGuards,
  Get,
  HttpException,
  Post,
  Put,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type Shop, startShop } from '../harness/shop.js';

@Injectable()
class ReadingGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<{ body: { name?: string } }>().body.name !== 'refused';
  }
}

@Controller('own')
class OwnController {
  @Post()
  take(@Body() body: unknown) {
    return { got: body ?? null };
  }

  @Put('closed')
  closed(@Body() body: unknown) {
    return { got: body ?? null };
  }

  @Post('guarded')
  @UseGuards(ReadingGuard)
  guarded() {
    return {};
  }

  @Get()
  read() {
    return { own: true };
  }
}

/** The application's own shape for everything that fails on its routes. */
@Catch()
class OwnFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const status =
      error instanceof HttpException
        ? error.getStatus()
        : ((error as { status?: number; statusCode?: number }).status ??
          (error as { statusCode?: number }).statusCode ??
          500);
    const http = host.switchToHttp();
    const { raw, headers } = http.getRequest<{ raw?: IncomingMessage } & IncomingMessage>();
    const type = (raw ?? { headers }).headers['content-type'] ?? 'none';
    this.host.httpAdapter.setHeader(http.getResponse(), 'x-seen-type', type);
    this.host.httpAdapter.reply(http.getResponse(), { mine: status }, status);
  }
}

/** A middleware of main.ts that fails with the status that a request asks for. */
function failOnDemand({ headers }: IncomingMessage, _response: unknown, next: (error?: unknown) => void): void {
  const status = headers['x-fail'];
  if (status === undefined) next();
  else
    next(
      Object.assign(new Error('failed on demand'), status === '500' ? {} : { status: Number(status), type: 'quota' }),
    );
}

const json = (body: string, type = 'application/json'): RequestOptions => ({ body, headers: { 'content-type': type } });

const BODIES: [what: string, status: number, options: RequestOptions][] = [
  ['malformed', 400, json('{"name":')],
  ['empty', 400, json('')],
  ['no body and no type', 400, {}],
  ['an array', 400, json('[]')],
  ['null', 400, json('null')],
  ['a byte order mark alone', 400, json('\ufeff')],
  ['another media type', 415, json('name=x', 'application/x-www-form-urlencoded')],
  ['plain text', 415, json('{"name":"x"}', 'text/plain')],
  ['a vendor’s JSON', 415, json('{"name":"x"}', 'application/vnd.api+json')],
  ['latin1', 415, json('{"name":"x"}', 'application/json; charset=latin1')],
  [
    'an unknown encoding',
    415,
    { body: '{"name":"x"}', headers: { 'content-type': 'application/json', 'content-encoding': 'foo' } },
  ],
  ['no type', 415, { body: '{"name":"x"}' }],
  ['too large', 413, json(JSON.stringify({ name: 'x'.repeat(2_000_000) }))],
];

const WELL_TYPED: string[] = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; charset="utf-8"',
  'Application/JSON',
];

describe.each(PLATFORMS)('bodies on %s', (platform) => {
  let shop: Shop;
  let token: string;
  beforeAll(async () => {
    shop = await startShop(platform, {
      controllers: [OwnController],
      rules: ({ publicEndpoints, requireAuth }) => {
        publicEndpoints('/own', '/own/guarded', '/api/categories/**', '/api/products/**', '/');
        requireAuth('PUT /own/closed', '/api/admin/**');
      },
      configure: (app) => {
        app.useGlobalFilters(new OwnFilter(app.get(HttpAdapterHost)));
        app.use(failOnDemand);
      },
    });
    token = await shop.register();
  });
  afterAll(() => shop.close());

  it.each(BODIES)('[4.3] are refused by a generated create: %s, %i', async (_, status, options) => {
    const answer = await request(shop.url, 'POST', '/api/categories', options);
    // Express takes an empty body for an empty object, of which every required field is missing.
    const { errors: _errors, fields: _fields, ...body } = answer.json;
    expect([answer.status, body]).toEqual([
      status,
      { success: false, message: expect.any(String), timestamp: expect.any(String) },
    ]);
  });

  it.each(BODIES)('[2.3] are refused by the registration: %s, %i', async (_, status, options) => {
    const answer = await request(shop.url, 'POST', '/api/auth/register', options);
    expect([answer.status, answer.json]).toEqual([status, { success: false, message: expect.any(String) }]);
  });

  it.each(BODIES.filter(([, status]) => status !== 415))(
    '[4.3] are never quoted in the response: %s',
    async (_, _status, options) => {
      const marked = { ...options, ...(options.body && { body: `${options.body as string}hunter2canary` }) };
      for (const path of ['/api/categories', '/api/auth/login'])
        expect((await request(shop.url, 'POST', path, marked)).text).not.toContain('hunter2canary');
    },
  );

  it.each(WELL_TYPED)('[4.3] of the type %s are accepted', async (type) => {
    const name = `for ${type}`;
    const answer = await request(shop.url, 'POST', '/api/categories', json(JSON.stringify({ name }), type));
    expect([answer.status, answer.json.data]).toEqual([201, { id: expect.any(Number), name }]);
  });

  it.each<[string, number, RequestOptions]>([
    ['malformed', 400, json('{"name":')],
    ['too large', 413, json(JSON.stringify({ name: 'x'.repeat(2_000_000) }))],
  ])("[4.3] [6] of the application's own routes are refused in its own shape: %s", async (_, status, options) => {
    const answer = await request(shop.url, 'POST', '/own', options);
    expect([answer.status, answer.json]).toEqual([status, { mine: status }]);
  });

  it('[4.3] of another type reach a route of the application', async () => {
    const answer = await request(shop.url, 'POST', '/own', json('a=1', 'application/x-www-form-urlencoded'));
    expect([answer.status, answer.json]).toEqual([201, { got: { a: '1' } }]);
  });

  it.each<[string, string, string]>([
    ['a generated route', 'GET', '/api/categories'],
    ["the application's own route", 'GET', '/own'],
  ])('[4.3] that no handler reads are no 500: %s', async (_, method, path) => {
    const answer = await request(shop.url, method, path, json('{"broken'));
    expect(answer.status).toBeLessThan(500);
  });

  it('[4.3] are ignored by a generated GET, which reads none', async () => {
    expect((await request(shop.url, 'GET', '/api/categories', json('{"broken'))).status).toBe(200);
  });

  it('[3.6] leave other guards an empty body, and not one that they cannot read', async () => {
    const answer = await request(shop.url, 'POST', '/own/guarded', json('{"name":'));
    expect([answer.status, answer.json]).toEqual([400, { mine: 400 }]);
    expect((await request(shop.url, 'POST', '/own/guarded', json('{"name":"x"}'))).status).toBe(201);
  });

  it.each<[string, RequestOptions]>([
    ['malformed', json('{"name":')],
    ['too large', json(JSON.stringify({ name: 'x'.repeat(2_000_000) }))],
    ['another media type', json('<name/>', 'application/xml')],
  ])('[3.6] are not validated for a refused request: %s', async (_, options) => {
    for (const [method, path] of [
      ['GET', '/api/auth/me'],
      ['PUT', '/own/closed'],
    ] as const) {
      const answer = await request(shop.url, method, path, options);
      expect([path, answer.status]).toEqual([path, 401]);
    }
    const known = await request(shop.url, 'PUT', '/own/closed', { ...json('{"name":'), token });
    expect([known.status, known.json]).toEqual([400, { mine: 400 }]);
  });

  it.each(['/own', '/api/categories', '/nowhere'])(
    "[4.3] are not to blame for an error of the application's own middleware: POST %s",
    async (path) => {
      for (const status of [403, 500]) {
        const headers = { 'content-type': 'application/json', 'x-fail': String(status) };
        expect((await request(shop.url, 'POST', path, { body: '{"name":"x"}', headers })).status).toBe(status);
      }
    },
  );

  it.each(['gzip', 'br', 'deflate'])(
    '[3.6] [4.3] that cannot be decompressed are refused like others: %s',
    async (encoding) => {
      const options = { body: '{}', headers: { 'content-type': 'application/json', 'content-encoding': encoding } };
      expect((await request(shop.url, 'PUT', '/own/closed', options)).status).toBe(401);
      const { status, json: answer } = await request(shop.url, 'POST', '/api/categories', options);
      expect([400, 415]).toContain(status);
      expect(answer).toEqual({
        success: false,
        message: expect.stringMatching(/^The request body /),
        timestamp: expect.any(String),
      });
    },
  );

  it('[3.6] at an unknown path leave the headers of the request as they are', async () => {
    const { headers } = await request(shop.url, 'POST', '/nowhere', json('{"name":'));
    expect(headers['x-seen-type']).toBe('application/json');
  });

  it.each(['POST', 'QUERY'])('[3.6] at an unknown path are 404: %s', async (method) => {
    const answer = await request(shop.url, method, '/nowhere', json('{"name":"x"}'));
    expect(answer.status).toBe(404);
  });
});
