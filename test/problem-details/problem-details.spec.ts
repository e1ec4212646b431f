/** Problem details (RFC 9457) for clients that prefer them, and today's bodies for all others. */
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Header,
  HttpException,
  type MiddlewareConsumer,
  Module,
  UnauthorizedException,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import { CrudController } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { authModule, securityConfig } from '../access/ruled-app.js';
import { failure, startCrud, TIMESTAMP, type CrudService } from '../crud/service.js';
import { type Answer, request } from '../harness/client.js';
import { PLATFORMS, startApp } from '../harness/platforms.js';
import { claims, makeToken } from '../harness/tokens.js';

const PROBLEM = 'application/problem+json';

@Entity()
class Part {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 10, unique: true })
  name!: string;
}

class PartsController extends CrudController({ entity: Part, endpoint: '/api/parts' }) {
  override beforeDelete(): never {
    throw new HttpException({ message: 'Sold out', code: 'SOLD_OUT', error: { sku: 7 }, status: 200 }, 422);
  }
}

/** What an application answers itself. */
@Catch(UnauthorizedException)
class OwnFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(exception: UnauthorizedException, host: ArgumentsHost): void {
    this.host.httpAdapter.reply(host.getArgByIndex(1), { own: exception.message }, 401);
  }
}

@Controller('own')
class OwnController {
  @Get('closed')
  closed(): string {
    return 'closed';
  }

  @Get('admin')
  @Header('Vary', 'Accept-Language')
  admin(): string {
    return 'admin';
  }

  @Get('filtered')
  @UseFilters(OwnFilter)
  filtered(): string {
    return 'filtered';
  }
}

@Module({ controllers: [OwnController] })
class OwnModule {
  configure(consumer: MiddlewareConsumer): void {
    const vary = (_: unknown, response: { setHeader(name: string, value: string): void }, next: () => void): void => {
      response.setHeader('Vary', 'Origin');
      next();
    };
    consumer.apply(vary).forRoutes('own/admin', 'api/parts/7');
  }
}

const security = securityConfig((rules) => {
  rules.publicEndpoints('/api/parts/**');
  rules.requireRole('ADMIN', 'PUT /api/parts/*', '/own/admin');
  rules.requireAuth('/own/closed', '/own/filtered', '/outside/**');
});

const user = makeToken(claims({ roles: ['USER'] }));

