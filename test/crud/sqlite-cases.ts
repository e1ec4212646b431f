/** What is the same with every driver of SQLite. `test/engines/embedded.spec.ts` runs it with packages that CI lacks. */
import {
  Check,
  Column,
  Entity,
  IsNull,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import { linesOf } from '../harness/platforms.js';
import { type CrudService, failure, startCrud } from './service.js';

/** What TypeORM's driver of better-sqlite3 calls. */
export interface Driver {
  prepare(sql: string): {
    readonly reader: boolean;
    all(...values: unknown[]): object[];
    run(...values: unknown[]): unknown;
  };
  pragma(sql: string): unknown;
  close(): void;
}

@Entity()
@Check('pages > 0')
class Shelf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'text', unique: true }) name!: string;
  @Column({ type: 'blob', nullable: true }) label!: Buffer | null;
  @Column({ type: 'int', default: 1 }) pages!: number;
}

@Entity()
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Shelf, { nullable: true }) shelf!: Relation<Shelf> | null;
}

/** Its INSERT has one parameter. */
@Entity()
class Mark {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'text', nullable: true }) label!: string | null;
}

@Entity()
class Wide {
  @PrimaryColumn({ type: 'bigint' }) id!: string;
  @Column({ type: 'bigint', nullable: true }) total!: string | null;
  @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true }) price!: string | null;
  @Column({ type: 'simple-json', nullable: true }) data!: object | null;
  @Column({ type: 'datetime', nullable: true }) at!: Date | null;
  @Column({ type: 'real', nullable: true }) width!: number | null;
}

export const SQLITE_ENTITIES = [Shelf, Book, Mark, Wide];
export const SQLITE_RESOURCES = [
  { entity: Shelf, endpoint: '/shelves', enableBatch: true, maxListSize: 100 },
  { entity: Book, endpoint: '/books', maxListSize: 100 },
  { entity: Mark, endpoint: '/marks', maxListSize: 100 },
  { entity: Wide, endpoint: '/wide', maxListSize: 100, clientId: true },
];

export interface Variant {
  /** Of TypeORM. */
  readonly options: object;
  /** Another connection to the file, by the same library: SQLite's locks have no effect between two in one process. */
  readonly open?: new (file: string, options: object) => Driver;
  /** About the driver. */
  readonly warnings?: readonly string[];
}

