import { Controller, Get, type ModuleMetadata, type Type } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import { AuthModule, type AuthOptions, type AuthUser, CurrentUser, type Principal } from 'declarest';
import { DataSource, type Repository } from 'typeorm';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { createDatabase, type DatabaseName } from '../harness/databases.js';
import {
  loggedAtBoot,
  type Platform,
  type RootModule,
  type RunningApp,
  startApp,
  type StartOptions,
} from '../harness/platforms.js';
import { User } from '../harness/shop.js';
import { TEST_SECRET } from '../harness/tokens.js';

export const PASSWORD = 'correct horse battery';

/** A public route of the application that returns the principal. */
@Controller()
export class WhoController {
  @Get('who')
  who(@CurrentUser() user: Principal | undefined) {
    return { user: user ?? null };
  }
}

export interface AuthAppOptions extends StartOptions {
  auth?: Partial<AuthOptions>;
  /** Instead of `AuthModule.forRoot` with `auth`; an empty array leaves the module out. */
  authModules?: NonNullable<ModuleMetadata['imports']>;
  imports?: NonNullable<ModuleMetadata['imports']>;
  controllers?: Type[];
  providers?: NonNullable<ModuleMetadata['providers']>;
  database?: DatabaseName;
  dataSource?: Partial<TypeOrmModuleOptions>;
}

export interface AuthApp extends RunningApp {
  post: (path: string, json: unknown, options?: RequestOptions) => Promise<Answer>;
  get: (path: string, options?: RequestOptions) => Promise<Answer>;
  /** Registers a user at `/api/auth` and returns `data`. */
  register: (user: object) => Promise<{ user: Record<string, unknown>; token: string }>;
  users: () => Repository<AuthUser>;
  /** The stored row, password hash included. */
  row: (where: Partial<AuthUser>) => Promise<Record<string, unknown>>;
}

/** Four rounds are the minimum of bcrypt. */
export const AUTH = { userClass: User, jwtSecret: TEST_SECRET, bcryptRounds: 4 } satisfies AuthOptions;

/** An application with AuthModule only, on a database of its own. */
export async function startAuth(platform: Platform, options: AuthAppOptions = {}): Promise<AuthApp> {
  const running = await startApp(platform, ...(await rootOf(options)));
  const { url, app } = running;
  const users = () =>
    app.get(DataSource, { strict: false }).getRepository<AuthUser>(options.auth?.userClass ?? AUTH.userClass);
  const post = (path: string, json: unknown, more: RequestOptions = {}) =>
    request(url, 'POST', path, { json, ...more });
  return {
    ...running,
    post,
    get: (path, more) => request(url, 'GET', path, more),
    users,
    register: async (user) => {
      const { status, text, json } = await post('/api/auth/register', { password: PASSWORD, ...user });
      if (status !== 201) throw new Error(`register answered ${status} ${text}`);
      return json.data;
    },
    row: async (where) => {
      const builder = users().createQueryBuilder('u').addSelect('u.password');
      const found = await builder.where(where).getOneOrFail();
      return { ...found };
    },
  };
}

/** The lines logged during startup, and the error of `forRoot` or of the startup. */
export async function bootAuth(
  platform: Platform,
  options: AuthAppOptions = {},
): Promise<{ logs: string[]; error: unknown }> {
  let root: Awaited<ReturnType<typeof rootOf>>;
  try {
    root = await rootOf(options);
  } catch (error) {
    return { logs: [], error };
  }
  return loggedAtBoot(platform, ...root);
}

async function rootOf(options: AuthAppOptions): Promise<[RootModule, StartOptions]> {
  const authModules = options.authModules ?? [AuthModule.forRoot({ ...AUTH, ...options.auth })];
  const database = await createDatabase(options.database);
  const root = {
    imports: [
      TypeOrmModule.forRoot({ ...database.options, ...options.dataSource } as TypeOrmModuleOptions),
      ...authModules,
      ...(options.imports ?? []),
    ],
    controllers: [WhoController, ...(options.controllers ?? [])],
    providers: options.providers ?? [],
  };
  return [root, { ...options, onClose: () => database.drop() }];
}

/** Everything in an answer that could tell it apart from another one, except the date. */
export function whole({ status, headers, text }: Answer): object {
  const { date: _, ...others } = headers;
  return { status, headers: others, text };
}

/** `{success: false, message}` and nothing else but `fields`, whose texts are those of the message. */
export function expectFailure(answer: Answer, status = 400): string {
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining('"success":false')]);
  const { fields = {}, ...others } = answer.json as { readonly message: string; readonly fields?: object };
  expect(others).toEqual({ success: false, message: expect.stringMatching(/\S/) });
  for (const text of Object.values(fields)) expect(others.message).toContain(text);
  return others.message;
}

let count = 0;
/** Text that no other test of the file uses. */
export const unique = (text: string): string => `${text}${(count += 1)}`;
export const uniqueEmail = (): string => `${unique('user')}@example.com`;
