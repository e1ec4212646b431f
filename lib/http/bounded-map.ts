/** Values made once for a key, such as compiled statements. Clients choose the keys: a full map drops the oldest. */
export class BoundedMap<V> {
  private readonly values = new Map<string, V>();

  constructor(private readonly capacity = 64) {}

  get(key: string, make: () => V): V {
    const known = this.values.get(key);
    if (known) return known;
    const value = make();
    this.values.set(key, value);
    const [oldest] = this.values.keys();
    if (oldest !== undefined && this.values.size > this.capacity) this.values.delete(oldest);
    return value;
  }
}

/** Computes the value of each key once, and keeps it as long as the key. */
export function memoized<K extends object, A extends unknown[], V>(make: (key: K, ...args: A) => V): typeof make {
  const values = new WeakMap<K, V>();
  return (key, ...args) => {
    const known = values.get(key);
    if (known !== undefined) return known;
    const value = make(key, ...args);
    values.set(key, value);
    return value;
  };
}
