import { Injectable, Logger } from '@nestjs/common';
import { AccessRefused, AuthenticationRequired } from '../http/refusal.js';
import type { HttpRequest } from '../http/request-facts.js';
import { checkPolicies, decide, DENIED, type Access, type Refusal } from './access.js';
import { AccessRules } from './access-rules.js';
import type { Authentication } from './principal.js';
import { decidingRule, describeRule } from './rules.js';

/** Decides whether a request has access. Any exception in the decision is a refusal. */
@Injectable()
export class AccessDecision {
  private readonly logger = new Logger('SecurityRules');

  constructor(private readonly rules: AccessRules) {}

  /** The access that is found; none where finding it fails. */
  accessBy(find: () => Access): Access {
    try {
      return find();
    } catch (error) {
      this.logFailure(error);
      return DENIED;
    }
  }

  /** @returns the exception and the headers of the response; `undefined` where the request has access */
  async refusalOf(request: HttpRequest, { principal, bearerWasSent }: Authentication, access: Access) {
    let refusal: Refusal | undefined = { reason: 'forbidden' };
    try {
      const roles = principal && this.rules.compiled?.roles.expand(principal.roles);
      // Policies come last: a policy may look something up.
      refusal = decide(access, roles) ?? (principal && (await checkPolicies(access.requirements, principal, request)));
    } catch (error) {
      this.logFailure(error);
    }
    return refusal && this.refuse(access, refusal, bearerWasSent);
  }

  private logFailure(error: unknown): void {
    const stack = error instanceof Error ? error.stack : undefined;
    this.logger.error('The access decision failed; the request is refused.', stack);
  }

  private refuse(access: Access, refusal: Refusal, bearerWasSent: boolean) {
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
