import type { IncomingMessage } from 'node:http';
import { PrefixIndex, type Matching } from '../routes/prefix-index.js';

/** A layer of Express's router: a route, or a middleware at a path. */
interface Layer {
  readonly route?: { readonly path: unknown } | undefined;
  /** Since version 2.3 of the router; before, only a route tells its path. */
  readonly rawPath?: unknown;
}

export interface Router {
  readonly stack: readonly Layer[];
  handle(request: IncomingMessage, response: unknown, done: unknown): void;
}

type LayerIndex = PrefixIndex<Layer>;
const indexOf = ({ stack }: Router): LayerIndex => new PrefixIndex(stack, matching);
const matching = ({ rawPath, route }: Layer): Matching => ({ path: rawPath ?? route?.path, isRoute: !!route });

/**
 * Has Express's router walk over those of its layers only that can match the request. Matching, order, parameters and
 * errors stay its own: `handle` runs as it is, with a shorter stack.
 */
export function walkByPrefix(router: Router): void {
  const { handle } = router;
  let index = indexOf(router);
  const current = (): LayerIndex => (index.describes(router.stack) ? index : (index = indexOf(router)));
  // Everything else than the stack is the router's; views of one constructor are objects of one shape.
  const View = function View(this: { stack: readonly Layer[] }, stack: readonly Layer[]) {
    this.stack = stack;
  } as unknown as new (stack: readonly Layer[]) => Router;
  View.prototype = router;
  router.handle = (request, response, done) =>
    handle.call(new View(new PrefixWalk(router, current).stack), request, response, done);
}

/**
 * A layer that never matches. Whenever the router asks it, it puts the next layer that can match behind itself, and
 * itself behind that one: a path that a handler has rewritten meanwhile, and a layer that was added, are seen just
 * where the router itself would see them.
 */
class PrefixWalk implements Layer {
  readonly route = undefined;
  readonly stack: Layer[] = [this];
  private path: string | undefined;
  private index: LayerIndex | undefined;
  private candidates: readonly number[] = [];
  private position = 0;
  private last = -1;

  constructor(
    private readonly router: Router,
    private readonly current: () => LayerIndex,
  ) {}

  match(path: string): false {
    const index = this.current();
    if (path !== this.path || index !== this.index) this.look(path, index);
    const next = this.candidates[this.position++];
    const layer = next === undefined ? undefined : this.router.stack[next];
    if (next === undefined || layer === undefined) return false;
    this.last = next;
    this.stack.push(layer, this);
    return false;
  }

  private look(path: string, index: LayerIndex): void {
    this.path = path;
    this.index = index;
    this.candidates = index.candidates(path);
    const position = this.candidates.findIndex((each) => each > this.last);
    this.position = position === -1 ? this.candidates.length : position;
  }
}
