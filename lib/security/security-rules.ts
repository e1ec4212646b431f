/** The rules of the application, found and compiled at boot, asked by the guard. */
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost } from '@nestjs/core';
import { pathOf, templateOf, type HttpRequest } from '../http/request-facts.js';
import { InvalidOptionError, isClass } from '../options/invalid-option.js';
import { RouteTable } from '../routing/route-table.js';
import { ACCESS_BY_NAME, AUTHENTICATED, DENIED, PUBLIC, type Access, type DefaultAccess } from './access.js';
import { compileRouteAccess, type RouteAccess } from './route-access.js';
import { refuseContradictions, type Rule } from './rules.js';
import { declaredRules, SecurityConfig, takeCharge } from './security-config.js';

export interface SecurityOptions {
  readonly defaultAccess: DefaultAccess | undefined;
  readonly enforcedRoles: readonly string[] | undefined;
}

export const SECURITY_OPTIONS = Symbol('declarest.securityOptions');

@Injectable()
export class SecurityRules implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('SecurityRules');
  private readonly configs = new Set<SecurityConfig>();
  private compiled: RouteAccess | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly host: HttpAdapterHost,
    @Inject(SECURITY_OPTIONS) private readonly options: SecurityOptions,
  ) {
    RouteTable.watch(host);
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
    const declared = [...this.configs].flatMap(declaredRules);
    refuseContradictions(declared);
    const table = RouteTable.of(this.host.httpAdapter);
    const policy = { rules: declared.map((rule) => this.enforced(rule)), fallback: this.fallback() };
    this.compiled = compileRouteAccess(table.routes, policy, table.reading);
    this.warn(declared, this.compiled);
  }

  /** A route that was not there at boot lets nobody in. */
  accessOf(request: HttpRequest): Access {
    const template = templateOf(request);
    const access = template === undefined ? undefined : this.compiled?.of(template, request.method);
    return access?.({ path: pathOf(request), params: request.params ?? {} }) ?? DENIED;
  }

  private fallback(): Access {
    const { defaultAccess } = this.options;
    if (defaultAccess !== undefined) return ACCESS_BY_NAME[defaultAccess];
    return this.configs.size === 0 ? PUBLIC : AUTHENTICATED;
  }

  private isEnforced(rule: Rule): boolean {
    return rule.effect.kind !== 'role' || (this.options.enforcedRoles?.includes(rule.effect.role) ?? true);
  }

  private enforced(rule: Rule): Rule {
    return this.isEnforced(rule) ? rule : { ...rule, effect: { kind: 'authenticated' } };
  }

  private warn(declared: readonly Rule[], { idle, outside }: RouteAccess): void {
    if (this.configs.size === 0 && this.options.defaultAccess === undefined)
      this.logger.warn(
        'No SecurityConfig is declared: every route is open. Add a provider that extends SecurityConfig, or set defaultAccess.',
      );
    const lenient = declared.filter((rule) => !this.isEnforced(rule));
    if (lenient.length > 0)
      this.logger.warn(`Roles outside enforcedRoles ask for a valid token only: ${lenient.map(nameOf).join(', ')}.`);
    for (const { method, path } of outside)
      this.logger.warn(`${method} ${path} was added to the HTTP adapter, where no guard runs: no rule protects it.`);
    for (const rule of idle)
      this.logger.warn(
        `${nameOf(rule)} matches no route: correct the pattern (global prefix and version included) or remove it.`,
      );
  }
}

const isConfig = (value: unknown): boolean =>
  value instanceof SecurityConfig || (isClass(value) && value.prototype instanceof SecurityConfig);

const nameOf = ({ declaredBy, pattern, effect }: Rule): string =>
  `${declaredBy}(${effect.kind === 'role' ? `"${effect.role}", ` : ''}"${pattern.text}")`;
