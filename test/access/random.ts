export interface Random {
  /** An integer from 0, below this. */
  below(limit: number): number;
  of<T>(items: readonly T[]): T;
  chance(percent: number): boolean;
  shuffled<T>(items: readonly T[]): T[];
}

/** The same numbers for the same seed (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  return {
    below,
    of: <T>(items: readonly T[]) => items[below(items.length)] as T,
    chance: (percent) => below(100) < percent,
    shuffled: <T>(items: readonly T[]) => {
      const rest = [...items];
      return items.map(() => rest.splice(below(rest.length), 1)[0] as T);
    },
  };
}
