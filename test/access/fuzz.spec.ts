import { PLATFORMS } from '../harness/platforms.js';
import { seeded } from './random.js';
import { bearer, type RuledApp, TOKENS } from './ruled-app.js';
import { mayBeEntered, ROUTERS, send, startSpellingApp } from './spelling-app.js';

/** For each platform, half of them for each setting of its router. `npm run fuzz` is the full run; FUZZ_SEED repeats one. */
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 20_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 1);
const AT_ONCE = 40;

const words = (text: string): string[] => text.split(' ');

const PIECES = [
  ...words('open page users me any wild deep api plain admin stats files readme kiosk published public 1 7'),
  ...words('/ / / // \\ . .. /./ /../ ; ;x ;/x # ? ?x=1'),
  ...words('%2f %2F %5c %252f %2e %2e%2e %00 %20 % %zz %ff %25 %3f %3b %C3%A9 %E2%84%AA %C5%BF'),
  ...words('\xa0 \x80 \xff \xc3\xa9 { } [ ] ( ) * : @ | ^ " < > \' ` \t \x7f \0'),
];
const PATHS = words(
  '/open/page /open/users/me /open/users/7 /open/kiosk/secret /open/any/7 /open/wild/a /open/wild/deep/x /open/wild/a/b /nowhere ' +
    '/api/plain /api/any /api/kiosk/1 /api/kiosk/7 /api/admin/stats /api/files/readme /api/files/x /api/published ' +
    '/api/wild/readme /api/wild/public/x /api/wild/secret',
);
const FRONTS = [
  '',
  '',
  '',
  ...words(
    '/ // http://h http://u@h:80 HTTPS://h http://a?b http://[a http://a;b ftp://h javascript://h http: x \\ . %2f',
  ),
];
const METHODS = words('GET GET GET GET HEAD POST PUT DELETE PATCH OPTIONS TRACE PROPFIND get');

/** A known path, written oddly in up to four places. */
function oddTarget(random: ReturnType<typeof seeded>): string {
  let target = random.of(PATHS);
  for (let changes = random.below(5); changes > 0; changes--) {
    const at = random.below(target.length + 1);
    const char = target.charAt(at);
    const piece = random.of(PIECES);
    target = random.of([
      () => target.slice(0, at) + piece + target.slice(at),
      () => target.slice(0, at) + piece + target.slice(at + 1),
      () => target.slice(0, at) + char.toUpperCase() + target.slice(at + 1),
      () => target.slice(0, at) + target.slice(at + 1),
      () =>
        char === '' || char.charCodeAt(0) > 0x7f
          ? target
          : `${target.slice(0, at)}%${char.charCodeAt(0).toString(16).padStart(2, '0')}${target.slice(at + 1)}`,
      () => target.replaceAll('/', random.of(['//', '\\', '/./'])),
      () => target + piece,
    ])();
  }
  return random.of(FRONTS) + target;
}

/** How long requests took, and the bytes of the slowest. */
class Times {
  private readonly milliseconds: number[] = [];
  private slowest = { time: 0, request: '' };

  add(time: number, request: string): void {
    this.milliseconds.push(time);
    if (time > this.slowest.time) this.slowest = { time, request };
  }

  toString(): string {
    const sorted = Float64Array.from(this.milliseconds).toSorted();
    const at = (share: number): string => `${sorted[Math.floor((sorted.length - 1) * share)]?.toFixed(2)} ms`;
    const { time, request } = this.slowest;
    const bytes = Buffer.from(request, 'latin1').toString('hex');
    return (
      `${sorted.length} requests, p50 ${at(0.5)}, p99.9 ${at(0.999)}, slowest ${time.toFixed(2)} ms: ` +
      `${JSON.stringify(request)} (bytes ${bytes})`
    );
  }
}

describe.each(PLATFORMS)('random requests on %s', (platform) => {
  it.each(ROUTERS)(
    '[3.5] never an answer from a handler without a decision that allowed it, never a 5xx (%s router)',
    async (router) => {
      const random = seeded(SEED * 100 + PLATFORMS.indexOf(platform) * 10 + ROUTERS.indexOf(router));
      const app: RuledApp = await startSpellingApp(platform, router);
      const wrong: string[] = [];
      const reached = new Set<string>();
      const times = new Times();
      const one = async (): Promise<void> => {
        const [method, target, agent] = [random.of(METHODS), oddTarget(random), random.below(4) === 0];
        const start = performance.now();
        const { answer, entries } = await send(app, target, {
          method,
          headers: agent ? bearer(TOKENS.SUPPORT_AGENT) : [],
        });
        times.add(performance.now() - start, `${method} ${target}`);
        for (const { route } of entries) reached.add(route);
        const allowed = agent
          ? entries.every(({ route }) => !route.includes('admin'))
          : entries.every((entry) => mayBeEntered(entry, method, target));
        const status = answer.status ?? 0;
        if (!allowed || status >= 500 || status === 0 || entries.length > 1 || (status < 300 && entries.length === 0)) {
          const what = `${agent ? 'agent' : 'anybody'} ${method} ${JSON.stringify(target)} → ${status} ${JSON.stringify(entries)}`;
          // At once, for a long run that is not waited for.
          process.stdout.write(`fuzz, ${platform}, ${router} router: ${what}\n`);
          wrong.push(what);
        }
      };
      const share = Math.ceil(REQUESTS / ROUTERS.length);
      for (let sent = 0; sent < share; sent += AT_ONCE) {
        app.entered.length = 0;
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, share - sent) }, one));
      }
      await app.close();
      process.stdout.write(
        `fuzz, ${platform}, ${router} router, seed ${SEED}: ${times}; ${reached.size} handlers reached, ${wrong.length} wrong\n`,
      );
      // A list of them all would not be read, and a broken decision makes many.
      expect(wrong.slice(0, 20)).toEqual([]);
      // Otherwise nothing was tried: the requests do reach handlers, those of public routes.
      expect(reached.size).toBeGreaterThan(4);
    },
    Math.max(120_000, REQUESTS * 10),
  );
});
