import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuthModule, CrudController } from 'declarest';
import { type Child, shell, startChild } from './child-process.js';
import { type Compiled, compile, REPOSITORY, typeErrors } from './compiled.js';
import { pathWithCurl } from './curl.js';
import { type Answer, request } from './harness/client.js';

interface Block {
  readonly language: string;
  readonly text: string;
  /** For titles: `ts block at line 42`. */
  readonly title: string;
}

const readme = await readFile(join(REPOSITORY, 'README.md'), 'utf8');
const blocks = blocksOf(readme);
const inLanguage = (language: string): Block[] => blocks.filter((block) => block.language === language);

const SHOP = 'http://localhost:3000';
const ADMIN = { ADMIN_EMAIL: 'boss@shop.example', ADMIN_PASSWORD: 'the boss of the shop' };

/** Where the snippets would stand, so that they find every package. */
const fileOf = ({ title }: Block): string => `readme/${title.replace(/\D/g, '')}/main.ts`;

/** The module that a snippet imports from beside it. */
const SHOP_MODULE = `import { AppModule as Shop } from '../../sample-app/app.module.js';
import { readConfig } from '../../sample-app/config.js';
export const AppModule = Shop.with(readConfig({ DATABASE: ':memory:', ADMIN_PASSWORD: '${ADMIN.ADMIN_PASSWORD}' }));
`;

let compiled: Compiled;
let problems: readonly string[];
let folder: string;

beforeAll(async () => {
  const snippets = inLanguage('ts').map((block) => [fileOf(block), block.text]);
  const shops = inLanguage('ts').map((block) => [fileOf(block).replace('main.ts', 'app.module.ts'), SHOP_MODULE]);
  const sources = Object.fromEntries([...snippets, ...shops]);
  compiled = await compile(['sample-app/main.ts'], sources);
  problems = await typeErrors(['sample-app/main.ts'], sources);
  folder = await mkdtemp(join(tmpdir(), 'declarest-readme-'));
}, 60_000);

afterAll(async () => {
  await compiled.remove();
  await rm(folder, { recursive: true, force: true });
});

const node = (file: string, env: Record<string, string>): Child =>
  startChild(process.execPath, [join(compiled.directory, file.replace(/\.ts$/, '.js'))], { cwd: folder, env });

it('has no code block but those that are tried here', () => {
  // What the command line prints, `text`, is tried in test/cli/explain.spec.ts.
  const known = ['ts', 'sh', 'http', 'text'];
  expect(blocks.filter(({ language }) => !known.includes(language)).map(({ title }) => title)).toEqual([]);
  expect(known.filter((language) => inLanguage(language).length === 0)).toEqual([]);
});

it('names only npm scripts that there are', async () => {
  const { scripts } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as { scripts: object };
  const named = [...readme.matchAll(/npm (?:run )?(?!ci\b|install\b|may\b)([\w:]+)/g)].map(([, script]) => script);
  expect(new Set(named)).toEqual(new Set(['start', 'test']));
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
});

it('links only to files that there are', async () => {
  const links = [...readme.matchAll(/\]\((?!#|https?:)([^)]+)\)/g)].map(([, path = '']) => path);
  await Promise.all(links.map((path) => access(join(REPOSITORY, path))));
  expect(links).toContain('SECURITY.md');
});

it('[1] explains every name that the package exports', async () => {
  const entries = ['index.ts', join('express', 'index.ts'), join('testing', 'index.ts')].map((path) =>
    join(REPOSITORY, 'lib', path),
  );
  const text = (await Promise.all(entries.map((path) => readFile(path, 'utf8')))).join('\n');
  const names = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
    ([, list = '']) => list.match(/\w+/g) ?? [],
  );
  expect(names).toEqual(expect.arrayContaining(['CrudController', 'accessMatrix']));
  expect(names.filter((name) => !new RegExp(`\`[^\`]*\\b${name}\\b`).test(readme))).toEqual([]);
});

it.each<[heading: string, declareWrongly: () => unknown]>([
  ['Options of `AuthModule.forRoot`', () => AuthModule.forRoot({ nonsense: true } as never)],
  ['Options of `CrudController` and `CrudModule.forFeature`', () => CrudController({ nonsense: true } as never)],
])('[1] lists every option under "%s"', (heading, declareWrongly) => {
  const section = readme.split(`### ${heading}\n`)[1]!.split('\n#')[0]!;
  const listed = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  const known = /options ([\w, ]+), got/.exec(messageOfThrown(declareWrongly))?.[1]?.split(', ');
  expect(listed.toSorted()).toEqual(known?.toSorted());
});

it.each(inLanguage('ts').map((block) => [block.title, block] as const))(
  '[1] the %s compiles as strictly as the package itself',
  (_title, block) => {
    expect(problems.filter((problem) => problem.startsWith(fileOf(block)))).toEqual([]);
  },
);

it('[1] the application of the first ts block boots and answers', async () => {
  const [main] = inLanguage('ts');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const app = node(fileOf(main!), { PORT: String(port), JWT_SECRET: 'x'.repeat(48) });
  await app.says(/Nest application successfully started/);
  const registered = await until(() =>
    request(url, 'POST', '/api/auth/register', { json: { email: 'ann@shop.example', password: 'correct horse' } }),
  );
  expect(registered.status).toBe(201);
  const token = registered.json.data.token as string;
  const ask = async (method: string, path: string, options: object = {}): Promise<number> =>
    (await request(url, method, path, options)).status;
  const json = { name: 'Lamp', price: 12.5 };
  expect(await ask('GET', '/api/products')).toBe(200);
  expect(await ask('POST', '/api/products', { json })).toBe(401);
  expect(await ask('POST', '/api/products', { json, token })).toBe(201);
  expect(await ask('DELETE', '/api/products/1', { token })).toBe(403);
  app.signal('SIGKILL');
});

it('[1] the tests of the ts block with declarest/testing pass', async () => {
  const block = inLanguage('ts').find(({ text }) => text.includes('declarest/testing'))!;
  const { code, stdout } = await node(fileOf(block), {}).ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('# pass 3')]);
});

