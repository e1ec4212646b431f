/** `npm create declarest`: what it writes for each variant, and what it refuses. `npm run test:create` starts the results. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { check } from 'prettier';
import { applicationFiles } from '../../../packages/create-declarest/src/application-files.js';
import { isSupportedNode } from '../../../packages/create-declarest/src/node-version.js';
import { run } from '../../../packages/create-declarest/src/run.js';
import { startChild } from '../../child-process.js';
import { type Compiled, compile } from '../../compiled.js';
import { startProxy } from '../../harness/busy-databases.js';
import { request } from '../../harness/client.js';
import { createDatabase, DATABASES } from '../../harness/databases.js';
import { claims, makeToken } from '../../harness/tokens.js';
import { writeApplication } from '../../../packages/create-declarest/src/write-application.js';

const VARIANTS = ['express', 'fastify'].flatMap((platform) =>
  ['sqlite', 'postgres', 'sqlite+postgres'].map((database) => ({ platform, database })),
);

const STARTED = `
import 'reflect-metadata';
import { createApp } from './create-app.js';
const app = await createApp({ logger: false });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());`;

const LOGGED = `
import 'reflect-metadata';
import { createApp } from './create-app.js';
const app = await createApp();
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'declarest-create-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the command in an empty folder. */
function create(args: readonly string[], node = '24.21.0'): { code: number; output: string } {
  const lines: string[] = [];
  const { log, error } = console;
  console.log = console.error = (line: string) => void lines.push(line);
  try {
    return { code: run(args, folder, node), output: lines.join('\n') };
  } finally {
    Object.assign(console, { log, error });
  }
}

async function filesBelow(path: string): Promise<Map<string, string>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.map(async (file): Promise<[string, string]> => [file.slice(path.length + 1), await readFile(file, 'utf8')]),
    ),
  );
}

