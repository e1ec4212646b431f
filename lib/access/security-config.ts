import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { describe, InvalidOptionError } from '../options/invalid-option.js';
import { parsePattern } from './pattern.js';
import type { PolicyFunction } from './policy.js';
import type { Effect, Rule } from './rules.js';

/** Reads what a configuration has declared; kept out of the class's public face. */
export const declaredRules = (config: SecurityConfig): readonly Rule[] => config[RULES];

const RULES = Symbol('declarest.rules');
const governed = new WeakSet<SecurityConfig>();

/** Refuses to start an application whose rules nobody applies. */
function expectGoverned(config: SecurityConfig): void {
  if (!governed.has(config))
    throw new InvalidOptionError(
      config.constructor.name,
      'an application that imports AuthModule, which applies its rules',
      'one that does not',
      'add AuthModule.forRoot({ … }) to the imports of the root module',
    );
}

/** Called by the module that applies the rules, before any configuration may find that nobody does. */
export const takeCharge = (config: SecurityConfig): void => void governed.add(config);

/**
 * The rules of the application: any singleton provider of any module that extends this class is found at boot, and
 * several add up. Patterns are written against the path as served, global prefix and URI version included:
 *
 * - `/path` that path, `/path/*` exactly one level below, `/path/**` the path and all levels below;
 * - methods may stand in front: `GET /api/products/**`, `POST,PUT /api/x/*`; GET includes HEAD.
 *
 * Where patterns overlap, the narrower one is applied later; the order of declaration never matters.
 */
@Injectable()
export abstract class SecurityConfig {
  /** @internal */
  readonly [RULES]: Rule[] = [];

  constructor() {
    // An own property, so that a hook that the subclass has runs behind the check instead of in its place.
    const { onApplicationBootstrap: own } = this as Partial<OnApplicationBootstrap>;
    const checked = (): unknown => {
      expectGoverned(this);
      return own?.call(this);
    };
    Object.defineProperty(this, 'onApplicationBootstrap', { value: checked });
  }

  /** Declares the rules with the three methods below; may be async. Called once, at boot. */
  abstract configure(): void | Promise<void>;

  /** Needs nothing: opens what broader rules closed. */
  protected publicEndpoints(...patterns: string[]): void {
    this.declare('publicEndpoints', { kind: 'public' }, patterns);
  }

  /** Needs a valid token. */
  protected requireAuth(...patterns: string[]): void {
    this.declare('requireAuth', { kind: 'authenticated' }, patterns);
  }

  /**
   * Needs a valid token with that role, or with any of several. Roles compare exactly; any token has `USER`. Several
   * rules add up.
   *
   * @param role such as `ADMIN`, or `['ADMIN', 'EDITOR']`
   */
  protected requireRole(role: string | readonly string[], ...patterns: string[]): void {
    this.declare('requireRole', { kind: 'roles', anyOf: this.rolesOf('requireRole', role) }, patterns);
  }

  /** Needs a valid token with every one of the roles. */
  protected requireAllRoles(roles: readonly string[], ...patterns: string[]): void {
    for (const role of this.rolesOf('requireAllRoles', roles))
      this.declare('requireAllRoles', { kind: 'roles', anyOf: [role] }, patterns);
  }

  /** Nobody gets in, until a narrower rule opens. */
  protected denyAll(...patterns: string[]): void {
    this.declare('denyAll', { kind: 'denied' }, patterns);
  }

  /**
   * Needs a valid token, and that `allows` answers the boolean `true`; it may be async, and a throw refuses.
   *
   * @param name for the refusal (`owner` → `{error: "Owner access required"}`) and the access report
   */
  protected requirePolicy(name: string, allows: PolicyFunction, ...patterns: string[]): void {
    const [checked = ''] = this.rolesOf('requirePolicy', name, 'the name of a policy');
    if (typeof allows !== 'function')
      throw new InvalidOptionError(
        `${this.constructor.name}.requirePolicy`,
        'a function as the second argument',
        describe(allows),
        'give a function that answers true or false',
      );
    this.declare('requirePolicy', { kind: 'policy', policy: { name: checked, allows } }, patterns);
  }

  private rolesOf(
    method: string,
    given: string | readonly string[],
    expected = 'the name of a role, or an array of names',
  ): readonly string[] {
    const roles = [given].flat();
    if (
      roles.length === 0 ||
      !roles.every((role) => typeof role === 'string' && role.trim() !== '' && role.trim() === role)
    )
      throw new InvalidOptionError(
        `${this.constructor.name}.${method}`,
        expected,
        describe(given),
        'give for example "ADMIN" as the first argument',
      );
    return roles;
  }

  private declare(method: string, effect: Effect, patterns: readonly string[]): void {
    const declaredBy = `${this.constructor.name}.${method}`;
    if (patterns.length === 0)
      throw new InvalidOptionError(declaredBy, 'at least one pattern', 'none', 'give a pattern such as "/api/**"');
    for (const text of patterns) this[RULES].push({ pattern: parsePattern(text, declaredBy), effect, declaredBy });
  }
}
