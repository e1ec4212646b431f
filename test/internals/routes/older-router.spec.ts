/** Before version 2.3, the router of Express does not tell the path of a mount. */
import express from 'express';
import { ExpressRoutes } from '../../../lib/routes/express-routes.js';

it('[3.6] a mount of unknown path is found wherever its layer matches', () => {
  const app = express();
  app.use((_request, _response, next) => next());
  app.use('/docs', (_request, response) => void response.send('the documents'));
  const stack = (app.router as unknown as { stack: object[] }).stack.map((layer) => ({ ...layer, rawPath: undefined }));
  const routes = new ExpressRoutes({ router: { stack } } as never, undefined);
  expect(routes.routes.map(({ method, path }) => `${method} ${path}`)).toEqual(['ALL /{*rest}']);
  expect(['/docs', '/docs/x', '/DOCS/x', '/other'].map((path) => routes.hasPlatformRoute('GET', path))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
