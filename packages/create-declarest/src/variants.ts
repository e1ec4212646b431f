// How applications differ by platform and database. Everything else is the same template.

export interface Variant {
  /** The name in messages. */
  readonly label: string;
  /** What `package.json` lists besides the common packages. `package-json.ts` adds the driver of SQLite. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Texts for the placeholders of the template, by name. Lines of the template hold Express and SQLite. */
  readonly texts: (name: string) => Readonly<Record<string, string>>;
}

export const PLATFORMS = {
  express: {
    label: 'Express',
    dependencies: { '@nestjs/platform-express': '^12.5.1' },
    texts: () => ({}),
  },
  fastify: {
    label: 'Fastify',
    dependencies: { '@fastify/static': '^10.1.11', '@nestjs/platform-fastify': '^12.5.0' },
    texts: () => ({
      PLATFORM_IMPORT: "import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';",
      // The router refuses longer keys in paths with 414.
      ADAPTER: `// Requests that arrive while it stops are answered.
const adapter = new FastifyAdapter({ trustProxy, routerOptions: { maxParamLength: 500 }, return503OnClosing: false });`,
      CREATE_APP: 'const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, options);',
      TRUST_PROXY: '',
      APPLICATION_IMPORT: "import type { NestFastifyApplication as Application } from '@nestjs/platform-fastify';",
    }),
  },
} satisfies Record<string, Variant>;

const SERVER = 'postgres://postgres@127.0.0.1:5432';

/** The options of TypeORM. @param url an expression */
const postgresOptions = (url: string): string => `type: 'postgres',
url: ${url},
// Without these limits, one row that is locked, or a network that drops packets, could stop all requests.
extra: {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 10_000,
  lock_timeout: 1_000,
  stream: () => {
    const socket = new Socket();
    return socket.setTimeout(15_000, () => socket.destroy());
  },
  // Without a listener, a connection that ends in the wrong moment would end the process.
  onConnect: (client: EventEmitter) => void client.on('error', () => undefined),
},`;

/** What both databases with PostgreSQL have. */
const POSTGRES = {
  DATABASE_IMPORTS: "import type { EventEmitter } from 'node:events';\nimport { Socket } from 'node:net';",
  DATABASE_OPTIONS: '',
  DATABASE_VARIABLE: 'DATABASE_URL',
  DOCKER_DATA: '',
  CI_SERVICES: `services:
  postgres:
    image: postgres:18
    env: { POSTGRES_HOST_AUTH_METHOD: trust }
    ports: ['5432:5432']
    options: --health-cmd pg_isready --health-interval 2s --health-retries 30`,
};
const CI_DATABASE = `env: { TEST_DATABASE_URL: '${SERVER}/postgres' }`;

const GENERATE = 'src/migrations/<Name>';

export const DATABASES = {
  sqlite: {
    label: 'SQLite',
    dependencies: {},
    texts: (name) => ({
      ENVIRONMENT: `DATABASE_FILE=data/${name}.db`,
      DATABASE_VARIABLE: 'DATABASE_FILE',
      DATABASE_NOTE: 'The first start creates the database file.',
      DOCKER_OPTIONS: `-p 3000:3000 --env-file .env -v ${name}:/app/data`,
      DOCKER_DATA: 'RUN mkdir data && chown node:node data\nVOLUME /app/data',
      MIGRATION: GENERATE,
      TYPES_NOTE: '',
    }),
  },
  postgres: {
    label: 'PostgreSQL',
    dependencies: { pg: '^8.23.1' },
    texts: (name) => {
      const database = databaseName(name);
      return {
        ...POSTGRES,
        DATABASE: `export const database = env[isTest ? 'TEST_DATABASE_URL' : 'DATABASE_URL'] || 'postgres://127.0.0.1/${database}';`,
        DATABASE_TYPE: postgresOptions('database'),
        ENVIRONMENT: `DATABASE_URL=${SERVER}/${database}\nTEST_DATABASE_URL=${SERVER}/${database}_test`,
        DATABASE_NOTE: `Before that, create the databases of \`.env\`: \`createdb ${database} && createdb ${database}_test\`.`,
        DOCKER_OPTIONS: '--network host --env-file .env',
        CI_TEST: `- run: npm test\n  ${CI_DATABASE}`,
        MIGRATION: GENERATE,
        TYPES_NOTE: '',
      };
    },
  },
  'sqlite+postgres': {
    label: 'SQLite and PostgreSQL',
    dependencies: { pg: '^8.23.1' },
    texts: (name) => ({
      ...POSTGRES,
      DATABASE: `/** PostgreSQL, where its URL is set. Otherwise SQLite. */
export const databaseUrl = env[isTest ? 'TEST_DATABASE_URL' : 'DATABASE_URL'];
export const database = isTest ? ':memory:' : env['DATABASE_FILE'] || 'data/${name}.db';`,
      DATABASE_URL_IMPORT: "import { database, databaseUrl } from './environment.js';",
      CONNECTION: `const connection: DataSourceOptions = databaseUrl
  ? {
${postgresOptions('databaseUrl').replace(/^/gm, '      ')}
    }
  : { type: 'better-sqlite3', database };
`,
      DATABASE_TYPE: '...connection,',
      MIGRATIONS: "migrations: [`${import.meta.dirname}/migrations/${databaseUrl ? 'postgres' : 'sqlite'}/*.js`],",
      ENVIRONMENT: `# SQLite, unless DATABASE_URL is set, as in production.
DATABASE_FILE=data/${name}.db
DATABASE_URL=
# An empty database of PostgreSQL, for tests and for \`npm run migration:generate\`. Without it, tests use SQLite.
TEST_DATABASE_URL=`,
      DATABASE_NOTE: `The first start creates the file of SQLite. With \`DATABASE_URL\`, as in production, the service uses PostgreSQL. \`TEST_DATABASE_URL\` is for tests on PostgreSQL and for \`npm run migration:generate\`, which writes into \`src/migrations/sqlite\` and \`src/migrations/postgres\`.`,
      DOCKER_OPTIONS: `--network host --env-file .env -e DATABASE_URL=${SERVER}/${databaseName(name)}`,
      CI_TEST: `- run: npm test\n- run: npm test\n  ${CI_DATABASE}`,
      MIGRATION: '<Name>',
      TYPES_NOTE:
        ' Columns have types of both databases: `varchar`, `text`, `integer`, `bigint`, `decimal`, `float`, `boolean`, `date`, `uuid`, `simple-enum`, `simple-json`, and `Date` for a moment.',
    }),
  },
} satisfies Record<string, Variant>;

export type Platform = keyof typeof PLATFORMS;
export type Database = keyof typeof DATABASES;

/** PostgreSQL truncates names at 63 bytes, so `_test` must still fit. */
export const databaseName = (name: string): string => name.replace(/[^a-z0-9]/g, '_').slice(0, 58);
