/** What a command may know of an application without doing anything in its name; and that Nest and TypeORM still let it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Controller,
  Get,
  Injectable,
  type INestApplication,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  VersioningType,
} from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { AccessReport, AuthModule, AuthUser, CrudModule, SecurityConfig } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORMS } from '../../lib/cli/arguments.js';
import { bootWithoutEffects } from '../../lib/cli/boot-without-effects.js';
import type { LoadedModule } from '../../lib/cli/load-module.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { authModule, securityConfig } from '../access/ruled-app.js';

@Entity('effect_users')
class User extends AuthUser {}

@Entity('effect_notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;
}

/** Everything that Nest would call, and that must not be. */
const called: string[] = [];

const loud = (name: string) => {
  @Injectable()
  class Loud {
    onModuleInit = (): number => called.push(`${name}.onModuleInit`);
    onApplicationBootstrap = (): number => called.push(`${name}.onApplicationBootstrap`);
    onModuleDestroy = (): number => called.push(`${name}.onModuleDestroy`);
    beforeApplicationShutdown = (): number => called.push(`${name}.beforeApplicationShutdown`);
    onApplicationShutdown = (): number => called.push(`${name}.onApplicationShutdown`);
  }
  return Loud;
};

@Controller('loud')
class LoudController extends loud('controller') {
  @Get()
  get(): void {}
}

@Injectable()
class LoudSecurity extends SecurityConfig {
  onModuleInit = (): number => called.push('security.onModuleInit');
  override configure(): void {
    this.requireRole('ADMIN', '/api/notes/**', '/loud');
  }
}

@Module({})
class LoudModule extends loud('module') {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply((_: unknown, __: unknown, next: () => void) => next()).forRoutes('/loud');
  }
}

const moduleOf = (metadata: ModuleMetadata): LoadedModule['module'] => ({ module: LoudModule, ...metadata });

const shop = (database: TypeOrmModuleOptions): LoadedModule => ({
  configure: undefined,
  module: moduleOf({
    imports: [
      TypeOrmModule.forRoot({ ...database, autoLoadEntities: true, synchronize: true, retryAttempts: 0 }),
      AuthModule.forRoot({ userClass: User, jwtSecret: TEST_SECRET }),
      CrudModule.forFeature({ entity: Note, endpoint: '/api/notes' }),
    ],
    controllers: [LoudController],
    providers: [LoudSecurity, loud('provider'), { provide: 'value', useValue: new (loud('value'))() }],
  }),
});

const rowsOf = (app: INestApplication): string[] =>
  app.get(AccessReport, { strict: false }).rows.map(({ method, path, access }) => `${method} ${path} ${access}`);

const folder = mkdtempSync(join(tmpdir(), 'declarest-effects-'));
let listener: Server;
/** How often somebody connected to where the database servers should be. */
let connections = 0;

beforeAll(async () => {
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
});
afterAll(() => {
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => called.splice(0));

describe.each(PLATFORMS)('on %s', (platform) => {
  it.each<[name: string, options: (port: number) => TypeOrmModuleOptions]>([
    ['better-sqlite3', () => ({ type: 'better-sqlite3', database: join(folder, platform, 'shop.db') })],
    ['postgres', (port) => ({ type: 'postgres', host: '127.0.0.1', port, database: 'shop', username: 'x' })],
    ['mysql', (port) => ({ type: 'mysql', host: '127.0.0.1', port, database: 'shop', username: 'x' })],
    ['mariadb', (port) => ({ type: 'mariadb', host: '127.0.0.1', port, database: 'shop', username: 'x' })],
  ])('[3.5] %s: the rows of the whole application, no database, no port, no hook', async (_name, options) => {
    const { port } = listener.address() as { port: number };
    const app = await bootWithoutEffects(() => shop(options(port)), platform);
    // Auth, generated and own routes, with what the rules say of them.
    expect(rowsOf(app)).toEqual(
      expect.arrayContaining([
        'POST /api/auth/login public',
        'GET /api/auth/me any token',
        'GET /api/notes ADMIN',
        'DELETE /api/notes/:id ADMIN',
        'GET /loud ADMIN',
      ]),
    );
    // Neither a file, nor its folder, nor a connection.
    expect([existsSync(join(folder, platform)), connections]).toEqual([false, 0]);
    // Its entities are known, its connection is none.
    expect(app.get(DataSource).getMetadata(Note).tableName).toBe('effect_notes');
    expect(app.get(DataSource).isInitialized).toBe(false);
    expect((app.getHttpServer() as Server).listening).toBe(false);
    expect(called).toEqual([]);
  });

  it('[3.1] prefix and versions are what `configure` says', async () => {
    @Controller({ path: 'loud', version: '2' })
    class Versioned extends LoudController {}
    const app = await bootWithoutEffects(
      () => ({
        module: moduleOf({
          imports: [authModule({ authBasePath: '/auth' })],
          controllers: [Versioned],
          providers: [securityConfig(({ requireRole }) => requireRole('ADMIN', '/api/v2/**'))],
        }),
        configure: async (app) => {
          await Promise.resolve();
          app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI });
        },
      }),
      platform,
    );
    expect(rowsOf(app)).toContain('GET /api/v2/loud ADMIN');
  });
});

