/**
 * Rules on controllers and handlers, the narrowest of all: those of the class behind every URL rule, those of the
 * method behind those of the class.
 */
import { InvalidOptionError } from '../options/invalid-option.js';
import type { Effect } from './rules.js';

type Decorator = ClassDecorator & MethodDecorator;

export interface DecoratedEffect {
  readonly effect: Effect;
  /** `@Public on OrdersController.list` */
  readonly declaredBy: string;
}

const DECORATED = Symbol('declarest.decoratedAccess');
const OF_ROUTE = Symbol('declarest.accessOfRoute');

/**
 * Opens a handler, or all of a controller, that a broad `requireAuth` closed. Refuses to boot where it would open what
 * asks for a role, its class's `@Roles` among it; a class's never opens a method's `@Roles`.
 */
export const Public = (): Decorator => decorate('Public', { kind: 'public' });

/** Needs a valid token. */
export const Authenticated = (): Decorator => decorate('Authenticated', { kind: 'authenticated' });

/** Needs a valid token with any of the roles. */
export function Roles(...roles: [string, ...string[]]): Decorator {
  if (roles.length === 0 || !roles.every((role) => typeof role === 'string' && role.trim() !== ''))
    throw new InvalidOptionError(
      '@Roles',
      'names of roles',
      roles.length === 0 ? 'none' : 'another value',
      'give for example @Roles("ADMIN")',
    );
  return decorate('Roles', { kind: 'roles', anyOf: roles });
}

function decorate(name: string, effect: Effect): Decorator {
  return (target: object, property?: string | symbol, descriptor?: PropertyDescriptor): void => {
    const decorated = (descriptor?.value ?? target) as object;
    const owner = descriptor ? `${target.constructor.name}.${String(property)}` : (target as { name: string }).name;
    const earlier = (Reflect.getOwnMetadata(DECORATED, decorated) ?? []) as readonly DecoratedEffect[];
    // As of two URL rules of one pattern: else the order in which they are written would decide.
    const opposite = earlier.find((each) => (each.effect.kind === 'public') !== (effect.kind === 'public'));
    if (opposite)
      throw new InvalidOptionError(
        `@${name} on ${owner}`,
        'what is either public or restricted',
        opposite.declaredBy,
        'keep one of the two',
      );
    // Decorators run from the lowest up: the order in which they are written is kept.
    Reflect.defineMetadata(DECORATED, [{ effect, declaredBy: `@${name} on ${owner}` }, ...earlier], decorated);
  };
}

const NONE: readonly DecoratedEffect[] = [];

const decoratedOf = (target: object): readonly DecoratedEffect[] =>
  (Reflect.getMetadata(DECORATED, target) ?? NONE) as readonly DecoratedEffect[];

/** What the decorators say of a route, read from the handler, onto which Nest copies the metadata of the method. */
export const decoratedAccess = (handler: object): readonly DecoratedEffect[] =>
  (Reflect.getOwnMetadata(OF_ROUTE, handler) ??
    Reflect.getOwnMetadata(DECORATED, handler) ??
    NONE) as readonly DecoratedEffect[];

/**
 * Before the routes are registered: notes on each method what its class says, because a handler knows its method only.
 * A method that is inherited from a class that others inherit from too gets a stand-in of its own.
 */
export function noteClassAccess(controller: { readonly prototype: object }): void {
  const ofClass = decoratedOf(controller);
  if (ofClass.length === 0) return;
  for (const name of methodNames(controller.prototype)) {
    const method: unknown = Reflect.get(controller.prototype, name);
    if (typeof method !== 'function' || !Reflect.hasMetadata('path', method)) continue;
    const own = Object.hasOwn(controller.prototype, name) ? method : standInFor(method);
    if (own !== method)
      Object.defineProperty(controller.prototype, name, { value: own, writable: true, configurable: true });
    Reflect.defineMetadata(OF_ROUTE, [...ofClass, ...decoratedOf(method)], own);
  }
}

function methodNames(prototype: object): Set<string> {
  const names = new Set<string>();
  for (let each = prototype; each !== Object.prototype; each = Object.getPrototypeOf(each) as object)
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(each)))
      if (typeof value === 'function' && name !== 'constructor') names.add(name);
  return names;
}

function standInFor(method: object): object {
  const standIn = function (this: unknown, ...args: unknown[]): unknown {
    return (method as (...args: unknown[]) => unknown).apply(this, args);
  };
  for (const key of Reflect.getMetadataKeys(method))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), standIn);
  return standIn;
}
