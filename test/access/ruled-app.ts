import {
  All,
  Controller,
  Delete,
  Get,
  Headers,
  Injectable,
  type ModuleMetadata,
  Param,
  Patch,
  Post,
  Put,
  type Type,
} from '@nestjs/common';
import {
  AuthModule,
  type AuthOptions,
  AuthUser,
  DuplicateUserError,
  SecurityConfig,
  type UserFields,
  UserRepository,
} from 'declarest';
import { type Platform, type RunningApp, startApp, type StartOptions } from '../harness/platforms.js';
import type { Rules } from '../harness/shop.js';
import { claims, makeToken, TEST_SECRET } from '../harness/tokens.js';

/** Users in memory: rules need no database. */
class User extends AuthUser {}

@Injectable()
export class MemoryUsers extends UserRepository {
  private readonly users = new Map<string, AuthUser>();

  async findById(id: string) {
    return this.users.get(id) ?? null;
  }
  async findByLogin(field: 'email' | 'username', value: string) {
    return [...this.users.values()].find((user) => user[field] === value) ?? null;
  }
  async create(fields: UserFields) {
    if (typeof fields.email === 'string' && (await this.findByLogin('email', fields.email)))
      throw new DuplicateUserError('email', fields.email);
    const id = this.users.size + 1;
    const user = Object.assign(new User(), { role: 'USER', active: true, ...fields, id });
    this.users.set(String(id), user);
    return user;
  }
  async update(id: string, fields: UserFields) {
    const user = this.users.get(id);
    return user ? Object.assign(user, fields) : null;
  }
}

export const authModule = (changed: Partial<AuthOptions> = {}) =>
  AuthModule.forRoot({
    userClass: User,
    repositoryClass: MemoryUsers,
    jwtSecret: TEST_SECRET,
    bcryptRounds: 4,
    ...changed,
  });

export type Declare = (rules: Rules) => void | Promise<void>;

/** A configuration component that declares what the test says. */
export function securityConfig(declare: Declare): Type<SecurityConfig> {
  @Injectable()
  class TestSecurity extends SecurityConfig {
    override async configure(): Promise<void> {
      await declare({
        publicEndpoints: (...patterns) => this.publicEndpoints(...patterns),
        requireAuth: (...patterns) => this.requireAuth(...patterns),
        requireRole: (role, ...patterns) => this.requireRole(role, ...patterns),
      });
    }
  }
  return TestSecurity;
}

const VERBS = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete, ALL: All };

/** A handler that ran. */
export interface Entry {
  /** As declared: `GET api/users/:id`. */
  route: string;
  params: Record<string, string | string[]>;
  /** The `X-Id` of the request. */
  id: string | undefined;
}

/** `GET api/users/:id` becomes a handler that tells that it was entered, and with which parameters. */
export function probeController(entered: Entry[], ...routes: string[]): Type {
  @Controller()
  class Probe {}
  for (const [index, route] of routes.entries()) {
    const [verb = '', path = ''] = route.split(' ');
    const handler = (params: Entry['params'], id?: string): Omit<Entry, 'id'> => {
      entered.push({ route, params, id });
      return { route, params };
    };
    const name = `handler${index}`;
    Object.defineProperty(Probe.prototype, name, { value: handler, configurable: true, writable: true });
    Param()(Probe.prototype, name, 0);
    Headers('x-id')(Probe.prototype, name, 1);
    VERBS[verb as keyof typeof VERBS](path)(
      Probe.prototype,
      name,
      Object.getOwnPropertyDescriptor(Probe.prototype, name)!,
    );
  }
  return Probe;
}

/** A route for everything below, as this platform's router writes it. */
export const wildcard = (platform: Platform, path: string): string =>
  `${path}/${platform === 'express' ? '*path' : '*'}`;

export interface RuledParts extends StartOptions {
  /** Handlers: `GET api/users/:id`. */
  routes?: string[];
  /** `false`: no configuration component. */
  rules?: Declare | false;
  auth?: Partial<AuthOptions>;
  imports?: NonNullable<ModuleMetadata['imports']>;
  controllers?: Type[];
  providers?: NonNullable<ModuleMetadata['providers']>;
}

export interface RuledApp extends RunningApp {
  /** The handlers that ran, in order. */
  entered: Entry[];
}

export function ruledModule(parts: RuledParts, entered: Entry[] = []): ModuleMetadata {
  const { routes = [], rules = () => {} } = parts;
  return {
    imports: [authModule(parts.auth), ...(parts.imports ?? [])],
    controllers: [...(routes.length > 0 ? [probeController(entered, ...routes)] : []), ...(parts.controllers ?? [])],
    providers: [...(rules ? [securityConfig(rules)] : []), ...(parts.providers ?? [])],
  };
}

/** An application of handlers and rules, without a database. */
export async function startRuled(platform: Platform, parts: RuledParts = {}): Promise<RuledApp> {
  const entered: Entry[] = [];
  return { ...(await startApp(platform, ruledModule(parts, entered), parts)), entered };
}

const tokenOf = (...roles: string[]): string => makeToken({ payload: claims({ roles }) });

/** Who asks; `ANYBODY` sends no token. */
export const TOKENS = {
  ANYBODY: undefined,
  USER: tokenOf('USER'),
  ADMIN: tokenOf('ADMIN'),
  SUPPORT_AGENT: tokenOf('SUPPORT_AGENT'),
  BOTH: tokenOf('ADMIN', 'SUPPORT_AGENT'),
} as const;
export type Who = keyof typeof TOKENS;
export const bearer = (token: string | undefined): string[] =>
  token === undefined ? [] : [`Authorization: Bearer ${token}`];
