/**
 * Compares the compiled decision with the naive model, for random applications. `npm run proof:rules` is the full run. A
 * failing application is reduced and printed with the PROOF_SEED that repeats it.
 */
import { ACCOUNT_ENDPOINTS } from '../../../lib/auth/accounts/account-endpoints.js';
import { endpointController } from '../../../lib/auth/plugins/endpoint-controller.js';
import type { ControllerMethod } from '../../../lib/routes/controller-methods.js';
import { makeRoute } from '../../../lib/routes/route.js';
import {
  ACCESS_BY_NAME,
  asEnforced,
  checkPolicies,
  decide,
  refuseContradictions,
  type Access,
  type Rule,
} from '../../../lib/access/decide.js';
import { compileRoleHierarchy } from '../../../lib/access/role-hierarchy.js';
import { Authenticated, Public, Roles } from '../../../lib/access/access-decorators.js';
import { compileRouteAccess, type RouteAccess } from '../../../lib/access/route-access.js';
import { declaredRules, SecurityConfig } from '../../../lib/access/security-config.js';
import { type Random, seeded } from '../../access/random.js';
import { handling } from '../mutation/declared.js';
import {
  distinct,
  type Platform,
  POLICIES,
  randomApplication,
  type RandomApplication,
  type RandomRoute,
  randomRule,
  type ServedPath,
} from './random-application.js';
import {
  answer,
  type Answer,
  type Caller,
  contradict,
  enforce,
  type Declaration,
  fold,
  matchesMethod,
  matchesPath,
  mayNotBeOpened,
  refuseEachOther,
  withIncluded,
  withOwnRules,
} from './rules-model.js';

const APPLICATIONS = Number(process.env['PROOF_APPLICATIONS'] ?? 300);
const SEED = Number(process.env['PROOF_SEED'] ?? 1);
const LEAST_SHARE = 0.3;

/** As Express and Fastify are set by default. */
const READINGS = {
  express: { caseSensitive: false },
  fastify: { caseSensitive: true },
} as const;

const CALLERS: readonly Caller[] = [
  { roles: undefined, satisfies: POLICIES },
  { roles: [], satisfies: POLICIES },
  { roles: ['USER'], satisfies: POLICIES },
  { roles: ['ADMIN'], satisfies: POLICIES },
  { roles: ['EDITOR'], satisfies: POLICIES },
  { roles: ['AUTHOR', 'AUDITOR'], satisfies: POLICIES },
  { roles: ['ADMIN', 'EDITOR', 'AUTHOR', 'AUDITOR'], satisfies: POLICIES.slice(0, 1) },
  { roles: ['ADMIN', 'EDITOR', 'AUTHOR', 'AUDITOR'], satisfies: POLICIES },
];

interface Asked {
  readonly route: RandomRoute;
  readonly method: string;
  readonly served: ServedPath;
}
interface Difference extends Asked {
  readonly what: string;
  readonly caller?: Caller;
}

type Ask = (caller: Caller) => Answer | Promise<Answer>;

/** The compiled decision for a request that a route serves. */
class Compiled {
  private readonly access: RouteAccess;
  private readonly expand: (roles: readonly string[]) => readonly string[];

  constructor(application: RandomApplication, platform: Platform, rules = application.rules) {
    const routes = application.routes.map((route) => makeRoute(route.method, route.template, handlerOf(route).method));
    const methods = [...new Set(application.routes.map(handlerOf))];
    const fallback = ACCESS_BY_NAME[application.byDefault];
    const enforced = declared(rules).map((rule) => asEnforced(rule, application.enforced));
    this.access = compileRouteAccess(routes, { rules: enforced, fallback }, READINGS[platform].caseSensitive, methods);
    this.expand = compileRoleHierarchy(application.hierarchy).expand;
  }

  at({ route, method, served }: Asked): Ask {
    return this.answersOf(this.access.of(route.template, method, handling(handlerOf(route)))!(served));
  }

