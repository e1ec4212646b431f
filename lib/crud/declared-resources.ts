/** What was declared of each generated controller, and the operations compiled from it for a data source. */
import type { DataSource } from 'typeorm';
import type { ResolvedCrudOptions } from './crud.options.js';
import { Operations } from './operations.js';
import { compileResource } from './resource.js';

const DECLARATION = Symbol('declarest.crud');

export function rememberDeclaration(controller: object, options: ResolvedCrudOptions): void {
  Reflect.defineMetadata(DECLARATION, options, controller);
}

/** The declaration of a generated controller or a subclass of one; `undefined` for any other class. */
export function declarationOf(controller: object): ResolvedCrudOptions | undefined {
  return Reflect.getMetadata(DECLARATION, controller) as ResolvedCrudOptions | undefined;
}

/** Whether a class is a generated one, and no subclass of it. */
export const isGenerated = (controller: object): boolean => Reflect.hasOwnMetadata(DECLARATION, controller);

const compiled = new WeakMap<DataSource, WeakMap<ResolvedCrudOptions<never>, Operations<never>>>();

/** Compiled at boot, and kept: two applications in one process have two data sources. */
export function operationsFor<T extends object>(
  options: ResolvedCrudOptions<T>,
  dataSource: DataSource,
): Operations<T> {
  const ofSource = compiled.get(dataSource) ?? new WeakMap<ResolvedCrudOptions<never>, Operations<never>>();
  compiled.set(dataSource, ofSource);
  const key = options as unknown as ResolvedCrudOptions<never>;
  const known = ofSource.get(key) as unknown as Operations<T> | undefined;
  if (known) return known;
  const operations = new Operations(compileResource(options, dataSource), dataSource);
  ofSource.set(key, operations as unknown as Operations<never>);
  return operations;
}
