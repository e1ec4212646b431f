import { Injectable, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { after, type Answer } from '../http/at-once.js';
import { AccessRefused, BAD_TOKEN, NO_TOKEN, Refused } from '../http/refusal.js';
import type { HeaderWriter, HttpRequest } from '../http/request-facts.js';
import type { MountedPath } from '../routes/mounts.js';
import { RouteTable } from '../routes/route-table.js';
import { decide, DENIED, type Access, type Refusal } from './access.js';
import { askPolicies } from './policy.js';
import { Authentication, Authenticator } from './principal.js';
import { decidingRule, describeRule } from './rules.js';
import { SecurityRules } from './security-rules.js';

interface Decision {
  readonly access: Access;
  readonly refusal?: Refusal | undefined;
  /** What remains to be asked where nothing refuses. */
  readonly policies?: Promise<Refusal | undefined>;
}

type Tell = (name: string, value: string) => void;

interface Outside {
  readonly enter: () => unknown;
  readonly at: MountedPath | undefined;
}

/**
 * Authenticates and decides, for the guard before Nest's handlers, and by itself before those that main.ts adds to the
 * adapter (Swagger's pages among them), which no guard sees. Any exception in the decision is a refusal.
 */
@Injectable()
export class AccessGate {
  private readonly logger = new Logger('SecurityRules');

  constructor(
    private readonly rules: SecurityRules,
    private readonly authenticator: Authenticator,
    private readonly host: HttpAdapterHost,
  ) {
    RouteTable.watch(host, (table) => {
      table.outsideGate = (request, response, enter, at) => this.admitOutside(request, response, { enter, at });
    });
  }

  /** @returns 401 `{error: "Authentication required"}` with `WWW-Authenticate`, or 403 `{error: "<Role> access required"}` */
  refusal(request: HttpRequest, response: unknown, handler: object): Answer<Refused | undefined> {
    const authentication = Authentication.begin(this.authenticator, request);
    const { access, refusal, policies } = this.decide(request, authentication, () =>
      this.rules.accessOf(request, handler),
    );
    const tell: Tell = (name, value) => void (response as HeaderWriter).header(name, value);
    return after(policies ?? refusal, (refused) => refused && this.refuse(access, refused, tell, authentication));
  }

  /** Whether a policy may be asked about a request of this route. */
  asksPoliciesAt(method: string, template: string): boolean {
    return this.rules.entries.some(
      ({ path, of = path, access, ...entry }) =>
        entry.method === method && of === template && access.requirements.some((each) => 'policy' in each),
    );
  }

  private decide(request: HttpRequest, authentication: Authentication, accessOf: () => Access): Decision {
    try {
      const access = accessOf();
      if (access.kind === 'public') return { access };
      const { principal } = authentication;
      const refusal = decide(access, principal && this.rules.roles.expand(principal.roles));
      // Asked last, and only where the roles do: a policy may look something up.
      const asks = principal !== undefined && !refusal && access.requirements.some((each) => 'policy' in each);
      return { access, refusal, ...(asks && { policies: askPolicies(access.requirements, principal, request) }) };
    } catch (error) {
      this.logger.error(
        'The security decision failed; the request is refused.',
        error instanceof Error ? error.stack : undefined,
      );
      return { access: DENIED, refusal: { reason: 'forbidden' } };
    }
  }

  /** No filter runs there either: a refusal is answered here. */
  private admitOutside(request: HttpRequest, response: unknown, { enter, at }: Outside): unknown {
    const authentication = Authentication.begin(this.authenticator, request);
    const accessOf = (): Access => this.rules.accessOfOutside(request, at);
    const { access, refusal, policies } = this.decide(request, authentication, accessOf);
    const enforce = (refused: Refusal | undefined): unknown => {
      if (refused === undefined) return enter();
      // Never entered without leave, also where it is not expected to serve anything.
      if (at && !at.isReached()) return at.pass();
      const { httpAdapter } = this.host;
      // On Fastify the response of middleware is node's.
      const tell: Tell = (name, value) => httpAdapter.setHeader(response, name, value);
      const answer = this.refuse(access, refused, tell, authentication);
      return httpAdapter.reply(response, answer.object(), answer.status) as unknown;
    };
    return after(policies ?? refusal, enforce);
  }

  private refuse(access: Access, refusal: Refusal, tell: Tell, authentication: Authentication): Refused {
    if (this.rules.explainsRefusals) {
      const rule = decidingRule(access, refusal);
      tell('X-Access-Rule', rule ? encodeURI(describeRule(rule)) : 'default');
    }
    if (refusal.reason === 'forbidden') return Refused.by(() => new AccessRefused(refusal.missing));
    const required = authentication.bearerWasSent ? BAD_TOKEN : NO_TOKEN;
    // Set here too: on the application's own routes its own filters write the answer.
    tell('WWW-Authenticate', required.example.challenge);
    return required;
  }
}