/** What `docker run --env-file` reads. */
const variablesOf = (files: ReadonlyMap<string, string>): Record<string, string> => {
  const lines = files.get('.env')!.matchAll(/^(\w+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
};

const secretOf = (files: ReadonlyMap<string, string>): string =>
  /JWT_SECRET=(.*)/.exec(files.get('.env') ?? '')?.[1] ?? '';

describe.each(VARIANTS)('with $platform and $database', ({ platform, database }) => {
  let files: Map<string, string>;
  beforeEach(async () => {
    const { code } = create(['my-service', '--platform', platform, '--database', database, '--yes']);
    expect(code).toBe(0);
    files = await filesBelow(join(folder, 'my-service'));
  });

  it('writes every file, and no placeholder', () => {
    const names = [
      '.dockerignore',
      '.env',
      '.env.example',
      '.github/workflows/ci.yml',
      '.gitignore',
      'AGENTS.md',
      'Dockerfile',
      'README.md',
      'access.json',
      'nest-cli.json',
      'package.json',
      'src/app.module.ts',
      'src/app.test.ts',
      'src/create-app.ts',
      'src/data-source.ts',
      'src/environment.ts',
      'src/health.controller.ts',
      'src/main.ts',
      'src/request-log.ts',
      'src/security.ts',
      'src/seed.ts',
      'src/setup.module.ts',
      'src/task.entity.ts',
      'src/user.entity.ts',
      'tsconfig.build.json',
      'tsconfig.json',
    ];
    const initial = '1767225600000-Initial.ts';
    const ofDatabase =
      database === 'sqlite+postgres'
        ? ['src/generate-migrations.ts', `src/migrations/postgres/${initial}`, `src/migrations/sqlite/${initial}`]
        : [`src/migrations/${initial}`];
    expect([...files.keys()].toSorted()).toEqual([...names, ...ofDatabase].toSorted());
    expect([...files].filter(([, text]) => text.includes('{{')).map(([name]) => name)).toEqual([]);
    for (const name of ['package.json', 'nest-cli.json', 'tsconfig.json', 'access.json'])
      expect(() => JSON.parse(files.get(name)!) as unknown).not.toThrow();
  });

  it('depends on the platform and the driver, and on no other', () => {
    const content = JSON.parse(files.get('package.json')!) as Record<'dependencies' | 'devDependencies', object>;
    const chosen = (of: object) => Object.keys(of).filter((name) => /platform-|^pg$|sqlite/.test(name));
    const driver = database === 'sqlite' ? 'better-sqlite3' : 'pg';
    expect(chosen(content.dependencies).toSorted()).toEqual([`@nestjs/platform-${platform}`, driver].toSorted());
    // Production has no file of SQLite.
    expect(chosen(content.devDependencies)).toEqual(database === 'sqlite+postgres' ? ['better-sqlite3'] : []);
  });

  it('is formatted, and its workflow runs scripts that exist', async () => {
    for (const [filepath, text] of files)
      // TypeORM formats migrations its own way.
      if (/^(?!src\/migrations\/).*\.(ts|yml)$/.test(filepath)) {
        const isFormatted = await check(text, { filepath, singleQuote: true, printWidth: 120 });
        expect([filepath, isFormatted]).toEqual([filepath, true]);
      }
    const workflow = files.get('.github/workflows/ci.yml')!;
    const named = [...workflow.matchAll(/- run: npm (?:run )?([\w:]+)/g)].map(([, name]) => name);
    const tests = database === 'sqlite+postgres' ? ['test', 'test'] : ['test'];
    expect(named).toEqual(['ci', ...tests, 'access:check', 'openapi:check', 'audit']);
    const { scripts } = JSON.parse(files.get('package.json')!) as { scripts: object };
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['test', 'access:check', 'openapi:check']));
    const servers = [...workflow.matchAll(/image: postgres|TEST_DATABASE_URL/g)].map(([name]) => name);
    expect(servers).toEqual(database === 'sqlite' ? [] : ['image: postgres', 'TEST_DATABASE_URL']);
  });

  it('has at most 12 lines of declarations beside the entity, and 30 lines of README', () => {
    const sources = ['src/user.entity.ts', 'src/app.module.ts', 'src/security.ts'].map((name) => files.get(name)!);
    const lines = sources.flatMap((text) => text.split('\n').map((line) => line.trim()));
    const declarations = lines.filter((line) => !/^$|^\/\/|^import |^export \{|^[\])}]+[,;]?$/.test(line));
    expect(declarations.length).toBeLessThanOrEqual(12);
    expect(files.get('README.md')!.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  });

  it('trusts the proxies of TRUST_PROXY, and keeps idle connections longer than nginx', () => {
    expect(files.get('src/environment.ts')).toContain("trustProxy = env['TRUST_PROXY'] || false");
    for (const name of ['.env', '.env.example']) expect(files.get(name)).toMatch(/^TRUST_PROXY=$/m);
    expect(files.get('README.md')).toContain('`TRUST_PROXY`');
    expect(files.get('src/main.ts')).toContain('keepAliveTimeout = 65_000');
    const settings = {
      express: "app.set('trust proxy', trustProxy);",
      fastify: 'new FastifyAdapter({ trustProxy, routerOptions: { maxParamLength: 500 }, return503OnClosing: false })',
    };
    for (const [name, setting] of Object.entries(settings))
      expect(files.get('src/create-app.ts')?.includes(setting)).toBe(name === platform);
  });

  it('generates a secret for each application, which git ignores and only the owner reads', async () => {
    create(['other', '--platform', platform, '--database', database]);
    const other = secretOf(await filesBelow(join(folder, 'other')));
    expect(Buffer.byteLength(secretOf(files))).toBeGreaterThanOrEqual(32);
    expect(other).not.toBe(secretOf(files));
    expect(files.get('.gitignore')!.split('\n')).toContain('.env');
    expect(files.get('.env.example')).toMatch(/^JWT_SECRET=$/m);
    expect((await stat(join(folder, 'my-service', '.env'))).mode & 0o077).toBe(0);
  });
});

