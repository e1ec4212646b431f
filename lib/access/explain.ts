/** Why a request has access or not, from the same routes, rules and decision that the guard uses. */
import type { ServedRoute } from '../routes/route.js';
import { decide, describeAccess, PUBLIC, type Access, type Refusal } from './access.js';
import type { RoleInclusion } from './role-hierarchy.js';
import { decidingRule, describeRule, fold } from './rules.js';
import type { CompiledAccess } from './compiled-access.js';

export interface Question {
  readonly method: string;
  /** As a client sends it; a query string is ignored. */
  readonly path: string;
  /** The roles of a valid token; `undefined` for a request without one. */
  readonly roles: readonly string[] | undefined;
}

export type Verdict =
  | 'allowed'
  | 'unauthenticated'
  | 'forbidden'
  /** No route serves the path. */
  | 'unrouted'
  /** The roles suffice; policies decide then. */
  | 'left to policies';

/** How a rule changed the access: `any token`, `ADMIN or EDITOR`, `public`, `nobody`. */
export interface Step {
  readonly rule: string;
  readonly before: string;
  readonly after: string;
}

export interface Explanation extends Question {
  /** The route that serves the request. The default access does not apply to a route outside Nest's routes. */
  readonly route: { readonly method: string; readonly path: string; readonly outside: boolean } | undefined;
  /** The access before any rule. */
  readonly start: string;
  /** Every matching rule, from broad to narrow. */
  readonly steps: readonly Step[];
  readonly verdict: Verdict;
  /** The access after the last rule. */
  readonly access: string;
  /** The deciding rule, or `default`: the value of `X-Access-Rule`. */
  readonly decidedBy: string;
  /** What the token lacks: any of these roles, or the policies that decide then. */
  readonly missing: readonly string[];
}

/** @param question with a method in upper case and a path without broken escapes */
export function explain(compiled: CompiledAccess, question: Question): Explanation {
  const { method, roles } = question;
  const path = question.path.replace(/[?#].*$/s, '');
  const served = compiled.table.find(method, path);
  const outside = served?.route.handler === undefined;
  const access = accessOf(compiled, method, path, served);
  if (!access) return { ...question, ...NOWHERE };
  return {
    ...question,
    route: served && { method: served.route.method, path: served.route.path, outside },
    ...decisionOf(access, outside ? PUBLIC : compiled.fallback, compiled.roles, roles),
  };
}

function accessOf(
  compiled: CompiledAccess,
  method: string,
  path: string,
  served: ServedRoute | undefined,
): Access | undefined {
  if (!served) return compiled.ofRequestOutside(method, path);
  const { route, params } = served;
  const requested = { template: route.path, method, path, params };
  const { handler } = route;
  if (!handler) return compiled.outside.ofPath(method, path);
  const [controller] = compiled.controllersServing(route.path, handler);
  return controller && compiled.ofRoute(requested, { controller, method: handler });
}

const NOWHERE = {
  route: undefined,
  start: 'nobody',
  steps: [],
  verdict: 'unrouted',
  access: 'nobody',
  decidedBy: 'default',
  missing: [],
} as const;

type Decision = Omit<Explanation, keyof Question | 'route'>;

function decisionOf(
  access: Access,
  start: Access,
  { expand, includersOf }: RoleInclusion,
  roles: Question['roles'],
): Decision {
  const refusal = decide(access, roles && expand(roles));
  const states = [start, ...access.by.map((_, index) => fold(start, access.by.slice(0, index + 1)))];
  const words = states.map((state) => describeAccess(state, includersOf));
  const deciding = decidingRule(access, refusal);
  const policies =
    access.kind === 'authenticated'
      ? access.requirements.flatMap((each) => ('policy' in each ? [each.policy.name] : []))
      : [];
  return {
    start: words[0] ?? '',
    steps: access.by.map((rule, index) => ({
      rule: describeRule(rule),
      before: words[index] ?? '',
      after: words[index + 1] ?? '',
    })),
    verdict: verdictOf(refusal, policies),
    access: words.at(-1) ?? '',
    decidedBy: deciding ? describeRule(deciding) : 'default',
    missing: refusal ? (refusal.reason === 'forbidden' && refusal.missing) || [] : policies,
  };
}

function verdictOf(refusal: Refusal | undefined, policies: readonly string[]): Verdict {
  if (refusal) return refusal.reason;
  return policies.length > 0 ? 'left to policies' : 'allowed';
}

/** The explanation as lines of text. */
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
  const by = decidedBy === 'default' ? 'by default' : `by ${decidedBy}`;
  switch (verdict) {
    case 'unrouted':
      return '404, no route serves this path';
    case 'allowed':
      return `allowed (${access}), ${by}`;
    case 'unauthenticated':
      return `401, a valid token is required, ${by}`;
    case 'forbidden':
      return missing.length > 0 ? `403, ${missing.join(' or ')} is required, ${by}` : `403, nobody has access, ${by}`;
    case 'left to policies':
      return `depends on ${missing.map((name) => `policy ${name}`).join(' and ')}, ${by}`;
  }
}
