/** The prototype of Nest's own class that an adapter is of: a subclass of the application's, or a spy, stands before it. */
export function nestsPrototype<T extends object>(adapter: T): T | undefined {
  let owner: object | null = adapter;
  while (owner && !Object.hasOwn(owner, 'getType')) owner = Object.getPrototypeOf(owner) as object | null;
  return (owner ?? undefined) as T | undefined;
}
