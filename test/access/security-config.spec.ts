import type { AddressInfo } from 'node:net';
import {
  Controller,
  type DynamicModule,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  type OnApplicationBootstrap,
  Optional,
  type Provider,
  Scope,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule, SecurityConfig, SecurityRulesGuard } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { request } from '../harness/client.js';
import { createDatabase } from '../harness/databases.js';
import { bootError, linesOf, type Platform, PLATFORMS, startApp } from '../harness/platforms.js';
import { shopModule } from '../harness/shop.js';
import { authModule, probeController, ruledModule, securityConfig, startRuled, TOKENS } from './ruled-app.js';

@Entity('declared_notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;
}

@Controller()
class AreasController {
  @Get('a')
  a() {
    return 'a';
  }
  @Get('b')
  b() {
    return 'b';
  }
}

@Injectable()
class AdminOnA extends SecurityConfig {
  override configure(): void {
    this.requireRole('ADMIN', '/a');
  }
}

const SETTINGS = Symbol('settings');

@Injectable()
class Injected extends SecurityConfig {
  constructor(@Inject(SETTINGS) private readonly role: string) {
    super();
  }
  override configure(): void {
    this.requireRole(this.role, '/a');
  }
}

const moduleWith = (metadata: ModuleMetadata): DynamicModule => {
  @Module({})
  class SomeModule {}
  return { module: SomeModule, ...metadata };
};

const root = (...imports: NonNullable<ModuleMetadata['imports']>): ModuleMetadata => ({
  imports: [authModule(), ...imports],
  controllers: [AreasController],
});