  /**
   * What the access report says of this request: the row of the pattern that is this very path, or that of the route
   * where no row speaks of a part that the path is in.
   */
  reportedAt({ route, method, served: { path } }: Asked): Ask | undefined {
    const isRow = (entry: (typeof this.access.entries)[number]): boolean =>
      !entry.part && entry.path === route.template && entry.method === this.rowMethod(route, method);
    // Handlers of which something else is said have a row each.
    if (this.access.entries.filter(isRow).length > 1) return undefined;
    const start = this.access.entries.findIndex(isRow);
    const rest = this.access.entries.slice(start + 1);
    const end = rest.findIndex(({ part }) => !part);
    const parts = rest.slice(0, end < 0 ? rest.length : end);
    const exact = parts.find((entry) => entry.path === path);
    const isPart = parts.some((entry) => matchesPath(entry.path, path, false));
    const row = exact ?? (isPart ? undefined : this.access.entries[start]);
    return row && this.answersOf(row.access);
  }

  private rowMethod(route: RandomRoute, method: string): string {
    const governing = method === 'HEAD' ? 'GET' : method;
    const rows = this.access.entries.filter((entry) => !entry.part && entry.path === route.template);
    return rows.some((entry) => entry.method === governing) ? governing : 'any other method';
  }

  private answersOf(access: Access): Ask {
    const hasPolicies = access.requirements.some((requirement) => 'policy' in requirement);
    return ({ roles, satisfies }) => {
      const refusal = decide(access, roles && this.expand(roles));
      if (refusal) return refusal.reason === 'unauthenticated' ? 401 : 403;
      return hasPolicies ? withPolicies(access, satisfies) : 'allowed';
    };
  }
}

async function withPolicies({ requirements }: Access, satisfies: readonly string[]): Promise<Answer> {
  const principal = { id: 1, email: satisfies.join(), roles: [] };
  return (await checkPolicies(requirements, [principal], { method: 'GET', headers: {} }, () => undefined))
    ? 403
    : 'allowed';
}

const handlers = new Map<unknown, ControllerMethod>();

const auth = endpointController('/auth', [{ name: 'accounts', endpoints: ACCOUNT_ENDPOINTS }], undefined);

/** The package's own one, or a method of a class with these decorators. */
function handlerOf({ own, said }: RandomRoute): ControllerMethod {
  const known = handlers.get(own ?? said);
  if (known) return known;
  const handler = own
    ? { controller: auth, method: (auth.prototype as Record<typeof own, object>)[own] }
    : decorated(said);
  handlers.set(own ?? said, handler);
  return handler;
}

