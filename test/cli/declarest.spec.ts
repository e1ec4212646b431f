/** The command as it is typed: on compiled applications, in a process of its own. */
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessRow } from 'declarest';
import { type Child, type Ended, startChild } from '../child-process.js';
import { type Compiled, compile, REPOSITORY } from '../compiled.js';

const HEAD = `
import 'reflect-metadata';
import { All, Controller, Get, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, SecurityConfig } from 'declarest';
import { DataSource, Entity } from 'typeorm';
`;

/** The rules come from the environment, so that one application can be seen before and after a change. */
const VARIED = `${HEAD}
@Entity() class User extends AuthUser {}

@Controller('a') class AController {
  @Get() list(): void {}
  @Get(':id') one(): void {}
}
@Controller('b') class BController { @All() any(): void {} }

@Injectable() class AppSecurity extends SecurityConfig {
  configure(): void {
    for (const [name, role, pattern] of JSON.parse(process.env['RULES'] ?? '[]') as string[][]) {
      if (name === 'publicEndpoints') this.publicEndpoints(pattern ?? '');
      if (name === 'requireRole') this.requireRole(role ?? '', pattern ?? '');
    }
  }
}

@Injectable() class Hooked implements OnModuleInit {
  constructor(private readonly dataSource: DataSource) {}
  async onModuleInit(): Promise<void> { await this.dataSource.query('SELECT 1'); }
}

console.log('The application talks while it is made.');
setInterval(() => {}, 1_000);

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'data/varied.db', autoLoadEntities: true, synchronize: true }),
    AuthModule.forRoot({
      userClass: User,
      jwtSecret: 'x'.repeat(40),
      strict: process.env['STRICT'] === 'true',
      ...(process.env['DENIED'] && { defaultAccess: 'denied' as const }),
    }),
  ],
  controllers: [AController, ...(process.env['WITH_B'] ? [BController] : [])],
  providers: [AppSecurity, Hooked],
})
export class AppModule {}
`;

/** The compiler finds modules in folders that there are. */
const IN_MEMORY = '// @ts-ignore\n';

const SOURCES = {
  'apps/varied.ts': VARIED,
  'apps/none.ts': `export class AppModule {}\nexport const answer = { module: 'none' };\n`,
  'apps/two.ts': `${HEAD}
@Module({ providers: [] }) export class OneModule {}
@Module({ providers: [] }) export class OtherModule {}
export const unused = [All, Controller, Get, Injectable, TypeOrmModule, AuthModule, AuthUser, SecurityConfig, DataSource, Entity];
export type Unused = OnModuleInit;
`,
  'apps/twice.ts': `${IN_MEMORY}export { AppModule, AppModule as default } from './varied.js';\n`,
  'apps/dynamic.ts': `${IN_MEMORY}import { AppModule } from './varied.js';
import type { INestApplication } from '@nestjs/common';
export const app = { module: class Root {}, imports: [AppModule] };
export function configure(app: INestApplication): void { app.setGlobalPrefix('api'); }
`,
  'apps/misconfigured.ts': `${IN_MEMORY}export { AppModule } from './varied.js';\nexport const configure = true;\n`,
  'apps/broken.ts': `throw new Error('This file is broken.\\nAnd says more.');\n`,
  'apps/late.ts': `${IN_MEMORY}export { AppModule } from './varied.js';\nsetTimeout(() => { throw new Error('late'); });\n`,
};

let compiled: Compiled;
let folder: string;

beforeAll(async () => {
  compiled = await compile(['lib/cli/declarest.ts', 'sample-app/access.ts', 'sample-app/main.ts'], SOURCES);
  folder = await mkdtemp(join(tmpdir(), 'declarest-cli-'));
}, 60_000);
afterAll(async () => {
  await compiled.remove();
  await rm(folder, { recursive: true, force: true });
});

const app = (name: string): string => join(compiled.directory, 'apps', `${name}.js`);
const SAMPLE = (): string => join(compiled.directory, 'sample-app', 'access.js');

function start(args: readonly string[], env: Record<string, string> = {}): Child {
  return startChild(process.execPath, [join(compiled.directory, 'lib', 'cli', 'declarest.js'), ...args], {
    cwd: folder,
    env,
  });
}

const declarest = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> => start(args, env).ended;

type Rules = [name: 'publicEndpoints' | 'requireRole', role: string, pattern: string][];
const rules = (...all: Rules): { RULES: string } => ({ RULES: JSON.stringify(all) });
const ADMIN_A = rules(['requireRole', 'ADMIN', '/a/**']);

