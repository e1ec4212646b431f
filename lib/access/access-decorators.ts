/** Rules on controllers and handlers. They apply after every URL rule: those of the class first, then of the method. */
import { Inject, Injectable, Logger, Optional, UseGuards, type CanActivate } from '@nestjs/common';
import { CREDENTIAL_ROLES } from '../http/caller.js';
import { areNames, describe, expectKnownNames, InvalidOptionError } from '../options/invalid-option.js';
import { declaredRoute, type RouteAccess } from '../routes/declared-route.js';
import type { Effect, Rule } from './decide.js';
import { Authenticator } from './identity/authenticator.js';
import { markOwn } from '../http/own-code.js';

type Decorator = ClassDecorator & MethodDecorator;

type DecoratedEffect = Pick<Rule, 'effect' | 'declaredBy'>;

const DECORATED = Symbol('declarest.decoratedAccess');

/** The guard of every handler with an access decorator. Warns at startup where no module applies it. */
@markOwn
@Injectable()
class AppliedCheck implements CanActivate {
  constructor(@Optional() @Inject(Authenticator) authenticator?: Authenticator) {
    if (!authenticator)
      new Logger('SecurityRules').warn(
        'Access decorators such as @Roles() do nothing without AuthModule or AccessModule. Add one of them to the imports of the root module.',
      );
  }

  canActivate(): boolean {
    return true;
  }
}

/**
 * Opens a handler, or all handlers of a controller, that a broad `requireAuth` restricts. The application refuses to start
 * where it would open what requires a role, including `@Roles` of its class. On a class it never opens a method's `@Roles`.
 * @example @Public() @Get('status') status() { return { up: true }; }
 */
export const Public = (): Decorator => decorate('Public', { kind: 'public' });

/**
 * Requires a valid token.
 * @param only with the plugin `apiKeys()`, which tokens: keys, or those of a login @throws InvalidOptionError for others
 * @example @Authenticated({ by: ['key'] }) @Post('import') import() {}
 */
export function Authenticated(only: { readonly by?: readonly (keyof typeof CREDENTIAL_ROLES)[] } = {}): Decorator {
  expectKnownNames('The argument of @Authenticated', only, ['by']);
  if (only.by === undefined) return decorate('Authenticated', { kind: 'authenticated' });
  const roles = [only.by].flat().map((each) => CREDENTIAL_ROLES[each]);
  return rolesDecorator('Authenticated', roles, '"key" or "login"', '{ by: ["key"] }');
}

/** Requires a valid token with any of the roles. Roles compare exactly. @throws InvalidOptionError without a role */
export const Roles = (...roles: [string, ...string[]]): Decorator =>
  rolesDecorator('Roles', roles, 'names of roles', '"ADMIN"');

function rolesDecorator(name: string, roles: readonly string[], expected: string, example: string): Decorator {
  if (roles.length > 0 && areNames(roles)) return decorate(name, { kind: 'roles', anyOf: roles });
  const got = roles.length === 0 ? 'none' : roles.map(describe).join(', ');
  throw new InvalidOptionError(`The arguments of @${name}`, expected, got, `Write for example @${name}(${example})`);
}

function decorate(name: string, effect: Effect): Decorator {
  return (target: object, property: string | symbol = '', descriptor?: PropertyDescriptor): void => {
    const decorated = (descriptor?.value ?? target) as object;
    const owner = descriptor ? `${target.constructor.name}.${String(property)}` : (target as { name: string }).name;
    const earlier = (Reflect.getOwnMetadata(DECORATED, decorated) ?? []) as readonly DecoratedEffect[];
    // Otherwise the order in which the decorators are written would decide.
    const opposite = earlier.find((each) => (each.effect.kind === 'public') !== (effect.kind === 'public'));
    if (opposite)
      throw new InvalidOptionError(
        `@${name} on ${owner}`,
        'the only kind of access there, public or restricted',
        opposite.declaredBy,
        'Remove one of the two',
      );
    UseGuards(AppliedCheck)(target as never, property, descriptor as never);
    // Decorators run from the lowest to the highest: this keeps the order in which they are written.
    Reflect.defineMetadata(DECORATED, [{ effect, declaredBy: `@${name} on ${owner}` }, ...earlier], decorated);
  };
}

/** The decorators of a method replace the access that its resource declares. Those of the class come after that. */
export function decoratedEffects(controller: object | undefined, handler: object): readonly DecoratedEffect[] {
  const effectsOf = (target: object | undefined): readonly DecoratedEffect[] =>
    (target && (Reflect.getMetadata(DECORATED, target) as readonly DecoratedEffect[] | undefined)) ?? [];
  const [ofClass, ofMethod] = [effectsOf(controller), effectsOf(handler)];
  const { operationAccess } = declaredRoute(handler) ?? {};
  if (!operationAccess || ofMethod.length > 0) return [...ofClass, ...ofMethod];
  return [{ effect: effectOf(operationAccess.access), declaredBy: operationAccess.declaredBy }, ...ofClass];
}

export const effectOf = (access: RouteAccess['access']): Effect =>
  typeof access === 'string' ? { kind: access } : { kind: 'roles', ...access };