describe.each(PLATFORMS)('the configuration component on %s', (platform) => {
  /** The statuses of nobody, USER and ADMIN. */
  async function statusesOf(path: string, metadata: ModuleMetadata): Promise<number[]> {
    const app = await startApp(platform, metadata);
    const statuses = [];
    for (const token of [undefined, TOKENS.USER, TOKENS.ADMIN])
      statuses.push((await request(app.url, 'GET', path, token === undefined ? {} : { token })).status);
    await app.close();
    return statuses;
  }
  const ADMIN_ONLY = [401, 403, 200];

  it.each<[what: string, provider: Provider]>([
    ['a class', AdminOnA],
    ['a factory', { provide: AdminOnA, useFactory: () => new AdminOnA() }],
    ['a value', { provide: 'security', useValue: new AdminOnA() }],
  ])('[1] any provider that extends SecurityConfig is one: %s', async (_, provider) => {
    expect(await statusesOf('/a', { ...root(), providers: [provider] })).toEqual(ADMIN_ONLY);
  });

  it('[1] a configuration with two tokens is called once', async () => {
    let asked = 0;
    @Injectable()
    class Counting extends SecurityConfig {
      override configure(): void {
        asked += 1;
        this.requireRole('ADMIN', '/a');
      }
    }
    const providers = [Counting, { provide: 'alias', useExisting: Counting }];
    expect(await statusesOf('/a', { ...root(), providers })).toEqual(ADMIN_ONLY);
    expect(asked).toBe(1);
  });

  it.each<[what: string, metadata: () => ModuleMetadata]>([
    ['the root module', () => ({ ...root(), providers: [AdminOnA] })],
    ['a feature module', () => root(moduleWith({ providers: [AdminOnA] }))],
    ['a module within a module', () => root(moduleWith({ imports: [moduleWith({ providers: [AdminOnA] })] }))],
    [
      'a module imported before AuthModule',
      () => ({
        imports: [moduleWith({ providers: [AdminOnA] }), authModule()],
        controllers: [AreasController],
      }),
    ],
    ['a global module', () => root({ ...moduleWith({ providers: [AdminOnA] }), global: true })],
  ])('[1] a configuration is found in any module: %s', async (_, metadata) => {
    expect(await statusesOf('/a', metadata())).toEqual(ADMIN_ONLY);
  });

  it('[1] several configurations add up', async () => {
    const metadata = root(
      moduleWith({ providers: [AdminOnA] }),
      moduleWith({ providers: [securityConfig(({ publicEndpoints }) => publicEndpoints('/b', '/**'))] }),
    );
    expect(await statusesOf('/a', metadata)).toEqual(ADMIN_ONLY);
    expect(await statusesOf('/b', metadata)).toEqual([200, 200, 200]);
  });

  it('[1] [3.3] configurations that contradict each other refuse to start and are both named', async () => {
    @Injectable()
    class OpensA extends SecurityConfig {
      override configure(): void {
        this.publicEndpoints('/a');
      }
    }
    const error = await bootError(platform, { ...root(), providers: [AdminOnA, OpensA] });
    expect(error.message).toContain('AdminOnA');
    expect(error.message).toContain('OpensA');
  });

  it('[1] a configuration may extend another one', async () => {
    @Injectable()
    class Both extends AdminOnA {
      override configure(): void {
        super.configure();
        this.publicEndpoints('/b');
      }
    }
    expect(await statusesOf('/a', { ...root(), providers: [Both] })).toEqual(ADMIN_ONLY);
    expect(await statusesOf('/b', { ...root(), providers: [Both] })).toEqual([200, 200, 200]);
  });

  it('[1] the application waits for an async configure', async () => {
    @Injectable()
    class Slow extends SecurityConfig {
      override async configure(): Promise<void> {
        await new Promise((resolve) => setTimeout(resolve, 50));
        this.requireRole('ADMIN', '/a');
      }
    }
    expect(await statusesOf('/a', { ...root(), providers: [Slow] })).toEqual(ADMIN_ONLY);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no rules today');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no rules today'))],
  ])('[1] a configure that %s refuses to start', async (_, configure) => {
    const error = await bootError(platform, { ...root(), providers: [securityConfig(configure)] });
    expect(error.message).toBe('no rules today');
  });

  it('[1] a configuration may inject providers', async () => {
    const providers = [Injected, { provide: SETTINGS, useFactory: async () => 'ADMIN' }];
    expect(await statusesOf('/a', { ...root(), providers })).toEqual(ADMIN_ONLY);
  });

  const scoped = (scope: Scope): Provider => {
    @Injectable({ scope })
    class ScopedSecurity extends AdminOnA {}
    return ScopedSecurity;
  };
  @Injectable()
  class FromRequest extends SecurityConfig {
    constructor(@Inject(REQUEST) @Optional() _request: unknown) {
      super();
    }
    override configure(): void {
      this.requireRole('ADMIN', '/a');
    }
  }
  const REQUEST_SCOPED: [what: string, provider: Provider][] = [
    ['request-scoped', scoped(Scope.REQUEST)],
    ['transient', scoped(Scope.TRANSIENT)],
    ['by what it injects', FromRequest],
    ['a factory', { provide: AdminOnA, useFactory: () => new AdminOnA(), scope: Scope.REQUEST }],
    ['a factory that injects the request', { provide: AdminOnA, useFactory: () => new AdminOnA(), inject: [REQUEST] }],
  ];
  it.each(REQUEST_SCOPED)('[1] a request-scoped configuration refuses to start: %s', async (_, provider) => {
    const error = await bootError(platform, { ...root(), providers: [provider] });
    expect(error.message).toMatch(/ScopedSecurity|FromRequest|AdminOnA/);
    expect(error.message).toContain('scope');
  });

  it.each<[what: string, provider: Provider]>([
    ['a class', AdminOnA],
    ['a factory', { provide: 'security', useFactory: () => new AdminOnA() }],
    ['a value', { provide: 'security', useValue: new AdminOnA() }],
  ])('[1] without AuthModule a configuration refuses to start: %s', async (_, provider) => {
    const error = await bootError(platform, { controllers: [AreasController], providers: [provider] });
    expect(error.message).toContain('AuthModule');
    expect(error.message).toContain('AdminOnA');
  });

  it('[1] without AuthModule a configuration with a hook of its own refuses to start', async () => {
    @Injectable()
    class Hooked extends AdminOnA implements OnApplicationBootstrap {
      onApplicationBootstrap(): void {}
    }
    const error = await bootError(platform, { controllers: [AreasController], providers: [Hooked] });
    expect(error.message).toContain('AuthModule');
  });

  it('[1] without AuthModule a configuration beside CrudModule refuses to start', async () => {
    const database = await createDatabase();
    const error = await bootError(
      platform,
      {
        imports: [
          TypeOrmModule.forRoot(database.options),
          CrudModule.forFeature({ entity: Note, endpoint: '/api/notes', maxListSize: 10 }),
        ],
        providers: [AdminOnA],
      },
      { onClose: database.drop },
    );
    expect(error.message).toMatch(/^AdminOnA must be in an application that imports AuthModule/);
  });

  it('[1] without AuthModule and a configuration, CrudModule starts', async () => {
    const database = await createDatabase();
    const app = await startApp(
      platform,
      {
        imports: [
          TypeOrmModule.forRoot(database.options),
          CrudModule.forFeature({ entity: Note, endpoint: '/api/notes', maxListSize: 10 }),
        ],
      },
      { onClose: database.drop },
    );
    expect((await request(app.url, 'GET', '/api/notes')).status).toBe(200);
    await app.close();
  });

  it('[1] two applications in one process share no rules, routes and tokens', async () => {
    const one = await startRuled(platform, {
      routes: ['GET x', 'GET only-one'],
      rules: ({ requireRole }) => requireRole('ADMIN', '/x', '/only-one'),
    });
    const two = await startRuled(platform, {
      routes: ['GET x', 'GET only-two'],
      rules: ({ publicEndpoints }) => publicEndpoints('/x', '/only-one'),
      auth: { authBasePath: '/id', jwtSecret: 'the secret of the second application, long enough' },
    });
    const statuses = [];
    for (const { url } of [one, two])
      for (const path of ['/x', '/only-one', '/only-two', '/api/auth/me', '/id/me'])
        statuses.push((await request(url, 'GET', path, { token: TOKENS.USER })).status);
    expect(statuses).toEqual([403, 403, 404, 401, 404, 200, 404, 401, 404, 401]);
    expect(linesOf(two.logs, 'warn').join('\n')).toContain('"/only-one") matches no route');
    await one.close();
    expect((await request(two.url, 'GET', '/x')).status).toBe(200);
    await two.close();
  });

  it('[1] a configuration class in two applications applies to both', async () => {
    const first = await startApp(platform, { ...root(), providers: [AdminOnA] });
    const second = await startApp(platform, { ...root(), providers: [AdminOnA] });
    for (const { url } of [first, second])
      expect((await request(url, 'GET', '/a', { token: TOKENS.USER })).status).toBe(403);
    await Promise.all([first.close(), second.close()]);
  });
});