describe('against the running shop', () => {
  let shop: Child;
  let url: string;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    shop = node('sample-app/main.ts', { PORT: '0', DATABASE: join(folder, 'shop.db'), ...ADMIN });
    [, url = ''] = await shop.says(/The shop is up at (\S+)[\s\S]*\n$/);
  });
  afterAll(() => {
    shop.signal('SIGINT');
    return shop.ended;
  });

  it.each(inLanguage('sh').map((block) => [block.title, block] as const))(
    'each line of the %s works in a shell',
    async (_title, { text }) => {
      for (const line of text.replaceAll(SHOP, url).trim().split('\n')) {
        const { code, stdout } = await shell(line, { cwd: folder, env: { PATH: pathWithCurl(folder) } });
        expect([line, code, JSON.parse(stdout)]).toEqual([line, 0, expect.objectContaining({ success: true })]);
      }
    },
  );

  it.each(inLanguage('http').map((block) => [block.title, block] as const))(
    'the %s is what is asked and answered',
    async (_title, { text }) => {
      const { ask, expected } = exchangeOf(text.replaceAll('$TOKEN', () => tokens['user'] ?? ''));
      const answer = await request(url, ask.method, ask.path, {
        headers: ask.headers,
        ...(ask.body !== '' && { body: ask.body }),
      });
      tokens['user'] ??= answer.json?.data?.token;
      expect(answer.status).toBe(expected.status);
      expect(answer.headers).toMatchObject(expected.headers);
      if (expected.body === '') expect(answer.text).toBe('');
      else expect(masked(answer.json)).toEqual(masked(JSON.parse(expected.body)));
    },
  );
});

function blocksOf(markdown: string): Block[] {
  const found = markdown.matchAll(/^```(?<language>[^\n]*)\n(?<text>.*?)^```$/gms);
  return [...found].map(({ index, groups = {} }) => {
    const { language = '', text = '' } = groups;
    return { language, text, title: `${language} block at line ${markdown.slice(0, index).split('\n').length}` };
  });
}

function messageOfThrown(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

interface Exchange {
  readonly ask: {
    readonly method: string;
    readonly path: string;
    readonly headers: Record<string, string>;
    readonly body: string;
  };
  readonly expected: { readonly status: number; readonly headers: Record<string, string>; readonly body: string };
}

/** A request and its answer, as they stand in one block: each with its first line, headers, and a body after an empty line. */
function exchangeOf(text: string): Exchange {
  const [request = '', answer = ''] = text.split(/^(?=HTTP\/1\.1 )/m);
  const [asked, answered] = [partsOf(request), partsOf(answer)];
  const [method = '', path = ''] = asked.first.split(' ');
  return {
    ask: { method, path, headers: asked.headers, body: asked.body },
    expected: { status: Number(answered.first.split(' ')[1]), headers: answered.headers, body: answered.body },
  };
}

function partsOf(text: string): { first: string; headers: Record<string, string>; body: string } {
  const [head = '', ...body] = text.trim().split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  const headers = lines.map(
    (line) => [line.split(': ')[0]!.toLowerCase(), line.split(': ').slice(1).join(': ')] as const,
  );
  return { first, headers: Object.fromEntries(headers), body: body.join('\n\n') };
}

/** With what is different at each run put aside, if it has the form it should have. */
function masked(body: unknown): unknown {
  const forms: Record<string, RegExp> = { timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/, token: /^eyJ/ };
  return JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    typeof value === 'string' && forms[key]?.test(value) ? key : value,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Nest says that it has started just before it listens. */
async function until(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer) return answer;
    await new Promise((later) => setTimeout(later, 50));
  }
}
