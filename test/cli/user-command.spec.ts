/** `declarest user` on a compiled application with a database of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import bcrypt from 'bcrypt';
import { DataSource } from 'typeorm';
import { parseCommand } from '../../lib/cli/arguments.js';
import { type Ended, startChild } from '../child-process.js';
import { type Compiled, compile } from '../compiled.js';

const APPLICATION = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, type AccountMail, SecurityConfig, useClass } from 'declarest';
import { Entity } from 'typeorm';

@Entity() class User extends AuthUser {}

class Rules extends SecurityConfig {
  configure(): void {
    this.requireAuth('/api/**');
  }
}

class Mailer {
  send({ kind, to, link }: AccountMail): void {
    if (to.startsWith('bounce')) throw new Error('the mail server is away');
    console.log(kind, to, link);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: 'app.db', autoLoadEntities: true, synchronize: true }),
    AuthModule.forRoot({
      userClass: User,
      jwtSecret: 'x'.repeat(40),
      bcryptRounds: 4,
      sessions: true,
      passwordReset: process.env['RESET'] !== 'off',
      mailer: useClass(Mailer),
      enforcedRoles: ['ADMIN', 'EDITOR'],
      strict: true,
    }),
  ],
  providers: [Rules],
})
export class AppModule {}
`;
const WITHOUT_USERS = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
@Module({ providers: [{ provide: 'x', useValue: 1 }] })
export class AppModule {}
`;

let compiled: Compiled;
let folder: string;
beforeAll(async () => {
  compiled = await compile(['lib/cli/declarest.ts'], { 'apps/app.ts': APPLICATION, 'apps/plain.ts': WITHOUT_USERS });
  folder = await mkdtemp(join(tmpdir(), 'declarest-user-'));
});
afterAll(async () => {
  await compiled.remove();
  await rm(folder, { recursive: true, force: true });
});

function user(action: string, args: readonly string[], { app = 'app', input = '', env = {} } = {}): Promise<Ended> {
  const file = join(compiled.directory, 'lib/cli/declarest.js');
  const all = [file, 'user', action, join(compiled.directory, `apps/${app}.js`), ...args];
  return startChild(process.execPath, all, { cwd: folder, input, env }).ended;
}

interface Row {
  email: string;
  role: string;
  active: number;
  password: string;
}

async function rows(): Promise<Row[]> {
  const source = await new DataSource({ type: 'better-sqlite3', database: join(folder, 'app.db') }).initialize();
  const found = await source.query('SELECT * FROM user ORDER BY id');
  await source.destroy();
  return found as Row[];
}

const PASSWORD = 'correct horse battery';
const BOSS = ['--login', 'boss@shop.example'];

it('creates, changes, mails and disables a user', async () => {
  const created = await user('create', [...BOSS, '--role', 'ADMIN'], { input: `${PASSWORD}\nignored\n` });
  expect([created.code, created.stdout]).toEqual([0, 'Created user 1 with the role ADMIN.\n']);
  const [boss] = await rows();
  expect(boss).toMatchObject({ email: 'boss@shop.example', role: 'ADMIN', active: 1 });
  expect(await bcrypt.compare(PASSWORD, boss?.password ?? '')).toBe(true);
  expect(created.stderr).not.toContain(PASSWORD);

  const second = await user('create', ['--login', ' Ann@Shop.example'], { input: PASSWORD });
  expect(second.stdout).toBe('Created user 2 with the role USER.\n');
  const role = await user('role', ['--login', 'ann@shop.example', '--role', 'EDITOR']);
  expect(role.stdout).toBe('User 2 has the role EDITOR now.\n');
  const reset = await user('reset', BOSS);
  expect([reset.code, reset.stdout]).toEqual([0, 'A link for a new password was mailed to user 1.\n']);
  expect(reset.stderr).toMatch(/^reset boss@shop\.example http:\/\/localhost:5173\/reset#token=[\w-]{43}$/m);
  const disabled = await user('disable', ['--login', 'ann@shop.example']);
  expect(disabled.stdout).toBe('User 2 cannot log in any more.\n');
  expect((await rows()).map((each) => [each.role, each.active])).toEqual([
    ['ADMIN', 1],
    ['EDITOR', 0],
  ]);
});

it.each<[string, string, string[], object, string]>([
  ['a taken login', 'create', BOSS, { input: PASSWORD }, 'User with email boss@shop.example already exists.'],
  [
    'a short password',
    'create',
    ['--login', 'x@y.example'],
    { input: 'short\n' },
    'password: expected at least 8 characters.',
  ],
  ['no password', 'create', ['--login', 'x@y.example'], {}, 'Give the password as the first line of standard input.'],
  ['an unknown user', 'disable', ['--login', 'x@y.example'], {}, 'There is no user with the email "x@y.example".'],
  [
    'the last ADMIN',
    'disable',
    BOSS,
    {},
    'This is the last active user with the role ADMIN: give another user the role first.',
  ],
  [
    'no mailed links',
    'reset',
    BOSS,
    { env: { RESET: 'off' } },
    'The application has no mailed links. Set the option passwordReset of AuthModule.',
  ],
  [
    'an application without users',
    'reset',
    BOSS,
    { app: 'plain' },
    'The application has no users. Import AuthModule.forRoot(…) in its root module.',
  ],
])('refuses %s', async (_, action, args, more, message) => {
  const { code, stdout, stderr } = await user(action, args, more);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`${message}\nUsage:`)]);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it('says that a mail was not sent', async () => {
  await user('create', ['--login', 'bounce@shop.example'], { input: PASSWORD });
  const { code, stderr } = await user('reset', ['--login', 'bounce@shop.example']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('the mail server is away.')]);
});

it.each<[string[], string]>([
  [[], 'Give one of create, role, disable, reset after user, got undefined.'],
  [['delete', 'app.js'], 'Give one of create, role, disable, reset after user, got "delete".'],
  [['create', 'app.js'], '--login is missing.'],
  [['role', 'app.js', '--login', 'a'], '--role is missing.'],
  [['reset', 'app.js', '--login', 'a', '--role', 'B'], '--role has no meaning for reset.'],
  [['reset', '--login', 'a'], 'The compiled app module is missing.'],
])('refuses the arguments %j', (args, message) => {
  expect(() => parseCommand(['user', ...args])).toThrow(message);
});
