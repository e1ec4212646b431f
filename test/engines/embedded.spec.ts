/**
 * Engines that run in the process, with packages that CI lacks:
 *
 *     TEST_EMBEDDED="$(scripts/engines/embedded <folder>)" npx vitest run test/engines/embedded
 */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CrudController } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudParts, crudError, type CrudService, startCrud } from '../crud/service.js';
import { SQLITE_ENTITIES, SQLITE_RESOURCES, sqliteCases, type Variant } from '../crud/sqlite-cases.js';
import { linesOf } from '../harness/platforms.js';

const FOLDER = process.env['TEST_EMBEDDED'];
const load = createRequire(join(FOLDER ?? tmpdir(), 'package.json'));

@Entity()
class Tag {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 40 }) name!: string;
}

/** A hook that is slow, and refuses. */
class SlowTags extends CrudController({ entity: Tag, endpoint: '/slow', maxListSize: 100 }) {
  override async beforeCreate(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 300));
    throw new Error('refused');
  }
}

const partsOf = (dataSource: object, resources: CrudParts['resources'] = [tags]): CrudParts => ({
  database: 'sqlite',
  entities: [Tag],
  resources,
  dataSource: { prepareDatabase: undefined, ...dataSource } as never,
});
const tags = { entity: Tag, endpoint: '/tags', maxListSize: 1_000 } as const;

const aboutDriver = (logs: string[]): string[] =>
  linesOf(logs, 'warn').filter((line) => line.includes('of the data source'));

type Open = NonNullable<Variant['open']>;

describe.skipIf(!FOLDER)('embedded engines', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'declarest-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe('better-sqlite3-multiple-ciphers', () => {
    sqliteCases('better-sqlite3-multiple-ciphers', () => {
      const driver = load('better-sqlite3-multiple-ciphers') as Open;
      return { options: { driver, prepareDatabase: undefined }, open: driver };
    });

    it('keeps an encrypted file, and names a wrong key', async () => {
      const encrypted = (key: string): object => ({
        driver: load('better-sqlite3-multiple-ciphers') as unknown,
        database: join(folder, 'encrypted.db'),
        key,
      });
      const first = await startCrud('express', partsOf(encrypted('right')));
      await first.post('/tags', { name: 'kept' });
      await first.close();
      expect((await readFile(join(folder, 'encrypted.db'))).includes('SQLite format')).toBe(false);
      const again = await startCrud('express', partsOf(encrypted('right')));
      expect((await again.get('/tags/1')).json.data.name).toBe('kept');
      await again.close();
      const wrong = partsOf({ ...encrypted('wrong'), synchronize: false });
      expect((await crudError('express', wrong)).message).toContain('must be a database that its key opens');
    });
  });

  describe('sql.js', () => {
    const options = (location: string): object => ({
      type: 'sqljs',
      driver: load('sql.js') as unknown,
      database: undefined,
      location,
      autoSave: true,
    });
    const warnings = ['The database of the data source must be one for production, got sql.js'];
    sqliteCases('sql.js', () => ({ options: options(join(folder, 'cases.db')), warnings }));

    it('has each acknowledged record in its file', async () => {
      const location = join(folder, 'saved.db');
      const service = await startCrud('express', partsOf(options(location)));
      for (let round = 0; round < 30; round += 1) {
        const names = Array.from({ length: 6 }, (_, index) => `r${round}-${index}`);
        await Promise.all(names.map((name) => service.post('/tags', { name })));
        const stored = await startCrud('express', partsOf({ ...options(location), synchronize: false }));
        const found = ((await stored.get('/tags')).json.data as { name: string }[]).map(({ name }) => name);
        await stored.close();
        expect(names.filter((name) => !found.includes(name))).toEqual([]);
      }
      await service.close();
    });

    it('answers 503 where its folder is away, and serves on', async () => {
      const away = join(folder, 'away');
      await mkdir(away);
      const service = await startCrud('express', partsOf(options(join(away, 'file.db'))));
      await rm(away, { recursive: true });
      expect((await service.post('/tags', { name: 'refused' })).status).toBe(503);
      await mkdir(away);
      expect((await service.post('/tags', { name: 'stored' })).status).toBe(201);
      await service.close();
    });
  });

  describe('libsql', () => {
    it('is refused', async () => {
      const { message } = await crudError('express', partsOf({ driver: load('libsql') as unknown }));
      expect(message).toContain('The driver of the data source must be one that reads whole texts, got one that cuts');
    });
  });

  describe('turso', () => {
    it('is a warning, and its errors have their status', async () => {
      const { Database } = load('@tursodatabase/database/compat') as { Database: unknown };
      const service = await startCrud('express', {
        ...partsOf({ driver: Database }, SQLITE_RESOURCES),
        entities: SQLITE_ENTITIES,
      });
      expect(aboutDriver(service.logs)).toEqual([expect.stringContaining('must be that of a release of SQLite')]);
      const statuses = [];
      for (const [path, body] of [
        ['/shelves', { name: 'A' }],
        ['/shelves', { name: 'A' }],
        ['/shelves', { name: 'B', pages: 0 }],
        ['/books', { shelfId: 1 }],
        ['/books', { shelfId: 9 }],
      ] as const)
        statuses.push((await service.post(path, body)).status);
      statuses.push((await service.del('/shelves/1')).status);
      expect(statuses).toEqual([201, 409, 400, 201, 409, 409]);
      await service.close();
    });
  });

  describe('PGlite', () => {
    interface Server {
      start(): Promise<void>;
      stop(): Promise<void>;
      getServerConn(): string;
    }
    const warning = 'The database of the data source must be one for production, got PGlite';
    let database: { close(): Promise<void> };
    let server: Server;
    beforeAll(async () => {
      const { PGlite } = load('@electric-sql/pglite') as { PGlite: { create(): Promise<typeof database> } };
      const { PGLiteSocketServer } = load('@electric-sql/pglite-socket') as {
        PGLiteSocketServer: new (options: object) => Server;
      };
      database = await PGlite.create();
      server = new PGLiteSocketServer({ db: database, port: 0, host: '127.0.0.1' });
      await server.start();
    });
    afterAll(async () => {
      await server?.stop();
      await database?.close();
    });
    const options = (): object => {
      const [host, port] = server.getServerConn().split(':');
      return { type: 'postgres', database: 'postgres', host, port: Number(port), username: 'postgres', poolSize: 1 };
    };

    it('takes writes one at a time with a pool of one, and is a warning', async () => {
      const service: CrudService = await startCrud('express', partsOf(options()));
      expect(aboutDriver(service.logs)).toEqual([expect.stringContaining(warning)]);
      const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
      const statuses = await Promise.all(names.map(async (name) => (await service.post('/tags', { name })).status));
      expect(statuses.filter((status) => status !== 201)).toEqual([]);
      expect((await service.get('/tags')).json.data).toHaveLength(60);
      await service.close();
    });

    it('refuses hooks with such a pool', async () => {
      const { message } = await crudError('express', partsOf(options(), [SlowTags]));
      expect(message).toContain('must be at least 2');
    });
  });

  describe('typeorm-pglite', () => {
    it('is a warning', async () => {
      const { PGliteDriver } = load('typeorm-pglite') as { PGliteDriver: new () => { driver: unknown } };
      const options = {
        type: 'postgres',
        database: undefined,
        driver: new PGliteDriver().driver,
        installExtensions: false,
      };
      const { logs, close } = await startCrud('express', partsOf(options));
      await close();
      expect(aboutDriver(logs)).toEqual([
        expect.stringContaining('The database of the data source must be one for production, got PGlite'),
      ]);
    });
  });
});
