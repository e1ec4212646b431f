/** class-transformer, an optional peer dependency: what `@Exclude()` hides, and what `@Transform()` makes of sent values. */
import { isDeepStrictEqual } from 'node:util';
import { HttpException, Logger, type Type } from '@nestjs/common';
import type { JsonObject } from '../http/json-body.js';
import { requireOptional } from './optional-package.js';

let library: typeof import('class-transformer') | false | undefined;

/** The properties that `instanceToPlain` leaves out: no documented function reads the metadata, so it converts one. */
export function excludedProperties(type: unknown, names: readonly string[]): ReadonlySet<string> {
  library ??= requireOptional('class-transformer') ?? false;
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

/** What a sent value must be if its transformer throws. */
export const CONVERTIBLE = 'a value that the server can convert';

/** `undefined` where every value stays. `failed` names the values whose transformers throw. */
export type TransformSent = (
  sent: JsonObject,
) => { readonly values: JsonObject; readonly failed: ReadonlySet<string> } | undefined;

const logger = new Logger('declarest');

/**
 * Applies `@Transform()` and `@Type()` as a ValidationPipe does, and throws an HttpException that a transformer throws.
 * Names are those of properties: `@Expose()` and `@Exclude()` rename and drop nothing.
 */
export function sentTransformer(type: unknown): TransformSent | undefined {
  library ??= requireOptional('class-transformer') ?? false;
  const blank = library && typeof type === 'function' ? blankOf(type as Type<object>) : undefined;
  if (!library || !blank) return undefined;
  const { plainToInstance } = library;
  return (sent) => {
    const failed = new Set<string>();
    const convert = (plain: JsonObject, name?: string): JsonObject | undefined => {
      try {
        return plainToInstance(blank, plain, { ignoreDecorators: true }) as JsonObject;
      } catch (error) {
        if (error instanceof HttpException) throw error;
        if (name !== undefined) failed.add(name);
        logger.debug('A transformer failed.', error instanceof Error ? error.stack : undefined);
        return undefined;
      }
    };
    const copy = copyOf(sent) as JsonObject;
    const all = convert(copy);
    let values: Record<string, unknown> | undefined;
    for (const [name, value] of Object.entries(sent)) {
      // Converts one value, beside which the transformer can read the others.
      const one = (): JsonObject => Object.assign(Object.create(copy) as object, { [name]: copyOf(value) });
      const converted = all ?? convert(one(), name) ?? {};
      // A setter of the class has taken a value that is not there.
      if (!Object.hasOwn(converted, name) || isSameValue(converted[name], value)) continue;
      (values ??= { ...sent })[name] = converted[name];
    }
    return values || failed.size > 0 ? { values: values ?? sent, failed } : undefined;
  };
}

const isSameValue = (converted: unknown, sent: unknown): boolean =>
  Object.is(converted, sent) || (typeof sent === 'object' && isDeepStrictEqual(converted, copyOf(sent)));

/** `@Exclude()` on the class itself does not hold for subclasses. A ValidationPipe cannot construct every class either. */
function blankOf(type: Type<object>): Type<object> | undefined {
  class Blank extends type {}
  try {
    Reflect.construct(Blank, []);
    return Blank;
  } catch {
    return undefined;
  }
}

/** class-transformer removes discriminators, and takes a member `constructor` for a class. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value))
    if (name !== 'constructor' && name !== '__proto__') copy[name] = copyOf(each);
  return copy;
}
