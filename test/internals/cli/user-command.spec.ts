/** `declarest user` on a compiled application with a database of its own. */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import bcrypt from 'bcrypt';
import { DataSource } from 'typeorm';
import { type ApplicationCommand, type Outcome, parseCommand } from '../../../lib/cli/arguments.js';
import { runCommand } from '../../../lib/cli/commands.js';
import { type Ended, startChild } from '../../child-process.js';
import { type Compiled, compile } from '../../compiled.js';

const APPLICATION = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, type AccountMail, SecurityConfig } from 'declarest';
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
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: import.meta.dirname + '/app.db', autoLoadEntities: true, synchronize: true }),
    AuthModule.forRoot({
      userClass: User,
      jwtSecret: 'x'.repeat(40),
      bcryptRounds: 4,
      sessions: true,
      passwordReset: true,
      mailer: { useClass: Mailer },
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
beforeAll(async () => {
  compiled = await compile(['lib/cli/declarest.ts'], {
    'apps/app.ts': APPLICATION,
    'apps/unmailed.ts': APPLICATION.replace('passwordReset: true', 'passwordReset: false'),
    'apps/plain.ts': WITHOUT_USERS,
  });
});
afterAll(() => compiled.remove());

const moduleOf = (app: string): string => join(compiled.directory, 'apps', `${app}.js`);

/** In processes of its own, as for a user. */
function program(action: string, args: readonly string[], input: string): Promise<Ended> {
  const all = [join(compiled.directory, 'lib/cli/declarest.js'), 'user', action, moduleOf('app'), ...args];
  return startChild(process.execPath, all, { cwd: compiled.directory, input }).ended;
}

/** In the process of the test, with a standard input of its own. */
function user(action: string, args: readonly string[], { app = 'app', input = '' } = {}): Promise<Outcome> {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([input]) as never);
  return runCommand(parseCommand(['user', action, moduleOf(app), ...args]) as ApplicationCommand);
}

interface Row {
  email: string;
  role: string;
  active: number;
  password: string;
}

async function rows(): Promise<Row[]> {
  const source = await new DataSource({
    type: 'better-sqlite3',
    database: join(compiled.directory, 'apps/app.db'),
  }).initialize();
  const found = await source.query('SELECT * FROM user ORDER BY id');
  await source.destroy();
  return found as Row[];
}

const PASSWORD = 'correct horse battery';
const BOSS = ['--login', 'boss@shop.example'];

it('creates, changes, mails and disables a user', async () => {
  const created = await program('create', [...BOSS, '--role', 'ADMIN'], `${PASSWORD}\nignored\n`);
  expect([created.code, created.stdout]).toEqual([0, 'Created user 1 with the role ADMIN.\n']);
  const [boss] = await rows();
  expect(boss).toMatchObject({ email: 'boss@shop.example', role: 'ADMIN', active: 1 });
  expect(await bcrypt.compare(PASSWORD, boss?.password ?? '')).toBe(true);
  expect(created.stderr).not.toContain(PASSWORD);

  const second = await user('create', ['--login', ' Ann@Shop.example'], { input: PASSWORD });
  expect(second.stdout).toBe('Created user 2 with the role USER.\n');
  const role = await user('role', ['--login', 'ann@shop.example', '--role', 'EDITOR']);
  expect(role.stdout).toBe('User 2 has the role EDITOR now.\n');
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const reset = await user('reset', BOSS);
  expect(reset).toEqual({ code: 0, stdout: 'A link for a new password was mailed to user 1.\n' });
  const link = expect.stringMatching(/^http:\/\/localhost:5173\/reset#token=[\w-]{43}$/);
  expect(log.mock.calls).toEqual([['reset', 'boss@shop.example', link]]);
  log.mockRestore();
  const disabled = await user('disable', ['--login', 'ann@shop.example']);
  expect(disabled.stdout).toBe('User 2 cannot log in any more.\n');
  expect((await rows()).map((each) => [each.role, each.active])).toEqual([
    ['ADMIN', 1],
    ['EDITOR', 0],
  ]);
});

it('refuses a user without a password, before the usage', async () => {
  const { code, stdout, stderr } = await program('create', ['--login', 'x@y.example'], '');
  const message = 'Give the password as the first line of standard input.';
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`${message}\nUsage:`)]);
  expect(stderr).not.toMatch(/^\s+at /m);
});

const refusal = (message: unknown): unknown => expect.objectContaining({ name: 'CommandError', message });

it.each<[string, string, string[], object, string]>([
  ['a taken login', 'create', BOSS, { input: PASSWORD }, 'User with email boss@shop.example already exists.'],
  [
    'a short password',
    'create',
    ['--login', 'x@y.example'],
    { input: 'short\n' },
    'password: expected at least 8 characters.',
  ],
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
    { app: 'unmailed' },
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
  await expect(user(action, args, more)).rejects.toEqual(refusal(message));
});

it('says that a mail was not sent', async () => {
  await user('create', ['--login', 'bounce@shop.example'], { input: PASSWORD });
  const sent = user('reset', ['--login', 'bounce@shop.example']);
  await expect(sent).rejects.toEqual(refusal(expect.stringMatching(/the mail server is away\.$/)));
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
