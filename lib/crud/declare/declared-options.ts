/** What declarations leave as metadata of classes and methods. */
import type { ResolvedCrudOptions } from './resolve-options.js';

const OPTIONS = Symbol('declarest.crud');

export function declareOptions(controller: object, options: ResolvedCrudOptions): void {
  Reflect.defineMetadata(OPTIONS, options, controller);
}

const CLASSES = Symbol('declarest.crudClasses');

/** Notes that an application has called `CrudController()`, whose class it may register or extend. */
export function declareClass(controller: object, entity: object): void {
  Reflect.defineMetadata(CLASSES, [...declaredClasses(entity), controller], entity);
}

export const declaredClasses = (entity: object): readonly object[] =>
  (Reflect.getOwnMetadata(CLASSES, entity) ?? []) as readonly object[];

/** The options of a generated controller or a subclass of one; `undefined` for any other class. */
export const optionsOf = (controller: object): ResolvedCrudOptions | undefined =>
  Reflect.getMetadata(OPTIONS, controller) as ResolvedCrudOptions | undefined;

/** Whether a class is a generated one itself, and no subclass of it. */
export const isGeneratedClass = (controller: object): boolean => Reflect.hasOwnMetadata(OPTIONS, controller);

const DESCRIPTION = Symbol('declarest.override');

/**
 * Marks an operation that a subclass defines itself: `@Get() @OverrideNote('Only what is in stock')`. The description
 * stands in the startup log.
 */
export function OverrideNote(description = ''): MethodDecorator {
  return (_target, _name, descriptor) => {
    Reflect.defineMetadata(DESCRIPTION, description, descriptor.value as object);
  };
}

/** The description of an overridden operation; `undefined` where it is not marked. */
export const overrideDescription = (method: object): string | undefined =>
  Reflect.getMetadata(DESCRIPTION, method) as string | undefined;
