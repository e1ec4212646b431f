/** What a path-to-regexp template or a prefix matches. */
export interface Matching {
  readonly path: unknown;
  /** Whether it matches the path alone, and not what is below it. */
  readonly isRoute: boolean;
}

interface Level {
  /** Places in the stack of what begins with this level and may match what is below it. */
  readonly own: number[];
  /** Of the routes that are this very path. */
  readonly exact: number[];
  readonly children: Map<string, Level>;
  /** Of what can match a path which ends here, and one which goes on, in order. */
  ending: readonly number[];
  passing: readonly number[];
}

const level = (): Level => ({ own: [], exact: [], children: new Map(), ending: [], passing: [] });

/** Literal to path-to-regexp, and in ASCII, where both ways to fold the case are the same. */
const STATIC = /^[\w\-.~@%]+$/;
/** A path that Express reads as it stands. */
const PLAIN = /^\/[\w\-.~@%:,;=/]*$/;

/** What in a stack can match a path, by the levels it begins with. It leaves out what cannot, and decides nothing. */
export class PrefixIndex<T> {
  private readonly root = level();
  private readonly all: readonly number[];
  private readonly size: number;
  private readonly last: T | undefined;

  constructor(
    private readonly stack: readonly T[],
    read: (each: T) => Matching,
  ) {
    this.size = stack.length;
    this.last = stack.at(-1);
    this.all = stack.map((_, index) => index);
    for (const [index, each] of stack.entries()) this.add(index, read(each));
    this.complete(this.root, []);
  }

  /** Whether it still tells the truth: routes may be added at any time. */
  describes(stack: readonly T[]): boolean {
    return stack === this.stack && stack.length === this.size && stack[this.size - 1] === this.last;
  }

  /** Indices, ascending. */
  candidates(path: string): readonly number[] {
    if (!PLAIN.test(path)) return this.all;
    let reached = this.root;
    const names = path.slice(1).toLowerCase().split('/');
    for (const [position, name] of names.entries()) {
      const next = reached.children.get(name);
      // A slash at the end is no level of its own where Express does not take it for one.
      if (!next) return names.slice(position).some((rest) => rest !== '') ? reached.passing : reached.ending;
      reached = next;
    }
    return reached.ending;
  }

  private add(index: number, { path, isRoute }: Matching): void {
    const { names, isWhole } = staticLevels(path);
    let found = this.root;
    for (const name of names) {
      let next = found.children.get(name);
      if (!next) found.children.set(name, (next = level()));
      found = next;
    }
    (isWhole && isRoute ? found.exact : found.own).push(index);
  }

  private complete(at: Level, above: readonly number[]): void {
    const inOrder = (...indices: number[]): readonly number[] => indices.toSorted((one, other) => one - other);
    at.passing = inOrder(...above, ...at.own);
    at.ending = inOrder(...at.passing, ...at.exact);
    for (const child of at.children.values()) this.complete(child, at.passing);
  }
}

/** None where the path is a list or a regular expression. `isWhole` where nothing comes behind them. */
function staticLevels(path: unknown): { readonly names: readonly string[]; readonly isWhole: boolean } {
  if (typeof path !== 'string' || !path.startsWith('/')) return { names: [], isWhole: false };
  const levels = path.slice(1).toLowerCase().split('/');
  const dynamic = levels.findIndex((name) => !STATIC.test(name));
  return dynamic === -1 ? { names: levels, isWhole: true } : { names: levels.slice(0, dynamic), isWhole: false };
}