describe('declarest access', () => {
  it('[3.5] prints a table with its columns under each other', async () => {
    const { code, stdout } = await declarest(['access', app('varied')], ADMIN_A);
    expect([code, stdout]).toEqual([
      0,
      [
        'METHOD  PATH                ACCESS     RULE',
        'GET     /a                  ADMIN      AppSecurity.requireRole("ADMIN", "/a/**")',
        'GET     /a/:id              ADMIN      AppSecurity.requireRole("ADMIN", "/a/**")',
        'POST    /api/auth/register  public     declarest("/api/auth/register")',
        'POST    /api/auth/login     public     declarest("/api/auth/login")',
        'GET     /api/auth/me        any token  declarest("/api/auth/me")',
        '',
      ].join('\n'),
    ]);
  });

  it('[3.5] --json: an array of exactly {method, path, access, rule}, and nothing else on stdout', async () => {
    const { code, stdout, stderr } = await declarest(['access', app('varied'), '--json'], {
      ...rules(['publicEndpoints', '', '/a/me'], ['requireRole', 'ADMIN', 'DELETE /b']),
      WITH_B: 'yes',
    });
    expect([code, JSON.parse(stdout).slice(0, 5)]).toEqual([
      0,
      [
        { method: 'GET', path: '/a', access: 'any token', rule: 'default' },
        { method: 'GET', path: '/a/:id', access: 'any token', rule: 'default' },
        { method: 'GET', path: '/a/me', access: 'public', rule: 'AppSecurity.publicEndpoints("/a/me")' },
        { method: 'DELETE', path: '/b', access: 'ADMIN', rule: 'AppSecurity.requireRole("ADMIN", "DELETE /b")' },
        { method: 'any other method', path: '/b', access: 'any token', rule: 'default' },
      ],
    ]);
    // What the application says while it is made is not lost.
    expect(stderr).toContain('The application talks while it is made.');
  });

  it('[3.5] --markdown: a table in which patterns stay as they are', async () => {
    const { code, stdout } = await declarest(
      ['access', app('varied'), '--markdown'],
      rules(['requireRole', 'A|B', '/a/*']),
    );
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        '| method | path | access | rule |',
        '| --- | --- | --- | --- |',
        '| GET | `/a` | any token | `default` |',
        '| GET | `/a/:id` | "A\\|B" | `AppSecurity.requireRole("A\\|B", "/a/*")` |',
        '| POST | `/api/auth/register` | public | `declarest("/api/auth/register")` |',
        '| POST | `/api/auth/login` | public | `declarest("/api/auth/login")` |',
        '| GET | `/api/auth/me` | any token | `declarest("/api/auth/me")` |',
        '',
      ],
    ]);
  });

  it('[3.5] creates no database and no folder, and runs no hook', async () => {
    const { code } = await declarest(['access', app('varied')]);
    // The hook of `Hooked` asks the database, which is not there.
    expect([code, existsSync(join(folder, 'data'))]).toEqual([0, false]);
  });

  it('[3.5] takes what forRoot() returns, and calls `configure` before the routes are there', async () => {
    const { code, stdout } = await declarest(['access', app('dynamic')], rules(['requireRole', 'ADMIN', '/api/a/**']));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nGET +\/api\/a\/:id +ADMIN /)]);
  });

  it('[6] reads the routes as the other platform does', async () => {
    const [express, fastify] = await Promise.all(
      ['express', 'fastify'].map((platform) => declarest(['access', app('varied'), '--json', '--platform', platform])),
    );
    expect([fastify!.code, fastify!.stdout]).toEqual([0, express!.stdout]);
  });

  it('one module under two names is one', async () => {
    expect(await declarest(['access', app('twice')])).toMatchObject({ code: 0 });
  });
});

