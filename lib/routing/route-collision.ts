import { InvalidOptionError } from '../options/invalid-option.js';
import { declaredRoute } from './declared-route.js';
import { isSameShape, overlaps, type RouteShape } from './route-shape.js';
import type { Route } from './route-table.js';

/**
 * Refuses a route of the package that would take another route's place, or lose its own: the same path, or, where it is
 * an endpoint of the users or both are the package's, a parameter where the other has a fixed level
 * (`/api/auth/me`, `/api/auth/:provider`).
 */
export function refuseCollision(route: Route, earlier: readonly Route[]): void {
  for (const other of earlier) {
    const [mine, theirs] = [declaredRoute(route.handler), declaredRoute(other.handler)];
    const declared = mine ?? theirs;
    if (!declared || !sharesMethod(route, other) || isVersioned(route) || isVersioned(other)) continue;
    const ofTwoOptions = mine !== undefined && theirs !== undefined && mine.declaredBy !== theirs.declaredBy;
    const isReserved = mine?.access !== undefined || theirs?.access !== undefined;
    if (!shareShape(route, other, ofTwoOptions || isReserved ? overlaps : isSameShape)) continue;
    if (mine?.declaredBy === theirs?.declaredBy && route.handler === other.handler) continue;
    const taken = declared === mine ? other : route;
    throw new InvalidOptionError(
      declared.declaredBy,
      'a path of its own',
      `${taken.method} ${taken.path}, which ${ofTwoOptions ? `${theirs.declaredBy} has too` : 'another route has too'}`,
      'change one of the two paths',
    );
  }
}

const sharesMethod = (a: Route, b: Route): boolean => a.method === b.method || a.method === 'ALL' || b.method === 'ALL';

/** Versions in a header or a media type share one path; Nest puts the version on the handler. */
const isVersioned = ({ handler }: Route): boolean => 'version' in handler && handler.version !== undefined;

const shareShape = (a: Route, b: Route, shared: (a: RouteShape, b: RouteShape) => boolean): boolean =>
  a.shapes.some((shape) => b.shapes.some((other) => shared(shape, other)));
