/** Guards and interceptors of this package: options and rules say what they decide, and not their code. */
const own = new WeakSet<object>();

/** Also a decorator of classes. */
export function markOwn<T extends object>(code: T): T {
  own.add(code);
  return code;
}

export const isOwnCode = (code: object): boolean => own.has(code);
