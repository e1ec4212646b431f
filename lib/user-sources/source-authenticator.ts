/** Identifies the user of a request by the option `authenticate`: within 5 s, and only a well-formed user. */
import { HttpException, Inject, Injectable, Logger } from '@nestjs/common';
import type { CanActivate, ExecutionContext, OnModuleInit, Provider, Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { defer, firstValueFrom, timeout } from 'rxjs';
import { Authenticator, bearerOf, keep, lookUp, requestOf, type Authentication } from '../access/principal.js';
import type { HttpRequest } from '../http/http-request.js';
import type { Principal } from '../http/principal.js';
import { describe } from '../options/invalid-option.js';
import type { Accepts } from '../options/option-table.js';
import { Application } from '../routes/application.js';
import type { Authenticate, ExternalUser, UserSource } from './user-source.js';
import { markOwn } from '../http/own-code.js';

const LIMIT_MS = 5_000;
const ANSWER = 'Users cannot be identified at the moment, try again';

export class SourceAuthenticator implements Authenticator, OnModuleInit {
  private readonly logger = new Logger('AccessModule');
  private find!: Authenticate;
  private readonly testUsers = new Map<string, Principal>();

  constructor(
    readonly source: UserSource,
    private readonly application: Application,
    private readonly moduleRef: ModuleRef,
  ) {}

  get decidesBy(): Readonly<Record<string, unknown>> {
    return this.source.decidesBy ?? { source: this.source.start };
  }

  async onModuleInit(): Promise<void> {
    this.find = await this.source.start(async (type) => {
      const provided = [...this.application.singletonsOf(type)].find((each) => each.constructor === type);
      return provided ?? this.moduleRef.create(type);
    });
  }

  /** For declarest/testing, whose users need not exist. @returns a bearer token that stands for the user */
  admit(user: Principal): string {
    const token = randomUUID();
    this.testUsers.set(token, user);
    return token;
  }

  authenticate(request: HttpRequest): Authentication {
    const { wasSent: bearerWasSent, token } = bearerOf(request);
    const principal = token === undefined ? undefined : this.testUsers.get(token);
    return { bearerWasSent, ...(principal && { principal }) };
  }

  /** @param context the handler that the request is for, where it is known */
  confirm(
    known: Authentication,
    request: HttpRequest,
    context?: ExecutionContext,
  ): Promise<Authentication> | undefined {
    if (known.principal || (this.source.inGuard && !context)) return undefined;
    return lookUp('The user of a request', () => this.identify(known, request, context), ANSWER);
  }

  /** The roles are those of the request: there is no table of these users. */
  readCaller(known: Authentication): Promise<Authentication> {
    return Promise.resolve(known);
  }

  private async identify(
    nobody: Authentication,
    request: HttpRequest,
    context: ExecutionContext | undefined,
  ): Promise<Authentication> {
    try {
      const user = await firstValueFrom(defer(async () => this.find(request, context)).pipe(timeout(LIMIT_MS)));
      return user === null || user === undefined ? nobody : { ...nobody, principal: expectPrincipal(user) };
    } catch (error) {
      if (error instanceof MalformedUser) this.logger.warn(error.message);
      else if (!(error instanceof HttpException && error.getStatus() < 500)) throw error;
      return nobody;
    }
  }
}

/** Identifies the user of `fromRequest()`. It runs in front of the guard that applies the rules. */
@markOwn
@Injectable()
export class IdentifyingGuard implements CanActivate {
  constructor(@Inject(Authenticator) private readonly authenticator: SourceAuthenticator) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request: (HttpRequest & { user?: unknown }) | undefined = requestOf(context);
    if (!request) return true;
    const known = this.authenticator.authenticate(request);
    const found = (await this.authenticator.confirm(known, request, context)) ?? known;
    // Guards of the application may have set a user that is not accepted.
    request.user = undefined;
    keep(request, found);
    return true;
  }
}

export const authenticatorProvider = (provide: Type | symbol | typeof Authenticator, source: UserSource): Provider => ({
  provide,
  inject: [Application, ModuleRef],
  useFactory: (application: Application, moduleRef: ModuleRef) =>
    new SourceAuthenticator(source, application, moduleRef),
});

class MalformedUser extends Error {}

/** Databases refuse NUL, and text that is not well-formed. */
const isText: Accepts = (value) =>
  typeof value === 'string' && value.length <= 255 && value.isWellFormed() && !value.includes('\0');
const isName: Accepts = (value) => isText(value) && (value as string).trim() !== '';
const areRoles: Accepts = (value) => Array.isArray(value) && value.length <= 1_000 && value.every(isName);

const MEMBERS: readonly (readonly [keyof ExternalUser, Accepts, expected: string])[] = [
  ['id', (value) => isName(value) || Number.isSafeInteger(value), 'a text of 1 to 255 characters, or an integer'],
  ['roles', areRoles, 'an array of at most 1,000 names of 1 to 255 characters'],
  ['email', isText, 'a text of at most 255 characters'],
];

/** The message does not quote a text, which may be a secret. @throws MalformedUser */
function expectPrincipal({ roles, email, ...user }: ExternalUser): Principal {
  const claims = Object.entries(user).filter(([name]) => name !== '__proto__');
  const read = { ...(Object.fromEntries(claims) as typeof user), roles: roles ?? [], email: email ?? '' };
  for (const [name, accepts, expected] of MEMBERS)
    if (!accepts(read[name])) {
      const value: unknown = read[name];
      const got = typeof value === 'string' ? `${value.length} characters` : describe(value);
      throw new MalformedUser(`The \`${name}\` of a user must be ${expected}, got ${got}. The request has no user.`);
    }
  return { ...read, roles: [...read.roles] };
}
