import 'reflect-metadata';
import { declareRoute } from '../../lib/routes/declared-route.js';
import { RouteCollisions } from '../../lib/routes/route-collision.js';
import { shapesOf } from '../../lib/routes/route-shape.js';
import type { Route } from '../../lib/routes/route.js';

/** A route of the application, or of the package when it is declared by an option. */
function route(text: string, declaredBy?: string, extra: object = {}): Route {
  const [method = '', path = ''] = text.split(' ');
  const handler = Object.assign(() => {}, extra);
  if (declaredBy !== undefined) declareRoute(handler, { declaredBy });
  return { method, path, handler, shapes: shapesOf(path) };
}

function register(...routes: Route[]): void {
  registerWhere(true, ...routes);
}

function registerWhere(isCaseSensitive: boolean, ...routes: Route[]): void {
  const collisions = new RouteCollisions(() => isCaseSensitive);
  for (const each of routes) collisions.add(each);
}

type Declared = [text: string, declaredBy?: string | undefined, extra?: object];

const AUTH = 'AuthModule option `authBasePath`';
const PRODUCTS = 'CRUD option `endpoint` of Product';
const WIDGETS = 'CRUD option `endpoint` of Widget';
const OWN = undefined;

describe('a route beside another', () => {
  it.each<[string, Declared, Declared, blamed: string]>([
    ['of the application at the same path', ['GET /auth/me', AUTH], ['GET /auth/me', OWN], AUTH],
    ['of every method', ['POST /auth/login', AUTH], ['ALL /auth/login', OWN], AUTH],
    ['with another name of the parameter', ['GET /p/:id', PRODUCTS], ['GET /p/:key', OWN], PRODUCTS],
    ['of another option at the same path', ['GET /p', PRODUCTS], ['GET /p', WIDGETS], PRODUCTS],
    ['of another option, a level where it has a parameter', ['GET /p/:id', PRODUCTS], ['GET /p/me', AUTH], PRODUCTS],
    ['with an optional level that makes it the same', ['GET /p', PRODUCTS], ['GET /p{/:x}', OWN], PRODUCTS],
  ])('[2.2] [4.2] is refused: %s', (_, [one, oneBy], [other, otherBy], blamed) => {
    for (const [earlier, later] of [
      [route(one, oneBy), route(other, otherBy)],
      [route(other, otherBy), route(one, oneBy)],
    ] as const) {
      let error: unknown;
      try {
        register(route('GET /elsewhere'), earlier, later);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({ name: 'InvalidOptionError' });
      const { message } = error as Error;
      expect([blamed, otherBy, oneBy].some((by) => by !== undefined && message.startsWith(`${by}: expected`))).toBe(
        true,
      );
      expect(message).toMatch(/: expected .+, got .+; .+\.$/);
      expect(message).toContain(one.split(' ')[1]?.split('/')[1] as string);
    }
  });

  it('[2.2] [4.2] is refused also where its template stood there before the other’s', () => {
    const routes = [route('GET /p/:id', PRODUCTS), route('POST /p/me', AUTH), route('POST /p/:id', PRODUCTS)];
    expect(() => register(...routes)).toThrow('POST /p/me');
    expect(() => register(...routes.slice(0, 2))).not.toThrow();
  });

  it.each<[string, Declared, Declared]>([
    ['of another method', ['GET /p', PRODUCTS], ['POST /p', OWN]],
    ['of another path', ['GET /p', PRODUCTS], ['GET /q', OWN]],
    ['both of the application', ['GET /p', OWN], ['GET /p', OWN]],
    ['of the same option, a level where it has a parameter', ['GET /p/search', PRODUCTS], ['GET /p/:id', PRODUCTS]],
    ['of the application, a level where the resource has a parameter', ['GET /p/:id', PRODUCTS], ['GET /p/mine', OWN]],
    ['one level longer', ['GET /p/:id', PRODUCTS], ['GET /p/:id/parts', OWN]],
    [
      'of another version of the same path, which a header tells',
      ['GET /p', PRODUCTS, { version: '1' }],
      ['GET /p', OWN, { version: '2' }],
    ],
  ])('[2.2] [4.2] is allowed: %s', (_, one, other) => {
    expect(() => register(route(...other), route(...one))).not.toThrow();
    expect(() => register(route(...one), route(...other))).not.toThrow();
  });
});

it('[4.2] two paths that differ in case are one where the router reads them so', () => {
  const both = (): Route[] => [route('GET /p/:Id', PRODUCTS), route('GET /P/:id', WIDGETS)];
  expect(() => registerWhere(true, ...both())).not.toThrow();
  expect(() => registerWhere(false, ...both())).toThrow(/a path of its own, got GET \/p\/:Id, which .+ has too/);
});
