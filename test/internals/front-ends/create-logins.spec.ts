/** `npm create declarest -- --login …`: what it writes for each combination, and the services that it writes. */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as declarest from 'declarest';
import * as oidc from 'declarest-logins/oidc';
import * as passkeys from 'declarest-logins/passkeys';
import * as secondFactor from 'declarest-logins/second-factor';
import { check } from 'prettier';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { type ApplicationCommand, parseCommand } from '../../../lib/cli/arguments.js';
import type * as commands from '../../../lib/cli/commands.js';
import { applicationFiles, type Files } from '../../../packages/create-declarest/src/application-files.js';
import { readArguments } from '../../../packages/create-declarest/src/arguments.js';
import { type LoginName, LOGINS } from '../../../packages/create-declarest/src/logins.js';
import { startChild } from '../../child-process.js';
import { type Compiled, compile } from '../../compiled.js';
import { request } from '../../harness/client.js';
import { createDatabase, DATABASES } from '../../harness/databases.js';
import { type Platform, PLATFORMS } from '../../harness/platforms.js';
import { CLIENT, startProvider } from '../../logins/identity-provider.js';

const OTHERS = Object.keys(LOGINS).slice(1) as LoginName[];
const PLUGINS = { passkey: 'passkeys', 'second-factor': 'secondFactor', oidc: 'oidc' };
const ENTRIES = { passkey: passkeys, 'second-factor': secondFactor, oidc };
const ENTITIES = {
  passkey: ['Passkey'],
  'second-factor': ['SecondFactor'],
  oidc: ['ExternalIdentity'],
};

const STARTED = `
import 'reflect-metadata';
import { createApp } from './create-app.js';
const app = await createApp({ logger: false });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());`;

type Kind = keyof typeof PLUGINS;
const kindOf = (login: LoginName): Kind => (login in PLUGINS ? (login as Kind) : 'oidc');
const entryOf = (kind: Kind): string => `declarest-logins/${kind === 'passkey' ? 'passkeys' : kind}`;
const kindsOf = (logins: readonly LoginName[]): Kind[] => [...new Set(logins.map(kindOf))];
const subsetsOf = (names: readonly LoginName[]): LoginName[][] =>
  names.reduceRight<LoginName[][]>((all, name) => all.flatMap((each) => [each, [name, ...each]]), [[]]);

/** The providers differ by one row of a table, so that two of them stand for all. */
const COMBINATIONS = [...subsetsOf(['passkey', 'second-factor', 'google', 'keycloak']), OTHERS].map((others) => ({
  others,
}));

function filesFor(others: readonly LoginName[], more: Readonly<Record<string, string>> = {}): Files {
  const variant = { platform: 'express', database: 'sqlite', ...more };
  return applicationFiles(
    { folder: '/shop', name: 'shop', logins: ['password', ...others], ...variant } as never,
    24,
    '1.0.0',
  );
}

/** The names that a source imports, by the module that they come from. */
const importsOf = (source: string): Record<string, string> =>
  Object.fromEntries(
    [...source.matchAll(/^import \{ (.+) \} from '(declarest.*)';$/gm)].map(([, names = '', entry = '']) => [
      entry,
      names,
    ]),
  );

const dependenciesOf = (files: Files): Record<string, string> =>
  (JSON.parse(files.get('package.json')!) as { dependencies: Record<string, string> }).dependencies;

/** A file without what is random in it. */
const textOf = (files: Files, path: string): string => files.get(path)!.replace(/^JWT_SECRET=.+/m, 'JWT_SECRET=');

describe('the option --login', () => {
  const read = (...args: string[]): readonly LoginName[] | undefined => {
    const choices = readArguments(['shop', ...args], '/');
    return typeof choices === 'object' ? choices.logins : undefined;
  };

  it('takes each name once, in one order, and always password', () => {
    expect(read()).toEqual(['password']);
    expect(read('--login', 'google')).toEqual(['password', 'google']);
    expect(read('--login', 'google,passkey,password,google')).toEqual(['password', 'passkey', 'google']);
  });

  it.each(['facebook', 'password,facebook', 'password, google', '', 'password,'])(
    'refuses %j with one sentence that lists the names',
    (value) => {
      const names = 'password, passkey, second-factor, google, github, entra, keycloak';
      expect(() => read('--login', value)).toThrow(
        `--login must be a list such as google,passkey of ${names}, got ${JSON.stringify(value)}.`,
      );
    },
  );
});

