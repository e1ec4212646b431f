// How applications differ by platform and database. Everything else is the same template.
import { onPostgres, onSqlite } from './initial-migrations.js';
import type { Table } from './tables.js';

export interface Variant {
  /** The name in messages. */
  readonly label: string;
  /** What `package.json` lists besides the common packages. The driver of SQLite depends on Node. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Texts for the placeholders of the template, by name. Lines of the template hold Express and SQLite. */
  readonly texts: (name: string, tables: readonly Table[]) => Readonly<Record<string, string>>;
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
      CREATE_APP: `// Requests that arrive while it stops are answered.
const adapter = new FastifyAdapter({ trustProxy, routerOptions: { maxParamLength: 500 }, return503OnClosing: false });
const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, options);`,
      TRUST_PROXY: '',
      APPLICATION_IMPORT: "import type { NestFastifyApplication as Application } from '@nestjs/platform-fastify';",
    }),
  },
} satisfies Record<string, Variant>;

export const DATABASES = {
  sqlite: {
    label: 'SQLite',
    dependencies: {},
    texts: (name, tables) => ({
      ...onSqlite(tables),
      ENVIRONMENT: `DATABASE_FILE=data/${name}.db`,
      DATABASE_VARIABLE: 'DATABASE_FILE',
      DATABASE_NOTE: 'The first start creates the database file.',
      DOCKER_OPTIONS: `-p 3000:3000 --env-file .env -v ${name}:/app/data`,
      DOCKER_DATA: 'RUN mkdir data && chown node:node data\nVOLUME /app/data',
    }),
  },
  postgres: {
    label: 'PostgreSQL',
    dependencies: { pg: '^8.23.1' },
    texts: (name, tables) => {
      const database = databaseName(name);
      const server = 'postgres://postgres@127.0.0.1:5432';
      return {
        ...onPostgres(tables),
        DATABASE: `export const database = env[isTest ? 'TEST_DATABASE_URL' : 'DATABASE_URL'] || 'postgres://127.0.0.1/${database}';`,
        DATABASE_IMPORTS: "import type { EventEmitter } from 'node:events';\nimport { Socket } from 'node:net';",
        DATABASE_TYPE: "type: 'postgres',",
        DATABASE_OPTIONS: `url: database,
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
},`,
        ENVIRONMENT: `DATABASE_URL=${server}/${database}\nTEST_DATABASE_URL=${server}/${database}_test`,
        DATABASE_VARIABLE: 'DATABASE_URL',
        DATABASE_NOTE: `Before that, create the databases of \`.env\`: \`createdb ${database} && createdb ${database}_test\`.`,
        DOCKER_OPTIONS: '--network host --env-file .env',
        DOCKER_DATA: '',
      };
    },
  },
} satisfies Record<string, Variant>;

export type Platform = keyof typeof PLATFORMS;
export type Database = keyof typeof DATABASES;

/** PostgreSQL truncates names at 63 bytes, so `_test` must still fit. */
export const databaseName = (name: string): string => name.replace(/[^a-z0-9]/g, '_').slice(0, 58);
