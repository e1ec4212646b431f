import { request } from '../harness/client.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { type Declare, ruledModule, startRuled, TOKENS, type Who } from './ruled-app.js';

/** `public /a/**`, `auth GET /a`, `ADMIN /a/*`: one declaration in one line. */
type Line = string;

const declaring =
  (lines: readonly Line[]): Declare =>
  ({ publicEndpoints, requireAuth, requireRole }) => {
    for (const line of lines) {
      const [kind = '', ...rest] = line.split(' ');
      if (kind === 'public') publicEndpoints(rest.join(' '));
      else if (kind === 'auth') requireAuth(rest.join(' '));
      else requireRole(kind, rest.join(' '));
    }
  };

interface Example {
  title: string;
  rules: Line[];
  routes: string[];
  /** `GET /a` → the statuses of nobody, USER, ADMIN and SUPPORT_AGENT. */
  expected: Record<string, number[]>;
}
const OPEN = [200, 200, 200, 200];
const AUTH = [401, 200, 200, 200];
const ADMIN = [401, 403, 200, 403];
const AGENT = [401, 403, 403, 200];
const BOTH = [401, 403, 403, 403];
const ASKING: Who[] = ['ANYBODY', 'USER', 'ADMIN', 'SUPPORT_AGENT'];

const EXAMPLES: Example[] = [
  {
    title: "requireAuth('/api/**') + publicEndpoints('/api/auth/**') opens auth",
    rules: ['auth /api/**', 'public /api/auth/**'],
    routes: ['GET api/x', 'GET api/auth/y'],
    expected: { 'GET /api/x': AUTH, 'GET /api/auth/y': OPEN },
  },
  {
    title: "publicEndpoints('/api/**') + requireRole('ADMIN', '/api/admin/**') keeps admin closed",
    rules: ['public /api/**', 'ADMIN /api/admin/**'],
    routes: ['GET api/x', 'GET api/admin', 'GET api/admin/y'],
    expected: { 'GET /api/x': OPEN, 'GET /api/admin': ADMIN, 'GET /api/admin/y': ADMIN },
  },
  {
    title: 'fewer literal segments are broader',
    rules: ['ADMIN /a/**', 'public /a/b/**', 'auth /a/b/c/**'],
    routes: ['GET a/x', 'GET a/b/x', 'GET a/b/c/x'],
    expected: { 'GET /a/x': ADMIN, 'GET /a/b/x': OPEN, 'GET /a/b/c/x': AUTH },
  },
  {
    title: 'among equals ** is broader than *',
    rules: ['ADMIN /a/**', 'public /a/*'],
    routes: ['GET a', 'GET a/x', 'GET a/x/y'],
    expected: { 'GET /a': ADMIN, 'GET /a/x': OPEN, 'GET /a/x/y': ADMIN },
  },
  {
    title: 'among equals * does not lose to **, whichever restricts',
    rules: ['public /a/**', 'ADMIN /a/*'],
    routes: ['GET a', 'GET a/x', 'GET a/x/y'],
    expected: { 'GET /a': OPEN, 'GET /a/x': ADMIN, 'GET /a/x/y': OPEN },
  },
  {
    title: 'among equals ** is broader than plain',
    rules: ['ADMIN /a/**', 'public /a'],
    routes: ['GET a', 'GET a/x'],
    expected: { 'GET /a': OPEN, 'GET /a/x': ADMIN },
  },
  {
    title: '* is broader than plain',
    rules: ['ADMIN /a/*', 'public /a/x'],
    routes: ['GET a/x', 'GET a/y'],
    expected: { 'GET /a/x': OPEN, 'GET /a/y': ADMIN },
  },
  {
    title: 'a pattern without methods is broader than the same with methods',
    rules: ['ADMIN /a', 'public GET /a'],
    routes: ['GET a', 'POST a'],
    expected: { 'GET /a': OPEN, 'HEAD /a': OPEN, 'POST /a': ADMIN },
  },
  {
    title: 'a method may restrict what is otherwise public',
    rules: ['public /a', 'ADMIN POST,DELETE /a'],
    routes: ['GET a', 'POST a', 'DELETE a'],
    expected: { 'GET /a': OPEN, 'POST /a': ADMIN, 'DELETE /a': ADMIN },
  },
  {
    title: 'the form weighs more than the methods',
    rules: ['public GET /a/**', 'ADMIN /a/*'],
    routes: ['GET a/x', 'GET a/x/y'],
    expected: { 'GET /a/x': ADMIN, 'GET /a/x/y': OPEN },
  },
  {
    title: 'literal segments weigh more than the form',
    rules: ['public /a', 'ADMIN /a/x/**', 'public /*'],
    routes: ['GET a', 'GET a/x', 'GET b'],
    expected: { 'GET /a': OPEN, 'GET /a/x': ADMIN, 'GET /b': OPEN },
  },
  {
    title: 'public resets to open: restrictions above it are dropped, those below it count',
    rules: ['ADMIN /**', 'public /a/**', 'SUPPORT_AGENT /a/b/**'],
    routes: ['GET x', 'GET a/x', 'GET a/b/x'],
    expected: { 'GET /x': ADMIN, 'GET /a/x': OPEN, 'GET /a/b/x': AGENT },
  },
  {
    title: 'auth below a role does not drop the role',
    rules: ['ADMIN /a/**', 'auth /a/b/**'],
    routes: ['GET a/b/x'],
    expected: { 'GET /a/b/x': ADMIN },
  },
  {
    title: 'roles add up',
    rules: ['ADMIN /a/**', 'SUPPORT_AGENT /a/b/**'],
    routes: ['GET a/x', 'GET a/b/x'],
    expected: { 'GET /a/x': ADMIN, 'GET /a/b/x': BOTH },
  },
  {
    title: 'roles on the very same pattern add up',
    rules: ['ADMIN /a', 'SUPPORT_AGENT /a'],
    routes: ['GET a'],
    expected: { 'GET /a': BOTH },
  },
  {
    title: 'the base role adds nothing to a role, and a token to nothing',
    rules: ['USER /a', 'ADMIN /b/**', 'USER /b/x'],
    routes: ['GET a', 'GET b/x'],
    expected: { 'GET /a': AUTH, 'GET /b/x': ADMIN },
  },
  {
    title: 'the given example: catalogue public, api behind a token, admin and deletes for ADMIN',
    rules: [
      'public /',
      'public GET /api/products/**',
      'auth /api/**',
      'ADMIN /api/admin/**',
      'ADMIN DELETE /api/products/*',
    ],
    routes: [
      'GET ',
      'GET api/products',
      'POST api/products',
      'GET api/products/:id',
      'DELETE api/products/:id',
      'GET api/admin/x',
      'GET api/orders',
    ],
    expected: {
      'GET /': OPEN,
      'GET /api/products': OPEN,
      'HEAD /api/products': OPEN,
      'POST /api/products': AUTH,
      'GET /api/products/7': OPEN,
      'DELETE /api/products/7': ADMIN,
      'GET /api/admin/x': ADMIN,
      'GET /api/orders': AUTH,
    },
  },
];

