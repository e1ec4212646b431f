/** Tables of options: a row says what an option must be, what it is where it is not given, and how to correct it. */
import { areNames, describe, expectKnownNames, InvalidOptionError } from './invalid-option.js';

export type Accepts = (value: unknown) => boolean;

export interface OptionRow<V> {
  readonly fallback: V;
  readonly expected: string;
  readonly accepts: Accepts;
  readonly advice: string;
}

export type OptionTable = Readonly<Record<string, OptionRow<unknown>>>;
export type OptionsOf<T extends OptionTable> = { readonly [K in keyof T]: T[K]['fallback'] };

/** @param got made by `describe` @throws InvalidOptionError */
export type Refuse = (option: string, expected: string, got: string, advice: string) => never;

/** Names an option as "CRUD option `scope` of Product". */
export function refuserOf(module: string, of = ''): Refuse {
  return (option, expected, got, advice) => {
    throw new InvalidOptionError(`${module} option \`${option}\`${of}`, expected, got, advice);
  };
}

export const refuseAuthOption: Refuse = refuserOf('AuthModule');

export const isBoolean: Accepts = (value) => typeof value === 'boolean';
export const isFunction: Accepts = (value) => typeof value === 'function';
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isOneOf =
  (...values: readonly unknown[]): Accepts =>
  (value) =>
    values.includes(value);
export const isUndefinedOr =
  (accepts: Accepts): Accepts =>
  (value) =>
    value === undefined || accepts(value);

/** A name of a method that neither Nest, nor the package, nor JavaScript calls itself, as `onModuleInit` and `then`. */
export const isMethodName: Accepts = (value) =>
  /^(?!(on|before|after)[A-Z]|then$)[a-z]\w*$/.test(String(value)) && !(String(value) in {});

/** Whether a value is an object with these properties and no others. */
export function isObjectOf(properties: Readonly<Record<string, Accepts>>): Accepts {
  const names = Object.keys(properties);
  return (value) =>
    isObject(value) &&
    Object.keys(value).every((name) => names.includes(name)) &&
    names.every((name) => properties[name]?.(value[name]));
}

export const row = <V>(fallback: V, expected: string, accepts: Accepts, advice: string): OptionRow<V> =>
  Object.freeze({ fallback, expected, accepts, advice });

export const optional = <V>(expected: string, accepts: Accepts, advice: string): OptionRow<V | undefined> =>
  row<V | undefined>(undefined, expected, isUndefinedOr(accepts), advice);

export const flag = (fallback = false): OptionRow<boolean> =>
  row(fallback, 'true or false', isBoolean, 'set one of the two');

export const integer = (fallback: number, from = 1, to = Number.MAX_SAFE_INTEGER): OptionRow<number> =>
  row(
    fallback,
    to === Number.MAX_SAFE_INTEGER ? `an integer of at least ${from}` : `an integer from ${from} to ${to}`,
    (value) => Number.isInteger(value) && Number(value) >= from && Number(value) <= to,
    `set for example ${fallback}`,
  );

export const positive = (fallback: number, unit: string, most: number): OptionRow<number> =>
  row(
    fallback,
    `a positive number of ${unit}, at most ${most}`,
    (value) => typeof value === 'number' && value > 0 && value <= most,
    `set for example ${fallback}`,
  );

export const namesOf = (names: string, example: string): OptionRow<readonly string[]> =>
  row<readonly string[]>([], `an array of ${names}`, areNames, `give for example ["${example}"]`);

/** The options of a table, with its defaults; other properties are left out. @throws InvalidOptionError for a wrong one */
export function readOptions<T extends OptionTable>(table: T, given: object, refuse: Refuse): OptionsOf<T> {
  const read = Object.entries(table).map(([name, { fallback, expected, accepts, advice }]) => {
    const { [name]: value = fallback } = given as Readonly<Record<string, unknown>>;
    if (!accepts(value)) refuse(name, expected, describe(value), advice);
    return [name, Array.isArray(value) ? Object.freeze([...(value as unknown[])]) : value];
  });
  return Object.fromEntries(read) as OptionsOf<T>;
}

/** The options of an option of AuthModule that is an object. @throws InvalidOptionError, also for an unknown name */
export function readNestedOptions<T extends OptionTable>(option: string, table: T, given: unknown): OptionsOf<T> {
  expectKnownNames(`AuthModule option \`${option}\``, given, Object.keys(table));
  return readOptions(table, given as object, (name, ...reason) => refuseAuthOption(`${option}.${name}`, ...reason));
}

/** `api/products/` → `/api/products`; `undefined` unless there is a level, and each has only letters, digits and `.-_~`. */
export function plainPath(path: unknown): string | undefined {
  const levels = typeof path === 'string' ? path.split('/').filter((level) => level !== '') : [];
  const isPlain = levels.length > 0 && levels.every((level) => /^(?!\.+$)[\w.~-]+$/.test(level));
  return isPlain ? `/${levels.join('/')}` : undefined;
}
