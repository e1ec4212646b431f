/** Drivers that bring SQLite's errors and values in other forms than better-sqlite3. */
import { createRequire } from 'node:module';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, failure, startCrud } from './service.js';

@Entity()
class Shelf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'text', unique: true }) name!: string;
  @Column({ type: 'blob', nullable: true }) label!: Buffer | null;
}

@Entity()
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Shelf, { nullable: true }) shelf!: Relation<Shelf> | null;
}

const require = createRequire(import.meta.url);
type Statement = Record<'all' | 'run', (...values: unknown[]) => unknown> & { readonly reader: boolean };
type Database = { prepare: (sql: string) => Statement; pragma: (sql: string) => unknown; close: () => void };

const toArrayBuffers = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Uint8Array.from(value).buffer : value,
    ]),
  );

/** As sql.js, the error has SQLite's message only; as libsql, bytes are an `ArrayBuffer`. */
function bareDriver(file: string): Database {
  const database = new (require('better-sqlite3') as new (file: string) => Database)(file);
  const bare = <R>(work: () => R): R => {
    try {
      return work();
    } catch (cause) {
      throw new Error((cause as Error).message, { cause });
    }
  };
  return {
    prepare(sql) {
      const statement = bare(() => database.prepare(sql));
      return {
        reader: statement.reader,
        all: (...values) => bare(() => (statement.all(...values) as object[]).map(toArrayBuffers)),
        run: (...values) => bare(() => statement.run(...values)),
      };
    },
    pragma: (sql) => database.pragma(sql),
    close: () => database.close(),
  };
}

/** The wrapper of docs/sqlite.md. */
function nodeDriver(file: string): Database {
  type Prepared = Statement & { readonly columns: () => readonly unknown[] };
  type Native = { prepare: (sql: string) => Prepared; close: () => void };
  const { DatabaseSync } = require('node:sqlite') as { DatabaseSync: new (file: string) => Native };
  const database = new DatabaseSync(file);
  return {
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (...values) => statement.all(...values),
        run: (...values) => statement.run(...values),
      };
    },
    pragma: (sql) => database.prepare(`PRAGMA ${sql}`).all(),
    close: () => database.close(),
  };
}

const hasNodeSqlite = Number.parseInt(process.versions.node) >= 24;
const DRIVERS: readonly (readonly [string, (file: string) => Database])[] = [
  ['one without codes', bareDriver],
  ...(hasNodeSqlite ? ([['node:sqlite', nodeDriver]] as const) : []),
];

describe.skipIf(!DATABASES.includes('sqlite')).each(DRIVERS)('SQLite by the driver %s', (_, driver) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database: 'sqlite',
      entities: [Shelf, Book],
      resources: [
        { entity: Shelf, endpoint: '/shelves', enableBatch: true },
        { entity: Book, endpoint: '/books' },
      ],
      // TypeORM calls it with `new`.
      dataSource: {
        driver: function (file: string) {
          return driver(file);
        },
        prepareDatabase: undefined,
      } as never,
    });
    await service.post('/shelves', { name: 'A', label: 'AP8B' });
    await service.post('/books', { shelfId: 1 });
  });
  afterAll(() => service.close());

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
    expect((await service.post('/shelves/batch', { items: [{ name: 'B' }, { name: 'A' }] })).status).toBe(409);
    expect((await service.get('/shelves')).json.data).toHaveLength(1);
  });

  it('[4.6] answers bytes as base64, which can be sent back', async () => {
    const { data } = (await service.get('/shelves/1')).json;
    expect(data).toEqual({ id: 1, name: 'A', label: 'AP8B' });
    expect((await service.put('/shelves/1', data)).json.data).toEqual(data);
  });

  it('[4.3] answers 503 with Retry-After for a database that cannot be written', async () => {
    await service.dataSource.query('PRAGMA query_only = ON');
    const { status, headers } = await service.post('/shelves', { name: 'C' });
    await service.dataSource.query('PRAGMA query_only = OFF');
    expect([status, headers['retry-after']]).toEqual([503, '5']);
  });
});
