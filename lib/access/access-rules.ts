/** Finds the rules of the application at startup, compiles them against its routes, and reports the result. */
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { CallerRoles } from '../http/caller.js';
import { Application, type AppliedRules } from '../routes/application.js';
import { controllerMethods } from '../routes/controller-methods.js';
import { refuseCollisions } from '../routes/route-collision.js';
import { ACCESS_BY_NAME, asEnforced, describeRule, refuseContradictions } from './decide.js';
import { ACCESS_OPTIONS, type AccessOptions } from './access-options.js';
import { formatAccessRows, type AccessRow } from './access-rows.js';
import { CompiledAccess } from './compiled-access.js';
import { findHandlers, type ContextHandler } from './other-contexts.js';
import { findCachedRoutes, findRuleWarnings } from './rule-warnings.js';
import { declaredRules, markApplied, SecurityConfig } from './security-config.js';

@Injectable()
export class AccessRules implements AppliedRules, OnModuleInit, OnApplicationBootstrap {
  readonly isStrict: boolean;
  /** `undefined` until the application has started. */
  compiled: CompiledAccess | undefined;
  private readonly logger = new Logger('SecurityRules');
  private readonly configs = new Set<SecurityConfig>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly application: Application,
    @Inject(ACCESS_OPTIONS) readonly options: AccessOptions,
  ) {
    this.isStrict = options.strict;
  }

  onModuleInit(): void {
    for (const config of this.application.singletonsOf(SecurityConfig)) {
      markApplied(config);
      this.configs.add(config);
    }
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const config of this.configs) await config.configure();
    const { routeTable, modules } = this.application;
    await routeTable.complete();
    refuseCollisions(routeTable.routes, routeTable.isCaseSensitive);
    const declared = [...this.configs].flatMap(declaredRules);
    refuseContradictions(declared);
    const handlers = findHandlers(this.discovery);
    const { defaultAccess = this.configs.size === 0 ? 'public' : 'authenticated', enforcedRoles } = this.options;
    const policy = {
      rules: declared.map((rule) => asEnforced(rule, enforcedRoles)),
      fallback: ACCESS_BY_NAME[defaultAccess],
      roleHierarchy: this.options.roleHierarchy,
      enforcedRoles: enforcedRoles ?? [],
    };
    const roles = this.application.stateOf(CallerRoles);
    const compiled = new CompiledAccess(routeTable, controllerMethods(modules), policy, handlers, roles.hasKeys);
    compiled.refuseUnenforced();
    this.compiled = compiled;
    roles.names = new Set([...compiled.roleNames, ...roles.ofOptions]);
    if (compiled.roles.isDeclared) roles.expand = compiled.roles.expand;
    this.report(compiled, handlers, roles.names);
  }

  /** Whether a rule or an option names a role. Before the start, every role counts as named. */
  isNamed(role: string): boolean {
    return !this.compiled || this.application.stateOf(CallerRoles).names.has(role);
  }

  private report(compiled: CompiledAccess, handlers: readonly ContextHandler[], roleNames: ReadonlySet<string>): void {
    const { strict, defaultAccess } = this.options;
    const { rules, fallback } = compiled.policy;
    if (Logger.isLevelEnabled('log')) this.logger.log(`Route access:\n${formatAccessRows(compiled.rows)}`);
    const unenforced = rules.filter(({ written }) => written).map(describeRule);
    const mounts = rules.length > 0 ? compiled.table.mountsAboveRoutes : [];
    const undecorated = handlers.filter((each) => each.isUndecorated && fallback.kind !== 'public');
    const doubts = [
      this.configs.size === 0 &&
        defaultAccess === undefined &&
        'No SecurityConfig found: every route that declares no access itself is open to everybody. Add a provider that extends SecurityConfig, or set defaultAccess.',
      unenforced.length > 0 &&
        `Rules for roles outside enforcedRoles require only a valid token: ${unenforced.join(', ')}.`,
      mounts.length > 0 &&
        `Rules do not apply to what the functions mounted at ${mounts.join(', ')} answer themselves, because controllers have routes there too. Mount files and sub-applications at a path of their own.`,
      undecorated.length > 0 &&
        `URL rules do not apply to gateways and resolvers, so the default access decides for ${undecorated.map(({ name }) => name).join(', ')}. Add @Public(), @Authenticated() or @Roles().`,
    ];
    for (const doubt of doubts) if (doubt) this.logger.warn(doubt);
    // A command of the application has no server, and so no routes.
    if (!this.application.adapter) return;
    const warnings = findRuleWarnings(compiled, rules.length === 0 && !strict, roleNames);
    this.application.refuseDoubts(warnings);
    const cached = findCachedRoutes(compiled, this.application.config.getGlobalInterceptors());
    for (const warning of [...warnings, ...cached]) this.logger.warn(warning);
  }
}

/**
 * Who has access to which route, and why, as data. Inject it, and read it after the application has started.
 * @example const open = app.get(AccessReport).rows.filter(({ access }) => access === 'public');
 */
@Injectable()
export class AccessReport {
  constructor(private readonly rules: AccessRules) {}

  /** One row for each method of each route of the application, generated or not. Empty before the start. */
  get rows(): readonly AccessRow[] {
    return this.rules.compiled?.rows ?? [];
  }
}