function decorated(said: RandomRoute['said']): ControllerMethod {
  class Controller {
    handle(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Controller.prototype, 'handle')!;
  const decorators = {
    public: () => Public(),
    authenticated: () => Authenticated(),
    anyRole: (roles: readonly string[]) => Roles(...(roles as [string, ...string[]])),
  };
  for (const { on, kind, roles } of said)
    if (on === 'class') decorators[kind](roles)(Controller);
    else decorators[kind](roles)(Controller.prototype, 'handle', descriptor);
  return { controller: Controller, method: Controller.prototype.handle };
}

/** As an application declares them. */
function declared(declarations: readonly Declaration[]): readonly Rule[] {
  class Proof extends SecurityConfig {
    override configure(): void {
      for (const declaration of declarations) this.add(declaration);
    }

    private add(declaration: Declaration): void {
      switch (declaration.kind) {
        case 'public':
          return this.publicEndpoints(declaration.pattern);
        case 'authenticated':
          return this.requireAuth(declaration.pattern);
        case 'denied':
          return this.denyAll(declaration.pattern);
        case 'anyRole':
          return this.requireRole(declaration.roles, declaration.pattern);
        case 'allRoles':
          return this.requireAllRoles(declaration.roles, declaration.pattern);
        case 'policy': {
          const { name, pattern } = declaration;
          return this.requirePolicy(name, ({ email }) => email.split(',').includes(name), pattern);
        }
      }
    }
  }
  const config = new Proof();
  config.configure();
  return declaredRules(config);
}

function modelAt(application: RandomApplication, platform: Platform, asked: Asked): Ask {
  const { rules, byDefault, hierarchy, enforced, authBasePath } = application;
  const { path } = asked.served;
  const { caseSensitive } = READINGS[platform];
  const all = authBasePath === undefined ? rules : withOwnRules(rules, authBasePath, caseSensitive);
  const state = fold(enforce(all, enforced), path, asked.method, byDefault, caseSensitive, asked.route.said);
  return (caller) => answer(state, { ...caller, roles: caller.roles && withIncluded(caller.roles, hierarchy) });
}

const methodsServed = ({ method }: RandomRoute): readonly string[] =>
  method === 'GET' ? ['GET', 'HEAD'] : method === 'ALL' ? ['GET', 'HEAD', 'POST', 'DELETE'] : [method];

function* requests({ routes }: RandomApplication): Generator<Asked> {
  for (const route of routes)
    for (const method of methodsServed(route)) for (const served of route.paths) yield { route, method, served };
}

/**
 * The same paths in other letters, with a trailing slash and with an encoded letter, where the router serves them, and
 * others that a proxy may take for them: they may be refused more often than what they stand for, never less.
 */
function* spellings(
  { routes }: RandomApplication,
  platform: Platform,
): Generator<Asked & { readonly canonical: ServedPath }> {
  const upper = (value: unknown): unknown =>
    typeof value === 'string' ? value.toUpperCase() : Array.isArray(value) ? value.map(upper) : value;
  for (const route of routes)
    for (const method of methodsServed(route))
      for (const canonical of route.paths) {
        const { path, params } = canonical;
        const encoded = path.replace(/[^/]$/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
        const spelled: ServedPath[] = [{ path: encoded, params }];
        if (platform === 'express') {
          const inCapitals = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, upper(value)]));
          spelled.push({ path: path.toUpperCase(), params: inCapitals });
          if (path !== '/') spelled.push({ path: `${path}/`, params });
        }
        for (const served of spelled) yield { route, method, served, canonical };
        // A parameter of its own for both routers, whatever stands behind the semicolon.
        const values = Object.entries(params);
        const [name, value] = values.at(-1) ?? ['', ''];
        if (typeof value === 'string' && value !== '' && path.endsWith(value)) {
          const served = { path: `${path};x`, params: { ...params, [name]: `${value};x` } };
          yield { route, method, served, canonical: served };
        }
      }
}

/**
 * Whether a rule speaks of this path in other letters only. There the library may be the stricter one: a restriction is
 * for every spelling, on Fastify as well; what opens a part of a route is for its own, and where nobody gets in by
 * default, every rule opens.
 */
const isSpelledOtherwise = (
  { rules, byDefault }: RandomApplication,
  { path }: ServedPath,
  platform: Platform,
): boolean =>
  rules.some(
    ({ kind, pattern }) =>
      (platform === 'express' ? kind === 'public' || byDefault === 'denied' : kind !== 'public') &&
      matchesPath(pattern, path, false) &&
      !matchesPath(pattern, path, true),
  );

const counts = {
  applications: 0,
  refused: 0,
  refusedDecorators: 0,
  refusedBesideDecorators: 0,
  decisions: 0,
  spellings: 0,
  stricter: 0,
  permuted: 0,
  reported: 0,
  restricted: 0,
};

async function firstDifference(
  application: RandomApplication,
  platform: Platform,
  random: Random,
): Promise<Difference | undefined> {
  const compiled = new Compiled(application, platform);
  const permuted = new Compiled(application, platform, random.shuffled(application.rules));
  for (const asked of requests(application)) {
    const mayBeStricter = isSpelledOtherwise(application, asked.served, platform);
    const [modelled, decided, reordered, reported] = [
      modelAt(application, platform, asked),
      compiled.at(asked),
      permuted.at(asked),
      compiled.reportedAt(asked),
    ];
    for (const caller of CALLERS) {
      const expected = await modelled(caller);
      const actual = await decided(caller);
      counts.decisions += 1;
      if (actual !== expected) {
        if (!mayBeStricter || actual === 'allowed')
          return { ...asked, caller, what: `model ${expected}, compiled ${actual}` };
        counts.stricter += 1;
      }
      const otherwise = await reordered(caller);
      counts.permuted += 1;
      if (otherwise !== actual)
        return { ...asked, caller, what: `compiled ${actual}, in another order of declaration ${otherwise}` };
      if (!reported || mayBeStricter) continue;
      const said = await reported(caller);
      counts.reported += 1;
      if (said !== expected) return { ...asked, caller, what: `model ${expected}, the access report ${said}` };
    }
  }
  for (const { canonical, ...asked } of spellings(application, platform)) {
    const [modelled, decided] = [modelAt(application, platform, { ...asked, served: canonical }), compiled.at(asked)];
    for (const caller of CALLERS) {
      const expected = await modelled(caller);
      const actual = await decided(caller);
      counts.spellings += 1;
      if (actual === 'allowed' && expected !== 'allowed')
        return { ...asked, caller, what: `model ${expected} for ${canonical.path}, compiled ${actual}` };
    }
  }
  return undefined;
}

