/** The command line on compiled applications: as a program, and as the functions that it calls in a child process. */
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, writeFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApplicationCommand, type Outcome, parseCommand, USAGE } from '../../../lib/cli/arguments.js';
import { runCommand } from '../../../lib/cli/commands.js';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type Ended, startChild } from '../../child-process.js';
import { type Compiled, compile, REPOSITORY } from '../../compiled.js';

/** The rules come from the environment. */
const APPLICATION = `
import 'reflect-metadata';
import { Controller, Get, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, Roles, SecurityConfig } from 'declarest';
import { DataSource, Entity } from 'typeorm';

@Entity() class User extends AuthUser {}

@Controller('a') class AController {
  @Get() list(): void {}
  @Get(':id') one(): void {}
  @Roles('AUDITOR') @Get(':id/history') history(): void {}
}

@Injectable() class AppSecurity extends SecurityConfig {
  configure(): void {
    this.requireAuth('/**');
    for (const [role, pattern] of JSON.parse(process.env['RULES'] ?? '[]') as [string, string][])
      if (role === '') this.publicEndpoints(pattern);
      else this.requireRole(role, pattern);
  }
}

@Injectable() class Hooked implements OnModuleInit {
  constructor(private readonly dataSource: DataSource) {}
  async onModuleInit(): Promise<void> { await this.dataSource.query('SELECT 1'); }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'data/app.db', autoLoadEntities: true, synchronize: true }),
    AuthModule.forRoot({ userClass: User, jwtSecret: 'x'.repeat(40), roleHierarchy: { CHIEF: ['CLERK'] } }),
  ],
  controllers: [AController],
  providers: [AppSecurity, Hooked],
})
export class AppModule {}
`;

// Files that exist only in memory cannot be found by the compiler.
const EXPORT = `// @ts-ignore\nexport { AppModule } from './app.js';\n`;
const SOURCES = {
  'apps/app.ts': APPLICATION,
  'apps/noisy.ts': `${EXPORT}console.log('Output of the application');\nsetInterval(() => {}, 1_000);\n`,
  'apps/configured.ts': `${EXPORT}import type { INestApplication } from '@nestjs/common';
export function configure(app: INestApplication): void {
  app.setGlobalPrefix('api');
  app.getHttpAdapter().get('/docs', () => {});
}
`,
  'apps/searched.ts': `
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity() class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column('text') text!: string;
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'data/app.db', autoLoadEntities: true }),
    CrudModule.forFeature({ entity: Note, endpoint: '/notes', enableSearch: true, searchableFields: ['text'], searchIndex: true, enableIdempotency: true }),
  ],
})
export class AppModule {}
`,
  'apps/stored.ts': `
import { Injectable, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, CrudModule } from 'declarest';
import { Column, DataSource, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('users') class User extends AuthUser {}
@Entity() class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column() ownerId!: number;
  @Column() tenantId!: number;
  @Column({ default: '' }) secret!: string;
  @DeleteDateColumn() deletedAt!: Date | null;
}

@Injectable()
class Notes implements OnApplicationBootstrap {
  constructor(private readonly dataSource: DataSource) {}
  async onApplicationBootstrap() {
    const deletedAt = new Date();
    const notes = [{ ownerId: 5, tenantId: 1 }, { ownerId: 6, tenantId: 1 }, { ownerId: 5, tenantId: 2 }, { ownerId: 5, tenantId: 1, deletedAt }];
    await this.dataSource.getRepository(Note).save(notes);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true }),
    AuthModule.forRoot({ userClass: User, jwtSecret: 'a-secret-of-at-least-32-characters-for-tests', roleHierarchy: { CHIEF: ['CLERK'] } }),
    CrudModule.forFeature({
      entity: Note,
      endpoint: '/notes',
      owner: { field: 'ownerId', except: ['CHIEF'] },
      scope: ({ user }: any) => (user ? { tenantId: user.tenantId } : false),
      fieldPermissions: { secret: { read: ['CHIEF'], write: ['CHIEF'] } },
    }, {
      entity: Note,
      endpoint: '/tenants/:tenantId/notes',
      owner: { field: 'ownerId', reads: true },
      scope: ({ user }: any) => (user?.id === 8 ? false : true),
    }, {
      entity: Note,
      endpoint: '/own-notes',
      enableRestore: true,
      fieldPermissions: { secret: { read: ['CHIEF'], write: ['CHIEF'] } },
      scope: ({ user }: any) => !!user && { ownerId: user.id },
    }),
  ],
  providers: [Notes],
})
export class AppModule {}
`,
  'apps/exits.ts': `export class AppModule {}\nprocess.exit(0);\n`,
  // Without the wait, the command may end before the timer.
  'apps/throws.ts': `export class AppModule {}\nsetTimeout(() => { throw new Error('late'); });\nawait new Promise((resolve) => setTimeout(resolve, 1_000));\n`,
};