export function sqliteCases(name: string, variantOf: () => Variant | Promise<Variant>): void {
  describe(`SQLite by the driver ${name}`, () => {
    let service: CrudService;
    let variant: Variant;
    beforeAll(async () => {
      variant = await variantOf();
      service = await startCrud('express', {
        database: 'sqlite',
        entities: SQLITE_ENTITIES,
        resources: SQLITE_RESOURCES,
        // The document says nothing of infinity.
        isDescribed: (path) => !path.startsWith('/wide'),
        dataSource: { timeout: 50, ...variant.options } as never,
      });
      await service.post('/shelves', { name: 'A', label: 'AP8B' });
      await service.post('/books', { shelfId: 1 });
    });
    afterAll(() => service?.close());

    it('[1] starts with the warnings that it needs', () => {
      expect(linesOf(service.logs, 'warn').filter((line) => line.includes('of the data source'))).toEqual(
        (variant.warnings ?? []).map((line) => expect.stringContaining(line)),
      );
    });

    it('[4.3] answers 409 for a taken value, a missing reference, and a record that others refer to', async () => {
      const taken = 'is already taken';
      const missing = 'refers to a record that does not exist';
      const expected = [
        [
          await service.post('/shelves', { name: 'A' }),
          'Shelf cannot be created: name is already taken',
          { name: taken },
        ],
        [
          await service.post('/books', { shelfId: 9 }),
          'Book cannot be created: shelfId refers to a record that does not exist',
          { shelfId: missing },
        ],
        [await service.del('/shelves/1'), 'Shelf cannot be deleted: other records refer to it'],
      ] as const;
      for (const [{ status, json }, message, fields] of expected)
        expect([status, json]).toEqual([409, failure(message, fields)]);
      const items = [{ name: 'B' }, { name: 'A' }];
      expect((await service.post('/shelves/batch', { items })).status).toBe(409);
      expect((await service.get('/shelves')).json.data).toHaveLength(1);
    });

    it('[4.3] answers 400 for a value that a CHECK refuses', async () => {
      expect((await service.post('/shelves', { name: 'C', pages: 0 })).status).toBe(400);
    });

    it('[4.6] answers bytes as base64, which can be sent back', async () => {
      const { data } = (await service.get('/shelves/1')).json;
      expect(data).toEqual({ id: 1, name: 'A', label: 'AP8B', pages: 1 });
      expect((await service.put('/shelves/1', data)).json.data).toEqual(data);
    });

    it('[4.6] answers values of all their digits, and infinity, which can be sent back', async () => {
      const sent = {
        id: '9007199254740993',
        total: '-9223372036854775808',
        price: '12345678.90',
        data: { a: [1, null] },
        at: '2026-02-03T04:05:06.789Z',
        width: 1.5,
      };
      expect((await service.post('/wide', sent)).json.data).toEqual(sent);
      expect((await service.put(`/wide/${sent.id}`, sent)).json.data).toEqual(sent);
      expect((await service.get(`/wide/${sent.id}`)).json.data).toEqual(sent);
      await service.dataSource.query('UPDATE wide SET width = 9e999');
      const { data } = (await service.get(`/wide/${sent.id}`)).json;
      expect(data).toEqual({ ...sent, width: 'Infinity' });
      expect((await service.put(`/wide/${sent.id}`, data)).json.data).toEqual(data);
      expect(await service.dataSource.query('SELECT COUNT(*) AS n FROM wide WHERE width = 9e999')).toEqual([{ n: 1 }]);
    });

    it('[4.6] leaves to TypeORM what it does with better-sqlite3: large integers and undefined', async () => {
      const { dataSource } = service;
      await dataSource.getRepository(Wide).insert({ id: '9007199254740995', total: undefined as never });
      const found = await dataSource.getRepository(Wide).find({ where: { total: IsNull() } });
      expect(found.map(({ id }) => Number(id))).toEqual([Number('9007199254740995')]);
      expect(await dataSource.query('SELECT ? AS absent', [undefined])).toEqual([{ absent: null }]);
    });

    it('[4.6] stores a record whose only value is null', async () => {
      const { status, json } = await service.post('/marks', { label: null });
      expect([status, json.data]).toEqual([201, { id: expect.any(Number), label: null }]);
    });

    it('[4.6] answers each of concurrent writes with its own record', async () => {
      const writes = Array.from({ length: 30 }, async (_, index) => {
        if (index % 3 === 0) await service.send('PATCH', '/shelves/1', { json: { pages: index + 1 } });
        const { json } = await service.post('/marks', { label: `m${index}` });
        return [json.data.id, json.data.label];
      });
      const answered = await Promise.all(writes);
      const { data } = (await service.get('/marks')).json;
      const stored = new Map((data as { id: number; label: string }[]).map(({ id, label }) => [id, label]));
      expect(answered.filter(([id, label]) => stored.get(id) !== label)).toEqual([]);
    });

    it('[4.3] answers 503 with Retry-After for a database that cannot be written', async () => {
      await service.dataSource.query('PRAGMA query_only = ON');
      const { status, headers } = await service.post('/shelves', { name: 'C' });
      await service.dataSource.query('PRAGMA query_only = OFF');
      expect([status, headers['retry-after']]).toEqual([503, '5']);
    });

    it('[4.3] answers 503 with Retry-After for a file that another connection has locked', async ({ skip }) => {
      const { open: Open } = variant;
      if (!Open) return skip();
      const other = new Open((service.dataSource.options as { database: string }).database, {});
      other.prepare('BEGIN IMMEDIATE').run();
      const { status, headers } = await service.post('/marks', { label: 'locked' });
      other.prepare('COMMIT').run();
      other.close();
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect((await service.post('/marks', { label: 'unlocked' })).status).toBe(201);
    });

    it('[4.3] answers 503 with Retry-After for a full database', async () => {
      const [pages] = await service.dataSource.query<Record<string, number>[]>('PRAGMA page_count');
      await service.dataSource.query(`PRAGMA max_page_count = ${Object.values(pages!)[0]}`);
      const { status, headers } = await service.post('/shelves', { name: 'x'.repeat(20_000) });
      await service.dataSource.query('PRAGMA max_page_count = 1000000');
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect((await service.post('/shelves', { name: 'again' })).status).toBe(201);
    });
  });
}
