/** `declarest explain`, as it is typed: on compiled applications, in a process of its own. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCommand, usageOf } from '../../lib/cli/arguments.js';
import { type Ended, startChild } from '../child-process.js';
import { type Compiled, compile } from '../compiled.js';

const APPLICATION = `
import 'reflect-metadata';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, Roles, SecurityConfig } from 'declarest';
import { Entity } from 'typeorm';

@Entity() class User extends AuthUser {}

@Controller('products') class Products {
  @Get(':id') one(): void {}
  @Roles('AUDITOR') @Get(':id/history') history(): void {}
}

@Injectable() class AppSecurity extends SecurityConfig {
  configure(): void {
    this.requireAuth('/**');
    this.publicEndpoints('/products/*');
    this.requireRole('EDITOR', '/drafts/**');
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'app.db', autoLoadEntities: true, synchronize: true }),
    AuthModule.forRoot({ userClass: User, jwtSecret: 'x'.repeat(40), roleHierarchy: { CHIEF: ['CLERK'] } }),
  ],
  controllers: [Products],
  providers: [AppSecurity],
})
export class AppModule {}
`;

const explained = {
  name: 'explain',
  module: 'app.js',
  method: 'GET',
  path: '/a',
  roles: undefined,
  platform: undefined,
};

it.each<[typed: string, command: object]>([
  ['explain app.js GET /a', explained],
  ['explain app.js get /a', explained],
  ['explain app.js GET /a%20b?page=2', { ...explained, path: '/a%20b?page=2' }],
  ['explain app.js GET /a --as USER', { ...explained, roles: ['USER'] }],
  [
    'explain --as=USER,ADMIN app.js GET /a --platform fastify',
    { ...explained, roles: ['USER', 'ADMIN'], platform: 'fastify' },
  ],
])('`declarest %s` is understood', (typed, command) => {
  expect(parseCommand(typed.split(' '))).toEqual(command);
});

it.each<[typed: string[], sentence: string]>([
  [[], 'The compiled app module is missing.'],
  [['app.js'], 'A method and a path are expected behind the app module, such as GET /api/products/7.'],
  [['app.js', 'GET'], 'A method and a path are expected behind the app module, such as GET /api/products/7.'],
  [['app.js', 'GET', '/a', '/b'], 'One method and one path are expected, got /b behind them.'],
  [['app.js', 'FETCH', '/a'], '"FETCH" is no HTTP method.'],
  [['app.js', 'GET', 'a'], '"a" is no path that a client sends: begin it with "/".'],
  [['app.js', 'GET', '/a b'], '"/a b" is no path that a client sends: escape what is not printable ASCII.'],
  [['app.js', 'GET', '/a/%ff'], '"/a/%ff" is no path that a client sends: an escape in it is broken.'],
  [['app.js', 'GET', '/a', '--as'], '--as needs a value.'],
  [['app.js', 'GET', '/a', '--as', 'USER,,ADMIN'], '--as: expected roles such as USER,ADMIN, got "USER,,ADMIN".'],
  [['app.js', 'GET', '/a', '--json'], 'There is no option --json.'],
  [['app.js', 'GET', '/a', '--platform', 'koa'], '--platform: expected express or fastify, got "koa".'],
])('declarest explain %j is refused in one sentence', (typed, sentence) => {
  expect(() => parseCommand(['explain', ...typed])).toThrow(
    expect.objectContaining({ name: 'CommandError', message: sentence }),
  );
});

it('its help says what it does, and names every option', () => {
  const help = parseCommand(['explain', '--help']);
  for (const text of [usageOf(['explain']), '\n  --as <ROLE>,... ', '\n  --platform <name> ', '\n  --help '])
    expect(help).toMatchObject({ name: 'help', text: expect.stringContaining(text) });
});

describe('in a process of its own', () => {
  let compiled: Compiled;
  let folder: string;
  beforeAll(async () => {
    compiled = await compile(['lib/cli/declarest.ts', 'sample-app/access.ts'], { 'apps/explained.ts': APPLICATION });
    folder = await mkdtemp(join(tmpdir(), 'declarest-explain-'));
  }, 60_000);
  afterAll(async () => {
    await compiled.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]): Promise<Ended> => {
    const { directory } = compiled;
    const [module = 'explained', ...rest] = args;
    const file = join(directory, 'apps', `${module}.js`);
    return startChild(process.execPath, [join(directory, 'lib', 'cli', 'declarest.js'), 'explain', file, ...rest], {
      cwd: folder,
    }).ended;
  };

  it.each(['express', 'fastify'])('tells why on %s, and makes no database', async (platform) => {
    const { code, stdout } = await run(
      'explained',
      'GET',
      '/products/7/history',
      '--as',
      'USER',
      '--platform',
      platform,
    );
    expect([code, stdout]).toEqual([
      0,
      [
        'GET /products/7/history as USER',
        'Route: GET /products/:id/history',
        'Default: any token',
        'Rules, from broad to narrow:',
        '  1. AppSecurity.requireAuth("/**")  any token, as before',
        '  2. @Roles on Products.history      any token -> AUDITOR',
        'Answer: 403, AUDITOR is needed, by @Roles on Products.history',
        '',
      ].join('\n'),
    ]);
    expect(existsSync(join(folder, 'app.db'))).toBe(false);
  });

  it('knows the roles of rules that match nothing, of decorators and of the hierarchy, and no other', async () => {
    const { code } = await run('explained', 'GET', '/products/7', '--as', 'USER,EDITOR,AUDITOR,CHIEF,CLERK');
    expect(code).toBe(0);
    const refused = await run('explained', 'GET', '/products/7', '--as', 'USER,editor');
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      2,
      '',
      `--as: no rule and no hierarchy names "editor"; known are USER, EDITOR, AUDITOR, CHIEF, CLERK.\n${usageOf(['explain'])}\n`,
    ]);
  });

  it('refuses a module that is not there', async () => {
    const { code, stderr } = await run('nowhere', 'GET', '/');
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^There is no file ".*nowhere\.js": give the compiled app module\.\nUsage: declarest explain [^\n]*\n$/,
      ),
    ]);
  });
});
