/** Finds the rules of the application at startup, compiles them against its routes, and reports the result. */
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InvalidOptionError, isClass } from '../options/invalid-option.js';
import { Application } from '../routes/application.js';
import { controllerMethods } from '../routes/controller-methods.js';
import { refuseCollisions } from '../routes/route-collision.js';
import { ACCESS_BY_NAME, type Access, type DefaultAccess } from './access.js';
import { formatAccessRows } from './access-rows.js';
import { CompiledAccess } from './compiled-access.js';
import { findHandlers, type ContextHandler } from './other-contexts.js';
import type { RoleHierarchy } from './role-hierarchy.js';
import { findRuleWarnings } from './rule-warnings.js';
import { asEnforced, describeRule, refuseContradictions } from './rules.js';
import { declaredRules, markApplied, SecurityConfig } from './security-config.js';

export interface AccessOptions {
  readonly defaultAccess: DefaultAccess | undefined;
  readonly enforcedRoles: readonly string[] | undefined;
  readonly roleHierarchy: RoleHierarchy;
  readonly strict: boolean;
  readonly explainRefusals: boolean;
}

export const ACCESS_OPTIONS = Symbol('declarest.accessOptions');

/** What the guards of an application apply, once it has started. */
const startedAccess = (): { compiled?: CompiledAccess } => ({});

@Injectable()
export class AccessRules implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('SecurityRules');
  private readonly configs = new Set<SecurityConfig>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly application: Application,
    @Inject(ACCESS_OPTIONS) readonly options: AccessOptions,
  ) {}

  /** `undefined` until the application has started. A testing module that is compiled twice keeps its first guards. */
  get compiled(): CompiledAccess | undefined {
    return this.application.once(startedAccess).compiled;
  }

  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders()) {
      const config: unknown = wrapper.instance;
      // A factory with a scope has no instance yet: its token names the class.
      const declared = [config, wrapper.metatype, wrapper.token].find(isConfig);
      if (declared && (!wrapper.isDependencyTreeStatic() || wrapper.isTransient)) {
        const advice = 'Remove its scope and the request-scoped providers that it injects';
        throw new InvalidOptionError(wrapper.name, 'a singleton provider', 'a request-scoped or transient one', advice);
      }
      if (!(config instanceof SecurityConfig)) continue;
      markApplied(config);
      this.configs.add(config);
    }
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const config of this.configs) await config.configure();
    const { routeTable, modules } = this.application;
    await routeTable.complete();
    refuseCollisions(routeTable.routes, routeTable.routerOptions.caseSensitive);
    const declared = [...this.configs].flatMap(declaredRules);
    refuseContradictions(declared);
    const handlers = findHandlers(this.discovery);
    const policy = {
      rules: declared.map((rule) => asEnforced(rule, this.options.enforcedRoles)),
      fallback: this.fallback,
      roleHierarchy: this.options.roleHierarchy,
      enforcedRoles: this.options.enforcedRoles ?? [],
    };
    const compiled = new CompiledAccess(routeTable, controllerMethods(modules), policy, handlers);
    this.application.once(startedAccess).compiled = compiled;
    this.report(compiled, handlers);
  }

  private get fallback(): Access {
    return ACCESS_BY_NAME[this.options.defaultAccess ?? (this.configs.size === 0 ? 'public' : 'authenticated')];
  }

  private report(compiled: CompiledAccess, handlers: readonly ContextHandler[]): void {
    const { strict, defaultAccess } = this.options;
    const { rules, fallback } = compiled.policy;
    this.logger.log(`Route access:\n${formatAccessRows(compiled.rows)}`);
    if (this.configs.size === 0 && defaultAccess === undefined)
      this.logger.warn(
        'No SecurityConfig found: every route without an access decorator is open to everybody. Add a provider that extends SecurityConfig, or set defaultAccess.',
      );
    const unenforced = rules.filter(({ written }) => written);
    if (unenforced.length > 0)
      this.logger.warn(
        `Rules for roles outside enforcedRoles require only a valid token: ${unenforced.map(describeRule).join(', ')}.`,
      );
    const mounts = compiled.table.mountsAboveRoutes;
    if (mounts.length > 0 && rules.length > 0)
      this.logger.warn(
        `Rules do not apply to what the functions mounted at ${mounts.join(', ')} answer themselves, because controllers have routes there too. Mount files and sub-applications at a path of their own.`,
      );
    const undecorated = handlers.filter(({ isUndecorated }) => isUndecorated && fallback.kind !== 'public');
    if (undecorated.length > 0)
      this.logger.warn(
        `URL rules do not apply to gateways and resolvers, so the default access decides for ${undecorated.map(({ name }) => name).join(', ')}. Add @Public(), @Authenticated() or @Roles().`,
      );
    const warnings = findRuleWarnings(compiled, rules.length === 0 && !strict);
    if (strict && warnings.length > 0) {
      const advice = `Set it to false, or correct the rules: ${warnings.join(' ')}`;
      throw new InvalidOptionError('AuthModule option `strict`', 'false while the rules have warnings', 'true', advice);
    }
    for (const warning of warnings) this.logger.warn(warning);
  }
}

const isConfig = (value: unknown): boolean =>
  value instanceof SecurityConfig || (isClass(value) && value.prototype instanceof SecurityConfig);
