import 'reflect-metadata';
import { declareRoute } from '../../../lib/routes/declared-route.js';
import { refuseCollisions } from '../../../lib/routes/route-collision.js';
import { makeRoute, type Route } from '../../../lib/routes/route.js';

/** A route of the application, or of the package when it is declared by an option. */
function route(text: string, declaredBy?: string, versions: string[] = []): Route {
  const [method = '', path = ''] = text.split(' ');
  const handler = (): void => {};
  if (declaredBy !== undefined) declareRoute(handler, { declaredBy });
  return makeRoute(method, path, handler, versions.length > 0);
}

const register = (...routes: Route[]): void => refuseCollisions(routes, true);

type Declared = [text: string, declaredBy?: string | undefined, versions?: string[]];

const AUTH = 'AuthModule option `authBasePath`';
const PRODUCTS = 'CRUD option `endpoint` of Product';
const WIDGETS = 'CRUD option `endpoint` of Widget';
const OWN = undefined;

describe('two routes at overlapping paths', () => {
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
      const options = [blamed, otherBy].filter((by) => by !== undefined);
      expect(options.some((by) => message.startsWith(`${by} must be a path that no other route has, got `))).toBe(true);
      expect(message).toContain(one.split(' ')[1]?.split('/')[1] as string);
    }
  });

  it('[2.2] [4.2] is refused wherever its template was registered first', () => {
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
    ['of another version of the same path, selected by a header', ['GET /p', PRODUCTS, ['1']], ['GET /p', OWN, ['2']]],
  ])('[2.2] [4.2] is allowed: %s', (_, one, other) => {
    expect(() => register(route(...other), route(...one))).not.toThrow();
    expect(() => register(route(...one), route(...other))).not.toThrow();
  });
});

it('[4.2] two paths that differ only in case are refused where the router ignores case', () => {
  const both = [route('GET /p/:Id', PRODUCTS), route('GET /P/:id', WIDGETS)];
  expect(() => refuseCollisions(both, true)).not.toThrow();
  expect(() => refuseCollisions(both, false)).toThrow(
    /must be a path that no other route has, got GET \/p\/:Id, which .+ also has/,
  );
});