describe('declarest access --check', () => {
  const snapshot = (name: string): string => join(folder, `${name}.json`);
  async function update(name: string, env: Record<string, string>): Promise<string> {
    expect(await declarest(['access', app('varied'), '--check', snapshot(name), '--update'], env)).toMatchObject({
      code: 0,
    });
    return snapshot(name);
  }
  const check = (file: string, env: Record<string, string>): Promise<Ended> =>
    declarest(['access', app('varied'), '--check', file], env);

  it('[3.5] --update writes what --json prints, and the check then finds nothing', async () => {
    const file = await update('same', ADMIN_A);
    const { stdout } = await declarest(['access', app('varied'), '--json'], ADMIN_A);
    expect(await readFile(file, 'utf8')).toBe(stdout);
    expect(await check(file, ADMIN_A)).toMatchObject({ code: 0, stdout: `Nothing changed since ${file}.\n` });
  });

  it('[3.5] exits 1 where a route got wider, and names route, before and after', async () => {
    const file = await update('wider', ADMIN_A);
    const before = await readFile(file, 'utf8');
    const { code, stdout } = await check(
      file,
      rules(['requireRole', 'ADMIN', '/a/**'], ['publicEndpoints', '', '/a/*']),
    );
    expect([code, stdout.split('\n')]).toEqual([
      1,
      [
        'Wider: GET /a/:id: ADMIN (AppSecurity.requireRole("ADMIN", "/a/**")) -> public (AppSecurity.publicEndpoints("/a/*"))',
        `1 got wider than in ${file}; --update accepts that.`,
        '',
      ],
    ]);
    // A check changes nothing.
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('[3.5] exits 1 where a rule for a part of a route is gone', async () => {
    const file = await update('part', rules(['requireRole', 'ADMIN', '/a/me']));
    const { code, stdout } = await check(file, rules());
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining(
        'Wider: GET /a/me: ADMIN (AppSecurity.requireRole("ADMIN", "/a/me")) -> any token (default), as GET /a/:id\n',
      ),
    ]);
  });

  it('[3.5] exits 0 where routes got narrower, are gone, or are new and no looser than the default, and tells so', async () => {
    const file = await update('narrower', rules(['publicEndpoints', '', '/a']));
    const { code, stdout } = await check(file, { ...ADMIN_A, WITH_B: 'yes' });
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [
        'Narrower: GET /a: public (AppSecurity.publicEndpoints("/a")) -> ADMIN (AppSecurity.requireRole("ADMIN", "/a/**"))',
        'Narrower: GET /a/:id: any token (default) -> ADMIN (AppSecurity.requireRole("ADMIN", "/a/**"))',
        'New: any other method /b: no such route -> any token (default)',
        `Nothing got wider than in ${file}; --update notes what changed.`,
        '',
      ],
    ]);
    const withB = await update('with-b', { ...ADMIN_A, WITH_B: 'yes' });
    expect(await check(withB, ADMIN_A)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Removed: any other method \/b: any token \(default\) -> no such route\n/),
    });
  });

  it.each<[what: string, env: Record<string, string>]>([
    ['public', rules(['publicEndpoints', '', '/b'])],
    ['looser than a default that lets nobody in', { ...rules(['requireRole', 'ADMIN', '/b']), DENIED: 'yes' }],
  ])('[3.4] exits 1 where a new route is %s', async (what, env) => {
    const file = await update(`new-${what.length}`, { ...env, RULES: '[]' });
    const { code, stdout } = await check(file, { ...env, WITH_B: 'yes' });
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^Wider: any other method \/b: no such route -> /)]);
  });

  it('[3.5] --update accepts what got wider, and tells it once more', async () => {
    const file = await update('accepted', ADMIN_A);
    const { code, stdout } = await declarest(['access', app('varied'), '--check', file, '--update'], rules());
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Wider: GET \/a: ADMIN .*\nWider: GET \/a\/:id: .*\n5 rows are written to .*\n$/),
    ]);
    expect(await check(file, rules())).toMatchObject({ code: 0 });
  });
});

