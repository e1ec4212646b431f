import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, normalize } from 'node:path';
import { Script } from 'node:vm';
import { standardOperations } from 'declarest';
import { UserAccounts } from 'declarest';
import { SCRIPTS as CREATED_SCRIPTS } from '../packages/create-declarest/src/package-json.js';
import { type ApplicationCommand, type Outcome, parseCommand } from '../lib/cli/arguments.js';
import { runCommand } from '../lib/cli/commands.js';
import type * as shopModule from '../sample-app/app.module.js';
import { readConfig } from '../sample-app/config.js';
import { type Child, shell, startChild } from './child-process.js';
import { type Compiled, compile, REPOSITORY, typeErrors } from './compiled.js';
import { pathWithCurl } from './curl.js';
import {
  anchorsOf,
  type Block,
  blocksOf,
  exchangeOf,
  linksOf,
  masked,
  NEIGHBOURS,
  type Page,
  withoutBlocks,
} from './docs-blocks.js';
import { type Answer, request } from './harness/client.js';
import { type RunningApp, startApp } from './harness/platforms.js';

const SHOP = 'http://localhost:3000';

const read = (path: string): Promise<string> => readFile(join(REPOSITORY, path), 'utf8');

const SKILL = 'skills/declarest/SKILL.md';

const paths = (await readdir(join(REPOSITORY, 'docs'), { recursive: true })).filter((path) => path.endsWith('.md'));
const guides = paths.map((path) => join('docs', path));
/** Packages whose README is a guide, as npm shows it. */
const packageGuides = ['client', 'files', 'logins', 'mcp'].map((name) => `packages/declarest-${name}/README.md`);
const pages: Page[] = await Promise.all(
  ['README.md', 'SECURITY.md', 'llms.txt', SKILL, ...guides, ...packageGuides].map(async (path) => ({
    path,
    text: await read(path),
  })),
);
const pageAt = (path: string): Page => pages.find((page) => page.path === path)!;
const readme = pageAt('README.md');
const gettingStarted = pageAt('docs/learn/getting-started.md');
const blocks = pages.flatMap(blocksOf);
const inLanguage = (language: string): Block[] => blocks.filter((block) => block.language === language);
const rowsOf = (language: string) => inLanguage(language).map((block) => [block.title, block] as const);

/** Asynchronous collections free statements outside of any call, where better-sqlite3 12 aborts on Node 24.19 and later. */
const STATEMENTS = 'docs-blocks/statements.ts';
const STATEMENTS_TEXT = `
import { DataSource } from 'typeorm';
const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
for (let number = 0; number < 200_000; number += 1) {
  await dataSource.query(\`SELECT \${Math.trunc(number / 4)}\`);
  if (number % 10_000 === 0) await gc({ type: 'major', execution: 'async' });
}
await dataSource.destroy();
`;

/** The tests of the pages, in one process. */
const TESTS = 'docs-blocks/tests.ts';
const tests = inLanguage('ts').filter(({ text }) => text.includes('node:test'));
const TESTS_TEXT = tests.map(({ file }) => `import './${basename(file, '.ts')}.js';\n`).join('');

/** The shop with fast hashes, for the tests of the pages and for their requests. */
const SHOP_MODULE = 'sample-app/app.module.ts';
const SHOP_MODULE_TEXT = (await read(SHOP_MODULE)).replace('userClass: User,', 'userClass: User, bcryptRounds: 4,');

let compiled: Compiled;
let problems: readonly string[];
let folder: string;

beforeAll(async () => {
  const sources = {
    ...NEIGHBOURS,
    ...Object.fromEntries(inLanguage('ts').map(({ file, text }) => [file, text])),
  };
  const programs = { [STATEMENTS]: STATEMENTS_TEXT, [TESTS]: TESTS_TEXT, [SHOP_MODULE]: SHOP_MODULE_TEXT };
  compiled = await compile([], { ...sources, ...programs });
  problems = await typeErrors(sources);
  folder = await mkdtemp(join(tmpdir(), 'declarest-docs-'));
});

afterAll(async () => {
  await compiled.remove();
  await rm(folder, { recursive: true, force: true });
});

const compiledFile = (file: string): string => join(compiled.directory, file.replace(/\.ts$/, '.js'));
const start = (file: string, env: Record<string, string>): Child =>
  startChild(process.execPath, [compiledFile(file)], { cwd: folder, env });

