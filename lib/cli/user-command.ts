/** `declarest user`: starts the application without a server, and changes one user. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { HttpException, type INestApplicationContext } from '@nestjs/common';
import { UserAccounts } from '../auth/accounts/user-accounts.js';
import type { ResolvedAuthOptions } from '../auth/options/resolve-options.js';
import { endpointsOf } from '../auth/plugins/auth-plugins.js';
import type { AuthUser } from '../auth/users/auth-user.js';
import { MailedLinks } from '../auth/links/mailed-links.js';
import { AUTH_OPTIONS } from '../auth/users/options-token.js';
import { checkUser } from '../auth/users/user-checks.js';
import { UserRepository, userByLogin } from '../auth/users/user.repository.js';
import type { CommandOf, Outcome, UserAction } from './arguments.js';
import { CommandError } from './command-error.js';
import { inStartedApplication } from './started-application.js';

type Act = (app: INestApplicationContext, command: CommandOf<'user'>) => Promise<string>;

const ACTIONS: Readonly<Record<UserAction, Act>> = {
  async create(app, { login, role }) {
    const { loginField } = optionsOf(app);
    const password = await readPassword();
    const fields = { [loginField]: login, password, ...(role !== undefined && { role }) };
    const user = await app.get(UserAccounts).create(fields);
    return `Created user ${user.id} with the role ${user.role}.`;
  },
  async role(app, command) {
    const { id } = await findUser(app, command);
    const accounts = app.get(UserAccounts);
    const fields = checkUser({ role: command.role }, accounts.checks, ['role']);
    const changed = await accounts.changeKeepingAdmin(String(id), fields);
    return `User ${id} has the role ${changed?.role} now.`;
  },
  async disable(app, command) {
    const { id } = await findUser(app, command);
    await app.get(UserAccounts).changeKeepingAdmin(String(id), { active: false });
    return `User ${id} cannot log in any more.`;
  },
  async reset(app, command) {
    const user = await findUser(app, command);
    if (!endpointsOf(optionsOf(app).plugins).some(({ name }) => name === 'resetPassword'))
      throw new CommandError('The application has no mailed links. Set the option passwordReset of AuthModule.');
    if (!optionsOf(app).mailer)
      throw new CommandError('The application has no mailer. Set the option mailer of AuthModule.');
    if (user.email === null) throw new CommandError(`User ${user.id} has no e-mail address.`);
    await app.get(MailedLinks).send('reset', user);
    return `A link for a new password was mailed to user ${user.id}.`;
  },
};

/** @throws CommandError where the application does not start, and where the change is refused */
export function runUser(command: CommandOf<'user'>): Promise<Outcome> {
  return inStartedApplication(command.module, async (app) => {
    try {
      return { stdout: `${await ACTIONS[command.action](app, command)}\n`, code: 0 };
    } catch (cause) {
      if (cause instanceof HttpException) throw new CommandError(`${cause.message}.`, { cause });
      throw cause;
    }
  });
}

function optionsOf(app: INestApplicationContext): ResolvedAuthOptions {
  try {
    return app.get(AUTH_OPTIONS);
  } catch {
    throw new CommandError('The application has no users. Import AuthModule.forRoot(…) in its root module.');
  }
}

async function findUser(app: INestApplicationContext, { login }: CommandOf<'user'>): Promise<AuthUser> {
  const { loginField } = optionsOf(app);
  const users = app.get<UserRepository>(UserRepository as never);
  const user = await userByLogin(users, loginField, login);
  if (!user) throw new CommandError(`There is no user with the ${loginField} ${JSON.stringify(login)}.`);
  return user;
}

/** The first line of standard input; a terminal does not show it. */
async function readPassword(): Promise<string> {
  const isTerminal = process.stdin.isTTY;
  if (isTerminal) process.stderr.write('Password: ');
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: isTerminal });
  for await (const line of lines) return line;
  throw new CommandError('Give the password as the first line of standard input.');
}