describe('bad input is one sentence on stderr, the usage line below it, and exit code 2', () => {
  const USAGE = String.raw`\nUsage: declarest access <compiled app module> [^\n]+\n$`;

  const rows: [what: string, args: () => string[], sentence: string][] = [
    [
      'a module path that does not exist',
      () => ['nowhere.js'],
      'There is no file "nowhere.js": give the compiled app module.',
    ],
    ['a module path that is a folder', () => [folder], 'There is no file "[^"]+": give the compiled app module.'],
    ['a file that is broken', () => [app('broken')], '"[^"]+" cannot be loaded: This file is broken.'],
    [
      'a file that exports no Nest module',
      () => [app('none')],
      '"[^"]+" exports no Nest module: export exactly one from it.',
    ],
    [
      'a file that exports several',
      () => [app('two')],
      String.raw`"[^"]+" exports 2 Nest modules \(OneModule, OtherModule\): export exactly one from it.`,
    ],
    [
      'a `configure` that is no function',
      () => [app('misconfigured')],
      '"[^"]+" exports a "configure" that is no function.',
    ],
    [
      'a snapshot that is not there',
      () => [app('varied'), '--check', 'none.json'],
      'There is no snapshot "none.json": --update writes one.',
    ],
    ['an unknown flag', () => [app('varied'), '--verbose'], 'There is no option --verbose.'],
    [
      'a snapshot that is a folder',
      () => [app('varied'), '--check', folder],
      '"[^"]+" cannot be read: EISDIR: [^\\n]+.',
    ],
    [
      'a snapshot that cannot be written',
      () => [app('varied'), '--check', 'no/such/folder.json', '--update'],
      '"no/such/folder.json" cannot be written: ENOENT: [^\\n]+.',
    ],
  ];

  let ends: readonly Promise<Ended>[];
  beforeAll(() => {
    // At once, since each takes its time to load.
    ends = rows.map(([, args]) => declarest(['access', ...args()]));
  });

  it.each(rows.map(([what, , sentence], index) => [what, index, sentence] as const))(
    '%s',
    async (_what, index, sentence) => {
      const { code, stdout, stderr } = (await ends[index])!;
      expect([code, stdout]).toEqual([2, '']);
      expect(withoutTalk(stderr)).toMatch(new RegExp(`^${sentence}${USAGE}`));
    },
  );

  it('a snapshot that is none, which is left alone, with --update too', async () => {
    const file = join(folder, 'notes.txt');
    await writeFile(file, 'These are notes.');
    for (const more of [[], ['--update']]) {
      const { code, stdout, stderr } = await declarest(['access', app('varied'), '--check', file, ...more]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(
        new RegExp(`^"[^"]+" is no access snapshot: it is no JSON; name another file, [^\\n]+\\.${USAGE}`),
      );
    }
    expect(await readFile(file, 'utf8')).toBe('These are notes.');
  });

  it('an application that does not start: strict, and no rule speaks of its routes', async () => {
    const { code, stdout, stderr } = await declarest(['access', app('varied')], {
      ...rules(['requireRole', 'ADMIN', '/a']),
      STRICT: 'true',
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(withoutTalk(stderr)).toMatch(
      new RegExp(String.raw`^The application does not start: AuthModule option \`strict\`: expected [^\n]+${USAGE}`),
    );
  });

  it('the file that starts an application: no port, no database, and no exit code of its own', async () => {
    const { code, stdout, stderr } = await declarest(['access', join(compiled.directory, 'sample-app', 'main.js')]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(`\\nThe application ends the process while it is loaded: [^\\n]+${USAGE}`));
    expect(await readdir(folder)).not.toContain('data');
  });

  it('no command, or an unknown one', async () => {
    const usage = '\nUsage: declarest <command> [--help], where <command> is ';
    expect(await declarest([])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(usage) });
    expect(await declarest(['acess'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(usage) });
  });

  /** What the application says itself stands in front. */
  const withoutTalk = (stderr: string): string => stderr.replace(/^The application talks while it is made\.\n/, '');
});

// Exit code 1 would say that something got wider.
it('an error that the application throws later is told, with exit code 2', async () => {
  const { code, stderr } = await declarest(['access', app('late')]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Error: late')]);
});

it.each([['--help'], ['-h'], ['access', '--help']])('`declarest %s` tells how, with exit code 0', async (...args) => {
  expect(await declarest(args)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Usage: declarest /),
    stderr: '',
  });
});

describe('the sample application', () => {
  it('[3.5] is as its committed snapshot says', async () => {
    const committed = join(folder, 'committed.json');
    await copyFile(join(REPOSITORY, 'sample-app', 'access.json'), committed);
    expect(await declarest(['access', SAMPLE(), '--check', committed])).toMatchObject({
      code: 0,
      stdout: `Nothing changed since ${committed}.\n`,
      stderr: '',
    });
  });

  it('[3.5] is told to be wider than a snapshot in which it was narrower', async () => {
    const file = join(folder, 'stricter.json');
    const rows = JSON.parse(await readFile(join(REPOSITORY, 'sample-app', 'access.json'), 'utf8')) as AccessRow[];
    await writeFile(
      file,
      JSON.stringify(rows.map((row) => (row.path === '/api/orders' ? { ...row, access: 'ADMIN' } : row))),
    );
    const { code, stdout } = await declarest(['access', SAMPLE(), '--check', file]);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^Wider: GET \/api\/orders: ADMIN .* -> any token .*\nWider: POST /),
    ]);
  });
});

it('is what `npx declarest` runs', async () => {
  const { bin } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as { bin: object };
  expect(bin).toEqual({ declarest: './dist/cli/declarest.js' });
  expect(await readFile(join(compiled.directory, 'lib', 'cli', 'declarest.js'), 'utf8')).toMatch(
    /^#!\/usr\/bin\/env node\n/,
  );
});