const testAdapter = (platform: Platform) =>
  platform === 'express' ? new ExpressAdapter() : new FastifyAdapter({ forceCloseConnections: true });

describe.each(PLATFORMS)('the guard in tests on %s', (platform) => {
  it('[1] a test that overrides SecurityRulesGuard opens every route', async () => {
    const database = await createDatabase();
    const testing = await Test.createTestingModule({ imports: [shopModule(database.options)] })
      .overrideProvider(SecurityRulesGuard)
      .useValue({ canActivate: () => true })
      .compile();
    const app = testing.createNestApplication(testAdapter(platform), { logger: false });
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    expect((await request(url, 'GET', '/api/categories')).status).toBe(200);
    expect((await request(url, 'POST', '/api/categories', { json: { name: 'Lamps' } })).status).toBe(201);
    expect((await request(url, 'DELETE', '/api/categories/1')).status).toBe(200);
    // The body is still read by the package.
    const broken = await request(url, 'POST', '/api/categories', {
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([broken.status, broken.json.success]).toEqual([400, false]);
    await app.close();
    await database.drop();
  });

  it('[1] [3.5] the rules apply under @nestjs/testing', async () => {
    const testing = await Test.createTestingModule({
      imports: [authModule()],
      controllers: [AreasController, probeController([], 'GET c/:id')],
      providers: [AdminOnA, securityConfig(({ publicEndpoints }) => publicEndpoints('/c/open'))],
    }).compile();
    const app = testing.createNestApplication(testAdapter(platform), { logger: false });
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    const statuses = [];
    for (const path of ['/a', '/b', '/c/open', '/c/x', '/nowhere'])
      for (const token of [undefined, TOKENS.USER])
        statuses.push((await request(url, 'GET', path, token === undefined ? {} : { token })).status);
    expect(statuses).toEqual([401, 403, 401, 200, 200, 200, 401, 200, 404, 404]);
    await app.close();
  });
});

it('[1] a configuration may have the hook of its start as a property', async () => {
  let ran = false;
  @Injectable()
  class WithHook extends SecurityConfig {
    onApplicationBootstrap = async (): Promise<void> => void (ran = true);
    override configure(): void {
      this.requireAuth('/a');
    }
  }
  const app = await startApp('express', { imports: [authModule()], providers: [WithHook] });
  expect(ran).toBe(true);
  await app.close();
});

const adapterOf = (platform: Platform) => (platform === 'express' ? new ExpressAdapter() : new FastifyAdapter());

const statuses = async (app: INestApplication): Promise<number[]> => {
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const ask = async (path: string, token?: string) =>
    (await request(`http://127.0.0.1:${port}`, 'GET', path, token === undefined ? {} : { token })).status;
  const found = [
    await ask('/open'),
    await ask('/admin'),
    await ask('/admin', TOKENS.USER),
    await ask('/admin', TOKENS.ADMIN),
    await ask('/nowhere'),
    await ask('/outside'),
  ];
  await app.close();
  return found;
};

const module = () =>
  ruledModule({
    routes: ['GET open', 'GET admin'],
    rules: ({ publicEndpoints, requireRole }) => {
      publicEndpoints('/open');
      requireRole('ADMIN', '/admin', '/outside/**');
    },
  });

describe.each(PLATFORMS)('under @nestjs/testing on %s', (platform) => {
  it('[1] a builder that is compiled twice gives two applications with the same rules', async () => {
    const builder = Test.createTestingModule(module()).setLogger(false as never);
    for (const time of ['first', 'second']) {
      const app = (await builder.compile()).createNestApplication<INestApplication>(adapterOf(platform));
      expect([time, await statuses(app)]).toEqual([time, [200, 401, 403, 200, 404, 401]]);
    }
  });

  it('[1] a test can override the guard', async () => {
    const built = await Test.createTestingModule(module())
      .setLogger(false as never)
      .overrideProvider(SecurityRulesGuard)
      .useValue({ canActivate: () => true })
      .compile();
    const app = built.createNestApplication<INestApplication>(adapterOf(platform));
    expect((await statuses(app)).slice(0, 4)).toEqual([200, 200, 200, 200]);
  });
});