describe.each(PLATFORMS)('failures on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      isDescribed: false,
      resources: [PartsController],
      imports: [authModule(), OwnModule],
      providers: [security],
    });
    await service.post('/api/parts', { name: 'bolt' });
  });
  afterAll(() => service.close());

  const asked = (method: string, path: string, options: Parameters<CrudService['send']>[2] = {}): Promise<Answer> =>
    service.send(method, path, { ...options, headers: { accept: PROBLEM, ...options.headers } });

  it.each<[string, boolean]>([
    ['application/problem+json', true],
    ['Application/Problem+JSON; q=0.2', true],
    ['application/json, application/problem+json', true],
    ['*/*, application/problem+json', true],
    ['application/problem+json, */*;q=0.1', true],
    ['application/json;q=0.5, application/problem+json;q=0.7', true],
    ['application/json;q=0, application/*', true],
    ['text/html;title="a,b;q=0", application/problem+json;x="\\",q"', true],
    ['*/*', false],
    ['application/json', false],
    ['application/*', false],
    ['text/html', false],
    ['', false],
    ['application/problem+json;q=0', false],
    ['application/problem+json;q=0, */*', false],
    ['application/problem+json;q=0.5, */*', false],
    ['application/problem+json;q=high', false],
    ['application/problem+json;q=1.5, application/json;q=0.1', false],
    ['application/problem+xml', false],
    [`text/html;x="application/problem+json`, false],
  ])('are negotiated by %s', async (accept, isProblem) => {
    const answer = await service.send('GET', '/api/parts/99', { headers: { accept } });
    const type = isProblem ? PROBLEM : 'application/json';
    expect([answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([404, type]);
    expect(answer.json).toEqual(
      isProblem
        ? { type: 'about:blank', title: 'Not Found', status: 404, detail: 'Part with id 99 not found' }
        : failure('Part with id 99 not found'),
    );
    expect(answer.headers['vary']).toBe('Accept');
  });

  it.each<[string, string, Parameters<CrudService['send']>[2], object]>([
    [
      'GET',
      '/api/parts/x',
      {},
      { title: 'Bad Request', status: 400, detail: 'Part id is not valid', errors: [{ field: 'id' }] },
    ],
    [
      'POST',
      '/api/parts',
      { json: { name: 7, x: 1 } },
      { status: 400, errors: [{ field: 'x' }, { field: 'name' }], fields: { x: 'unknown field' } },
    ],
    [
      'POST',
      '/api/parts',
      { json: { name: 'bolt' } },
      { title: 'Conflict', status: 409, fields: { name: 'is already taken' } },
    ],
    [
      'POST',
      '/api/parts',
      { body: '{', headers: { 'content-type': 'application/json' } },
      { status: 400, detail: 'The request body is not a valid JSON object' },
    ],
    [
      'POST',
      '/api/parts',
      { body: 'a=1', headers: { 'content-type': 'text/plain' } },
      { title: 'Unsupported Media Type', status: 415 },
    ],
    ['POST', '/api/parts', { json: { name: 'x'.repeat(2_000_000) } }, { title: 'Payload Too Large', status: 413 }],
    ['DELETE', '/api/parts/1', {}, { status: 422, detail: 'Sold out', code: 'SOLD_OUT', error: { sku: 7 } }],
    ['PUT', '/api/parts/1', { json: {} }, { title: 'Unauthorized', status: 401, detail: 'Authentication required' }],
    [
      'PUT',
      '/api/parts/1',
      { json: {}, token: user },
      { title: 'Forbidden', status: 403, detail: 'Admin access required' },
    ],
    ['GET', '/api/auth/me', {}, { status: 401, detail: 'Authentication required' }],
    [
      'POST',
      '/api/auth/login',
      { json: { email: 'a@b.example', password: 'wrong-one' } },
      { status: 401, detail: 'Invalid credentials' },
    ],
    ['POST', '/api/auth/register', { json: {} }, { status: 400, title: 'Bad Request' }],
    ['GET', '/own/closed', {}, { title: 'Unauthorized', status: 401, detail: 'Authentication required' }],
    ['GET', '/own/admin', { token: user }, { title: 'Forbidden', status: 403, detail: 'Admin access required' }],
    ['GET', '/outside/file.txt', {}, { title: 'Unauthorized', status: 401, detail: 'Authentication required' }],
  ])('of %s %s are problem details', async (method, path, options, problem) => {
    const answer = await asked(method, path, options);
    expect(answer.json).toMatchObject({ type: 'about:blank', ...problem });
    const left = ['success', 'message', 'timestamp', 'statusCode'];
    expect(Object.keys(answer.json).filter((name) => left.includes(name))).toEqual([]);
    expect([answer.status, answer.headers['content-type']]).toEqual([answer.json.status, `${PROBLEM}; charset=utf-8`]);
    expect(answer.headers['vary']).toMatch(/^(Accept-Language, |Origin, )*Accept$/);
    const challenge = answer.json.detail === 'Authentication required' ? 'Bearer' : undefined;
    expect(answer.headers['www-authenticate']).toBe(challenge);
  });

  it.each<[string, string, Parameters<CrudService['send']>[2], number, object]>([
    ['PUT', '/api/parts/1', { json: {}, token: user }, 403, { error: 'Admin access required' }],
    ['GET', '/own/closed', {}, 401, { error: 'Authentication required' }],
    ['GET', '/outside/file.txt', {}, 401, { error: 'Authentication required' }],
    ['GET', '/api/auth/me', {}, 401, { error: 'Authentication required' }],
    [
      'POST',
      '/api/auth/login',
      { json: { email: 'a@b.example', password: 'wrong-one' } },
      401,
      { success: false, message: 'Invalid credentials' },
    ],
    [
      'DELETE',
      '/api/parts/1',
      {},
      422,
      {
        success: false,
        message: 'Sold out',
        code: 'SOLD_OUT',
        error: { sku: 7 },
        status: 200,
        timestamp: expect.stringMatching(TIMESTAMP),
      },
    ],
  ])('of %s %s keep their bodies for other clients', async (method, path, options, status, body) => {
    const answer = await service.send(method, path, options);
    expect([answer.status, answer.json, answer.headers['content-type'], answer.headers['vary']]).toEqual([
      status,
      body,
      'application/json; charset=utf-8',
      // Nest's own filter sends it, and without Cache-Control no cache keeps it.
      path.startsWith('/own') ? undefined : 'Accept',
    ]);
  });

  it('keep the Vary that is there', async () => {
    expect((await asked('GET', '/own/admin')).headers['vary']).toBe('Origin, Accept');
    expect((await asked('GET', '/api/parts/7')).headers['vary']).toBe('Origin, Accept');
  });

  it('leave successes alone', async () => {
    const { status, headers, json } = await asked('GET', '/api/parts');
    expect([status, headers['vary'], headers['content-type'], json.success]).toEqual([
      200,
      undefined,
      'application/json; charset=utf-8',
      true,
    ]);
  });

  it('have no body for HEAD', async () => {
    const { status, headers, text } = await asked('HEAD', '/api/parts/99');
    expect([status, headers['content-type'], text]).toEqual([404, `${PROBLEM}; charset=utf-8`, '']);
  });

  it('are left to a filter of the application, of a route or of main.ts', async () => {
    const expected = [401, 'application/json; charset=utf-8', { own: 'Authentication required' }];
    const answers = [await asked('GET', '/own/filtered')];
    const filtered = await startApp(
      platform,
      { imports: [authModule(), OwnModule], providers: [security] },
      { configure: (app) => void app.useGlobalFilters(new OwnFilter(app.get(HttpAdapterHost))) },
    );
    answers.push(await request(filtered.url, 'GET', '/own/closed', { headers: { accept: PROBLEM } }));
    await filtered.close();
    for (const { status, headers, json } of answers) expect([status, headers['content-type'], json]).toEqual(expected);
  });

  it('are left to a global provider of the application, unless the client prefers problem details', async () => {
    const providers = [security, { provide: APP_FILTER, useClass: OwnFilter }];
    const filtered = await startApp(platform, { imports: [authModule(), OwnModule], providers });
    const answers = [await request(filtered.url, 'GET', '/own/closed', { headers: { accept: PROBLEM } })];
    answers.push(await request(filtered.url, 'GET', '/own/closed'));
    await filtered.close();
    expect(answers.map(({ json }) => json.detail ?? json.own)).toEqual(Array(2).fill('Authentication required'));
    expect(answers.map(({ json }) => Object.keys(json).length)).toEqual([4, 1]);
  });
});
