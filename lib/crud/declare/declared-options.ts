/** What declarations leave as metadata of classes and methods. */
import { SetMetadata } from '@nestjs/common';
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

export const OVERRIDE_NOTE = Symbol('declarest.override');

/**
 * Describes an operation that a subclass defines itself, in the startup log. It is a decorator of the method:
 * `@OverrideNote('Only what is in stock')`.
 */
export const OverrideNote = (description = ''): MethodDecorator => SetMetadata(OVERRIDE_NOTE, description);
