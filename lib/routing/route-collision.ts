import { InvalidOptionError } from '../options/invalid-option.js';
import { declaredRoute } from './declared-route.js';
import { isSameShape, overlaps, type Level, type RouteShape } from './route-shape.js';
import type { Route } from './route-table.js';

/** The routes so far, by their levels: each further one is compared with those only whose paths could be its own. */
export class RouteCollisions {
  private readonly root: Node = { children: new Map(), routes: [] };

  /** @param isCaseSensitive whether the router tells `/a` from `/A` */
  constructor(private readonly isCaseSensitive: () => boolean) {}

  /**
   * Refuses a route of the package that would take another route's place, or lose its own: the same path, or, where it
   * is an endpoint of the users or both are the package's, a parameter where the other has a fixed level
   * (`/api/auth/me`, `/api/auth/:provider`).
   */
  add(route: Route): void {
    if (isVersioned(route)) return;
    const placed = { ...route, shapes: this.isCaseSensitive() ? route.shapes : route.shapes.map(inSmallLetters) };
    for (const { levels } of placed.shapes)
      for (const other of overlapping(this.root, levels)) refuseCollision(placed, other);
    for (const { levels } of placed.shapes) nodeOf(this.root, levels).routes.push(placed);
  }
}

const inSmallLetters = ({ levels, open }: RouteShape): RouteShape => ({
  levels: levels.map((level) => level?.toLowerCase()),
  open,
});

interface Node {
  readonly children: Map<Level, Node>;
  readonly routes: Route[];
}

function nodeOf(root: Node, levels: readonly Level[]): Node {
  let node = root;
  for (const level of levels) {
    let child = node.children.get(level);
    if (!child) node.children.set(level, (child = { children: new Map(), routes: [] }));
    node = child;
  }
  return node;
}

function overlapping(root: Node, levels: readonly Level[]): Route[] {
  let nodes = [root];
  for (const level of levels) {
    const below: Node[] = [];
    for (const { children } of nodes)
      for (const child of level === undefined ? children.values() : [children.get(level), children.get(undefined)])
        if (child) below.push(child);
    nodes = below;
  }
  return nodes.flatMap(({ routes }) => routes);
}

function refuseCollision(route: Route, other: Route): void {
  if (!sharesMethod(route, other)) return;
  const [mine, theirs] = [declaredRoute(route.handler), declaredRoute(other.handler)];
  const declared = mine ?? theirs;
  if (!declared) return;
  const ofTwoOptions = mine !== undefined && theirs !== undefined && mine.declaredBy !== theirs.declaredBy;
  const isReserved = mine?.access !== undefined || theirs?.access !== undefined;
  if (!shareShape(route, other, ofTwoOptions || isReserved ? overlaps : isSameShape)) return;
  if (mine?.declaredBy === theirs?.declaredBy && route.handler === other.handler) return;
  const taken = declared === mine ? other : route;
  throw new InvalidOptionError(
    declared.declaredBy,
    'a path of its own',
    `${taken.method} ${taken.path}, which ${ofTwoOptions ? `${theirs.declaredBy} has too` : 'another route has too'}`,
    'change one of the two paths',
  );
}

const sharesMethod = (a: Route, b: Route): boolean => a.method === b.method || a.method === 'ALL' || b.method === 'ALL';

/** Versions in a header or a media type share one path; Nest puts the version on the handler. */
const isVersioned = ({ handler }: Route): boolean => 'version' in handler && handler.version !== undefined;

const shareShape = (a: Route, b: Route, shared: (a: RouteShape, b: RouteShape) => boolean): boolean =>
  a.shapes.some((shape) => b.shapes.some((other) => shared(shape, other)));
