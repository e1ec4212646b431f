/** `@Exclude()` of class-transformer. The library is an optional peer dependency. */
import { createRequire } from 'node:module';

type ClassTransformer = typeof import('class-transformer');

let library: ClassTransformer | false | undefined;

/** The properties that `instanceToPlain` leaves out: no documented function reads the metadata, so it converts one. */
export function excludedProperties(type: unknown, names: readonly string[]): ReadonlySet<string> {
  library ??= load();
  if (!library || typeof type !== 'function') return new Set();
  const { instanceToPlain } = library;
  const { prototype } = type as { readonly prototype: object };
  const findUnread = (converted: readonly string[]): Set<string> => {
    const unread = new Set(converted);
    const getters = converted.map((name) => [name, { enumerable: true, get: () => void unread.delete(name) }]);
    // Every other property is skipped, so that its `@Transform()` does not run.
    const others = [...names, ...memberNamesOf(prototype)];
    const excludePrefixes = others.filter((name) => !converted.some((each) => each.startsWith(name)));
    try {
      instanceToPlain(Object.create(prototype, Object.fromEntries(getters)), { excludePrefixes });
    } catch {
      // A `@Transform()` does not expect an absent value.
    }
    return unread;
  };
  // A conversion ends where a `@Transform()` fails: what it did not read is converted on its own.
  return new Set([...findUnread(names)].filter((name) => findUnread([name]).has(name)));
}

function memberNamesOf(prototype: object | null): string[] {
  return prototype === null
    ? []
    : [...Object.getOwnPropertyNames(prototype), ...memberNamesOf(Object.getPrototypeOf(prototype) as object | null)];
}

function load(): ClassTransformer | false {
  try {
    return createRequire(import.meta.url)('class-transformer') as ClassTransformer;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return false;
    throw error;
  }
}
