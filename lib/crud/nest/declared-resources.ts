/** The declaration of each generated controller, and what is compiled from it. */
import type { Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { compileResource, type Resource } from '../plan/resource.js';

const DECLARATION = Symbol('declarest.crud');

export function rememberDeclaration(controller: object, options: ResolvedCrudOptions): void {
  Reflect.defineMetadata(DECLARATION, options, controller);
}

/** The declaration of a generated controller or a subclass of one; `undefined` for any other class. */
export function declarationOf(controller: object): ResolvedCrudOptions | undefined {
  return Reflect.getMetadata(DECLARATION, controller) as ResolvedCrudOptions | undefined;
}

/** Whether a class is a generated one itself, and no subclass of it. */
export const isGenerated = (controller: object): boolean => Reflect.hasOwnMetadata(DECLARATION, controller);

/** By data source, because two applications in one process may share a declaration. */
const compiled = new WeakMap<object, WeakMap<object, unknown>>();

/** @throws InvalidOptionError where the declaration does not fit the data source */
export function resourceFor<T extends object>(
  options: ResolvedCrudOptions<T>,
  dataSource: DataSource,
  moduleRef: Pick<ModuleRef, 'get'>,
): Resource<T> {
  const findProvider = (provider: Type): unknown => {
    try {
      return moduleRef.get(provider, { strict: false });
    } catch {
      return undefined;
    }
  };
  const own = compiled.get(dataSource) ?? new WeakMap<object, unknown>();
  compiled.set(dataSource, own);
  if (!own.has(options)) own.set(options, compileResource(options, dataSource, findProvider));
  return own.get(options) as Resource<T>;
}
