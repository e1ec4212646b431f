/**
 * Runs the package's own middleware on Fastify from one hook. Nest binds middleware through middie, which copies nine
 * properties onto node's request for every request: most of what such a middleware costs.
 *
 * Nest still matches the paths: what it would give to middie is caught, and asked instead. As soon as middie gets
 * anything else, it gets what was caught first, so that everything runs in the order in which it was declared. Where
 * Nest, middie or Fastify are not as they are known here, Nest's own binding stays.
 */
import type { ServerResponse } from 'node:http';
import type { Bind, DirectMiddleware, HeaderHolder, Place } from './direct-middleware.js';
import {
  contextsOf,
  isBehindMiddie,
  isLastHook,
  isMiddieEmpty,
  ownHooks,
  routeContextReader,
  type Context,
} from './fastify-contexts.js';
import { MiddlewareGroups, type Matched, type Matcher, type RawRequest } from './middleware-groups.js';
import { observe, type AnyFunction } from './observed-method.js';

type Factory = (method: number) => Promise<Bind>;
interface Reply {
  readonly raw: ServerResponse;
  hasHeader(name: string): boolean;
  header(name: string, value: string): unknown;
}
type Hook = (request: { readonly raw: RawRequest }, reply: Reply, done: () => void) => void;

interface Root extends Context {
  addHook(name: 'onRequest', hook: Hook): void;
  addHook(name: 'onReady', hook: (done: () => void) => void): void;
}
interface Adapter {
  createMiddlewareFactory: Factory;
  getInstance(): Root;
  /** Of versions of Nest that bind middleware in every context of Fastify; the hook runs in every one. */
  readonly middieContexts?: unknown;
}

/** The arguments for middie. */
type Caught = readonly [path: string, matcher: Matcher];

/** What is known of a route before it is asked for. */
interface Known {
  readonly matched: Matched;
  /** Whether nobody but Fastify writes the answer, and nobody sees it before: its headers cost less than node's. */
  readonly byReply: boolean;
}

/** Headers of Fastify's reply, where it has no such yet: its own it sends in the place of those of node's response. */
class ReplyHeaders implements HeaderHolder {
  constructor(private readonly reply: Reply) {}

  setHeader(name: string, value: string): void {
    if (this.reply.hasHeader(name)) this.reply.raw.setHeader(name, value);
    else this.reply.header(name, value);
  }
}

export class FastifyMiddleware {
  private readonly root: Root;
  private readonly caught: Caught[] = [];
  private readonly groups = new MiddlewareGroups();
  /** Whether middie has nothing to run. */
  private isAlone = false;
  private readonly factory: Factory;
  private readonly contextOf = routeContextReader();
  private readonly known = new WeakMap<object, Known>();

  /**
   * @param registering runs what registers on behalf of Nest
   * @param isDirect whether the package alone answers at this route
   */
  constructor(
    private readonly adapter: Adapter,
    private readonly registering: <T>(register: () => T) => T,
    private readonly isDirect: (method: string, path: string) => boolean,
  ) {
    this.root = adapter.getInstance();
    this.factory = adapter.createMiddlewareFactory;
    if (this.root.use) this.begin();
    else
      observe(adapter, 'init', async (call, args) => {
        await call(args);
        this.begin();
      });
  }

  readonly place: Place = async (middleware, bind, args) => {
    const catching = await this.catching(args).catch(() => undefined);
    return (path, handler) => {
      const caught = this.isAlone ? catching?.(path, handler) : undefined;
      return caught ? this.add(middleware, path, caught) : bind(path, handler);
    };
  };

  private begin(): void {
    const { root, hook } = this;
    if (!Array.isArray(this.adapter.middieContexts) || !isMiddieEmpty(root)) return;
    this.isAlone = true;
    this.watch(root);
    // Middie decorates every context when it is made, also that of a plugin which is waiting already: a hook of ours
    // would come after it.
    observe(root, 'decorate', (call, args) => {
      const context = call(args);
      if (args[0] === 'use') this.watch(context as Context);
      return context;
    });
    ownHooks.add(hook);
    root.addHook('onRequest', hook);
    root.addHook('onReady', (done) => {
      // What stands between the two hooks would run before the middleware instead of behind it.
      if (!contextsOf(root).every((context) => isBehindMiddie(context, hook))) this.handOver();
      done();
    });
  }

  private watch(context: Context): void {
    observe(context, 'use', (call, args) => {
      this.handOver();
      return call(args);
    });
  }

  /** Gives middie what was caught, as Nest would have done. */
  private handOver(): void {
    if (!this.isAlone) return;
    this.isAlone = false;
    const [root, ...contexts] = contextsOf(this.root);
    this.registering(() => {
      for (const [path, matcher] of this.caught) {
        root?.use?.(path, matcher);
        // Middie gives a context what the root has when it is made; before a path it would put the context's prefix.
        for (const context of contexts) if (Object.hasOwn(context, 'use')) context.use?.(matcher);
      }
    });
  }

  /** Nest's own binding, with an empty function in the place of middie's. */
  private async catching(args: unknown[]): Promise<(path: string, handler: AnyFunction) => Caught | undefined> {
    const calls: unknown[][] = [];
    const use = (...call: unknown[]): void => void calls.push(call);
    const instance: unknown = Object.create(this.root, { use: { value: use } });
    const adapter: unknown = Object.create(this.adapter, {
      instance: { value: instance },
      middieContexts: { value: [] },
    });
    const bind = (await Reflect.apply(this.factory, adapter, args)) as Bind;
    return (path, handler) => {
      try {
        bind(path, (...call) => (this.isAlone ? this.groups.match() : handler(...call)));
        const [caught, ...further] = calls.splice(0);
        return caught && further.length === 0 && isForMiddie(caught) && this.groups.answersAtOnce(caught[1])
          ? caught
          : undefined;
      } catch {
        // Nest's own binding says what is wrong with the path.
        return undefined;
      }
    };
  }

  private add(middleware: DirectMiddleware, path: string, caught: Caught): void {
    this.caught.push(caught);
    this.groups.add(middleware, path, caught[1]);
  }

  private readonly hook: Hook = (request, reply, done) => {
    if (!this.isAlone || this.groups.isEmpty) return done();
    const { raw } = request;
    // As middie does; Nest matches by it.
    raw.originalUrl = raw.url;
    const known = this.knownOf(request);
    const passes = (middleware: DirectMiddleware): boolean =>
      middleware.passes(raw, reply.raw, known?.byReply ? new ReplyHeaders(reply) : reply.raw);
    if (this.groups.run(raw, reply.raw, known?.matched, passes)) done();
  };

  /** `undefined` where there is no route. */
  private knownOf(request: object): Known | undefined {
    const context = this.contextOf(request);
    if (context?.config?.url === undefined) return undefined;
    let known = this.known.get(context);
    if (!known) {
      const { method, url } = context.config;
      const matched = this.groups.matchedAtRoute(url);
      // The second of two groups has the last word.
      const isOfOne = matched.filter((each) => each !== false).length === 1;
      const isDirect = [method].flat().every((each) => this.isDirect(each, url));
      known = { matched, byReply: isOfOne && isDirect && isLastHook(context, this.hook) };
      this.known.set(context, known);
    }
    return known;
  }
}

/** Before a path that begins with a wildcard middie puts a slash, so that it does not match `/`, which Nest's matcher does. */
const isForMiddie = (args: unknown[]): args is [string, Matcher] =>
  args.length === 2 && typeof args[0] === 'string' && !args[0].startsWith('*') && typeof args[1] === 'function';
