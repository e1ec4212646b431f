import { InvalidOptionError } from '../options/invalid-option.js';
import { declaredRoute } from './declared-route.js';
import { isSameShape, LevelTrie, nests, overlaps, shapesOf, type Route, type RouteShape } from './route.js';

/**
 * Refuses a route of the package with the path of another route. Where the route is one of `AuthModule`, or both are the
 * package's, a parameter in the place of a literal is refused too (`/api/auth/me`, `/api/auth/:provider`).
 */
export function refuseCollisions(routes: readonly Route[], isCaseSensitive: boolean): void {
  const earlier = new LevelTrie<Placed>();
  // Versions of a header or a media type share one path.
  for (const route of routes.filter(({ isVersioned }) => !isVersioned)) {
    const shapes = isCaseSensitive ? route.shapes : shapesOf(route.path.toLowerCase());
    for (const shape of shapes)
      for (const other of earlier.along(shape.levels)) refuseCollision({ route, shape }, other);
    for (const shape of shapes) earlier.add(shape.levels, { route, shape });
  }
}

interface Placed {
  readonly route: Route;
  readonly shape: RouteShape;
}

function refuseCollision(one: Placed, other: Placed): void {
  const [mine, theirs] = [declaredRoute(one.route.handler), declaredRoute(other.route.handler)];
  const declared = mine ?? theirs;
  const shareMethod =
    [one.route, other.route].some(({ method }) => method === 'ALL') || one.route.method === other.route.method;
  if (!declared || !shareMethod) return;
  if (mine?.declaredBy === theirs?.declaredBy && one.route.handler === other.route.handler) return;
  const areOfTwoOptions = mine !== undefined && theirs !== undefined && mine.declaredBy !== theirs.declaredBy;
  const isReserved = mine?.access !== undefined || theirs?.access !== undefined;
  // `/shops/exists/:id` and `/shops/:shopId/products` overlap in one path only, which has no meaning.
  const collide = isReserved ? overlaps : areOfTwoOptions ? nests : isSameShape;
  if (!collide(one.shape, other.shape)) return;
  const { method, path } = (declared === mine ? other : one).route;
  throw new InvalidOptionError(
    declared.declaredBy,
    'a path that no other route has',
    `${method} ${path}, which ${areOfTwoOptions ? `${theirs.declaredBy} also has` : 'another route has'}`,
    'Change one of the two paths',
  );
}
