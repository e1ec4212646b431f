import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Controller,
  Get,
  Global,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  VersioningType,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { AccessModule, AuthModule, AuthUser, CrudModule, SecurityConfig } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { compileApplication } from '../../../lib/cli/compile-application.js';
import type { LoadedModule } from '../../../lib/cli/load-module.js';
import type { CompiledAccess } from '../../../lib/access/compiled-access.js';
import { explain } from '../../../lib/reach/explain.js';
import { authModule, securityConfig } from '../../access/ruled-app.js';
import { PLATFORMS } from '../../harness/platforms.js';
import { TEST_SECRET } from '../../harness/tokens.js';

@Entity('effect_users')
class User extends AuthUser {}

@Entity('effect_notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;
}

/** Belongs to the data source "reports" only. */
@Entity('effect_reports')
class Report {
  @PrimaryGeneratedColumn()
  id!: number;
}

/** The lifecycle hooks that ran. */
const called: string[] = [];

const hooked = (name: string) => {
  class Hooked {
    onModuleInit = (): number => called.push(`${name}.onModuleInit`);
    onApplicationBootstrap = (): number => called.push(`${name}.onApplicationBootstrap`);
    onModuleDestroy = (): number => called.push(`${name}.onModuleDestroy`);
    onApplicationShutdown = (): number => called.push(`${name}.onApplicationShutdown`);
  }
  return Hooked;
};

@Controller('hooked')
class HookedController extends hooked('controller') {
  @Get()
  get(): void {}
}

@Injectable()
class HookedSecurity extends SecurityConfig {
  onModuleInit = (): number => called.push('security.onModuleInit');
  override configure(): void {
    this.requireRole('ADMIN', '/api/notes/**', '/hooked');
  }
}

@Global()
@Module({ providers: [hooked('provider of a global module')] })
class HookedGlobalModule extends hooked('global module') {}

@Module({})
class HookedModule extends hooked('module') {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply((_: unknown, __: unknown, next: () => void) => next()).forRoutes('/hooked');
  }
}

/** Keeps what was injected. */
const injected: { dataSources: DataSource[]; reports?: Repository<Report> } = { dataSources: [] };

@Injectable()
class Injecting {
  constructor(dataSource: DataSource, @InjectRepository(Report, 'reports') reports: Repository<Report>) {
    injected.dataSources.push(dataSource);
    injected.reports = reports;
  }
}

const shop = (database: TypeOrmModuleOptions): LoadedModule['module'] => {
  const options = { ...database, autoLoadEntities: true, synchronize: true, retryAttempts: 0 };
  return {
    module: HookedModule,
    imports: [
      TypeOrmModule.forRoot(options),
      TypeOrmModule.forRootAsync({ name: 'reports', useFactory: async () => options }),
      TypeOrmModule.forFeature([Report], 'reports'),
      AuthModule.forRoot({ userClass: User, jwtSecret: TEST_SECRET }),
      CrudModule.forFeature({ entity: Note, endpoint: '/api/notes' }),
      HookedGlobalModule,
    ],
    controllers: [HookedController],
    providers: [HookedSecurity, Injecting, hooked('provider'), { provide: 'value', useValue: new (hooked('value'))() }],
  };
};

const rowsOf = ({ rows }: CompiledAccess): string[] =>
  rows.map(({ method, path, access }) => `${method} ${path} ${access}`);

const folder = mkdtempSync(join(tmpdir(), 'declarest-effects-'));
let listener: Server;
/** How many clients connected to the place of the database server. */
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

/** TCP servers of this process that listen, apart from the test's own. */
const listening = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length - 1;

