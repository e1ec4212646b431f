import { HttpAdapterHost } from '@nestjs/core';
import { RouteTable } from '../../lib/routes/route-table.js';
import { type Platform, PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { type RuledApp, startRuled, wildcard } from '../access/ruled-app.js';

const optional = (platform: Platform, path: string): string =>
  `${path}${platform === 'express' ? '{/:last}' : '/:last?'}`;

describe.each(PLATFORMS)('the route that %s chooses, told beforehand', (platform) => {
  let app: RuledApp;
  beforeAll(async () => {
    app = await startRuled(platform, {
      routes: [
        'GET a/:x',
        'GET :x/a',
        'GET b/c',
        'GET b/:x',
        `GET ${wildcard(platform, 'b')}`,
        'POST b/:x',
        'ALL d/:x/:y',
        `GET ${optional(platform, 'e')}`,
        'GET f/:x-:y',
        'GET f/:x',
        'GET ',
      ],
      rules: ({ publicEndpoints }) => publicEndpoints('/**'),
    });
  });
  afterAll(() => app.close());

  it.each([
    ['GET', '/'],
    ['GET', '/a/a'],
    ['GET', '/a/%61'],
    ['GET', '/z/a'],
    ['GET', '/a/x%2Fy%20z'],
    ['GET', '/b/c'],
    ['GET', '/b/%63'],
    ['HEAD', '/b/c'],
    ['GET', '/b/d'],
    ['GET', '/b/d/e%2Ff'],
    ['GET', '/b/%2541'],
    ['POST', '/b/c'],
    ['PUT', '/b/c'],
    ['PATCH', '/d/1/2'],
    ['OPTIONS', '/d/1/2'],
    ['GET', '/e'],
    ['GET', '/e/'],
    ['GET', '/e/1'],
    ['GET', '/f/1-2'],
    ['GET', '/f/1'],
    ['GET', '/A/x'],
    ['GET', '/a/'],
    ['GET', '//a'],
    ['GET', '/nowhere/b'],
  ])('%s %s', async (method, path) => {
    app.entered.length = 0;
    const { status } = await rawTarget(app.port, path, { method });
    const [entry] = app.entered;
    expect(entry === undefined).toBe(status === 404);
    const told = RouteTable.of(app.app.get(HttpAdapterHost).httpAdapter).servedBy(method, path);
    expect(told && { route: `${told.route.method} ${told.route.path.slice(1)}`, params: { ...told.params } }).toEqual(
      entry && { route: entry.route, params: { ...entry.params } },
    );
  });
});
