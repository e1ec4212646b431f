import { declaredRoute } from '../../routes/declared-route.js';
import { overlaps, servesMethod, type Route } from '../../routes/route.js';

/**
 * The last levels of paths that other routes have, such as `search`: no record can have them as its key. In lower-case
 * letters, because Express takes letters of either case for the same.
 */
export function reservedKeys(endpoint: string, routes: readonly Route[]): ReadonlySet<string> {
  const recordRoutes = routes
    .filter(({ handler }) => declaredRoute(handler)?.controllerPath === endpoint)
    .flatMap(({ method, shapes }) => shapes.map((shape) => ({ method, shape })))
    .filter(({ shape: { levels, open } }) => !open && levels.length > 0 && levels.at(-1) === undefined);
  const literals = routes.flatMap((route) =>
    route.shapes.flatMap((shape) => {
      const last = shape.levels.at(-1);
      const hides = recordRoutes.some((each) => servesMethod(route, each.method) && overlaps(each.shape, shape));
      return last !== undefined && !shape.open && hides ? [last.toLowerCase()] : [];
    }),
  );
  return new Set(literals);
}
