/** A layer of Express's router: a route, or a middleware at a path. */
export interface Layer {
  readonly route?: { readonly path: unknown } | undefined;
  /** Since version 2.3 of the router; before, only a route tells its path. */
  readonly rawPath?: unknown;
}

interface Level {
  /** Indices in the stack of the layers that end at this level. */
  readonly own: number[];
  readonly children: Map<string, Level>;
  /** Of the layers that can match a path which reaches this level and no further, in order. */
  candidates: readonly number[];
}

const level = (): Level => ({ own: [], children: new Map(), candidates: [] });

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
    for (const [index, layer] of stack.entries()) this.levelOf(layer).own.push(index);
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
    for (const name of path.slice(1).toLowerCase().split('/')) {
      const next = reached.children.get(name);
      if (!next) break;
      reached = next;
    }
    return reached.candidates;
  }

  private levelOf(layer: Layer): Level {
    let found = this.root;
    for (const name of staticLevels(layer.rawPath ?? layer.route?.path)) {
      let next = found.children.get(name);
      if (!next) found.children.set(name, (next = level()));
      found = next;
    }
    return found;
  }

  private complete(at: Level, above: readonly number[]): void {
    at.candidates = [...above, ...at.own].toSorted((one, other) => one - other);
    for (const child of at.children.values()) this.complete(child, at.candidates);
  }
}

/** None where the path is a list or a regular expression. */
function staticLevels(path: unknown): string[] {
  if (typeof path !== 'string' || !path.startsWith('/')) return [];
  const levels = path.slice(1).toLowerCase().split('/');
  const dynamic = levels.findIndex((name) => !STATIC.test(name));
  return dynamic === -1 ? levels : levels.slice(0, dynamic);
}
