import { Injectable, Logger, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { causeOf, headersOf, type FailureAnswer, type ServiceUnavailable } from '../http/failure.js';
import { authenticationOf, principalsOf, setRoleHierarchy, type Authentication } from '../http/caller.js';
import { AccessRefused, AuthenticationRequired } from '../http/refusal.js';
import { negotiateRefusal } from '../problem-details/problem-details.js';
import { pathOf, templateOf, type HeaderWriter, type HttpRequest } from '../http/http-request.js';
import { controllerMethodOf } from '../routes/controller-methods.js';
import { checkPolicies, decide, DENIED, describeDecision, hasPolicy, type Access, type Refusal } from './decide.js';
import { AccessRules } from './access-rules.js';
import type { CompiledAccess } from './compiled-access.js';
import { opensConnection, refusalIn } from './other-contexts.js';
import { Authenticator } from './identity/authenticator.js';
import { requestOf } from './identity/handled-request.js';
import { RefusalEvents } from './refusal-events.js';
import { markOwn } from '../http/own-code.js';

export interface Refused {
  readonly exception: AuthenticationRequired | AccessRefused | ServiceUnavailable;
  readonly headers: FailureAnswer['headers'];
}

/** How declarest/testing stops its requests in front of handlers. */
export interface Probes {
  readonly guard: CanActivate;
  /** Whether a request that has access ends in front of a handler outside Nest's routes. */
  stops(request: HttpRequest): boolean;
}

let probesOfTests: Probes | undefined;

export const useProbes = (probes: Probes): void => void (probesOfTests = probes);

/** Decides whether a request has access. Any exception in the decision is a refusal. */
@Injectable()
export class AccessDecision {
  readonly probes = probesOfTests;
  private readonly logger = new Logger('SecurityRules');

  constructor(
    private readonly rules: AccessRules,
    private readonly authenticator: Authenticator,
    private readonly refusals: RefusalEvents,
  ) {}

  /** @returns a promise only where something has to be looked up */
  identify(request: HttpRequest): Promise<void> | undefined {
    const roles = this.rules.compiled?.roles;
    if (roles?.isDeclared) setRoleHierarchy(request, roles.expand);
    return this.authenticator.identify(request);
  }

  accessTo(find: (compiled: CompiledAccess) => Access | undefined): Access | undefined {
    const { compiled } = this.rules;
    try {
      return compiled && find(compiled);
    } catch (error) {
      this.logFailure(error);
      return DENIED;
    }
  }

  /** @returns `undefined` where the request has access; a promise only where something is looked up, or a policy decides */
  refusalOf(request: HttpRequest, access: Access): Refused | undefined | Promise<Refused | undefined> {
    const known = authenticationOf(request);
    let lookedUp = known ? undefined : this.authenticator.identify(request);
    if (access.reloadsUser)
      lookedUp = (lookedUp ?? Promise.resolve()).then(() => this.authenticator.reloadUser(request));
    const decideNow = () => this.refusalFor(authenticationOf(request) as Authentication, request, access);
    return lookedUp ? lookedUp.then(decideNow) : decideNow();
  }

  private refusalFor(
    { principal, bearerWasSent, failure }: Authentication,
    request: HttpRequest,
    access: Access,
  ): Refused | undefined | Promise<Refused | undefined> {
    if (failure && access.kind !== 'public') {
      if (failure instanceof AccessRefused) this.refusals.refused(describeDecision(access, undefined), request);
      return { exception: failure, headers: headersOf(failure) };
    }
    let refusal: Refusal | undefined;
    try {
      refusal = decide(access, principal && this.rules.compiled?.roles.expand(principal.roles));
    } catch (error) {
      this.logFailure(error);
      refusal = { reason: 'forbidden' };
    }
    if (refusal) return this.refuse(access, refusal, bearerWasSent, request);
    // Policies come last: a policy may look something up.
    if (!principal || !hasPolicy(access)) return undefined;
    const onError = (name: string, error: unknown): void =>
      this.logFailure(error, `The policy ${JSON.stringify(name)}`);
    const by = checkPolicies(access.requirements, principalsOf(request), request, onError);
    return by.then((each) => each && this.refuse(access, each, bearerWasSent, request));
  }

  private logFailure(error: unknown, what = 'The access decision'): void {
    this.logger.error(`${what} failed; the request is refused.`, causeOf(error));
  }

  private refuse(access: Access, refusal: Refusal, bearerWasSent: boolean, request: HttpRequest): Refused {
    const rule = describeDecision(access, refusal);
    this.refusals.refused(rule, request);
    const exception =
      refusal.reason === 'forbidden'
        ? new AccessRefused(refusal.missing)
        : (refusal.exception ?? new AuthenticationRequired(bearerWasSent));
    const { explainRefusals } = this.rules.options;
    const header = explainRefusals && { 'X-Access-Rule': encodeURI(rule) };
    return { exception, headers: { ...header, 'Cache-Control': 'no-store', ...headersOf(exception) } };
  }
}

/**
 * The global guard: it applies the rules of every `SecurityConfig`. It is exported so that a test can override it.
 * @example builder.overrideProvider(SecurityRulesGuard).useValue({ canActivate: () => true });
 */
@markOwn
@Injectable()
export class SecurityRulesGuard implements CanActivate {
  constructor(private readonly decision: AccessDecision) {}

  /** @throws AuthenticationRequired (401) with `WWW-Authenticate`, AccessRefused (403) */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (context.getType() !== 'http') return this.decideOnHandler(context);
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const find = (compiled: CompiledAccess): Access => {
      const concrete = { path: pathOf(request), params: request.params ?? {} };
      return compiled.ofRoute(templateOf(request), request.method, concrete, context);
    };
    const access = this.decision.accessTo(find) ?? DENIED;
    if (access.kind === 'public' && !access.reloadsUser) return true;
    const refused = this.decision.refusalOf(request, access);
    return refused instanceof Promise ? refused.then((late) => allow(context, late)) : allow(context, refused);
  }

  private async decideOnHandler(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context) ?? { method: 'GET', headers: {} };
    if (opensConnection(context, request)) await this.decision.identify(request);
    const handler = context.getHandler();
    const declared = { controller: context.getClass(), method: controllerMethodOf(handler) ?? handler };
    const access = this.decision.accessTo((compiled) => compiled.ofHandler(declared)) ?? DENIED;
    const refused = await this.decision.refusalOf(request, access);
    if (refused) throw await refusalIn(context, refused.exception);
    return true;
  }
}

function allow(context: ExecutionContext, refused: Refused | undefined): boolean {
  if (!refused) return true;
  const http = context.switchToHttp();
  throw negotiateRefusal(http.getRequest<HttpRequest>(), http.getResponse<HeaderWriter>(), refused);
}
