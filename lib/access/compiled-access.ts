import { BASE_ROLE, CREDENTIAL_ROLES } from '../http/caller.js';
import { InvalidOptionError } from '../options/invalid-option.js';
import type { ControllerMethod } from '../routes/controller-methods.js';
import { ANY_PATH, makeRoute, type Route } from '../routes/route.js';
import type { RouteTable } from '../routes/route-table.js';
import { DENIED, describeRule, fold, PUBLIC, restricts, type Access, type Rule } from './decide.js';
import { accessRows, type AccessRow } from './access-rows.js';
import { compileMatching } from './matching-rules.js';
import { cleanLevels, interpretationsOf, type ConcretePath } from './path-interpretations.js';
import { foldWidely } from './pattern.js';
import { compileRoleHierarchy, type RoleHierarchy, type RoleInclusion } from './role-hierarchy.js';
import { compileRouteAccess, decoratorRules, governs } from './route-access.js';
import type { RouteAccess, RouteHandler, RulePolicy } from './route-access.js';

export class CompiledAccess {
  readonly roles: RoleInclusion;
  readonly inside: RouteAccess;
  private readonly anyRoute: RouteAccess;
  private readonly restrictsUnrouted: (method: string, path: string) => boolean;
  private readonly handlerRules: readonly Rule[];

  constructor(
    readonly table: RouteTable,
    readonly methods: readonly ControllerMethod[],
    readonly policy: RulePolicy & { readonly roleHierarchy: RoleHierarchy; readonly enforcedRoles: readonly string[] },
    handlers: readonly ControllerMethod[],
    private readonly hasKeys = false,
  ) {
    this.roles = compileRoleHierarchy(policy.roleHierarchy, hasKeys);
    this.inside = compileRouteAccess(table.controllerRoutes, policy, table.isCaseSensitive, methods);
    this.anyRoute = this.compileOutside([makeRoute('ALL', ANY_PATH)]);
    this.restrictsUnrouted = compileUnrouted(policy.rules.filter((rule) => !this.inside.used.has(rule)));
    this.handlerRules = handlers.flatMap((each) => this.ofHandler(each).rules);
  }

  /** The access of a controller's route. A route that did not exist at startup is denied. */
  ofRoute(template: string | undefined, method: string, path: ConcretePath, handler: RouteHandler): Access {
    return (template !== undefined && this.inside.of(template, method, handler)?.(path)) || DENIED;
  }

  /** The access of a request that Nest's guards do not see; `undefined` where no rule decides. */
  ofRequestOutside(method: string, path: string): Access | undefined {
    const isGoverned = this.table.hasPlatformRoute(method, path) || this.restrictsUnrouted(method, path);
    return isGoverned ? this.ofPathOutside(method, path) : undefined;
  }

  /** The access of a request that no route serves, but that middleware may answer; `undefined` for every other. */
  ofUnknown(method: string, path: string): Access | undefined {
    return this.table.isUnknown(method, path) ? this.ofPathOutside(method, path) : undefined;
  }

  /** The access to a path outside Nest's routes: what no rule matches is public there, whatever the default access is. */
  ofPathOutside(method: string, path: string): Access {
    return this.anyRoute.of(ANY_PATH, method)?.(concretePath(path)) ?? DENIED;
  }

  /** The access of a WebSocket, GraphQL or microservice handler: its decorators apply to the default access. */
  ofHandler({ controller, method }: ControllerMethod): Access {
    const pattern = { text: '', methods: [], levels: [], tail: '' } as const;
    const rules = decoratorRules(controller, method, pattern, [], `a handler of ${controller.name}`);
    return fold(this.policy.fallback, rules);
  }

  /** The access of the known routes and mounts outside Nest's routes, for reports. Routes may be added after the start. */
  get outsideRoutes(): RouteAccess {
    return this.compileOutside(this.table.platformRoutes);
  }

  /** @throws InvalidOptionError for routes and mounts that rules restrict, but that answer before a request can be refused */
  refuseUnenforced(): void {
    const { entries } = this.compileOutside(this.table.routesInFront);
    const open = entries.filter(({ access }) => access.kind !== 'public');
    const [first, ...others] = new Set(open.map(({ template }) => template));
    if (first === undefined) return;
    const rule = open[0]?.access.rules.findLast(restricts) as Rule;
    throw new InvalidOptionError(
      `The route or mount ${first}${others.length > 0 ? ` and ${others.length} more` : ''} of the Express instance`,
      'behind the first middleware of declarest',
      `it in front, where ${describeRule(rule)} is not enforced`,
      'Mount it in main.ts with app.use(), or remove the rule',
    );
  }

  private compileOutside(routes: readonly Route[]): RouteAccess {
    return compileRouteAccess(routes, { rules: this.policy.rules, fallback: PUBLIC }, this.table.isCaseSensitive);
  }

  get entries(): RouteAccess['entries'] {
    return [...this.inside.entries, ...this.outsideRoutes.entries];
  }

  get rows(): readonly AccessRow[] {
    return accessRows(this.entries, this.roles.includersOf);
  }

  /** Every role that a rule or an option names, and the base role. */
  get roleNames(): ReadonlySet<string> {
    const rules = [...this.policy.rules, ...this.entries.flatMap(({ access }) => access.rules), ...this.handlerRules];
    const named = rules.flatMap(({ effect, written = effect }) => (written.kind === 'roles' ? written.anyOf : []));
    const options = [...this.policy.enforcedRoles, ...Object.entries(this.policy.roleHierarchy).flat(2)];
    return new Set([BASE_ROLE, ...named, ...options, ...(this.hasKeys ? Object.values(CREDENTIAL_ROLES) : [])]);
  }
}

const concretePath = (path: string): ConcretePath => ({ path, params: { rest: path.slice(1) } });

/** A restricting pattern that matches none of Nest's routes decides on every path below it (contract 3.6). */
function compileUnrouted(unused: readonly Rule[]): (method: string, path: string) => boolean {
  const restricting = unused.filter(restricts);
  if (restricting.length === 0) return () => false;
  const restrictionsOf = compileMatching(restricting, foldWidely);
  const interpretations = interpretationsOf(ANY_PATH);
  return (method, path) => {
    const clean = cleanLevels(path);
    const all = clean ? [clean.map(foldWidely)] : interpretations(concretePath(path));
    return all.flatMap(restrictionsOf).some((rule) => governs(rule, method));
  };
}