describe.each(['express', 'fastify'])('the service on %s', (platform) => {
  let compiled: Compiled;
  let files: ReadonlyMap<string, string>;
  let image: ReadonlyMap<string, string>;
  let both: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const filesOn = (database: string, ...logins: string[]) =>
      applicationFiles({ name: 'shop', platform, database, logins: ['password', ...logins] } as never, 24, '1.0.0');
    files = filesOn('sqlite');
    image = filesOn('sqlite', 'passkey', 'second-factor');
    both = filesOn('sqlite+postgres');
    const task = both
      .get('src/task.entity.ts')!
      .replace(/\}\n$/, "  @Column('date', { nullable: true }) due!: string;\n}\n");
    const changed = new Map([...both, ['src/task.entity.ts', task]]);
    const module = files
      .get('src/app.module.ts')!
      .replace('import { Module }', 'import { Logger, Module }')
      .replace('true }) {}', "true }) { beforeCreate() { new Logger('Tasks').log('Created'); } }");
    const logged = new Map([...files, ['src/app.module.ts', module]]);
    const all = { sqlite: files, postgres: filesOn('postgres'), both, changed, image, logged };
    const sources = Object.entries(all).flatMap(([name, written]) =>
      [...written, ['src/started.ts', STARTED] as const, ['src/logged.ts', LOGGED] as const]
        .filter(([path]) => /^src\/.*(?<!test)\.ts$/.test(path))
        .map(([path, text]) => [`${name}/${path}`, text] as const),
    );
    compiled = await compile([], Object.fromEntries(sources));
  });
  afterAll(() => compiled.remove());

  /** What an anonymous caller, a user and an administrator get at each path, the interface, and a browser's preflight. */
  async function start(variables: Readonly<Record<string, string>>): Promise<unknown> {
    await writeFile(join(folder, '.env'), files.get('.env')!);
    const env = { DATABASE_FILE: ':memory:', ...variables };
    const child = startChild(process.execPath, [join(compiled.directory, 'sqlite/src/started.js')], {
      cwd: folder,
      env,
    });
    const [url] = await child.says(/http:\S+/);
    const secret = secretOf(files);
    const tokens = [undefined, 'USER', 'ADMIN'].map(
      (role) => role && makeToken({ secret, payload: claims({ roles: [role] }) }),
    );
    const sent = ['/docs', '/docs-json', '/admin/resources.json'].flatMap((path) =>
      tokens.map((token) => request(url, 'GET', path, token === undefined ? {} : { token })),
    );
    const headers = { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' };
    const preflight = await request(url, 'OPTIONS', '/api/tasks', { headers });
    const { status, headers: ofPage } = await request(url, 'GET', '/admin/', {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect([status, ofPage['content-encoding'], ofPage['etag']]).toEqual([200, 'gzip', expect.any(String)]);
    expect(ofPage['content-security-policy']).toContain("script-src 'self'");
    // A browser in the local network opens the pages over plain HTTP.
    expect(ofPage['content-security-policy']).not.toContain('upgrade-insecure-requests');
    for (const path of ['/livez', '/readyz']) expect((await request(url, 'GET', path)).status).toBe(200);
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    child.signal('SIGTERM');
    // Load balancers ask, while requests are answered still, and send the next ones elsewhere.
    if (variables['NODE_ENV'] === 'production') {
      const statusOf = async (path: string) => (await request(url, 'GET', path)).status;
      while ((await statusOf('/readyz')) === 200) continue;
      expect([await statusOf('/readyz'), await statusOf('/livez')]).toEqual([503, 200]);
    }
    await child.ended;
    return [statuses, preflight.headers['access-control-allow-origin']];
  }

  it('closes its documentation in production, and allows no development origin', async () => {
    expect(await start({ NODE_ENV: 'production', FRONT_END_ORIGIN: '' })).toEqual([
      [401, 403, 200, 401, 403, 200, 401, 403, 200],
      undefined,
    ]);
    // create-logins.spec.ts starts it with an origin in production, and with Fastify in development.
    if (platform === 'express')
      expect(await start({})).toEqual([[...Array<number>(6).fill(200), 401, 403, 200], 'http://localhost:5173']);
  });

  it.each([
    ['sqlite', 'JWT_SECRET'],
    ['postgres', 'JWT_SECRET, DATABASE_URL'],
    ['both', 'JWT_SECRET, DATABASE_URL'],
  ])('names in one sentence all variables that it lacks in production on %s', async (database, names) => {
    const program = join(compiled.directory, database, 'src/started.js');
    const options = { cwd: folder, env: { NODE_ENV: 'production' } };
    const { code, stderr } = await startChild(process.execPath, [program], options).ended;
    const sentence = `Set ${names} in the environment: README.md describes what production needs.\n`;
    expect([code, stderr]).toEqual([1, sentence]);
  });

  it('logs each request in production as a line of JSON with its id, and without its query and body', async () => {
    const child = startChild(process.execPath, [join(compiled.directory, 'logged/src/logged.js')], {
      cwd: folder,
      env: { DATABASE_FILE: ':memory:', NODE_ENV: 'production', JWT_SECRET: secretOf(files) },
    });
    const [url] = await child.says(/^http:\S+/m);
    const token = makeToken({ secret: secretOf(files), payload: claims() });
    const json = { title: 'zebra' };
    const created = await request(url, 'POST', '/api/tasks?key=zebra', { json, token });
    const refused = await request(url, 'GET', '/docs', { headers: { 'x-request-id': 'proxy-7' } });
    expect([created.status, refused.status]).toEqual([201, 401]);
    await child.says(/"GET \/docs"/);
    child.signal('SIGKILL');
    const { stdout } = await child.ended;
    expect(stdout).not.toContain('zebra');
    const lines = stdout
      .split('\n')
      .filter((line) => line.includes('"requestId"'))
      .map((line) => JSON.parse(line) as unknown);
    const [requestId, ms] = [created.headers['x-request-id'], expect.any(Number) as unknown];
    expect(lines).toMatchObject([
      { context: 'Tasks', message: 'Created', requestId },
      { context: 'Request', message: 'POST /api/tasks', requestId, status: 201, ms },
      { context: 'Request', message: 'GET /docs', requestId: 'proxy-7', status: 401, ms },
    ]);
  });

  it('adds users and tasks for development, once, and none in production', async () => {
    const env = { DATABASE_FILE: 'seeds.db', JWT_SECRET: secretOf(files) };
    const launch = (name: string, more = {}) =>
      startChild(process.execPath, [join(compiled.directory, 'both/src', name)], {
        cwd: folder,
        env: { ...env, ...more },
      });
    const created = await launch('seed.js').ended;
    expect([created.code, created.stderr]).toEqual([0, '']);
    const users = [...created.stdout.matchAll(/^Created (\S+) with the role (\w+) and the password (\S{15,})$/gm)];
    expect(users.map(([, email, role]) => `${email} ${role}`)).toEqual([
      'admin@example.com ADMIN',
      'user@example.com USER',
    ]);
    const again = await launch('seed.js').ended;
    expect([again.code, again.stdout]).toEqual([0, 'admin@example.com exists\nuser@example.com exists\n']);

    const service = launch('started.js');
    const [url] = await service.says(/http:\S+/);
    const [[, email, , password] = []] = users;
    const login = await request(url, 'POST', '/api/auth/login', { json: { email, password } });
    const { json } = await request(url, 'GET', '/api/tasks', { token: login.json.data.token as string });
    expect(json.data).toHaveLength(3);
    service.signal('SIGTERM');
    await service.ended;

    const { code, stderr } = await launch('seed.js', {
      NODE_ENV: 'production',
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
    }).ended;
    expect([code, stderr]).toEqual([1, 'Seeds are for development: NODE_ENV is production.\n']);
  });

  it('starts in its image with its own .env, and HEALTHCHECK tells whether it answers', async () => {
    const dockerfile = image.get('Dockerfile')!;
    const env = variablesOf(image);
    const { DATABASE_FILE: file = '' } = env;
    expect(dockerfile).toContain(`\nVOLUME ${join('/app', dirname(file))}\n`);
    const child = startChild(process.execPath, [join(compiled.directory, 'image/src/started.js')], {
      cwd: folder,
      env: { ...env, NODE_ENV: 'production' },
    });
    const [url] = await child.says(/http:\S+/);
    expect(await readdir(join(folder, dirname(file)))).toContain(basename(file));

    const [, command = ''] = /^HEALTHCHECK .*CMD (.*)$/m.exec(dockerfile) ?? [];
    const [, ...args] = JSON.parse(command) as string[];
    const checked = async () => {
      const { code, stderr } = await startChild(process.execPath, args, {
        cwd: folder,
        env: { PORT: new URL(url).port },
      }).ended;
      return [code, stderr];
    };
    expect(await checked()).toEqual([0, '']);
    child.signal('SIGTERM');
    await child.ended;
    expect(await checked()).toEqual([1, '']);
  });

  if (DATABASES.includes('postgres'))
    it('runs the same entities in its image on PostgreSQL, and writes a migration for each database', async () => {
      const { options, drop } = await createDatabase('postgres');
      const { url: postgres } = options as { url: string };
      const docker = / --env-file \.env -e DATABASE_URL=postgres:\/\/postgres@127\.0\.0\.1:5432\/shop shop\n/;
      expect(both.get('Dockerfile')).toMatch(docker);
      const service = startChild(process.execPath, [join(compiled.directory, 'both/src/started.js')], {
        cwd: folder,
        env: { ...variablesOf(both), NODE_ENV: 'production', DATABASE_URL: postgres },
      });
      const [url] = await service.says(/http:\S+/);
      const json = { email: 'ann@example.com', password: 'correct horse battery' };
      expect((await request(url, 'POST', '/api/auth/register', { json })).status).toBe(201);
      service.signal('SIGKILL');
      await service.ended;
      expect(await readdir(folder)).toEqual([]);

      const cwd = join(compiled.directory, 'changed');
      await symlink('src', join(cwd, 'dist'));
      const generate = (env: Record<string, string>) =>
        startChild(process.execPath, ['dist/generate-migrations.js', 'AddDue'], { cwd, env }).ended;
      const { code, stderr } = await generate({});
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^Set TEST_DATABASE_URL to .+\n$/)]);
      expect(await generate({ TEST_DATABASE_URL: postgres })).toMatchObject({ code: 0, stderr: '' });
      const migrations = await filesBelow(join(cwd, 'src/migrations'));
      const written = [...migrations].filter(([name]) => name.endsWith('-AddDue.ts')).toSorted();
      expect(written.map(([name]) => dirname(name))).toEqual(['postgres', 'sqlite']);
      expect(written[0]![1]).toContain('ALTER TABLE "tasks" ADD "due" date');
      expect(written[1]![1]).toContain('CREATE TABLE "temporary_tasks"');
      await drop();
    });

  if (DATABASES.includes('postgres'))
    it('is alive, and not ready while PostgreSQL is away', async () => {
      const network = await startProxy('postgres');
      const { options, drop } = await createDatabase('postgres');
      const { url: databaseUrl } = options as { url: string };
      const child = startChild(process.execPath, [join(compiled.directory, 'postgres/src/started.js')], {
        cwd: folder,
        env: { NODE_ENV: 'production', JWT_SECRET: secretOf(files), DATABASE_URL: databaseUrl },
      });
      const [url] = await child.says(/http:\S+/);
      const get = (path: string) => request(url, 'GET', path);
      const statuses = async () => [(await get('/livez')).status, (await get('/readyz')).status];
      expect(await statuses()).toEqual([200, 200]);

      await network.stop();
      expect(await statuses()).toEqual([200, 503]);
      expect((await get('/readyz')).json).toEqual({ statusCode: 503, message: 'Service Unavailable' });
      await network.start();
      expect(await statuses()).toEqual([200, 200]);

      network.dropsPackets = true;
      // Some of them wait for a new connection, which takes five times as long as the check may.
      const logins = ['a', 'b', 'c', 'd'].map((name) =>
        request(url, 'POST', '/api/auth/login', { json: { email: `${name}@example.com`, password: 'correct horse' } }),
      );
      const first = await Promise.race([...logins, get('/readyz')]);
      expect(first.json).toEqual({ statusCode: 503, message: 'Service Unavailable' });
      expect((await get('/livez')).status).toBe(200);
      child.signal('SIGKILL');
      await Promise.allSettled([child.ended, ...logins]);
      network.dropsPackets = false;
      await drop();
      await network.remove();
    });
});

