import { isSameShape, overlaps, type RouteShape, shapesOf } from '../../../lib/routes/route.js';

const ANY = undefined;
const closed = (...levels: (string | undefined)[]): RouteShape => ({ levels, open: false });
const open = (...levels: (string | undefined)[]): RouteShape => ({ levels, open: true });

const byText = (shapes: readonly RouteShape[]): string[] =>
  [
    ...new Set(shapes.map(({ levels, open }) => `/${levels.map((level) => level ?? ':').join('/')}${open ? '…' : ''}`)),
  ].toSorted();

describe('the shapes of a template', () => {
  it.each<[string, RouteShape[]]>([
    ['/', [closed()]],
    ['', [closed()]],
    ['/api', [closed('api')]],
    ['/api/', [closed('api')]],
    ['/api/products', [closed('api', 'products')]],
    ['/api/products/:id', [closed('api', 'products', ANY)]],
    ['/api/:kind/:id/parts', [closed('api', ANY, ANY, 'parts')]],
    ['/api/:id.json', [closed('api', ANY)]],
    ['/api/report-:year', [closed('api', ANY)]],
    ['/api/v1.0/a~b', [closed('api', 'v1.0', 'a~b')]],
    // Express (path-to-regexp)
    ['/files/*path', [open('files')]],
    ['/files/*path/raw', [open('files')]],
    ['/*path', [open()]],
    ['/{*path}', [closed(), open()]],
    ['/a{/:b}', [closed('a'), closed('a', ANY)]],
    ['/a{/:b}{/:c}', [closed('a'), closed('a', ANY), closed('a', ANY, ANY)]],
    ['/a{/:b{/:c}}', [closed('a'), closed('a', ANY), closed('a', ANY, ANY)]],
    ['/a{.json}', [closed('a'), closed('a.json')]],
    // Fastify (find-my-way)
    ['/files/*', [open('files')]],
    ['*', [open()]],
    ['/*', [open()]],
    ['/a/:b?', [closed('a'), closed('a', ANY)]],
    ['/:b?', [closed(), closed(ANY)]],
    ['/a/:id(\\d+)', [open('a')]],
    ['/a/:id(^\\d+$)/b', [open('a')]],
    ['/a/:from-:to', [closed('a', ANY)]],
  ])('[3.5] %s', (template, shapes) => {
    expect(byText(shapesOf(template))).toEqual(byText(shapes));
  });

  it.each<[string, string[]]>([
    ['/a{/:b}', ['/a', '/a/x']],
    ['/files/*path', ['/files/x', '/files/x/y']],
    ['/a{/:b{/:c}}', ['/a', '/a/x', '/a/x/y']],
    ['/x{a}{b}{c}{d}{e}{f}', ['/x', '/xabcdef', '/xbd']],
    ['/a/:id(\\d+)/b', ['/a/7/b']],
    ['/a\\:b', ['/a:b']],
  ])('[3.5] are never narrower than the route: %s', (template, paths) => {
    for (const path of paths) {
      const levels = path.split('/').filter((level) => level !== '');
      const covered = shapesOf(template).some(
        (shape) =>
          (shape.open ? levels.length >= shape.levels.length : levels.length === shape.levels.length) &&
          shape.levels.every((level, index) => level === undefined || level === levels[index]),
      );
      expect([path, covered]).toEqual([path, true]);
    }
  });
});

describe('two shapes', () => {
  it.each<[string, string, same: boolean, overlap: boolean]>([
    ['/a/b', '/a/b', true, true],
    ['/a/b', '/a/c', false, false],
    ['/a/b', '/a', false, false],
    ['/a/:x', '/a/:y', true, true],
    ['/a/:x', '/a/b', false, true],
    ['/:x/b', '/a/:y', false, true],
    ['/:x/b', '/a/c', false, false],
    ['/a/:x', '/b/:x', false, false],
    ['/', '/', true, true],
    ['/', '/a', false, false],
  ])('[2.2] [4.2] %s and %s', (one, other, same, overlap) => {
    const [a] = shapesOf(one);
    const [b] = shapesOf(other);
    for (const [x, y] of [
      [a, b],
      [b, a],
    ] as [RouteShape, RouteShape][]) {
      expect(isSameShape(x, y)).toBe(same);
      expect(overlaps(x, y)).toBe(overlap);
    }
  });

  it('[4.2] are not the same where one is open', () => {
    expect(isSameShape(open('a'), closed('a'))).toBe(false);
    expect(isSameShape(open('a'), open('a'))).toBe(true);
  });
});
