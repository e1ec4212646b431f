/** Identifies the user of a request by a source of users: within 5 s, and only a well-formed user. */
import { HttpException, Injectable, Logger } from '@nestjs/common';
import type { CanActivate, ExecutionContext, OnModuleInit, Provider, Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { defer, firstValueFrom, timeout } from 'rxjs';
import { setAuthentication, type Principal } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import { markOwn } from '../../http/own-code.js';
import { describe } from '../../options/invalid-option.js';
import type { Accepts } from '../../options/option-table.js';
import { Application } from '../../routes/application.js';
import { Authenticator, guardedLookup, type CredentialReader, type Identified } from './authenticator.js';
import { requestOf } from './handled-request.js';
import type { Authenticate, ExternalUser, UserSource } from './user-source.js';

const LIMIT_MS = 5_000;
const ANSWER = 'Users cannot be identified at the moment, try again';

export class SourceReader implements CredentialReader, OnModuleInit {
  private readonly logger = new Logger('AccessModule');
  private find!: Authenticate;

  constructor(
    readonly source: UserSource,
    private readonly application: Application,
    private readonly moduleRef: ModuleRef,
  ) {}

  async onModuleInit(): Promise<void> {
    this.find = await this.source.start(async (type) => {
      const provided = [...this.application.singletonsOf(type)].find((each) => each.constructor === type);
      return provided ?? this.moduleRef.create(type);
    });
  }

  read(request: HttpRequest, known: Identified, context?: ExecutionContext): Promise<Identified> | undefined {
    if (this.source.inGuard && !context) return undefined;
    return guardedLookup('The user of a request', () => this.identify(known, request, context), ANSWER);
  }

  /** The roles are those of the request: there is no table of these users. */
  private async identify(nobody: Identified, request: HttpRequest, context?: ExecutionContext): Promise<Identified> {
    try {
      const user = await firstValueFrom(defer(async () => this.find(request, context)).pipe(timeout(LIMIT_MS)));
      return user === null || user === undefined
        ? nobody
        : { ...nobody, principal: expectPrincipal(user), isComplete: true };
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
  constructor(private readonly authenticator: Authenticator) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request: (HttpRequest & { user?: unknown }) | undefined = requestOf(context);
    if (!request) return true;
    const found = await this.authenticator.find(request, context);
    // Guards of the application may have set a user that is not accepted.
    request.user = undefined;
    setAuthentication(request, found);
    return true;
  }
}

export const sourceReaderProvider = (provide: Type | symbol, source: UserSource): Provider => ({
  provide,
  inject: [Application, ModuleRef],
  useFactory: (application: Application, moduleRef: ModuleRef) => new SourceReader(source, application, moduleRef),
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
