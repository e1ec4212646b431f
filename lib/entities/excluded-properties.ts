/** `@Exclude()` of class-transformer. The library is an optional peer dependency. */
import { createRequire } from 'node:module';

type ClassTransformer = typeof import('class-transformer');

let library: ClassTransformer | false | undefined;

/**
 * Whether `instanceToPlain` leaves the property out. The library has no documented way to read its metadata, so this
 * converts an instance and sees whether the property is read.
 *
 * @param names of the entity's properties; all others are skipped, so that their `@Transform()` does not run
 */
export function isExcluded(type: unknown, property: string, names: readonly string[]): boolean {
  library ??= load();
  if (!library || typeof type !== 'function') return false;
  let isRead = false;
  const instance = Object.create(type.prototype as object, {
    [property]: { enumerable: true, get: () => void (isRead = true) },
  }) as object;
  const others = [...names, ...accessorsOf(type)].filter((name) => !property.startsWith(name));
  try {
    library.instanceToPlain(instance, { excludePrefixes: others });
  } catch {
    // A `@Transform()` of the property does not expect an absent value.
  }
  return !isRead;
}

function accessorsOf(type: unknown): string[] {
  const names: string[] = [];
  for (let each = type; typeof each === 'function' && each.prototype; each = Object.getPrototypeOf(each))
    names.push(...Object.getOwnPropertyNames(each.prototype));
  return names;
}

function load(): ClassTransformer | false {
  try {
    return createRequire(import.meta.url)('class-transformer') as ClassTransformer;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return false;
    throw error;
  }
}