// The methods that are replaced are Nest's and TypeORM's own: with a version that renames one, hooks would run or
// databases be opened, unless that is noticed.
it.each([
  ['NestApplication', 'registerWsModule'],
  ['NestApplication', 'callInitHook'],
  ['NestApplication', 'callBootstrapHook'],
])('%s still has %s, and init() calls it on itself', async (_class, method) => {
  const { NestFactory } = await import('@nestjs/core');
  const app = await NestFactory.create(moduleOf({}), { logger: false, abortOnError: false });
  let calls = 0;
  Object.defineProperty(app, method, { value: async () => void (calls += 1) });
  await app.init();
  expect(calls).toBe(1);
});

it('what was replaced is put back, also after a failure', async () => {
  const { initialize } = DataSource.prototype;
  const { exit } = process;
  await bootWithoutEffects(() => ({ module: moduleOf({ imports: [authModule()] }), configure: undefined }), undefined);
  await expect(bootWithoutEffects(() => Promise.reject(new Error('no')), undefined)).rejects.toThrow('no');
  expect(DataSource.prototype.initialize).toBe(initialize);
  expect(process.exit).toBe(exit);
});

describe('is refused in one sentence', () => {
  const boot = (load: () => LoadedModule | Promise<LoadedModule>): Promise<unknown> =>
    bootWithoutEffects(load, 'express');
  const refusal = (message: RegExp): unknown =>
    expect.objectContaining({ name: 'CommandError', message: expect.stringMatching(message) });

  it.each<[what: string, metadata: () => ModuleMetadata, sentence: RegExp]>([
    ['an application without AuthModule', () => ({}), /^The application has no rules to tell of: [^.\n]+\.$/],
    [
      'one that does not start: a provider that is missing',
      () => ({ imports: [authModule()], providers: [{ provide: 'a', useFactory: () => 1, inject: ['b'] }] }),
      /^The application does not start: Nest can't resolve [^\n]+\.$/,
    ],
    [
      'one that does not start: rules that contradict each other',
      () => ({
        imports: [authModule()],
        controllers: [LoudController],
        providers: [
          securityConfig(({ publicEndpoints, requireAuth }) => {
            publicEndpoints('/loud');
            requireAuth('/loud');
          }),
        ],
      }),
      /^The application does not start: TestSecurity\.requireAuth\("\/loud"\): [^\n]+\.$/,
    ],
    [
      'one that listens while it is made',
      () => ({ imports: [authModule()], providers: [{ provide: 'a', useFactory: () => createServer().listen(0) }] }),
      /^The application opens a port while it is loaded: [^.\n]+\.$/,
    ],
    [
      'one that ends the process while it is made',
      () => ({ imports: [authModule()], providers: [{ provide: 'a', useFactory: () => process.exit(0) }] }),
      /^The application ends the process while it is loaded: [^.\n]+\.$/,
    ],
  ])('%s', async (_what, metadata, sentence) => {
    await expect(boot(() => ({ module: moduleOf(metadata()), configure: undefined }))).rejects.toEqual(
      refusal(sentence),
    );
  });
});