/** Takes rules, routes and paths away for as long as something still differs. */
async function smallest<T extends RandomApplication>(
  application: T,
  differs: (smaller: T) => Promise<unknown>,
): Promise<T> {
  for (const smaller of smallerOnes(application)) if (await differs(smaller)) return smallest(smaller, differs);
  return application;
}

function* smallerOnes<T extends RandomApplication>(application: T): Generator<T> {
  const { rules, routes, hierarchy } = application;
  for (const rule of rules) yield { ...application, rules: rules.filter((each) => each !== rule) };
  for (const route of routes) {
    if (routes.length > 1) yield { ...application, routes: routes.filter((each) => each !== route) };
    for (const served of route.paths.length > 1 ? route.paths : []) {
      const paths = route.paths.filter((each) => each !== served);
      yield { ...application, routes: routes.map((each) => (each === route ? { ...route, paths } : each)) };
    }
  }
  if (Object.keys(hierarchy).length > 0) yield { ...application, hierarchy: {} };
  if (application.enforced) yield { ...application, enforced: undefined };
  for (const route of routes)
    for (const each of route.said) {
      const less = { ...route, said: route.said.filter((other) => other !== each) };
      yield { ...application, routes: routes.map((other) => (other === route ? less : other)) };
    }
}

function written(declaration: Declaration): string {
  const { kind, pattern } = declaration;
  if (kind === 'policy') return `requirePolicy("${declaration.name}", "${pattern}")`;
  if (kind === 'anyRole' || kind === 'allRoles') return `${kind}([${declaration.roles.join(', ')}], "${pattern}")`;
  return `${kind}("${pattern}")`;
}

function report(
  { rules, byDefault, hierarchy, enforced }: RandomApplication,
  platform: Platform,
  seed: number,
  difference: Difference,
): string {
  const { route, method, served, caller, what } = difference;
  const { roles, satisfies } = caller ?? {};
  return [
    `${platform}, PROOF_SEED=${seed} PROOF_APPLICATIONS=1: ${what}`,
    `  asked    ${method} ${served.path} (parameters ${JSON.stringify(served.params)}) of ${route.method} ${route.template}`,
    `  caller   ${roles ? `token with [${roles.join(', ')}], satisfies [${satisfies?.join(', ')}]` : 'no token'}`,
    `  default  ${byDefault}; role hierarchy ${JSON.stringify(hierarchy)}; enforcedRoles ${JSON.stringify(enforced)}`,
    `  said     ${JSON.stringify(route.said)}`,
    ...rules.map((rule) => `  rule     ${written(rule)}`),
  ].join('\n');
}

/** Leaves out what contradicts, after the library has refused it as well. */
function withoutContradictions(rules: readonly Declaration[]): { rules: readonly Declaration[]; refused: number } {
  let refused = 0;
  const kept: Declaration[] = [];
  for (const rule of rules) {
    const expected = kept.some((each) => contradict(each, rule));
    const together = declared([...kept, rule]);
    let isRefused = false;
    try {
      refuseContradictions(together);
    } catch {
      isRefused = true;
    }
    if (isRefused !== expected)
      throw new Error(
        `${expected ? 'not refused' : 'refused'}: ${written(rule)} beside ${kept.map(written).join(', ')}`,
      );
    if (expected) refused += 1;
    else kept.push(rule);
  }
  return { rules: kept, refused };
}

