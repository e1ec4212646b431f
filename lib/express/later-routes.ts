/**
 * Has Express compile the path of a route when a request may first be for it. It does so when the route is declared, which
 * of 500 resources' 2,500 routes most are asked for much later, and once more for each handler, whose path nobody asks for.
 */
import { METHODS } from 'node:http';

/** What stands in the stack of a router, or of a route. */
interface Layer {
  handle: object;
  name: string;
  method?: string | undefined;
  matchers?: readonly unknown[];
  /** Since version 2.3 of the router. */
  rawPath?: unknown;
  readonly route?: Route;
  match(path: string): unknown;
}
interface Route {
  path: unknown;
  readonly methods: Record<string, boolean>;
  readonly stack: Layer[];
}
type AddHandlers = (this: Route, ...handlers: unknown[]) => Route;

export interface DeclaresRoutes {
  readonly stack: readonly Layer[];
  route(path: unknown): Route;
}

/** Literal levels and parameters: of these Express has nothing to complain. */
export const isPlain = (path: unknown): path is string =>
  typeof path === 'string' && /^(?:\/[\w\-.~%]+|\/:[A-Za-z_]\w*)+$/.test(path);

/** Express's `matchers` of no path, which it is given in the place of one that is to be compiled later. */
const isOfNone = ({ matchers }: Layer): boolean => Array.isArray(matchers) && matchers.length === 0;

export function compileLater(router: DeclaresRoutes): void {
  const ofRouters = Object.getPrototypeOf(router) as DeclaresRoutes;
  const { route } = ofRouters;
  // What somebody has put in the place of Express's own may look at the path.
  if (router.route !== route || !String(route).includes('new Layer(path')) return;
  const stack: Layer[] = [];
  const aside = Object.create(router, { stack: { value: stack } }) as DeclaresRoutes;
  const declared = (path: unknown): Layer & { readonly route: Route } => {
    route.call(aside, path);
    return stack.pop() as Layer & { readonly route: Route };
  };
  const layerOfNone = declared([]);
  if (!isOfNone(layerOfNone)) return;

  const ofLayers = Object.getPrototypeOf(layerOfNone) as object;
  const paths = new WeakMap<Layer, string>();
  const laterLayer: object = Object.create(ofLayers, {
    match: {
      value(this: Layer, path: string): unknown {
        this.matchers = declared(paths.get(this)).matchers ?? [];
        Object.setPrototypeOf(this, ofLayers);
        return this.match(path);
      },
    },
  });
  const laterRoute = withoutPathsOfHandlers(layerOfNone.route);
  router.route = (path) => {
    // A tool may have put its own there meanwhile.
    if (!isPlain(path) || ofRouters.route !== route) return ofRouters.route.call(router, path);
    const layer = declared([]);
    layer.route.path = path;
    paths.set(layer, path);
    if ('rawPath' in layer) layer.rawPath = path;
    Object.setPrototypeOf(layer, laterLayer);
    Object.setPrototypeOf(layer.route, laterRoute);
    (router.stack as Layer[]).push(layer);
    return layer.route;
  };
}

/** The prototype of routes, by which a handler's layer is a copy of one that Express has made. */
function withoutPathsOfHandlers(route: Route): object {
  const ofRoutes = Object.getPrototypeOf(route) as Record<string, AddHandlers>;
  const later = Object.create(ofRoutes) as Record<string, AddHandlers>;
  ofRoutes['all']?.call(route, () => {});
  const [known] = route.stack as [Layer];
  const verbs = METHODS.map((name) => name.toLowerCase()).map((name) => [name, name, name] as const);
  for (const [verb, method, named] of [...verbs, ['all', undefined, '_all'] as const]) {
    const added = ofRoutes[verb] as AddHandlers;
    const isExpresss = String(added).includes("Layer('/', {}, fn)");
    later[verb] = function (...handlers) {
      const [handle, ...others] = handlers;
      const current = ofRoutes[verb] as AddHandlers;
      if (!isExpresss || current !== added || others.length > 0 || typeof handle !== 'function')
        return current.apply(this, handlers);
      const layer = Object.create(Object.getPrototypeOf(known) as object) as Layer;
      this.stack.push(Object.assign(layer, known, { handle, name: handle.name || '<anonymous>', method }));
      this.methods[named] = true;
      return this;
    };
  }
  return later;
}