describe('the files', () => {
  const formatted = new Set<string>();

  it.each(COMBINATIONS)('hold what $others need, and no more', async ({ others }) => {
    for (const database of ['sqlite', 'postgres', 'sqlite+postgres']) {
      const files = filesFor(others, { database });
      const plain = filesFor([], { database });
      const kinds = kindsOf(others);
      expect([...files].filter(([, text]) => text.includes('{{')).map(([path]) => path)).toEqual([]);
      expect(files.size).toBeLessThanOrEqual(35);
      expect([...files.keys()].filter((path) => !plain.has(path))).toEqual(others.length > 0 ? ['src/logins.ts'] : []);

      const dependencies = dependenciesOf(files);
      const added = kinds.length > 0 && { 'declarest-logins': dependencies['declarest'] };
      expect(dependencies).toEqual({ ...dependenciesOf(plain), ...added });

      const entities = kinds.map((kind) => [entryOf(kind), ENTITIES[kind].join(', ')]);
      const dataSource = files.get('src/data-source.ts')!;
      const own = kinds.length > 0 ? ['AuthSession', 'OneTimeToken'] : ['AuthSession'];
      expect(importsOf(dataSource)).toEqual({ declarest: own.join(', '), ...Object.fromEntries(entities) });
      const [, listed = ''] = /entities: \[([^\]`]*)`/.exec(dataSource) ?? [];
      expect(listed.match(/\w+/g)).toEqual([...own, ...kinds.flatMap((kind) => ENTITIES[kind])].toSorted());
      const plugins = kinds.map((kind) => [entryOf(kind), PLUGINS[kind]]);
      expect(importsOf(files.get('src/logins.ts') ?? '')).toEqual(Object.fromEntries(plugins));

      const variables = others.flatMap((name) => (LOGINS[name] as { variables?: string[] }).variables ?? []);
      expect(variables).toHaveLength(new Set(variables).size);
      for (const name of variables) {
        for (const path of ['.env', '.env.example']) expect(files.get(path)).toMatch(new RegExp(`^${name}=$`, 'm'));
        expect(files.get('README.md')).toMatch(new RegExp(`For production, set .*\`${name}\``));
        expect(files.get('src/logins.ts')).toContain(`setting('${name}'`);
      }
      const sources = [...files].filter(([path, text]) => path.endsWith('.ts') && plain.get(path) !== text);
      for (const [filepath, text] of sources)
        if (!formatted.has(filepath + text)) {
          const isFormatted = await check(text, { filepath, singleQuote: true, printWidth: 120 });
          expect([filepath, isFormatted]).toEqual([filepath, true]);
          formatted.add(filepath + text);
        }
    }
  });

  it('are those of before where the password is the only login', () => {
    const plain = filesFor([]);
    for (const text of plain.values())
      expect(text.replaceAll('/admin/logins.json', '')).not.toMatch(/LOGIN|logins|passkey|PASSKEY|oidc|plugins/);
    expect(plain.get('src/app.module.ts')).toContain(
      '\nconst auth = AuthModule.forRoot({ userClass: User, jwtSecret, passwordPolicy, sessions: true, administration: true });\n',
    );
    expect(textOf(plain, '.env')).toMatch(
      /FRONT_END_ORIGIN=http:\/\/localhost:5173\n# .*\nTRUST_PROXY=\nDATABASE_FILE=data\/shop\.db\n$/,
    );
  });
});

describe.each(DATABASES.filter((name) => name !== 'mariadb'))('the migration on %s', (database) => {
  it.each(['passkey', 'second-factor', 'google'] as const)(
    'creates the tables of %s as TypeORM would',
    async (login) => {
      const { options, drop } = await createDatabase(database);
      const statements = filesFor([login], { database }).get('src/migrations/1767225600000-Initial.ts')!;
      const [create = [], remove = []] = statements
        .split('const DROP')
        .map((part) => [...part.matchAll(/^ {2}`(.*)`,$/gm)].map(([, statement = '']) => statement));
      const names = ['AuthSession', 'OneTimeToken', ...ENTITIES[kindOf(login)]] as const;
      const modules: Record<string, unknown> = { ...declarest, ...ENTRIES[kindOf(login)] };
      const entities = names.map((name) => modules[name]);
      const source = new DataSource({ ...options, entities, synchronize: false } as DataSourceOptions);
      try {
        await source.initialize();
        for (const statement of create) await source.query(statement);
        const { upQueries } = await source.driver.createSchemaBuilder().log();
        expect(upQueries.map(({ query }) => query)).toEqual([]);
        for (const statement of remove) await source.query(statement);
        expect((await source.driver.createSchemaBuilder().log()).upQueries.length).toBeGreaterThan(names.length);
      } finally {
        await source.destroy();
        await drop();
      }
    },
  );
});

describe('the service with every login', () => {
  const FRONT_END = 'https://shop.example';
  const VARIABLES = OTHERS.flatMap((name) => (LOGINS[name] as { variables?: string[] }).variables ?? []);
  const filesOn = Object.fromEntries(PLATFORMS.map((platform) => [platform, filesFor(OTHERS, { platform })]));
  let compiled: Compiled;

  beforeAll(async () => {
    const sources = PLATFORMS.flatMap((platform) =>
      [...filesOn[platform]!, ['src/started.ts', STARTED] as const]
        .filter(([path]) => /^src\/.*(?<!test)\.ts$/.test(path))
        .map(([path, text]) => [`${platform}/${path}`, text] as const),
    );
    compiled = await compile(['lib/cli/commands.ts'], Object.fromEntries(sources));
    for (const platform of PLATFORMS)
      for (const path of ['.env', 'access.json'])
        await writeFile(join(compiled.directory, platform, path), filesOn[platform]!.get(path)!);
  });
  afterAll(() => compiled.remove());

  const start = (platform: Platform, variables: Readonly<Record<string, string>> = {}) =>
    startChild(process.execPath, ['src/started.js'], {
      cwd: join(compiled.directory, platform),
      env: { DATABASE_FILE: ':memory:', ...variables },
    });
  const allowedOrigin = async (url: string, origin: string) => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    return (await request(url, 'OPTIONS', '/api/tasks', { headers })).headers['access-control-allow-origin'];
  };

  it.each(PLATFORMS)('logs in by each of them in production on %s', async (platform) => {
    const provider = await startProvider([`${FRONT_END}/login/keycloak`]);
    const child = start(platform, {
      ...Object.fromEntries(VARIABLES.map((name) => [name, 'a value'])),
      NODE_ENV: 'production',
      FRONT_END_ORIGIN: FRONT_END,
      ENTRA_TENANT: 'tenant',
      KEYCLOAK_ISSUER: provider.issuer,
      KEYCLOAK_CLIENT_ID: CLIENT.clientId,
    });
    const [url] = await child.says(/http:\S+/);
    const post = (path: string, json: object, token?: string) =>
      request(url, 'POST', `/api/auth/${path}`, { json, ...(token && { token }) });
    const user = { email: 'ann@example.com', password: 'correct horse battery' };
    expect((await post('register', user)).status).toBe(201);
    const { token } = (await post('login', user)).json.data as { token: string };

    const passkey = await post('passkeys/register/options', { email: 'ben@example.com' });
    expect([passkey.status, passkey.json.data.rp.id]).toEqual([200, 'shop.example']);
    const enrolled = await post('mfa/enrol', { password: user.password }, token);
    expect([enrolled.status, enrolled.json.data.uri]).toEqual([200, expect.stringMatching(/^otpauth:\/\/totp\/shop:/)]);

    const github = await post('oidc/github', {});
    expect(github.json.data.url).toMatch(/^https:\/\/github\.com\/login\/oauth\/authorize\?/);
    const keycloak = await post('oidc/keycloak', {});
    expect(keycloak.status).toBe(200);
    const address = new URL(keycloak.json.data.url as string);
    expect(address.origin).toBe(provider.issuer);
    expect(address.searchParams.get('client_id')).toBe(CLIENT.clientId);
    expect(address.searchParams.get('redirect_uri')).toBe(`${FRONT_END}/login/keycloak`);
    // The provider knows the client and its redirect URI, and asks the user to log in.
    const shown = await fetch(address, { redirect: 'manual' });
    expect([shown.status, shown.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/interaction\//)]);
    expect(await allowedOrigin(url, FRONT_END)).toBe(FRONT_END);
    child.signal('SIGTERM');
    await Promise.all([child.ended, provider.close()]);
  });

  it('starts without the clients of providers in development, with public documentation', async () => {
    const child = start('fastify');
    const [url] = await child.says(/^http:\S+/);
    for (const path of ['/docs', '/docs-json']) expect((await request(url, 'GET', path)).status).toBe(200);
    expect(await allowedOrigin(url, 'http://localhost:5173')).toBe('http://localhost:5173');
    child.signal('SIGTERM');
    expect((await child.ended).stderr).toBe('');
  });

  it.each(PLATFORMS)('names all missing variables in production on %s, in one sentence', async (platform) => {
    const set = { NODE_ENV: 'production', JWT_SECRET: '', FRONT_END_ORIGIN: '', GOOGLE_CLIENT_ID: 'a value' };
    const { code, stdout, stderr } = await start(platform, set).ended;
    const missing = ['JWT_SECRET', 'FRONT_END_ORIGIN', ...VARIABLES].filter((name) => name !== 'GOOGLE_CLIENT_ID');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(`Set ${missing.join(', ')} in the environment: README.md describes what production needs.\n`);
  });

  it.each(PLATFORMS)('has the routes of access.json on %s', async (platform) => {
    const at = (path: string): string => join(compiled.directory, path);
    const file = at(`${platform}/access.json`);
    const args = ['access', at(`${platform}/src/app.module.js`), '--check', file, '--update', '--platform', platform];
    // Unlike `import`, it loads the compiled library, which TypeORM loads with the entities.
    const { runCommand } = createRequire(import.meta.url)(at('lib/cli/commands.js')) as typeof commands;
    const { stdout } = await runCommand(parseCommand(args) as ApplicationCommand);
    expect(stdout).toMatch(/^Wrote \d+ routes and 1 resources to [^\n]+access\.json\.\n$/);
    expect(await readFile(file, 'utf8')).toBe(filesOn[platform]!.get('access.json'));
  });
});
