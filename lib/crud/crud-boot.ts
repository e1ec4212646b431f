/** What is seen to at boot for every generated controller of the application. Pure but for the classes it prepares. */
import { InvalidOptionError } from '../options/invalid-option.js';
import { RequestMethod } from '@nestjs/common';
import { declareRoute } from '../routes/declared-route.js';
import { locateAnswersOf } from './created-location.js';
import { overrideDescription } from './crud-override.js';
import { declarationOf, isGenerated } from './declared-resources.js';
import type { ResolvedCrudOptions } from './crud.options.js';
import { callOf } from './generated-routes.js';

export interface ControllerClass {
  readonly name: string;
  /** Parameters of the constructor. */
  readonly length: number;
  readonly prototype: object;
}

/** With the verb and path of their decorator, for the warning about a missing one. */
const OVERRIDABLE = {
  findAll: '@Get()',
  findById: "@Get(':id')",
  create: '@Post()',
  update: "@Put(':id')",
  delete: "@Delete(':id')",
} as const;
const FIXED_PATHS = ['search', 'exists'];

const isRouted = (method: unknown): method is object =>
  typeof method === 'function' && Reflect.hasMetadata('path', method);

const isPost = (method: object): boolean => Reflect.getMetadata('method', method) === RequestMethod.POST;

/** From the class itself up to the generated one, which is the last. */
function prototypesOf({ prototype }: ControllerClass): object[] {
  const prototypes: object[] = [];
  for (let each = prototype; each !== Object.prototype; each = Object.getPrototypeOf(each) as object) {
    prototypes.push(each);
    if (isGenerated(each.constructor)) break;
  }
  return prototypes;
}

/** Overridden operations of a subclass, with their methods. */
function overridesOf(controller: ControllerClass): [name: keyof typeof OVERRIDABLE, method: object][] {
  const subclasses = prototypesOf(controller).slice(0, -1);
  if (subclasses.length === 0) return [];
  return (Object.keys(OVERRIDABLE) as (keyof typeof OVERRIDABLE)[]).flatMap((name) => {
    const owner = subclasses.find((prototype) => Object.hasOwn(prototype, name));
    const method: unknown = owner && Object.getOwnPropertyDescriptor(owner, name)?.value;
    return typeof method === 'function' ? [[name, method]] : [];
  });
}

/**
 * Before the routes are registered. Nest asks a class for its own methods before those of its base, so that a subclass
 * with a `@Get(':id')` of its own would serve `/search` by it: the fixed paths are put in front.
 */
export function prepareController(controller: ControllerClass): void {
  const options = declarationOf(controller);
  if (!options) return;
  const [generated] = prototypesOf(controller).slice(-1);
  if (controller.prototype !== generated) {
    expectInjectable(controller);
    keepEndpoint(controller, options);
    giveWay(controller.prototype);
    putInFront(controller.prototype, FIXED_PATHS);
  }
  for (const prototype of prototypesOf(controller))
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(prototype)))
      if (isRouted(value)) {
        const call = callOf(value);
        declareRoute(value, {
          declaredBy: `CRUD option \`endpoint\` of ${options.entity.name}`,
          ...(call && { call }),
        });
        if (prototype !== generated && isPost(value)) locateAnswersOf(value);
      }
}

/** TypeScript tells the types of a constructor's parameters only where the class itself is decorated. */
function expectInjectable(controller: ControllerClass): void {
  const isTold = ['design:paramtypes', 'self:paramtypes'].some((key) => Reflect.hasOwnMetadata(key, controller));
  if (controller.length > 0 && !isTold)
    throw new InvalidOptionError(
      `The constructor of ${controller.name}`,
      'parameters whose types Nest can read',
      'a class without a decorator of its own, for which TypeScript writes none',
      'decorate the class with @Injectable()',
    );
}

/** `@Controller()` on a subclass, for a version or out of habit, says no path: it would serve at `/` and not at its endpoint. */
function keepEndpoint(controller: ControllerClass, { endpoint }: ResolvedCrudOptions): void {
  if (Reflect.getMetadata('path', controller) === '/') Reflect.defineMetadata('path', endpoint, controller);
}

/** Methods that a subclass has routed anew under another name. */
const gaveWay = new WeakSet<object>();

/** A generated route whose verb and path a subclass gives to a method of its own is not registered twice. */
function giveWay(prototype: object): void {
  const inherited = Object.keys(OVERRIDABLE).filter((name) => !Object.hasOwn(prototype, name));
  if (inherited.length === 0) return;
  const routeOf = (method: object): string =>
    JSON.stringify(['method', 'path'].map((key) => Reflect.getMetadata(key, method) as unknown));
  const own = Object.values(Object.getOwnPropertyDescriptors(prototype)).flatMap(({ value }) =>
    isRouted(value) ? routeOf(value) : [],
  );
  for (const name of inherited) {
    const generated: unknown = Reflect.get(prototype, name);
    if (!isRouted(generated) || !own.includes(routeOf(generated))) continue;
    const unrouted = function (this: unknown, ...args: unknown[]): unknown {
      return (generated as (...args: unknown[]) => unknown).apply(this, args);
    };
    gaveWay.add(unrouted);
    Object.defineProperty(prototype, name, { value: unrouted, writable: true, configurable: true });
  }
}

function putInFront(prototype: object, names: readonly string[]): void {
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([name]) => name !== 'constructor');
  const fixed = names.flatMap((name) => {
    const value: unknown = Reflect.get(prototype, name);
    const inherited = { value, writable: true, configurable: true, enumerable: false };
    return isRouted(value) ? [[name, Object.getOwnPropertyDescriptor(prototype, name) ?? inherited] as const] : [];
  });
  if (fixed.every(([name], index) => own[index]?.[0] === name)) return;
  for (const [name] of own) Reflect.deleteProperty(prototype, name);
  for (const [name, descriptor] of new Map([...fixed, ...own])) Object.defineProperty(prototype, name, descriptor);
}

/** One line for each operation that was overridden and cannot be reached. */
export function unreachableOverrides(controller: ControllerClass): string[] {
  return overridesOf(controller)
    .filter(([, method]) => !isRouted(method) && !gaveWay.has(method))
    .map(
      ([name]) =>
        `${controller.name}.${name} overrides a generated operation but has no route: add ${OVERRIDABLE[name]} to it, or it cannot be reached.`,
    );
}

/** One line for each marked operation. */
export function markedOverrides(controller: ControllerClass): string[] {
  return overridesOf(controller).flatMap(([name, method]) => {
    const description = overrideDescription(method);
    return description === undefined
      ? []
      : [`${controller.name}.${name} is overridden${description === '' ? '' : `: ${description}`}`];
  });
}

export function isUnbounded({ enablePagination, maxListSize }: ResolvedCrudOptions): boolean {
  return !enablePagination && maxListSize === undefined;
}
