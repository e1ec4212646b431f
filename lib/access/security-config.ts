import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import type { Effect, PolicyFunction, Rule } from './decide.js';
import { parsePattern } from './pattern.js';

const RULES = Symbol('declarest.rules');
const IS_APPLIED = Symbol('declarest.areRulesApplied');
const ROLE_NAMES = 'called with the name of a role, or an array of names';

export const declaredRules = (config: SecurityConfig): readonly Rule[] => config[RULES];
export const markApplied = (config: SecurityConfig): void => void (config[IS_APPLIED] = true);

/**
 * The access rules of the application. At startup, every singleton provider of any module that extends this class is found;
 * several add up. Patterns describe the path as served, global prefix and URI version included:
 *
 * - `/path` matches that path, `/path/*` exactly one level below, `/path/**` the path and all levels below.
 * - Methods may come first: `GET /api/products/**`, `POST,PUT /api/x/*`. GET includes HEAD.
 *
 * Where patterns overlap, the narrower one applies later. The order of declaration never matters.
 * @example
 * ```ts
 * @Injectable()
 * export class ShopSecurity extends SecurityConfig {
 *   configure() {
 *     this.requireAuth('/api/**');
 *     this.publicEndpoints('GET /api/products/**');
 *     this.requireRole('ADMIN', '/api/admin/**');
 *   }
 * }
 * ```
 */
@Injectable()
export abstract class SecurityConfig {
  /** @internal */
  readonly [RULES]: Rule[] = [];
  /** @internal */
  [IS_APPLIED] = false;

  constructor() {
    // A subclass may have this hook itself: it runs after the check.
    const { onApplicationBootstrap: own } = this as Partial<OnApplicationBootstrap>;
    const checkAndRun = (): unknown => {
      if (!this[IS_APPLIED])
        throw new InvalidOptionError(
          this.constructor.name,
          'in an application that imports AuthModule or AccessModule, which apply its rules',
          'one without both',
          'Add AuthModule.forRoot({ … }) or AccessModule.forRoot({ … }) to the imports of the root module',
        );
      return own?.call(this);
    };
    Object.defineProperty(this, 'onApplicationBootstrap', { value: checkAndRun, writable: true, configurable: true });
  }

  /** Declares the rules with the methods below. May be async. Called once, at startup. */
  abstract configure(): void | Promise<void>;

  /** Requires nothing: opens what broader rules restrict. */
  protected publicEndpoints(...patterns: string[]): void {
    this.declare('publicEndpoints', { kind: 'public' }, patterns);
  }

  /** Requires a valid token. */
  protected requireAuth(...patterns: string[]): void {
    this.declare('requireAuth', { kind: 'authenticated' }, patterns);
  }

  /**
   * Requires a valid token with that role, or with any of several. Roles compare exactly; every token has `USER`. Several
   * rules add up.
   * @param role such as `ADMIN`, or `['ADMIN', 'EDITOR']`
   */
  protected requireRole(role: string | readonly string[], ...patterns: string[]): void {
    this.declare('requireRole', { kind: 'roles', anyOf: this.rolesOf('requireRole', role) }, patterns);
  }

  /** Requires a valid token with all of the roles. */
  protected requireAllRoles(roles: readonly string[], ...patterns: string[]): void {
    for (const role of this.rolesOf('requireAllRoles', roles))
      this.declare('requireAllRoles', { kind: 'roles', anyOf: [role] }, patterns);
  }

  /** Denies access to everybody, until a narrower rule opens. */
  protected denyAll(...patterns: string[]): void {
    this.declare('denyAll', { kind: 'denied' }, patterns);
  }

  /**
   * Requires a valid token, and that `allows` returns the boolean `true`. It may be async; an exception refuses.
   * @param name for the refusal (`owner` → `{error: "Owner access required"}`) and the access report
   */
  protected requirePolicy(name: string, allows: PolicyFunction, ...patterns: string[]): void {
    const [checked = ''] = this.rolesOf('requirePolicy', name, 'called with the name of a policy');
    if (typeof allows !== 'function') {
      const expected = 'called with a function as its second argument';
      const advice = 'Give a function that returns true or false';
      throw new InvalidOptionError(`${this.constructor.name}.requirePolicy`, expected, describe(allows), advice);
    }
    this.declare('requirePolicy', { kind: 'policy', policy: { name: checked, allows } }, patterns);
  }

  private rolesOf(method: string, given: string | readonly string[], expected = ROLE_NAMES): readonly string[] {
    const roles = [given].flat();
    const isName = (role: unknown): boolean => typeof role === 'string' && role !== '' && role.trim() === role;
    if (roles.length === 0 || !roles.every(isName)) {
      const advice = 'Write for example "ADMIN" as the first argument';
      throw new InvalidOptionError(`${this.constructor.name}.${method}`, expected, describe(given), advice);
    }
    return roles;
  }

  private declare(method: string, effect: Effect, patterns: readonly string[]): void {
    const declaredBy = `${this.constructor.name}.${method}`;
    if (patterns.length === 0) {
      const advice = 'Add a pattern such as "/api/**"';
      throw new InvalidOptionError(`The arguments of ${declaredBy}`, 'one pattern or more', 'none', advice);
    }
    for (const text of patterns) this[RULES].push({ pattern: parsePattern(text, declaredBy), effect, declaredBy });
  }
}
