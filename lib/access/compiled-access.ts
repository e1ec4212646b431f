/** The access rules of one application, compiled against its routes. */
import { BASE_ROLE } from '../http/principal.js';
import type { ControllerMethod } from '../routes/controller-methods.js';
import type { RouteTable } from '../routes/route-table.js';
import { DENIED, PUBLIC, type Access } from './access.js';
import { accessRows, type AccessRow } from './access-rows.js';
import { compileOutsideAccess, type OutsideAccess } from './outside-access.js';
import { compileRoleHierarchy, type RoleHierarchy, type RoleInclusion } from './role-hierarchy.js';
import {
  compileRouteAccess,
  decoratorRules,
  type RouteAccess,
  type RouteHandler,
  type RulePolicy,
} from './route-access.js';
import type { Rule } from './rule.js';
import { fold } from './rules.js';
import type { ConcretePath } from './path-interpretations.js';

export class CompiledAccess {
  readonly roles: RoleInclusion;
  readonly inside: RouteAccess;
  readonly outside: OutsideAccess;
  private readonly handlerRules: readonly Rule[];

  constructor(
    readonly table: RouteTable,
    readonly methods: readonly ControllerMethod[],
    readonly policy: RulePolicy & { readonly roleHierarchy: RoleHierarchy; readonly enforcedRoles: readonly string[] },
    /** Of other contexts than HTTP. */
    handlers: readonly ControllerMethod[],
  ) {
    this.roles = compileRoleHierarchy(policy.roleHierarchy);
    this.inside = compileRouteAccess(table.controllerRoutes, policy, table.routerOptions, methods);
    this.outside = compileOutsideAccess(policy.rules, this.inside.used, table.routerOptions);
    this.handlerRules = handlers.flatMap((each) => this.ofHandler(each).rules);
  }

  /** The access of a controller's route. A route that did not exist at startup is denied. */
  ofRoute(template: string | undefined, method: string, path: ConcretePath, handler: RouteHandler): Access {
    return (template !== undefined && this.inside.of(template, method, handler)?.(path)) || DENIED;
  }

  /** The access of a request that Nest's guards do not see; `undefined` where no rule decides. */
  ofRequestOutside(method: string, path: string): Access | undefined {
    return this.table.findPlatformRoute(method, path)
      ? this.outside.ofPath(method, path)
      : this.outside.ofUnroutedPath(method, path);
  }

  /** The access of a WebSocket, GraphQL or microservice handler: its decorators apply to the default access. */
  ofHandler({ controller, method }: ControllerMethod): Access {
    const pattern = { text: '', methods: [], levels: [], tail: '' } as const;
    const rules = decoratorRules(controller, method, pattern, [], `a handler of ${controller.name}`);
    return fold(this.policy.fallback, rules);
  }

  /** The access of the known routes and mounts outside Nest's routes, for reports. Routes may be added after the start. */
  get outsideRoutes(): RouteAccess {
    const { platformRoutes, routerOptions } = this.table;
    return compileRouteAccess(platformRoutes, { rules: this.policy.rules, fallback: PUBLIC }, routerOptions);
  }

  /** One for each method of each route, controllers' routes first. */
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
    return new Set([BASE_ROLE, ...named, ...options]);
  }
}
