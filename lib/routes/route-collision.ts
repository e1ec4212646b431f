import { InvalidOptionError } from '../options/invalid-option.js';
import { declaredRoute, type DeclaredRoute } from './declared-route.js';
import { isSameShape, overlaps, type Level, type RouteShape } from './route-shape.js';
import type { Route } from './route.js';

interface Declared {
  readonly route: Route;
  /** What the package says of it. */
  readonly said: DeclaredRoute | undefined;
}

/** The routes of one template. */
interface Place {
  /** As the router compares them. */
  readonly shapes: readonly RouteShape[];
  readonly routes: Declared[];
  /** The templates that a path could be of as well, this one among them. */
  readonly meets: Set<Place>;
}

/** The routes so far, by their templates: each further one is compared with those only whose paths could be its own. */
export class RouteCollisions {
  private readonly places = new Map<string, Place>();
  private readonly root: Node = { children: new Map(), places: [] };
  private caseSensitive: boolean | undefined;

  /** @param isCaseSensitive whether the router tells `/a` from `/A` */
  constructor(private readonly isCaseSensitive: () => boolean) {}

  /**
   * Refuses a route of the package that would take another route's place, or lose its own: the same path, or, where it
   * is an endpoint of the users or both are the package's, a parameter where the other has a fixed level
   * (`/api/auth/me`, `/api/auth/:provider`).
   */
  add(route: Route): void {
    if (isVersioned(route)) return;
    let place = this.places.get(route.path);
    if (!place) this.places.set(route.path, (place = this.placeOf(route)));
    const declared = { route, said: declaredRoute(route.handler) };
    for (const met of place.meets)
      for (const other of met.routes)
        if (shareMethod(route, other.route)) refuseCollision(declared, other, [place.shapes, met.shapes]);
    place.routes.push(declared);
  }

  private placeOf({ shapes }: Route): Place {
    this.caseSensitive ??= this.isCaseSensitive();
    const read = this.caseSensitive ? shapes : shapes.map(inSmallLetters);
    const place: Place = { shapes: read, routes: [], meets: new Set() };
    for (const { levels } of read) nodeOf(this.root, levels).places.push(place);
    for (const { levels } of read) meet(place, this.root, levels);
    return place;
  }
}

const inSmallLetters = ({ levels, open }: RouteShape): RouteShape => ({
  levels: levels.map((level) => level?.toLowerCase()),
  open,
});

interface Node {
  readonly children: Map<Level, Node>;
  readonly places: Place[];
}

function nodeOf(root: Node, levels: readonly Level[]): Node {
  let node = root;
  for (const level of levels) {
    let child = node.children.get(level);
    if (!child) node.children.set(level, (child = { children: new Map(), places: [] }));
    node = child;
  }
  return node;
}

/** Those meet whose levels some path has both of. */
function meet(place: Place, { children, places }: Node, levels: readonly Level[], depth = 0): void {
  if (depth === levels.length) {
    for (const other of places) {
      place.meets.add(other);
      other.meets.add(place);
    }
    return;
  }
  const level = levels[depth];
  const below = level === undefined ? children.values() : [children.get(level), children.get(undefined)];
  for (const child of below) if (child) meet(place, child, levels, depth + 1);
}

function refuseCollision(one: Declared, other: Declared, shapes: readonly [Shapes, Shapes]): void {
  const [mine, theirs] = [one.said, other.said];
  const declared = mine ?? theirs;
  if (!declared) return;
  const ofTwoOptions = mine !== undefined && theirs !== undefined && mine.declaredBy !== theirs.declaredBy;
  const isReserved = mine?.access !== undefined || theirs?.access !== undefined;
  if (!shareShape(shapes, ofTwoOptions || isReserved ? overlaps : isSameShape)) return;
  if (mine?.declaredBy === theirs?.declaredBy && one.route.handler === other.route.handler) return;
  const { method, path } = (declared === mine ? other : one).route;
  throw new InvalidOptionError(
    declared.declaredBy,
    'a path of its own',
    `${method} ${path}, which ${ofTwoOptions ? `${theirs.declaredBy} has too` : 'another route has too'}`,
    'change one of the two paths',
  );
}

const shareMethod = (a: Route, b: Route): boolean => a.method === b.method || a.method === 'ALL' || b.method === 'ALL';

/** Versions in a header or a media type share one path; Nest puts the version on the handler. */
const isVersioned = ({ handler }: Route): boolean => 'version' in handler && handler.version !== undefined;

type Shapes = readonly RouteShape[];
const shareShape = (
  [mine, theirs]: readonly [Shapes, Shapes],
  shared: (a: RouteShape, b: RouteShape) => boolean,
): boolean => mine.some((shape) => theirs.some((other) => shared(shape, other)));
