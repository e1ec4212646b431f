/** class-transformer, an optional peer dependency: what `@Exclude()` hides, and what `@Transform()` makes of sent values. */
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { HttpException, Logger, type Type } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import type { JsonObject } from '../http/json-body.js';

type ClassTransformer = typeof import('class-transformer');

let library: ClassTransformer | false | undefined;

/**
 * The properties that `instanceToPlain` leaves out, or `plainToInstance` for `bodies`: no documented function reads the
 * metadata, so it converts an object.
 */
export function excludedProperties(
  type: unknown,
  names: readonly string[],
  direction: 'answers' | 'bodies' = 'answers',
): ReadonlySet<string> {
  library ??= load();
  if (!library || typeof type !== 'function') return new Set();
  const { instanceToPlain, plainToInstance } = library;
  const { prototype } = type as { readonly prototype: object };
  const blank = blankOf(type);
  const findUnread = (converted: readonly string[]): Set<string> => {
    const unread = new Set(converted);
    const getters = converted.map((name) => [name, { enumerable: true, get: () => void unread.delete(name) }]);
    // Every other property is skipped, so that its `@Transform()` does not run.
    const others = [...names, ...memberNamesOf(prototype)];
    const excludePrefixes = others.filter((name) => !converted.some((each) => each.startsWith(name)));
    const probe = Object.create(prototype, Object.fromEntries(getters)) as object;
    try {
      if (direction === 'bodies') plainToInstance(blank, probe, { excludePrefixes });
      else instanceToPlain(probe, { excludePrefixes });
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

/** `values` has a member for each one of a property. `failed` names those whose transformer threw, and which are as sent. */
export type TransformSent = (sent: JsonObject) => { readonly values: JsonObject; readonly failed: ReadonlySet<string> };

/** What a sent value must be if its transformer throws. */
export const CONVERTIBLE = 'a value that the server can convert';

const logger = new Logger('declarest');

/**
 * Applies `@Transform()` and `@Type()` of an entity, as a ValidationPipe does. Names are those of the properties:
 * `@Expose()` and `@Exclude()` rename and drop nothing. An HttpException of a transformer is thrown.
 */
export function sentTransformer({ target, embeddeds }: EntityMetadata): TransformSent | undefined {
  library ??= load();
  if (!library) return undefined;
  const { plainToInstance } = library;
  const blank = blankOf(target);
  const options = { ignoreDecorators: true, targetMaps: targetMapsOf(blank, embeddeds) };
  return (sent) => {
    const failed = new Set<string>();
    const convert = (plain: JsonObject, name?: string): JsonObject | undefined => {
      try {
        return plainToInstance(blank, plain, options) as JsonObject;
      } catch (error) {
        if (error instanceof HttpException) throw error;
        if (name !== undefined) failed.add(name);
        logger.debug('A transformer failed.', error instanceof Error ? error.stack : undefined);
        return undefined;
      }
    };
    const copy = copyOf(sent) as JsonObject;
    const all = convert(copy);
    const values = Object.keys(sent).map((name) => {
      // Converts each value on its own, to find the ones that fail.
      const value = (all ?? convert(onlyEnumerable({ ...copy, [name]: copyOf(sent[name]) }, name), name) ?? sent)[name];
      return [name, isDeepStrictEqual(value, copyOf(sent[name])) ? sent[name] : value];
    });
    return { values: Object.fromEntries(values) as JsonObject, failed };
  };
}

/** A class with the decorators of another one, but without its constructor, defaults and setters. */
function blankOf(type: unknown): Type {
  class Blank {}
  return typeof type === 'function' ? (Object.setPrototypeOf(Blank, type) as Type) : Blank;
}

function targetMapsOf(
  target: Type,
  embeddeds: EntityMetadata['embeddeds'],
): { target: Type; properties: Record<string, Type> }[] {
  const types = embeddeds.map(
    ({ propertyName, type, embeddeds: inner }) => [propertyName, blankOf(type), inner] as const,
  );
  const properties = Object.fromEntries(types.map(([name, type]) => [name, type]));
  return [{ target, properties }, ...types.flatMap(([, type, inner]) => targetMapsOf(type, inner))];
}

/** class-transformer changes objects with a discriminator, and takes a member `constructor` for a class. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'constructor' && name !== '__proto__');
  return Object.fromEntries(members.map(([name, each]) => [name, copyOf(each)]));
}

/** Only the one property is converted. Transformers can read the others. */
function onlyEnumerable(sent: JsonObject, name: string): JsonObject {
  const properties = Object.entries(sent).map(([key, value]) => [key, { value, enumerable: key === name }]);
  return Object.defineProperties({}, Object.fromEntries(properties) as PropertyDescriptorMap) as JsonObject;
}

function load(): ClassTransformer | false {
  try {
    return createRequire(import.meta.url)('class-transformer') as ClassTransformer;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'MODULE_NOT_FOUND') return false;
    throw error;
  }
}
