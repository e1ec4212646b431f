/** The rules of the application, found and compiled at boot, asked by the guard. */
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { pathOf, templateOf, type HttpRequest } from '../http/request-facts.js';
import { InvalidOptionError, isClass } from '../options/invalid-option.js';
import type { MountedPath } from '../routes/mounts.js';
import { RouteTable } from '../routes/route-table.js';
import { ACCESS_BY_NAME, AUTHENTICATED, BASE_ROLE, DENIED, PUBLIC, type Access, type DefaultAccess } from './access.js';
import { noteClassAccess } from './access-decorators.js';
import { accessRows, accessTable, type AccessRow } from './access-rows.js';
import { compileRoleHierarchy, type RoleHierarchy, type RoleInclusion } from './role-hierarchy.js';
import { compileRouteAccess, type RouteAccess, type RouteEntry } from './route-access.js';
import { doubtsAbout, type CompiledRules } from './rule-doubts.js';
import { asEnforced, describeRule, isEnforced, refuseContradictions, type Rule } from './rules.js';
import { declaredRules, SecurityConfig, takeCharge } from './security-config.js';

export interface SecurityOptions {
  readonly defaultAccess: DefaultAccess | undefined;
  readonly enforcedRoles: readonly string[] | undefined;
  readonly roleHierarchy: RoleHierarchy;
  readonly strict: boolean;
  readonly explainRefusals: boolean;
}

export const SECURITY_OPTIONS = Symbol('declarest.securityOptions');

@Injectable()
export class SecurityRules implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('SecurityRules');
  private readonly configs = new Set<SecurityConfig>();
  private compiled: CompiledRules | undefined;
  readonly roles: RoleInclusion;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly host: HttpAdapterHost,
    @Inject(SECURITY_OPTIONS) private readonly options: SecurityOptions,
  ) {
    RouteTable.watch(host);
    this.roles = compileRoleHierarchy(options.roleHierarchy);
    for (const { metatype } of discovery.getControllers()) if (isClass(metatype)) noteClassAccess(metatype);
  }

  onModuleInit(): void {
    for (const wrapper of this.discovery.getProviders()) {
      const config: unknown = wrapper.instance;
      // Of a factory that has a scope there is no instance: then the token tells.
      const declared = [config, wrapper.metatype, wrapper.token].find(isConfig);
      if (declared && (!wrapper.isDependencyTreeStatic() || wrapper.isTransient))
        throw new InvalidOptionError(
          wrapper.name,
          'a singleton provider',
          'a request-scoped or transient one',
          'remove its scope and the request-scoped providers that it injects',
        );
      if (!(config instanceof SecurityConfig)) continue;
      takeCharge(config);
      this.configs.add(config);
    }
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const config of this.configs) await config.configure();
    await RouteTable.of(this.host.httpAdapter).complete();
    const declared = [...this.configs].flatMap(declaredRules);
    refuseContradictions(declared);
    const rules = declared.map((rule) => asEnforced(rule, this.options.enforcedRoles));
    // The default is Nest's routes' alone: what main.ts adds is public until a rule speaks of it.
    this.compiled = { rules, inside: this.compile(rules, this.fallback()), outside: this.compile(rules, PUBLIC, true) };
    this.report(declared, this.compiled);
  }

  /** Whether a refusal names the rule that made it. */
  get explainsRefusals(): boolean {
    return this.options.explainRefusals;
  }

  /** Who reaches what: one entry for each method of each route. Complete when the application is up. */
  get entries(): readonly RouteEntry[] {
    return this.compiled ? [...this.compiled.inside.entries, ...this.compiled.outside.entries] : [];
  }

  /** A route that was not there at boot lets nobody in. */
  accessOf(request: HttpRequest, handler: object): Access {
    return lookUp(this.compiled?.inside, request, { handler }) ?? DENIED;
  }

  /** Of what serves beside Nest's routes, which main.ts may add at any time. */
  accessOfOutside(request: HttpRequest, at?: MountedPath): Access {
    const { compiled } = this;
    if (!compiled) return DENIED;
    const known = lookUp(compiled.outside, request, { at });
    if (known) return known;
    this.compiled = { ...compiled, outside: this.compile(compiled.rules, PUBLIC, true) };
    return lookUp(this.compiled.outside, request, { at }) ?? DENIED;
  }

  private compile(rules: readonly Rule[], fallback: Access, outside = false): RouteAccess {
    const table = RouteTable.of(this.host.httpAdapter);
    const routes = outside ? table.outsiders : table.routes.filter((route) => !route.outside);
    return compileRouteAccess(routes, { rules, fallback }, table.reading);
  }

  /** The same for people. */
  get rows(): AccessRow[] {
    return accessRows(this.entries, this.roles.includersOf);
  }

  /** Every role that a rule or the hierarchy names, and the base role. */
  get roleNames(): ReadonlySet<string> {
    const rules = [...[...this.configs].flatMap(declaredRules), ...this.entries.flatMap(({ access }) => access.by)];
    const ofRules = rules.flatMap(({ effect }) => (effect.kind === 'roles' ? effect.anyOf : []));
    return new Set([BASE_ROLE, ...ofRules, ...Object.entries(this.options.roleHierarchy).flat(2)]);
  }

  /** Who gets in where no rule speaks of one of Nest's routes. */
  fallback(): Access {
    const { defaultAccess } = this.options;
    if (defaultAccess !== undefined) return ACCESS_BY_NAME[defaultAccess];
    return this.configs.size === 0 ? PUBLIC : AUTHENTICATED;
  }

  private report(declared: readonly Rule[], compiled: CompiledRules): void {
    if (Logger.isLevelEnabled('log')) this.logger.log(`Who reaches what:\n${accessTable(this.rows)}`);
    if (this.configs.size === 0 && this.options.defaultAccess === undefined)
      this.logger.warn(
        'No SecurityConfig is declared: every route that no decorator closes is open. Add a provider that extends SecurityConfig, or set defaultAccess.',
      );
    const lenient = declared.filter((rule) => !isEnforced(rule, this.options.enforcedRoles));
    if (lenient.length > 0)
      this.logger.warn(
        `Roles outside enforcedRoles ask for a valid token only: ${lenient.map(describeRule).join(', ')}.`,
      );
    const doubts = doubtsAbout(compiled, this.roles, declared.length === 0 && !this.options.strict);
    if (this.options.strict && doubts.length > 0)
      throw new InvalidOptionError(
        'AuthModule option `strict`',
        'rules that leave no doubt',
        doubts.join(' '),
        'correct the rules, or set strict to false for warnings',
      );
    for (const doubt of doubts) this.logger.warn(doubt);
  }
}

function lookUp(
  compiled: RouteAccess | undefined,
  request: HttpRequest,
  { handler, at }: { readonly handler?: object; readonly at?: MountedPath | undefined },
): Access | undefined {
  const { template, path, params } = at ?? {
    template: templateOf(request),
    path: pathOf(request),
    params: request.params ?? {},
  };
  const access = template === undefined ? undefined : compiled?.of(template, request.method, handler);
  return access?.({ path, params });
}

const isConfig = (value: unknown): boolean =>
  value instanceof SecurityConfig || (isClass(value) && value.prototype instanceof SecurityConfig);
