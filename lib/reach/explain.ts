/** Why a request has access or not, from the same routes, rules and decision that the guard uses. */
import { controllersServing } from '../routes/controller-methods.js';
import type { ServedRoute } from '../routes/route.js';
import {
  decide,
  DENIED,
  describeAccess,
  describeDecision,
  describeRule,
  fold,
  PUBLIC,
  type Access,
} from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import type { RouteHandler } from '../access/route-access.js';

export interface Explanation {
  readonly method: string;
  /** As a client sends it; a query string is ignored. */
  readonly path: string;
  /** The roles of a valid token; `undefined` for a request without one. */
  readonly roles: readonly string[] | undefined;
  /** The route that serves the request. The default access does not apply to a route outside Nest's routes. */
  readonly route: { readonly method: string; readonly path: string; readonly outside: boolean } | undefined;
  readonly start: string;
  /** Every matching rule, from broad to narrow, and the access before and after it: `any token`, `ADMIN or EDITOR`. */
  readonly steps: readonly { readonly rule: string; readonly before: string; readonly after: string }[];
  /** `unrouted`: no route serves the path. `left to policies`: the roles suffice, and policies decide. */
  readonly verdict: 'allowed' | 'unauthenticated' | 'forbidden' | 'unrouted' | 'left to policies';
  readonly access: string;
  /** The deciding rule, or `default`: the value of `X-Access-Rule`. */
  readonly decidedBy: string;
  /** What the token lacks: any of these roles, or the policies that decide then. */
  readonly missing: readonly string[];
}

export function explain(
  compiled: CompiledAccess,
  question: Pick<Explanation, 'method' | 'path' | 'roles'>,
): Explanation {
  const { method, roles } = question;
  const path = question.path.replace(/[?#].*$/s, '');
  const served = compiled.table.find(method, path);
  const outside = !served?.route.handler;
  const found = accessOf(compiled, method, path, served);
  const access = found ?? DENIED;
  const start = found ? (outside ? PUBLIC : compiled.policy.fallback) : DENIED;
  const describe = (state: Access): string => describeAccess(state, compiled.roles.includersOf);
  const afterRules = (count: number): string => describe(fold(start, access.rules.slice(0, count)));
  const refusal = decide(access, roles && compiled.roles.expand(roles));
  const policies = access.requirements.flatMap((each) => ('policy' in each ? [each.policy.name] : []));
  const decision = refusal?.reason ?? (policies.length > 0 ? 'left to policies' : 'allowed');
  return {
    ...question,
    route: served && { method: served.route.method, path: served.route.path, outside },
    start: describe(start),
    steps: access.rules.map((rule, index) => ({
      rule: describeRule(rule),
      before: afterRules(index),
      after: afterRules(index + 1),
    })),
    verdict: found ? decision : 'unrouted',
    access: describe(access),
    decidedBy: describeDecision(access, refusal),
    missing: refusal ? (refusal.reason === 'forbidden' && refusal.missing) || [] : policies,
  };
}

function accessOf(compiled: CompiledAccess, method: string, path: string, served?: ServedRoute): Access | undefined {
  if (!served) return compiled.ofRequestOutside(method, path);
  const { route, params } = served;
  if (!route.handler) return compiled.ofPathOutside(method, path);
  const shared = compiled.methods.filter(({ method: each }) => each === route.handler);
  const [controller] = controllersServing(route.path, shared);
  const handler = { getClass: () => controller, getHandler: () => route.handler } as RouteHandler;
  return controller && compiled.ofRoute(route.path, method, { path, params }, handler);
}

export function describeExplanation(explanation: Explanation): string {
  const { method, path, roles, route, start, steps } = explanation;
  const head = `${method} ${path} ${roles ? `as ${roles.join(', ') || 'a user without roles'}` : 'without a token'}`;
  const answer = `Answer: ${answerOf(explanation)}`;
  if (!route && explanation.verdict === 'unrouted') return [head, 'Route: none', answer].join('\n');
  const width = Math.max(0, ...steps.map(({ rule }) => rule.length));
  return [
    head,
    route ? `Route: ${route.method} ${route.path}${route.outside ? ", outside Nest's routes" : ''}` : 'Route: none',
    `Default: ${start}`,
    steps.length === 0 ? 'Rules: no rule matches' : 'Rules, from broad to narrow:',
    ...steps.map(
      ({ rule, before, after }, index) =>
        `  ${index + 1}. ${rule.padEnd(width)}  ${before === after ? `${after}, as before` : `${before} -> ${after}`}`,
    ),
    answer,
  ].join('\n');
}

function answerOf({ verdict, access, decidedBy, missing }: Explanation): string {
  if (verdict === 'unrouted') return '404, no route serves this path';
  const answers = {
    allowed: `allowed (${access})`,
    unauthenticated: '401, a valid token is required',
    forbidden: missing.length > 0 ? `403, ${missing.join(' or ')} is required` : '403, nobody has access',
    'left to policies': `depends on ${missing.map((name) => `policy ${name}`).join(' and ')}`,
  };
  return `${answers[verdict]}, by ${decidedBy}`;
}
