/** `addAccess`: who has access to each operation of a document. */
import { Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { SecurityConfig } from 'declarest';
import { addAccess } from 'declarest/openapi';
import { authModule } from '../access/ruled-app.js';
import { startCrud, type CrudService } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';
import { DescribedApi, documentOf } from './described.js';
import { ENTITIES, Label, Maker } from './shop-service.js';

@Controller('hand')
class HandController {
  @Get()
  read() {
    return {};
  }

  @Post(':key')
  write() {
    return {};
  }
}

@Injectable()
class ShelfSecurity extends SecurityConfig {
  configure(): void {
    this.publicEndpoints('GET /labels/**');
    this.requireRole('ADMIN', 'POST,PUT,PATCH,DELETE /labels/**');
    this.requireRole('EDITOR', 'GET /makers/special');
    this.requirePolicy('owner', () => true, 'POST /hand/*');
  }
}

interface Described {
  readonly security?: unknown;
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>;
  readonly 'x-access'?: unknown;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  let operation: (method: string, path: string) => Described;
  let document: ReturnType<typeof addAccess>;
  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: ENTITIES,
      resources: [
        { entity: Label, endpoint: '/labels' },
        { entity: Maker, endpoint: '/makers' },
      ],
      controllers: [HandController],
      imports: [authModule()],
      providers: [ShelfSecurity],
    });
    document = addAccess(documentOf(service.app), service.app);
    const { operations } = new DescribedApi(document);
    operation = (method, path) =>
      operations.find((each) => each.method === method.toUpperCase() && each.path === path) as Described;
  });
  afterAll(() => service.close());

  it('a public operation has no security', () => {
    const { security, responses, 'x-access': access } = operation('get', '/labels');
    expect([security, Object.keys(responses)]).toEqual([[], ['200', '400', '500', '503']]);
    expect(access).toEqual({ access: 'public', rule: expect.stringContaining('"GET /labels/**"') as unknown });
  });

  it('an operation for a role has 401 and 403 with their texts', () => {
    const { security, responses, 'x-access': access } = operation('post', '/labels');
    expect(security).toEqual([{ bearer: [] }]);
    expect(responses['401']?.content).toEqual({
      'application/json': {
        schema: { $ref: '#/components/schemas/Refusal' },
        example: { error: 'Authentication required' },
      },
    });
    expect(JSON.stringify(responses['403']?.content)).toContain('Admin access required');
    expect(access).toMatchObject({ access: 'ADMIN' });
  });

  it('an operation that only the default closes has 401, and so has one written by hand', () => {
    for (const [method, path] of [
      ['get', '/makers'],
      ['get', '/hand'],
    ] as const) {
      const { security, responses, 'x-access': access } = operation(method, path);
      expect([security, '401' in responses, '403' in responses]).toEqual([[{ bearer: [] }], true, false]);
      expect(access).toEqual({ access: 'any token', rule: 'default' });
    }
  });

  it('a policy and a rule for a part of a route are told in x-access', () => {
    const written = operation('post', '/hand/{key}');
    expect(written['x-access']).toMatchObject({ access: 'policy owner' });
    expect(JSON.stringify(written.responses['403'])).toContain('Owner access required');
    expect(operation('get', '/makers/{id}')['x-access']).toEqual({
      access: 'any token',
      rule: 'default',
      parts: [
        { path: '/makers/special', access: 'EDITOR', rule: expect.stringContaining('/makers/special') as unknown },
      ],
    });
  });

  it('the endpoints of authentication have their own rules', () => {
    expect(operation('post', '/api/auth/login').security).toEqual([]);
    expect(operation('get', '/api/auth/me').security).toEqual([{ bearer: [] }]);
  });

  it('the document has the scheme and the refusal, and is not changed itself', () => {
    expect(document.components?.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    });
    expect(document.components?.schemas).toHaveProperty('Refusal');
    const plain = documentOf(service.app);
    const before = JSON.stringify(plain);
    addAccess(plain, service.app);
    expect(JSON.stringify(plain)).toBe(before);
  });

  it('the scheme of the application keeps its name', () => {
    const config = new DocumentBuilder().setOpenAPIVersion('3.1.0').addBearerAuth({ type: 'http' }, 'token').build();
    const named = addAccess(SwaggerModule.createDocument(service.app, config), service.app);
    expect(Object.keys(named.components?.securitySchemes ?? {})).toEqual(['token']);
    expect(named.paths['/labels']?.post?.security).toEqual([{ token: [] }]);
  });

  it('a document of OpenAPI 3.0 is refused', () => {
    const old = SwaggerModule.createDocument(service.app, new DocumentBuilder().build());
    expect(() => addAccess(old, service.app)).toThrow(
      "The argument of addAccess() must be a document of OpenAPI 3.1, got 3.0.0. Call setOpenAPIVersion('3.1.0') of DocumentBuilder.",
    );
  });
});

it('an application without AuthModule, or one that has not started, is refused', async () => {
  @Module({ controllers: [HandController] })
  class WithoutAuth {}
  @Module({ imports: [authModule()], controllers: [HandController] })
  class NotStarted {}
  for (const [module, got] of [
    [
      WithoutAuth,
      'must be an application with access rules, got one without. Import AuthModule or AccessModule in its root module',
    ],
    [NotStarted, 'must be an application that has started, got one that has not. Call it in the function'],
  ] as const) {
    const app = await NestFactory.create(module, { logger: false });
    expect(() => addAccess(documentOf(app), app)).toThrow(got);
    await app.close();
  }
});