it.each([
  ['20.19.0', '^12.', '>=20.19', 'FROM node:20-slim'],
  ['22.12.0', '^13.', '>=22.12', 'FROM node:22-slim'],
  ['26.1.0', '^13.', '>=22.12', 'FROM node:26-slim'],
])('writes versions that work on Node %s', async (node, driver, engines, image) => {
  create(['my-service'], node);
  const files = await filesBelow(join(folder, 'my-service'));
  const content = JSON.parse(files.get('package.json')!) as Record<string, Record<string, string>>;
  expect(content['dependencies']!['better-sqlite3']!.startsWith(driver)).toBe(true);
  expect(content['engines']).toEqual({ node: engines });
  expect(files.get('Dockerfile')).toContain(image);
});

it.each([
  ['20.19.0', true],
  ['22.0.0', true],
  ['26.10.0', true],
  ['20.18.3', false],
  ['18.20.8', false],
])('says whether Node %s is supported: %s', (version, supported) => {
  expect(isSupportedNode(version)).toBe(supported);
});

it.each([
  [['my-service', '--', '--platform', 'fastify', '--login', 'google']],
  [['--', 'my-service', '--platform=fastify', '--login=google']],
  [['my-service', '--platform', 'fastify', '--login', 'google', '--']],
])('takes options behind the separator that npx and pnpm pass on: %j', async (args) => {
  expect(create(args).code).toBe(0);
  const { dependencies } = JSON.parse((await filesBelow(join(folder, 'my-service'))).get('package.json')!) as {
    dependencies: object;
  };
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['@nestjs/platform-fastify', 'declarest-logins']));
});

