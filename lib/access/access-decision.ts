import { Injectable, Logger } from '@nestjs/common';
import { setRoleHierarchy } from '../http/principal.js';
import { AccessRefused, AuthenticationRequired } from '../http/refusal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { checkPolicies, decide, DENIED, hasPolicy, type Access, type Refusal } from './access.js';
import { AccessRules } from './access-rules.js';
import type { CompiledAccess } from './compiled-access.js';
import { authenticate, authenticationOf, Authenticator } from './principal.js';
import { decidingRule, describeRule } from './rules.js';

type FindAccess<C> = (compiled: CompiledAccess, request: HttpRequest, context: C) => Access | undefined;

/** The response to a request that has no access. */
export interface Refused {
  readonly exception: AuthenticationRequired | AccessRefused;
  readonly headers: Readonly<Record<string, string>>;
}

/** Decides whether a request has access. Any exception in the decision is a refusal. */
@Injectable()
export class AccessDecision {
  private readonly logger = new Logger('SecurityRules');

  constructor(
    private readonly rules: AccessRules,
    private readonly authenticator: Authenticator,
  ) {}

  /** Authenticates the request, and sets `request.user`. */
  identify(request: HttpRequest): void {
    authenticate(this.authenticator, request);
    const roles = this.rules.compiled?.roles;
    if (roles?.isDeclared) setRoleHierarchy(request, roles.expand);
  }

  /** @returns `undefined` where no rule decides, and before the application has started */
  accessTo<C>(find: FindAccess<C>, request: HttpRequest, context: C): Access | undefined {
    const { compiled } = this.rules;
    try {
      return compiled && find(compiled, request, context);
    } catch (error) {
      this.logFailure(error);
      return DENIED;
    }
  }

  /** @returns `undefined` where the request has access; a promise only where a policy decides */
  refusalOf(request: HttpRequest, access: Access): Refused | undefined | Promise<Refused | undefined> {
    const { principal, bearerWasSent } = authenticationOf(this.authenticator, request);
    let refusal: Refusal | undefined;
    try {
      refusal = decide(access, principal && this.rules.compiled?.roles.expand(principal.roles));
    } catch (error) {
      this.logFailure(error);
      refusal = { reason: 'forbidden' };
    }
    if (refusal) return this.refuse(access, refusal, bearerWasSent);
    // Policies come last: a policy may look something up.
    if (!principal || !hasPolicy(access)) return undefined;
    return checkPolicies(access.requirements, principal, request).then(
      (refused) => refused && this.refuse(access, refused, bearerWasSent),
    );
  }

  private logFailure(error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined;
    this.logger.error('The access decision failed; the request is refused.', stack);
  }

  private refuse(access: Access, refusal: Refusal, bearerWasSent: boolean): Refused {
    const headers: Record<string, string> = {};
    if (this.rules.options.explainRefusals) {
      const rule = decidingRule(access, refusal);
      headers['X-Access-Rule'] = rule ? encodeURI(describeRule(rule)) : 'default';
    }
    if (refusal.reason === 'forbidden') return { exception: new AccessRefused(refusal.missing), headers };
    const exception = new AuthenticationRequired(bearerWasSent);
    return { exception, headers: { ...headers, 'WWW-Authenticate': exception.challenge } };
  }
}