let compiled: Compiled;
let folder: string;

const ADMIN = [['ADMIN', '/a/**']];

beforeAll(async () => {
  compiled = await compile(['lib/cli/declarest.ts', 'sample-app/access.ts', 'sample-app/main.ts'], SOURCES);
  folder = await mkdtemp(join(tmpdir(), 'declarest-cli-'));
});
afterAll(async () => {
  delete process.env['RULES'];
  await compiled.remove();
  await rm(folder, { recursive: true, force: true });
});

const compiledFile = (file: string): string => join(compiled.directory, `${file}.js`);

/** In processes of its own: Node prints, exits and reports errors as for a user. */
function program(command: string, file: string, args: readonly string[], rules: string[][] = []): Promise<Ended> {
  const all = [compiledFile('lib/cli/declarest'), command, compiledFile(file), ...args];
  return startChild(process.execPath, all, { cwd: folder, env: { RULES: JSON.stringify(rules) } }).ended;
}

/** In the process of the test. */
function declarest(command: string, file: string, args: readonly string[], rules: string[][] = []): Promise<Outcome> {
  process.env['RULES'] = JSON.stringify(rules);
  return runCommand(parseCommand([command, compiledFile(file), ...args]) as ApplicationCommand);
}

describe('declarest access', () => {
  it('[3.5] prints every rule that takes part, and each route once', async () => {
    const { code, stdout, stderr } = await program('access', 'apps/noisy', [], [...ADMIN, ['', '/a/me']]);
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        'METHOD  PATH                ACCESS              RULES',
        'GET     /a                  ADMIN               AppSecurity.requireAuth("/**"), AppSecurity.requireRole("ADMIN", "/a/**")',
        'GET     /a/:id              ADMIN               AppSecurity.requireAuth("/**"), AppSecurity.requireRole("ADMIN", "/a/**")',
        'GET     /a/me               public              AppSecurity.requireAuth("/**"), AppSecurity.requireRole("ADMIN", "/a/**"), AppSecurity.publicEndpoints("/a/me")',
        'GET     /a/:id/history      ADMIN, and AUDITOR  AppSecurity.requireAuth("/**"), AppSecurity.requireRole("ADMIN", "/a/**"), @Roles on AController.history',
        'POST    /api/auth/register  public              AppSecurity.requireAuth("/**"), declarest("/api/auth/register")',
        'POST    /api/auth/login     public              AppSecurity.requireAuth("/**"), declarest("/api/auth/login")',
        'GET     /api/auth/me        any token           AppSecurity.requireAuth("/**"), declarest("/api/auth/me")',
        '',
      ],
    ]);
    // Output of the application does not mix with the table. Its hook would query the database.
    expect(stderr).toBe('Output of the application\n');
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('[3.5] compares with a snapshot, and exits with 1 where access became wider', async () => {
    const file = join(folder, 'access.json');
    const updated = await declarest('access', 'apps/app', ['--check', file, '--update'], ADMIN);
    expect(updated).toEqual({ code: 0, stdout: `Wrote 6 routes and 0 resources to ${file}.\n` });
    const json = await declarest('access', 'apps/app', ['--json', '--platform', 'fastify'], ADMIN);
    expect(json.stdout).toBe(await readFile(file, 'utf8'));
    const wider = await program('access', 'apps/app', ['--check', file], [...ADMIN, ['', '/a/*']]);
    const before = 'AppSecurity.requireAuth("/**"), AppSecurity.requireRole("ADMIN", "/a/**")';
    expect([wider.code, wider.stdout.split('\n')]).toEqual([
      1,
      [
        `Wider: GET /a/:id: ADMIN (${before}) -> public (${before}, AppSecurity.publicEndpoints("/a/*"))`,
        `Access became wider than in ${file} in 1 place. Accept it with --update.`,
        '',
      ],
    ]);
    const narrower = await declarest('access', 'apps/app', ['--check', file], [...ADMIN, ['EDITOR', '/a']]);
    expect(narrower).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^Narrower: GET \/a: ADMIN .* -> ADMIN, and EDITOR .*\nAccess did not become wider than in /,
      ),
    });
  });

  it('[3.5] exits with 1 where code that decides on access changed', async () => {
    const file = join(folder, 'code.json');
    await declarest('access', 'apps/app', ['--check', file, '--update'], ADMIN);
    const recorded = await readFile(file, 'utf8');
    await writeFile(file, recorded.replace(/("GET \/a": "#)\w+/, '$100000000'));
    expect(await program('access', 'apps/app', ['--check', file], ADMIN)).toMatchObject({
      code: 1,
      stdout: [
        'Changed, look at it: GET /a',
        `Code or options that decide on access changed since ${file} in 1 place. Look at them, and accept them with --update.`,
        '',
      ].join('\n'),
    });
    const { stdout } = await declarest('access', 'apps/app', ['--check', file, '--format', 'github'], ADMIN);
    expect(stdout).toContain('::error title=Code that decides on access changed::Changed, look at it: GET /a\n');
  });

  it('[3.5] finds the sample application as in its committed snapshot', async () => {
    const committed = join(folder, 'committed.json');
    await copyFile(join(REPOSITORY, 'sample-app', 'access.json'), committed);
    expect(await declarest('access', 'sample-app/access', ['--check', committed])).toEqual({
      code: 0,
      stdout: `Access is the same as in ${committed}.\n`,
    });
  });
});

describe('declarest explain', () => {
  it('explains the decision', async () => {
    const { code, stdout } = await declarest('explain', 'apps/app', ['GET', '/a/7/history', '--as', 'USER,CLERK']);
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        'GET /a/7/history as USER, CLERK',
        'Route: GET /a/:id/history',
        'Default: any token',
        'Rules, from broad to narrow:',
        '  1. AppSecurity.requireAuth("/**")  any token, as before',
        '  2. @Roles on AController.history   any token -> AUDITOR',
        'Answer: 403, AUDITOR is required, by @Roles on AController.history',
        '',
      ],
    ]);
  });

  it('knows routes outside the controllers only where the module file exports `configure`', async () => {
    const without = await declarest('explain', 'apps/app', ['GET', '/docs']);
    expect(without.stdout).toMatch(/\nNote: routes that main\.ts adds, such as Swagger [^\n]+ configure\(app\)\.\n$/);
    const configured = await declarest('explain', 'apps/configured', ['GET', '/docs']);
    expect(configured.stdout).toContain("\nRoute: GET /docs, outside Nest's routes\n");
    expect(configured.stdout).not.toContain('Note:');
  });

  it('explains the account endpoints', async () => {
    const { stdout } = await declarest('explain', 'sample-app/access', ['PATCH', '/api/auth/users/7', '--as', 'STAFF']);
    expect(stdout.split('\n').slice(1)).toEqual([
      'Route: PATCH /api/auth/users/:id',
      'Default: any token',
      'Rules, from broad to narrow:',
      '  1. ShopSecurity.requireAuth("/api/**")        any token, as before',
      '  2. declarest("ADMIN", "/api/auth/users/:id")  any token -> ADMIN',
      'Answer: 403, ADMIN is required, by declarest("ADMIN", "/api/auth/users/:id")',
      '',
    ]);
  });

  const explained = async (...args: readonly string[]): Promise<string[]> => {
    const { stdout } = await declarest('explain', 'apps/stored', args);
    return stdout.trimEnd().split('\n').slice(4);
  };

  it('says the rows and fields of a generated resource', async () => {
    expect(await explained('PATCH', '/notes/1', '--as', 'USER')).toEqual([
      'Answer: allowed (public), by default',
      'Rows: own (ownerId) and tenantId = :tenantId',
      'Fields to read: id, ownerId, tenantId',
      'Hidden fields: secret, deletedAt',
      'Fields to write: tenantId',
    ]);
    const [, rows] = await explained('GET', '/notes/1', '--as', 'CHIEF:7', '--claims', '{"tenantId":1}');
    expect(rows).toBe('Rows: tenantId = 1');
  });

  it('says the rows that the access table has, where roles include others', async () => {
    for (const role of ['USER', 'CLERK', 'CHIEF'])
      expect((await explained('GET', '/own-notes', '--as', role))[1]).toBe('Rows: own (ownerId)');
  });

  it('says that a deleted record is visible to the one who may restore it', async () => {
    const restore = ['POST', '/own-notes/4/restore', '--as'];
    expect((await explained(...restore, 'USER:5', '--record')).at(-1)).toBe('Record: visible');
    expect((await explained(...restore, 'USER:6', '--record')).at(-1)).toBe(
      'Record: not visible, because of the option `scope`: ownerId = 6',
    );
    expect((await explained('GET', '/own-notes/4', '--as', 'USER:5', '--record')).at(-1)).toBe(
      'Record: not visible, because it is deleted or belongs to another class',
    );
  });

  it.each<[request: readonly string[], record: string]>([
    [['/notes/1', '--as', 'CHIEF', '--claims', '{"tenantId":1}'], 'visible'],
    [['/notes/3', '--as', 'USER'], 'not visible, because of the option `scope`: tenantId = :tenantId'],
    [['/tenants/1/notes/1', '--as', 'USER'], 'not visible, because of the option `owner`: own (ownerId)'],
    [
      ['/tenants/1/notes/1', '--as', 'USER', '--claims', '{}'],
      'not visible, because of the option `owner`: own (ownerId)',
    ],
    [['/tenants/1/notes/1', '--as', 'USER', '--claims', '{"id":5}'], 'visible'],
    [['/tenants/2/notes/1', '--as', 'USER'], 'not visible, because of the parameters of the path: tenantId = 2'],
    [['/tenants/1/notes/1'], 'not visible, because of the option `owner`: none'],
  ])('says whether the record of %s is visible, without an id of a user', async (request, record) => {
    const lines = await explained('GET', ...request, '--record');
    expect(lines.at(-1)).toBe(`Record: ${record}`);
  });

  it('names the id of any user with claims', async () => {
    const [, rows] = await explained('PATCH', '/notes/1', '--as', 'USER', '--claims', '{"tenantId":1}');
    expect(rows).toBe('Rows: own (ownerId) and tenantId = 1');
  });

  it('reads the id of --as by the type of the key of users', async () => {
    expect((await explained('GET', '/tenants/1/notes', '--as', 'USER:8'))[1]).toBe('Rows: none');
    expect((await explained('GET', '/tenants/1/notes', '--as', 'USER:9'))[1]).toBe('Rows: ownerId = 9');
  });

  it.each<[request: readonly string[], record: string]>([
    [['PATCH', '/notes/1'], 'visible'],
    [['PATCH', '/notes/2'], 'visible, and not to be changed, because of the option `owner`: ownerId = 5'],
    [['GET', '/notes/2'], 'visible'],
    [['GET', '/notes/3'], 'not visible, because of the option `scope`: tenantId = 1'],
    [['GET', '/notes/4'], 'not visible, because it is deleted or belongs to another class'],
    [['GET', '/notes/9'], 'there is no Note with the id 9'],
    [['GET', '/notes/x'], 'the id must be an integer from -9223372036854775808 to 9223372036854775807'],
    [['GET', '/notes'], 'the path names no record of a generated resource'],
  ])('says whether the record of %s is visible', async (request, record) => {
    const lines = await explained(...request, '--as', 'USER:5', '--claims', '{"tenantId":1}', '--record');
    expect(lines.at(-1)).toBe(`Record: ${record}`);
  });

  it('refuses a role that nothing names', async () => {
    const explained = declarest('explain', 'apps/app', ['GET', '/a', '--as', 'USER,auditor']);
    await expect(explained).rejects.toEqual(
      expect.objectContaining({
        name: 'CommandError',
        message: expect.stringMatching(/^--as must be roles that .* \(USER, AUDITOR, CHIEF, CLERK\), got "auditor"\.$/),
      }),
    );
  });
});