describe.each(PLATFORMS)('on %s', (platform) => {
  it.each<[name: string, options: (port: number) => TypeOrmModuleOptions]>([
    ['better-sqlite3', () => ({ type: 'better-sqlite3', database: join(folder, platform, 'shop.db') })],
    ['postgres', (port) => ({ type: 'postgres', host: '127.0.0.1', port, database: 'shop', username: 'x' })],
    ['mysql', (port) => ({ type: 'mysql', host: '127.0.0.1', port, database: 'shop', username: 'x' })],
  ])('[3.5] compiles rules over %s without a port, a database or a lifecycle hook', async (_name, options) => {
    called.length = 0;
    const { port } = listener.address() as { port: number };
    const { compiled } = await compileApplication({ module: shop(options(port)), configure: undefined }, platform);
    expect(rowsOf(compiled)).toEqual([
      'GET /hooked ADMIN',
      'POST /api/auth/register public',
      'POST /api/auth/login public',
      'GET /api/auth/me any token',
      'GET /api/notes ADMIN',
      'POST /api/notes ADMIN',
      'GET /api/notes/:id ADMIN',
      'PUT /api/notes/:id ADMIN',
      'PATCH /api/notes/:id ADMIN',
      'DELETE /api/notes/:id ADMIN',
    ]);
    // No file, no folder, no connection, no port.
    expect([existsSync(join(folder, platform)), connections, listening()]).toEqual([false, 0, 0]);
    expect(called).toEqual([]);
    const entities = [injected.dataSources.at(-1), injected.reports?.manager.connection].map((dataSource) => [
      dataSource?.isInitialized,
      dataSource?.entityMetadatas.map(({ tableName }) => tableName).toSorted(),
    ]);
    expect(entities).toEqual([
      [false, ['effect_notes', 'effect_users']],
      [false, ['effect_reports']],
    ]);
  });

  it('[3.1] applies the prefix and the versions of `configure`', async () => {
    @Controller({ path: 'hooked', version: '2' })
    class Versioned extends HookedController {}
    const { compiled } = await compileApplication(
      {
        module: {
          module: HookedModule,
          imports: [authModule({ authBasePath: '/auth' })],
          controllers: [Versioned],
          providers: [securityConfig(({ requireRole }) => requireRole('ADMIN', '/api/v2/**'))],
        },
        configure: async (app) => {
          await Promise.resolve();
          app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI });
        },
      },
      platform,
    );
    expect(rowsOf(compiled)).toContain('GET /api/v2/hooked ADMIN');
  });
});

it.each(PLATFORMS)('compiles and explains the rules of AccessModule on %s', async (platform) => {
  const imports = [AccessModule.forRoot({ authenticate: () => undefined })];
  const rules = securityConfig(({ requireRole }) => requireRole('ADMIN', '/hooked'));
  @Module({ imports, controllers: [HookedController], providers: [rules] })
  class Root {}
  const { compiled } = await compileApplication({ module: Root, configure: undefined }, platform);
  expect(compiled.rows.find(({ path }) => path === '/hooked')?.access).toBe('ADMIN');
  const answer = explain(compiled, { method: 'GET', path: '/hooked', roles: ['EDITOR'] });
  expect([answer.verdict, answer.missing]).toEqual(['forbidden', ['ADMIN']]);
});

it.each<[what: string, metadata: () => ModuleMetadata, sentence: RegExp]>([
  ['an application without AuthModule', () => ({}), /^The application has no access rules\. Import [^\n]+\.$/],
  [
    'a missing provider',
    () => ({ imports: [authModule()], providers: [{ provide: 'a', useFactory: () => 1, inject: ['b'] }] }),
    /^The application does not start: Nest can't resolve [^\n]+\.$/,
  ],
  [
    'rules that contradict each other',
    () => ({
      imports: [authModule()],
      controllers: [HookedController],
      providers: [
        securityConfig(({ publicEndpoints, requireAuth }) => {
          publicEndpoints('/hooked');
          requireAuth('/hooked');
        }),
      ],
    }),
    /^The application does not start: The pattern of TestSecurity\.requireAuth\("\/hooked"\) must be [^\n]+\.$/,
  ],
  [
    'a data source that TypeOrmModule does not create',
    () => ({
      imports: [authModule(), TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:' })],
      providers: [
        { provide: DataSource, useFactory: () => new DataSource({ type: 'better-sqlite3', database: ':memory:' }) },
      ],
    }),
    /^The data source "default" would connect, because TypeOrmModule does not create it\. [^\n]+\.$/,
  ],
])('refuses %s in one sentence', async (_what, metadata, sentence) => {
  const module = { module: HookedModule, ...metadata() };
  await expect(compileApplication({ module, configure: undefined }, 'express')).rejects.toEqual(
    expect.objectContaining({ name: 'CommandError', message: expect.stringMatching(sentence) }),
  );
});
