/** Values of any type, as options and JSON have them. */

export type Accepts = (value: unknown) => boolean;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isFunction = (value: unknown): value is (...args: never[]) => unknown => typeof value === 'function';

/** A name, or some. */
export const areNames = (value: unknown): boolean =>
  [value].flat().length > 0 && [value].flat().every((name) => typeof name === 'string' && name.trim() !== '');
