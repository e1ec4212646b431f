/** `@Exclude()` of class-transformer. The library is an optional peer dependency. */
import { createRequire } from 'node:module';

type ClassTransformer = typeof import('class-transformer');

let library: ClassTransformer | false | undefined;

/**
 * The properties that `instanceToPlain` leaves out. The library has no documented way to read its metadata, so this
 * converts an instance and sees which properties are read.
 *
 * @param names of the entity's properties
 */
export function excludedProperties(type: unknown, names: readonly string[]): ReadonlySet<string> {
  library ??= load();
  if (!library || typeof type !== 'function') return new Set();
  const { instanceToPlain } = library;
  const unreadOf = (converted: readonly string[]): Set<string> => {
    const unread = new Set(converted);
    const getters = converted.map((name) => [name, { enumerable: true, get: () => void unread.delete(name) }]);
    const instance = Object.create(type.prototype as object, Object.fromEntries(getters)) as object;
    const isConverted = (name: string): boolean => converted.some((each) => each.startsWith(name));
    try {
      // Every other property is skipped, so that its `@Transform()` does not run.
      const excludePrefixes = [...names, ...accessorsOf(type)].filter((name) => !isConverted(name));
      instanceToPlain(instance, { excludePrefixes });
    } catch {
      // A `@Transform()` does not expect an absent value.
    }
    return unread;
  };
  // A conversion ends where a `@Transform()` fails, so what was not read is converted on its own.
  return new Set([...unreadOf(names)].filter((name) => unreadOf([name]).has(name)));
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