it('[10] prints the statements of search indexes, also without access rules', async () => {
  const { code, stdout } = await declarest('schema', 'apps/searched', []);
  const [table = '', ...statements] = stdout.trimEnd().split('\n');
  expect([code, statements.length]).toEqual([0, 4]);
  expect(table).toMatch(
    /^CREATE VIRTUAL TABLE IF NOT EXISTS "IDX_\w+" USING fts5\("text", content="note", content_rowid="id", tokenize='trigram'\);$/,
  );
  expect((await declarest('schema', 'apps/app', [])).stdout).toBe('');
});

it('prints the OpenAPI document with the access rules, and writes it', async () => {
  const { stdout } = await declarest('openapi', 'apps/searched', []);
  const document = JSON.parse(stdout) as OpenAPIObject;
  const info = { title: 'declarest', description: expect.stringContaining('NestJS') };
  expect(document).toMatchObject({ openapi: '3.1.0', info });
  expect(document.paths['/notes']?.['get']).toMatchObject({ operationId: 'listNotes' });
  const file = join(folder, 'openapi.json');
  const written = await declarest('openapi', 'sample-app/access', ['--out', file]);
  expect([written.code, written.stdout]).toEqual([0, `Wrote 37 paths to ${file}.\n`]);
  const shop = JSON.parse(await readFile(file, 'utf8')) as OpenAPIObject;
  expect(shop.paths['/api/products']?.['post']).toMatchObject({ 'x-access': { access: 'STAFF or ADMIN' } });
});

it('refuses a file that starts the application', async () => {
  await expect(declarest('access', 'sample-app/main', [])).rejects.toEqual(
    expect.objectContaining({
      name: 'CommandError',
      message: expect.stringMatching(/^"[^"]+" exports nothing and was not loaded, [^\n]+\.$/),
    }),
  );
});

describe('exits with 2 and one sentence before the usage', () => {
  it.each<[what: string, file: string, sentence: RegExp]>([
    ['a file that ends the process', 'apps/exits', /^The application ended the process with code 0 before [^\n]+\.\n/],
    [
      'an application that fails later',
      'apps/throws',
      /Error: late\n[^]*\nThe application ended the process with code 1 /,
    ],
  ])('%s', async (_what, file, sentence) => {
    const { code, stdout, stderr } = await program('access', file, []);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(sentence)]);
    expect(stderr.endsWith(`\n${USAGE}\n`)).toBe(true);
  });
});

it('is what `npx declarest` runs', async () => {
  const { bin } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as { bin: object };
  expect(bin).toEqual({ declarest: './dist/cli/declarest.js' });
  expect(await readFile(join(REPOSITORY, 'lib', 'cli', 'declarest.ts'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});
