export type AnyFunction = (...args: unknown[]) => unknown;

/** Has a method of an object call something else first, with the call itself and its arguments. */
export function observe(
  target: object,
  name: string,
  seen: (call: (args: unknown[]) => unknown, args: unknown[]) => unknown,
): void {
  const methods = target as Record<string, AnyFunction | undefined>;
  const original = methods[name];
  if (typeof original !== 'function') return;
  methods[name] = function (this: unknown, ...args: unknown[]): unknown {
    return seen((instead) => original.apply(this, instead), args);
  };
}