it('prints the next commands', () => {
  const { code, output } = create(['my-service', '--database', 'postgres']);
  expect(code).toBe(0);
  expect(output).toContain('cd my-service\n  npm install\n  createdb my_service && createdb my_service_test\n');
});

it('limits the driver of PostgreSQL', async () => {
  create(['my-service', '--database', 'postgres']);
  const dataSource = await readFile(join(folder, 'my-service', 'src', 'data-source.ts'), 'utf8');
  for (const limit of ['connectionTimeoutMillis: 5_000,', 'statement_timeout: 10_000,', 'lock_timeout: 1_000,'])
    expect(dataSource).toContain(`\n    ${limit}\n`);
  expect(dataSource).toContain('return socket.setTimeout(15_000, () => socket.destroy());');
  expect(dataSource).toContain("import { Socket } from 'node:net';\n");
});

/** It ends with the only full stop that is followed by a space or the end. */
const ONE_SENTENCE = /^(?!.*[.!?]\s).+\.$/;

describe('bad input', () => {
  it.each([
    [[], 'Give the folder of the new service'],
    [['my-service', '--platform', 'koa'], '--platform must be express or fastify, got "koa".'],
    [['my-service', '--database', 'oracle'], '--database must be sqlite, postgres or sqlite+postgres, got "oracle".'],
    [['my-service', '--colour'], "Unknown option '--colour': use --help for the list of options."],
    [['my-service', '--login', '--yes'], "Option '--login' argument is ambiguous: use --help for the list of options."],
    [['my-service', 'fastify'], 'Unexpected argument "fastify": give one folder, and options after "--"'],
    [['My Service'], 'must be a package name of lower-case letters'],
  ])('refuses %j with one sentence and exit code 2, and writes nothing', async (args, sentence) => {
    const { code, output } = create(args);
    expect([code, output]).toEqual([2, expect.stringContaining(sentence)]);
    expect(output).toMatch(ONE_SENTENCE);
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a folder that is not empty, and leaves it as it is', async () => {
    await mkdir(join(folder, 'my-service'));
    await writeFile(join(folder, 'my-service', 'notes.txt'), 'mine');
    const { code, output } = create(['my-service']);
    expect([code, output]).toEqual([2, expect.stringContaining('is not empty: give a new or an empty folder.')]);
    expect([...(await filesBelow(join(folder, 'my-service')))]).toEqual([['notes.txt', 'mine']]);
  });

  it('accepts a new repository, and refuses one with files', async () => {
    await mkdir(join(folder, 'my-service', '.git'), { recursive: true });
    await mkdir(join(folder, 'used', '.git'), { recursive: true });
    await writeFile(join(folder, 'used', 'notes.txt'), 'mine');
    expect([create(['my-service']).code, create(['used']).code]).toEqual([0, 2]);
  });

  it('refuses a path below a file', async () => {
    await writeFile(join(folder, 'file'), '');
    const { code, output } = create(['file/my-service']);
    expect([code, output]).toEqual([
      2,
      expect.stringMatching(/: a part of the path is a file; give another folder\.$/),
    ]);
  });

  it('removes what it has written when a later file cannot be written', async () => {
    const target = join(folder, 'my-service');
    const files = new Map([
      ['a/first', '1'],
      ['a/first/second', '2'],
    ]);
    expect(() => writeApplication(target, files)).toThrow('a part of the path is a file');
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a folder without write permission', async () => {
    await chmod(folder, 0o500);
    // The superuser may write everywhere.
    const isSuperuser = process.geteuid?.() === 0;
    if (isSuperuser) process.seteuid?.(65_534);
    try {
      const target = join(folder, 'my-service');
      expect(() => writeApplication(target, new Map([['package.json', '{}']]))).toThrow('permission denied');
    } finally {
      if (isSuperuser) process.seteuid?.(0);
      await chmod(folder, 0o700);
    }
  });
});
