import { PLATFORMS } from '../harness/platforms.js';
import { rawTarget } from '../harness/raw-socket.js';
import { startRuled, wildcard } from './ruled-app.js';

/** Node accepts 16 kB of request line and headers. */
const repeated = (text: string): string => text.repeat(Math.floor(15_000 / text.length));

/** A quadratic algorithm takes seconds for each of these paths. */
const MAX_MS = 500;

describe.each(PLATFORMS)('paths with thousands of levels on %s', (platform) => {
  it.each([
    ['levels', '/a'],
    ['empty levels', '/'],
    ['path parameters', ';a'],
    ['levels with path parameters', '/a;a'],
    ['parent segments', '/..'],
    ['escaped slashes', '%2f'],
  ])('[3.5] are decided in linear time: %s', async (_what, text) => {
    const app = await startRuled(platform, {
      routes: [`GET ${wildcard(platform, 'files')}`],
      rules: ({ requireAuth, requireRole, publicEndpoints }) => {
        // The second rule matches a part of a wildcard route, the third no route of Nest's at all.
        publicEndpoints('/files/**');
        requireRole('ADMIN', '/files/a/a/secret/**');
        requireAuth('/legacy/a/**');
      },
      configure: (nest) => void nest.use('/mount', (_request: unknown, _response: unknown, next: () => void) => next()),
    });
    for (const path of [`/files${repeated(text)}`, `/legacy/a${repeated(text)}`, `/mount${repeated(text)}`]) {
      const started = performance.now();
      const { status } = await rawTarget(app.port, path);
      expect([path.slice(0, 20), status === undefined, performance.now() - started < MAX_MS]).toEqual([
        path.slice(0, 20),
        false,
        true,
      ]);
    }
    await app.close();
  });
});
