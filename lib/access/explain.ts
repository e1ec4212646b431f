/** Why a request gets in or not: asked of the same routes, rules and decision as the guard asks. */
import type { RouteTable } from '../routes/route-table.js';
import { decide, describeAccess, PUBLIC, type Access, type Refusal } from './access.js';
import type { RoleInclusion } from './role-hierarchy.js';
import { decidingRule, describeRule, fold } from './rules.js';
import type { SecurityRules } from './security-rules.js';

export interface Question {
  readonly method: string;
  /** As a client sends it; a query is not looked at. */
  readonly path: string;
  /** Of a valid token; `undefined` for a request without one. */
  readonly roles: readonly string[] | undefined;
}

export type Verdict =
  | 'allowed'
  | 'unauthenticated'
  | 'forbidden'
  /** No route serves it. */
  | 'unrouted'
  /** The roles suffice; policies have yet to be asked. */
  | 'left to policies';

/** What a rule made of the decision, each in words: `any token`, `ADMIN or EDITOR`, `public`, `nobody`. */
export interface Step {
  readonly rule: string;
  readonly before: string;
  readonly after: string;
}

export interface Explanation extends Question {
  /** What would serve it. `outside` was added to the adapter, where the default does not hold. */
  readonly route: { readonly method: string; readonly path: string; readonly outside: boolean } | undefined;
  /** What holds where no rule speaks of it. */
  readonly start: string;
  /** Every rule that matches, from broad to narrow. */
  readonly steps: readonly Step[];
  readonly verdict: Verdict;
  /** What was left after the last rule. */
  readonly access: string;
  /** The rule that made the answer, `default` where none did: what `X-Access-Rule` carries. */
  readonly decidedBy: string;
  /** What a token lacks: any of these roles, or the policies that have yet to be asked. */
  readonly missing: readonly string[];
}

/** @param question of a method in upper case and a path whose escapes are whole */
export function explain(rules: SecurityRules, table: RouteTable, question: Question): Explanation {
  const path = question.path.replace(/[?#].*$/s, '');
  const served = table.servedBy(question.method, path);
  if (!served) return { ...question, ...NOWHERE };
  const { params } = served;
  const { method, path: template, outside = false } = served.route;
  const request = { method: question.method, headers: {}, url: path, params, routeOptions: { url: template } };
  const access = outside ? rules.accessOfOutside(request) : rules.accessOf(request, served.route.handler);
  const start = outside ? PUBLIC : rules.fallback();
  return {
    ...question,
    route: { method, path: template, outside },
    ...decisionOf(access, start, rules.roles, question.roles),
  };
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

/** The answer, in lines for people. */
export function describeExplanation(explanation: Explanation): string {
  const { method, path, roles, route, start, steps } = explanation;
  const head = `${method} ${path} ${roles ? `as ${roles.join(', ') || 'a user without roles'}` : 'without a token'}`;
  const answer = `Answer: ${answerOf(explanation)}`;
  if (!route) return [head, 'Route: none', answer].join('\n');
  const width = Math.max(0, ...steps.map(({ rule }) => rule.length));
  return [
    head,
    `Route: ${route.method} ${route.path}${route.outside ? ", outside Nest's routes" : ''}`,
    `Default: ${start}`,
    steps.length === 0 ? 'Rules: none matches' : 'Rules, from broad to narrow:',
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
      return '404, no route serves it';
    case 'allowed':
      return `allowed (${access}), ${by}`;
    case 'unauthenticated':
      return `401, a valid token is needed, ${by}`;
    case 'forbidden':
      return missing.length > 0 ? `403, ${missing.join(' or ')} is needed, ${by}` : `403, nobody gets in, ${by}`;
    case 'left to policies':
      return `depends on ${missing.map((name) => `policy ${name}`).join(' and ')}, ${by}`;
  }
}