describe('the pages', () => {
  it('have only blocks that are tried here', () => {
    const known = ['ts', 'sh', 'http', 'json', 'js', 'text', 'mermaid'];
    expect(blocks.filter(({ language }) => !known.includes(language)).map(({ title }) => title)).toEqual([]);
    expect(known.filter((language) => inLanguage(language).length === 0)).toEqual([]);
  });

  it('link to pages, headings and files that exist', async () => {
    const dead = pages.flatMap((page) =>
      linksOf(page)
        .map((target) => ({ target, ...resolved(page, target) }))
        .filter(({ file, anchor }) => {
          const target = pageAt(file);
          if (file.endsWith('.png')) return !existsSync(join(REPOSITORY, file));
          return target === undefined || (anchor !== undefined && !anchorsOf(target).includes(anchor));
        })
        .map(({ target, file }) => ({ page: page.path, target, file })),
    );
    // The changelog is published too, but has no blocks.
    expect(dead.filter(({ file }) => file !== 'CHANGELOG.md')).toEqual([]);
  });

  it('are published with the package', async () => {
    const { files } = JSON.parse(await read('package.json')) as { files: string[] };
    const published = ['docs', 'skills', 'llms.txt', 'SECURITY.md', 'CHANGELOG.md'];
    expect(files).toEqual(expect.arrayContaining(published));
  });

  it('begin with the commands of a clone, before anything that must be published', () => {
    const screen = readme.text.split('\n').slice(0, 25).join('\n');
    const published = screen.search(/npm (create|install declarest)|npx /);
    for (const command of ['npm ci && npm start', 'npm ci && npm test']) {
      const position = screen.indexOf(command);
      expect([command, position > 0 && (published < 0 || position < published)]).toEqual([command, true]);
    }
  });

  it('are all linked from the index, which README links', () => {
    const linkedFrom = (page: Page) => linksOf(page).map((target) => resolved(page, target).file);
    const index = pageAt('docs/README.md');
    const linked = linkedFrom(index);
    expect([...guides, 'SECURITY.md'].filter((path) => path !== index.path && !linked.includes(path))).toEqual([]);
    expect(linkedFrom(readme)).toContain(index.path);
  });

  it('[issue 56] are at most 30 with 45,000 words, and README has at most 180 lines', () => {
    const words = guides.flatMap((path) =>
      pageAt(path)
        .text.split(/\s+/)
        .filter((word) => word !== ''),
    );
    expect(guides.length).toBeLessThanOrEqual(30);
    expect(words.length).toBeLessThanOrEqual(45_000);
    expect(readme.text.split('\n').length - 1).toBeLessThanOrEqual(180);
  });

  it('[1] list the options, exports and messages of the sources', async () => {
    const { code, stderr } = await startChild(process.execPath, ['scripts/reference.mjs', '--check'], {
      cwd: REPOSITORY,
    }).ended;
    expect([code, stderr]).toEqual([0, '']);
  });

  it('are all in llms.txt, with their titles', () => {
    const listed = [...pageAt('llms.txt').text.matchAll(/^- \[(.+?)\]\((.+?)\)/gm)].map(([, title, path]) => [
      path,
      title,
    ]);
    const titles = guides.map((path) => [path, /^# (.+)$/m.exec(pageAt(path).text)?.[1]]);
    expect(listed.filter(([path]) => path!.startsWith('docs/')).toSorted()).toEqual(titles.toSorted());
  });

  it('have a skill in the format of agentskills.io', () => {
    const [, header = ''] = /^---\n([^]*?)\n---\n/.exec(pageAt(SKILL).text) ?? [];
    const fields = Object.fromEntries(header.split('\n').map((line) => line.split(/: (.*)/).slice(0, 2)));
    expect(fields).toEqual({ name: 'declarest', description: expect.any(String), license: 'MIT' });
    expect(fields.description.length).toBeLessThanOrEqual(1024);
    expect(pageAt(SKILL).text.split('\n').length).toBeLessThan(100);
  });

  it('name only commands and files that exist, in AGENTS.md of new applications', async () => {
    const template = 'packages/create-declarest/template';
    const text = await read(join(template, 'AGENTS.md'));
    const scripts = [...text.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, name]) => name!);
    expect(scripts.length).toBeGreaterThan(3);
    expect(scripts.filter((name) => !(name in CREATED_SCRIPTS))).toEqual([]);
    const named = [...text.matchAll(/`((?:src|node_modules\/declarest)\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect(named.length).toBeGreaterThan(3);
    const inRepository = named.map((path) =>
      path.replace('node_modules/declarest', '.').replace(/^src/, `${template}/src`),
    );
    expect(inRepository.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
  });

  it('name only npm scripts that exist', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: object };
    const text = [...pages.map((page) => page.text), await read('CONTRIBUTING.md')].join('\n');
    const named = [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start))/g)].map(([, run, short]) => run ?? short!);
    const known = { ...scripts, ...CREATED_SCRIPTS };
    expect([...new Set(named)].filter((name) => !(name in known))).toEqual([]);
    expect(named).toEqual(expect.arrayContaining(['start', 'test', 'test:coverage']));
  });

  it('ask for a compiler on Node 20 only: the lock file spares better-sqlite3 13 a needless one', async () => {
    // npm drops `gypfile` from the lock file whenever it writes it (npm/cli#9837): add it by hand.
    const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, object> };
    expect(packages['node_modules/better-sqlite3']).toMatchObject({ gypfile: false });
  });

  it('[issue 11] leave out TypeORM 0.3.29, whose includes through the repository are 500', async () => {
    const { peerDependencies } = JSON.parse(await read('package.json')) as { peerDependencies: { typeorm: string } };
    expect(peerDependencies.typeorm.split(' || ')).toEqual(['>=0.3.20 <0.3.29', '^0.3.30', '^1.0.0']);
    expect(await read('README.md')).toContain('0.3.20 or later except 0.3.29');
    expect(await read('docs/inside/compatibility.md')).toContain('### TypeORM 0.3.29');
  });

  it('[1] explain every name that the package exports', async () => {
    const entries = ['lib/index.ts', 'lib/express/index.ts', 'lib/testing/index.ts'];
    const exports = (await Promise.all(entries.map(read))).join('\n');
    const names = [...exports.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
      ([, list = '']) => list.match(/\w+/g) ?? [],
    );
    expect(names).toEqual(expect.arrayContaining(['CrudController', 'accessMatrix', 'ExpressAdapter']));
    const text = pages.map(withoutBlocks).join('\n');
    expect(names.filter((name) => !new RegExp(`\`[^\`\n]*\\b${name}\\b`).test(text))).toEqual([]);
  });

  it('[4.1] list every operation with its verb, path, enabling option and status', () => {
    const rows = tableWith('docs/learn/generated-endpoints.md', 'available');
    const listed = rows.flatMap(([names = '', route = '', available = '', success = '']) => {
      const verbs = route.match(/[A-Z]{3,}/g);
      const path = /`\{endpoint\}([^?`]*)/.exec(route)?.[1]?.replace('{id}', ':id');
      const enabledBy = available === 'always' ? undefined : codeIn(available)[0];
      const [status] = /^\d+/.exec(success) ?? [];
      return codeIn(names).map((name, place) => ({ name, verb: verbs?.[place], path, enabledBy, status }));
    });
    const declared = standardOperations.map(({ name, route: { verb, path, status }, enabledBy }) => ({
      name,
      verb,
      path: path === '/' ? '' : `/${path}`,
      enabledBy,
      // Batches have a page of their own.
      status: path === 'batch' ? undefined : String(status ?? (verb === 'POST' ? 201 : 200)),
    }));
    expect(byName(listed)).toEqual(byName(declared));
  });

  it('[4.7] list every operation with its route decorators and parameters', () => {
    const rows = tableWith('docs/tasks/overriding.md', 'route decorator');
    const listed = rows.map(([name = '', decorators = '', parameters = '']) => ({
      name: codeIn(name)[0],
      decorators: codeIn(decorators),
      parameters: codeIn(parameters).map((each) => each.replace('?', '')),
    }));
    const types = { id: 'id: string', query: 'query: ListQuery', body: 'body: JsonObject', patch: 'body: JsonObject' };
    const declared = standardOperations.map(({ name, route: { verb, path, takes, status } }) => {
      const decorator = verb.charAt(0) + verb.slice(1).toLowerCase();
      const route = `@${decorator}(${path === '/' ? '' : `'${path}'`})`;
      const decorators = status === undefined ? [route] : [route, `@HttpCode(${status})`];
      return { name, decorators, parameters: takes.map((each) => types[each]) };
    });
    expect(byName(listed)).toEqual(byName(declared));
  });

  it('show the same example of the client as the README of its package', async () => {
    const [block] = blocksOf(pageAt('packages/declarest-client/README.md')).filter(({ language }) => language === 'ts');
    expect(pageAt('docs/tasks/client.md').text).toContain(block!.text);
  });
});