/** Leaves out a `@Public()` that opens what is restricted, after the library has refused it as well. */
function withoutRefusedDecorators(application: RandomApplication, platform: Platform): RandomApplication {
  const routes = application.routes.map((route) => {
    if (!route.said.some(({ kind }) => kind === 'public')) return route;
    const restricting = application.rules.filter(
      (rule) => mayNotBeOpened(rule) && methodsServed(route).some((method) => matchesMethod(rule.pattern, method)),
    );
    // A route of every method serves more methods than are tried.
    const mayBeRestricted = route.method === 'ALL' ? application.rules.some(mayNotBeOpened) : restricting.length > 0;
    const refuses = refuseEachOther(route.said);
    if (refuses) counts.refusedBesideDecorators += 1;
    const expected =
      refuses ||
      restricting.some(({ pattern }) =>
        route.paths.some(({ path }) => matchesPath(pattern, path, READINGS[platform].caseSensitive)),
      );
    const isRefused = isRefusedToBoot({ ...application, routes: [route] }, platform);
    // Not every path that a route serves was drawn: a rule may speak of one that was not.
    if (expected ? !isRefused : isRefused && !mayBeRestricted)
      throw new Error(
        `${isRefused ? 'refused' : 'not refused'}: @Public on ${route.method} ${route.template} that says ${JSON.stringify(route.said)}, beside ${restricting.map(written).join(', ')}`,
      );
    if (isRefused) counts.refusedDecorators += 1;
    return isRefused ? { ...route, said: route.said.filter(({ kind }) => kind !== 'public') } : route;
  });
  return { ...application, routes };
}

function isRefusedToBoot(application: RandomApplication, platform: Platform): boolean {
  try {
    return !new Compiled(application, platform);
  } catch {
    return true;
  }
}

/** How each generated rule lies to each generated route, by the model and the paths that were tried. */
class Distribution {
  pairs = 0;
  disjoint = 0;
  alone = 0;
  partial = 0;
  multiple = 0;

  add({ routes, rules }: RandomApplication, platform: Platform): void {
    const { caseSensitive } = READINGS[platform];
    for (const route of routes) {
      const asked = methodsServed(route).flatMap((method) => route.paths.map(({ path }) => ({ method, path })));
      const hits = rules.map(
        ({ pattern }) =>
          asked.filter(
            ({ method, path }) => matchesMethod(pattern, method) && matchesPath(pattern, path, caseSensitive),
          ).length,
      );
      const matching = hits.filter((hit) => hit > 0).length;
      for (const hit of hits) {
        this.pairs += 1;
        if (hit === 0) this.disjoint += 1;
        else if (hit < asked.length) this.partial += 1;
        else if (matching > 1) this.multiple += 1;
        else this.alone += 1;
      }
    }
  }

  get share(): number {
    return (this.partial + this.multiple) / this.pairs;
  }

  toString(): string {
    const of = (count: number): string => `${count} (${((100 * count) / this.pairs).toFixed(1)} %)`;
    return (
      `${this.pairs} pairs of a rule and a route: partial ${of(this.partial)}, whole beside other rules ` +
      `${of(this.multiple)}, whole and alone ${of(this.alone)}, disjoint ${of(this.disjoint)}`
    );
  }
}

const line = (text: string): void => void process.stdout.write(`${text}\n`);

/** Every application has a seed of its own, so that it can be repeated alone. */
function* applications(
  platform: Platform,
): Generator<{ application: RandomApplication; seed: number; random: Random }> {
  for (let index = 0; index < APPLICATIONS; index++) {
    const seed = SEED + index;
    const random = seeded(seed);
    const drawn = randomApplication(random, platform);
    const { rules, refused } = withoutContradictions(drawn.rules);
    counts.applications += 1;
    counts.refused += refused;
    yield { application: withoutRefusedDecorators({ ...drawn, rules }, platform), seed, random };
  }
}

