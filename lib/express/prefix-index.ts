/** A layer of Express's router: a route, or a middleware at a path. */
export interface Layer {
  readonly route?: { readonly path: unknown } | undefined;
  /** Since version 2.3 of the router; before, only a route tells its path. */
  readonly rawPath?: unknown;
}

interface Level {
  /** Indices in the stack of the layers that begin with this level and may match what is below it. */
  readonly own: number[];
  /** Of the routes that are this very path. */
  readonly exact: number[];
  readonly children: Map<string, Level>;
  /** Of the layers that can match a path which ends here, and one which goes on, in order. */
  ending: readonly number[];
  passing: readonly number[];
}

const level = (): Level => ({ own: [], exact: [], children: new Map(), ending: [], passing: [] });

/** Literal to path-to-regexp, and in ASCII, where both ways to fold the case are the same. */
const STATIC = /^[\w\-.~@%]+$/;
/** A path that Express reads as it stands. */
const PLAIN = /^\/[\w\-.~@%:,;=/]*$/;

/** Which layers of a stack can match a path, by the levels they begin with. It leaves out what cannot, and decides nothing. */
export class PrefixIndex {
  private readonly root = level();
  private readonly all: readonly number[];
  private readonly size: number;
  private readonly last: Layer | undefined;

  constructor(private readonly stack: readonly Layer[]) {
    this.size = stack.length;
    this.last = stack.at(-1);
    this.all = stack.map((_, index) => index);
    for (const [index, layer] of stack.entries()) this.add(index, layer);
    this.complete(this.root, []);
  }

  /** Whether it still tells the truth: routes may be added at any time. */
  describes(stack: readonly Layer[]): boolean {
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

  private add(index: number, layer: Layer): void {
    const { names, isWhole } = staticLevels(layer.rawPath ?? layer.route?.path);
    let found = this.root;
    for (const name of names) {
      let next = found.children.get(name);
      if (!next) found.children.set(name, (next = level()));
      found = next;
    }
    // A middleware matches what is below its path, too.
    (isWhole && layer.route ? found.exact : found.own).push(index);
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