describe('the ts blocks', () => {
  it.each(rowsOf('ts'))('[1] %s compiles as strictly as the package', (_title, { file }) => {
    expect(problemsOf(file)).toEqual([]);
  });

  it('[1] listen to the errors of each connection of PostgreSQL, as created applications and the sample do', async () => {
    const files = ['packages/create-declarest/src/variants.ts', 'sample-app/database.ts'];
    const others = await Promise.all(files.map(async (title) => ({ title, text: await read(title) })));
    const sources = [...inLanguage('ts'), ...others].filter(({ text }) => text.includes("type: 'postgres'"));
    const silent = sources.filter(({ text }) => !/onConnect.*client\.on\('error'/.test(text));
    expect([silent.map(({ title }) => title), sources.length]).toEqual([[], 3]);
  });

  it('[1] the application in one file starts and responds', async () => {
    const [main] = inLanguage('ts').filter(({ page }) => page === gettingStarted);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const app = start(main!.file, { PORT: String(port), JWT_SECRET: 'x'.repeat(48) });
    await app.says(/Nest application successfully started/);
    const registered = await untilItListens(() =>
      request(url, 'POST', '/api/auth/register', { json: { email: 'ann@shop.example', password: 'correct horse' } }),
    );
    expect(registered.status).toBe(201);
    const token = registered.json.data.token as string;
    const statusOf = async (method: string, path: string, options: object = {}): Promise<number> =>
      (await request(url, method, path, options)).status;
    const json = { name: 'Lamp', price: 12.5 };
    expect(await statusOf('GET', '/api/products')).toBe(200);
    expect(await statusOf('POST', '/api/products', { json })).toBe(401);
    expect(await statusOf('POST', '/api/products', { json, token })).toBe(201);
    expect(await statusOf('DELETE', '/api/products/1', { token })).toBe(403);
    app.signal('SIGKILL');
  });

  it('say what the application in one file needs in package.json and tsconfig.json', () => {
    const { text } = gettingStarted;
    const before = text.slice(0, text.indexOf('```ts'));
    for (const setting of ['"type": "module"', '"experimentalDecorators": true', '"emitDecoratorMetadata": true'])
      expect(before).toContain(setting);
  });

  it('[1] the driver of that application survives 200,000 statements and garbage collection', async () => {
    const args = ['--expose-gc', compiledFile(STATEMENTS)];
    expect(await startChild(process.execPath, args, { cwd: folder }).ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('[1] the tests with declarest/testing pass', async () => {
    expect(SHOP_MODULE_TEXT).not.toBe(await read(SHOP_MODULE));
    expect(tests).toHaveLength(3);
    const { code, stdout } = await start(TESTS, { NODE_OPTIONS: '--test-reporter=tap' }).ended;
    expect([code, /# pass \d+/.exec(stdout)?.[0]]).toEqual([0, '# pass 5']);
  });
});

describe('the other blocks', () => {
  // `npm run test:client` compiles and runs these files.
  it.each(['shop', 'tanstack-query', 'swr', 'angular', 'files'])(
    'README of declarest-client shows the recipe %s',
    async (name) => {
      const text = await read(`test/typed-client/recipes/${name}.ts`);
      expect(blocksOf(pageAt('packages/declarest-client/README.md')).map((block) => block.text)).toContain(text);
    },
  );

  it.each(rowsOf('json'))('%s is JSON', (_title, { text }) => {
    expect(JSON.parse(text)).toEqual(expect.any(Object));
  });

  it.each(rowsOf('js'))('%s is JavaScript', (title, { text }) => {
    expect(new Script(text, { filename: title })).toBeDefined();
  });
});

/** One shop for each page, so that the records of a page do not depend on other pages. */
describe.each([...new Set([...inLanguage('sh'), ...inLanguage('http')].map(({ page }) => page.path))])(
  'against the sample shop, %s',
  (path) => {
    const ofPage = (language: string) => rowsOf(language).filter(([, { page }]) => page.path === path);
    let shop: RunningApp | undefined;
    let url = '';
    let token = '';

    const lines = ofPage('sh').flatMap(([title, block]) =>
      block.text
        .trim()
        .split('\n')
        .map((line) => [title, line, block] as const),
    );
    const needsShop = ofPage('http').length > 0 || lines.some(([, line]) => line.startsWith('curl'));

    beforeAll(async () => {
      if (!needsShop) return;
      const admin = { ADMIN_EMAIL: 'boss@shop.example', ADMIN_PASSWORD: 'the boss of the shop' };
      const { AppModule } = (await import(compiledFile(SHOP_MODULE))) as typeof shopModule;
      shop = await startApp('express', AppModule.with(readConfig({ DATABASE: ':memory:', ...admin })));
      ({ url } = shop);
      // The examples write the catalogue, so their token is that of a member of the staff.
      const staff = { email: 'staff@shop.example', password: 'the staff of the shop' };
      await shop.app.get(UserAccounts, { strict: false }).create({ ...staff, role: 'STAFF' });
      token = (await request(url, 'POST', '/api/auth/login', { json: staff })).json.data.token as string;
    });
    afterAll(() => shop?.close());

    if (lines.length > 0)
      it.each(lines)('%s: %s', async (_title, line, block) => {
        if (line.startsWith('curl')) {
          const { code, stdout } = await shell(line.replace(SHOP, url), {
            cwd: folder,
            env: { PATH: pathWithCurl(folder) },
          });
          expect(code).toBe(0);
          expect(JSON.parse(stdout)).toMatchObject({ success: true });
          return;
        }
        const { code, stdout } = await runDeclarest(line);
        expect(code).toBe(0);
        const output = outputShownAfter(block);
        if (output === undefined) expect(stdout).toContain('/api/products');
        else expect(stdout).toBe(output);
      });

    if (ofPage('http').length > 0)
      it.each(ofPage('http'))('%s is what is sent and received', async (_title, { text }) => {
        const { request: sent, response } = exchangeOf(text.replaceAll('$TOKEN', token));
        const answer = await request(url, sent.method, sent.path, {
          headers: sent.headers,
          ...(sent.body !== '' && { body: sent.body }),
        });
        token = (answer.json?.data?.token as string | undefined) ?? token;
        expect(answer.status).toBe(response.status);
        expect(answer.headers).toMatchObject(response.headers);
        if (response.body === '') expect(answer.text).toBe('');
        else expect(masked(withoutSession(answer.json))).toEqual(masked(JSON.parse(response.body)));
      });
  },
);

/** The pages show an application without `sessions`, which the shop has. */
function withoutSession(body: Answer['json']): unknown {
  if (body?.data?.refreshToken === undefined) return body;
  const { refreshToken: _, expiresIn: __, ...data } = body.data;
  return { ...body, data };
}

/** Runs `npx declarest …` for the sample shop, in this process. */
async function runDeclarest(line: string): Promise<Outcome> {
  const words = line.replace('dist/app.module.js', join(REPOSITORY, 'sample-app/access.ts')).split(' ');
  expect(words.splice(0, 2)).toEqual(['npx', 'declarest']);
  return runCommand(parseCommand(words) as ApplicationCommand);
}

const problemsOf = (file: string): string[] => problems.filter((problem) => problem.startsWith(file));

const codeIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const byName = <R extends { readonly name: string | undefined }>(rows: readonly R[]): R[] =>
  rows.toSorted((a, b) => String(a.name).localeCompare(String(b.name)));

/** The cells of the table of a page whose head has a column of this name. */
function tableWith(path: string, column: string): string[][] {
  const lines = pageAt(path).text.split('\n');
  const head = lines.findIndex((line) => line.startsWith('|') && line.includes(`| ${column} `));
  const rows = lines.slice(head + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The file that a link leads to, relative to the repository, and the heading in it. */
function resolved(page: Page, target: string): { readonly file: string; readonly anchor: string | undefined } {
  const [file = '', anchor] = target.split('#');
  return { file: file === '' ? page.path : normalize(join(dirname(page.path), file)), anchor };
}

/** The `text` block right after a block: what its command prints. */
function outputShownAfter(block: Block): string | undefined {
  const next = blocks[blocks.indexOf(block) + 1];
  if (next?.language !== 'text' || next.page !== block.page) return undefined;
  const between = block.page.text.split(block.text)[1]?.split(next.text)[0] ?? '';
  return /^```\s+```text\n$/.test(between) ? next.text : undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Nest logs that it has started just before it listens. */
async function untilItListens(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send().catch(() => undefined);
    if (answer) return answer;
    await new Promise((later) => setTimeout(later, 50));
  }
}