describe.each(PLATFORMS)('precedence on %s', (platform) => {
  it.each(EXAMPLES)('[3.3] $title', async ({ rules, routes, expected }) => {
    const app = await startRuled(platform, { routes, rules: declaring(rules) });
    const got: Record<string, number[]> = {};
    for (const line of Object.keys(expected)) {
      const [method = '', path = ''] = line.split(' ');
      const statuses = ASKING.map(async (who) => {
        const token = TOKENS[who];
        const { status } = await request(app.url, method, path, token === undefined ? {} : { token });
        return status === 201 ? 200 : status;
      });
      got[line] = await Promise.all(statuses);
    }
    await app.close();
    expect(got).toEqual(expected);
  });

  it('[3.3] declaration order never matters: rotations of five rules answer alike, to the byte', async () => {
    const rules = ['ADMIN /a/**', 'SUPPORT_AGENT /a/**', 'public /a/b/**', 'LEAD /a/b/*', 'auth GET /a/b/*'];
    const answers = new Set<string>();
    for (let turn = 0; turn < rules.length; turn++) {
      const lines = [...rules.slice(turn), ...rules.slice(0, turn)];
      const app = await startRuled(platform, { routes: ['GET a', 'GET a/b', 'GET a/b/c'], rules: declaring(lines) });
      const texts = [];
      for (const path of ['/a', '/a/b', '/a/b/c'])
        for (const who of ASKING) {
          const token = TOKENS[who];
          const { status, text } = await request(app.url, 'GET', path, token === undefined ? {} : { token });
          texts.push(`${path} ${who} ${status} ${text}`);
        }
      answers.add(texts.join('\n'));
      await app.close();
    }
    expect([...answers]).toHaveLength(1);
  });

  it.each<[what: string, first: Line, second: Line]>([
    ['for other methods', 'public GET /a', 'auth POST /a'],
    ['of another form', 'public /a/*', 'auth /a/**'],
    ['one of them without methods', 'public GET /a', 'auth /a'],
    ['public twice', 'public /a', 'public /a'],
    ['two restrictions', 'auth /a', 'ADMIN /a'],
  ])('[3.3] these rules do not contradict each other: %s', async (_, first, second) => {
    const app = await startRuled(platform, {
      routes: ['GET a', 'POST a', 'GET a/b'],
      rules: declaring([first, second]),
    });
    expect((await request(app.url, 'GET', '/nowhere')).status).toBe(404);
    await app.close();
  });

  it.each<[what: string, line: Line]>([
    ['a path that is not there', 'auth /nowhere'],
    ['everything below one that is not there', 'ADMIN /nowhere/**'],
    ['a method that its path has not', 'public DELETE /a'],
    ['one level below a path that has none', 'auth /a/*'],
    ['a shorter path than any', 'auth /x'],
  ])('[3.3] a rule that matches no route is one warning: %s', async (_, line) => {
    const app = await startRuled(platform, { routes: ['GET a', 'GET x/:id/y'], rules: declaring([line, 'auth /a']) });
    const warnings = linesOf(app.logs, 'warn').filter((warning) => warning.includes('matches no route'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(JSON.stringify(line.slice(line.indexOf(' ') + 1)));
    expect(warnings[0]).toContain('TestSecurity.');
    await app.close();
  });

  it.each<Line>([
    'auth /a',
    'public GET /a',
    'auth /**',
    'auth /x/7',
    'ADMIN /x/7/**',
    'auth /api/auth/login',
    'auth /x/*',
  ])('[3.3] a rule that matches a part of a route is no warning: %s', async (line) => {
    const app = await startRuled(platform, { routes: ['GET a', 'GET x/:id', 'GET x/:id/y'], rules: declaring([line]) });
    expect(linesOf(app.logs, 'warn').filter((line) => line.includes('matches no route'))).toEqual([]);
    await app.close();
  });
});

it.each<[what: string, first: Line, second: Line]>([
  ['public and auth', 'public /a', 'auth /a'],
  ['auth and public', 'auth /a/**', 'public /a/**'],
  ['public and a role', 'public /a/*', 'ADMIN /a/*'],
  ['public and the base role', 'public /a', 'USER /a'],
  ['with the same method', 'public GET /a', 'auth GET /a'],
  ['with one method in common', 'public GET,POST /a', 'ADMIN PUT,POST /a'],
  ['with the methods in another order', 'public GET,POST /a', 'auth POST,GET /a'],
  ['with a slash at the end', 'public /a', 'auth /a/'],
  ['at the root', 'public /', 'auth /'],
])(
  '[3.3] the same pattern for the same method both public and restricted refuses to start: %s',
  async (_, first, second) => {
    for (const lines of [
      [first, second],
      [second, first],
    ]) {
      const error = await bootError('express', ruledModule({ routes: ['GET a'], rules: declaring(lines) }));
      expect(error.name).toBe('InvalidOptionError');
      for (const line of lines) expect(error.message).toContain(line.slice(line.indexOf(' ') + 1));
    }
  },
);