describe.each(['express', 'fastify'] as const)('random applications as %s reads paths', (platform) => {
  const MINUTES = Math.max(60_000, APPLICATIONS * 60);

  it(
    '[3.1] [3.2] [3.3] [3.4] [3.5] decide as the naive model does, in any order of declaration',
    async () => {
      const distribution = new Distribution();
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] = 0;
      const differences: string[] = [];
      for (const { application, seed } of applications(platform)) {
        distribution.add(application, platform);
        const differs = (smaller: RandomApplication): Promise<Difference | undefined> =>
          firstDifference(smaller, platform, seeded(seed));
        if (!(await differs(application))) continue;
        const small = await smallest(application, differs);
        differences.push(report(small, platform, seed, (await differs(small))!));
        if (differences.length === 5) break;
      }
      line(
        `${platform}: seed ${SEED}, ${counts.applications} applications, ${counts.decisions} decisions and ` +
          `${counts.permuted} of them in another order of declaration, ${counts.reported} beside their row of the report, ` +
          `${counts.spellings} of other spellings, ` +
          `${counts.refused} contradictions and ${counts.refusedDecorators} @Public refused by both (${counts.refusedBesideDecorators} beside other decorators), ${differences.length} differences`,
      );
      line(`${platform}: stricter for a path that a rule spells in other letters: ${counts.stricter} decisions`);
      line(`${platform}: ${distribution}`);
      if (differences.length > 0) throw new Error(`\n${differences.join('\n\n')}`);
      expect(distribution.share).toBeGreaterThanOrEqual(LEAST_SHARE);
    },
    MINUTES,
  );

  it(
    '[3.3] give no more access when a restriction is added',
    async () => {
      counts.restricted = 0;
      const opened: string[] = [];
      for (const { application, seed, random } of applications(platform)) {
        const added = randomRule(random, application.routes);
        if (added.kind === 'public' || application.rules.some((rule) => contradict(rule, added))) continue;
        // Refused beside a @Public: nothing is opened.
        if (isRefusedToBoot({ ...application, rules: [...application.rules, added] }, platform)) continue;
        const differs = async (smaller: RandomApplication): Promise<Difference | undefined> =>
          openedBy(added, smaller, platform);
        if (!(await differs(application))) continue;
        const small = await smallest(application, differs);
        opened.push(report(small, platform, seed, (await differs(small))!));
        if (opened.length === 5) break;
      }
      line(`${platform}: ${counts.restricted} decisions with a restriction more, ${opened.length} opened by it`);
      if (opened.length > 0) throw new Error(`\n${opened.join('\n\n')}`);
      expect(counts.restricted).toBeGreaterThan(0);
    },
    MINUTES,
  );
});

async function openedBy(
  added: Declaration,
  application: RandomApplication,
  platform: Platform,
): Promise<Difference | undefined> {
  const before = new Compiled(application, platform);
  const after = new Compiled(application, platform, [...application.rules, added]);
  for (const asked of requests(application)) {
    // §3.4: what lets nobody in by default does so for what no rule matches; there the first rule is no restriction more.
    const isGoverned = application.rules.some(
      ({ pattern }) => matchesMethod(pattern, asked.method) && matchesPath(pattern, asked.served.path, true),
    );
    if (application.byDefault === 'denied' && !isGoverned) continue;
    const [without, withAdded] = [before.at(asked), after.at(asked)];
    for (const caller of CALLERS) {
      const was = await without(caller);
      const is = await withAdded(caller);
      counts.restricted += 1;
      if (is === 'allowed' && was !== 'allowed')
        return { ...asked, caller, what: `${was}, and with ${written(added)} it is ${is}` };
    }
  }
  return undefined;
}

it('[3.1] the random paths are those that Express serves, with its parameters', async () => {
  const { match } = await import('path-to-regexp');
  const random = seeded(SEED);
  for (let index = 0; index < 100; index++)
    for (const { template, paths } of randomApplication(random, 'express').routes)
      for (const { path, params } of paths)
        expect(match(template)(path)).toEqual(expect.objectContaining({ path, params: { ...params } }));
});

it('reduces a failing application to the smallest one', async () => {
  const application = randomApplication(seeded(7), 'express');
  const small = await smallest(application, async ({ routes }) => routes.length > 0);
  expect(small.rules).toEqual([]);
  expect(small.routes).toHaveLength(1);
  expect(distinct(small.routes[0]!.paths, ({ path }) => path)).toHaveLength(1);
});
