/** A total that SQLite was asked for is kept until something is written, by whomever and in whatever way. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { Column, Entity, type Logger, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud } from './service.js';

@Entity()
class Shelf {
  @PrimaryGeneratedColumn()
  id!: number;
}

@Entity()
class Book {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30, default: 'untitled' })
  name!: string;

  @ManyToOne(() => Shelf, { nullable: true, onDelete: 'CASCADE' })
  shelf!: Shelf | null;
}

const counts: string[] = [];
const logger: Logger = {
  logQuery: (sql) => void (sql.includes('COUNT(') && counts.push(sql)),
  logQueryError: () => {},
  logQuerySlow: () => {},
  logSchemaBuild: () => {},
  logMigration: () => {},
  log: () => {},
};
/** Of better-sqlite3, which has no types. */
interface Connection {
  exec(sql: string): unknown;
  table(module: string, make: () => { columns: string[]; rows(): Iterable<object> }): unknown;
  close(): void;
}
const require = createRequire(import.meta.url);
const Connection = require('better-sqlite3') as new (file: string) => Connection;
const SQLITE = require.resolve('better-sqlite3');

describe.each(PLATFORMS)('[4.4] the total of a paged list in SQLite, on %s', (platform) => {
  let service: CrudService;
  beforeEach(async () => {
    service = await startCrud(platform, {
      entities: [Shelf, Book],
      database: 'sqlite',
      resources: [
        { entity: Book, endpoint: '/books', enablePagination: true, enableSearch: true, searchableFields: ['name'] },
      ],
      path: 'compiled',
      dataSource: { logger },
    });
    await run(`INSERT INTO shelf DEFAULT VALUES; INSERT INTO book (name, "shelfId") VALUES ('a', 1), ('b', NULL)`);
    expect(await total()).toBe(2);
    counts.length = 0;
  });
  afterEach(() => service.close());

  const total = async (path = '/books?page=1&size=1'): Promise<number> =>
    (await service.get(path)).json.metadata.pagination.total as number;
  const own = (): Connection =>
    (service.dataSource.driver as unknown as { databaseConnection: Connection }).databaseConnection;
  const run = async (sql: string): Promise<void> => void own().exec(sql);
  const file = (): string => service.dataSource.options.database as string;
  const elsewhere = (sql: string): void => {
    const other = new Connection(file());
    other.exec(sql);
    other.close();
  };

  it('is counted once', async () => {
    expect([await total(), await total('/books?page=2&size=1'), await total()]).toEqual([2, 2, 2]);
    expect(counts).toEqual([]);
  });

  it.each<[what: string, write: () => unknown, expected: number]>([
    ['the resource itself', () => service.post('/books', {}), 3],
    ['its deletion', () => service.del('/books/1'), 1],
    ['the repository', () => service.dataSource.getRepository(Book).save({ name: 'c' }), 3],
    ['the repository, all of it', () => service.dataSource.getRepository(Book).clear(), 0],
    ['DELETE without a condition', () => run('DELETE FROM book'), 0],
    ['REPLACE of another row', () => run(`INSERT OR REPLACE INTO book (id, name) VALUES (7, 'c')`), 3],
    ['a cascade', () => run('DELETE FROM shelf'), 1],
    [
      'a trigger',
      () => run('CREATE TRIGGER t AFTER INSERT ON shelf BEGIN DELETE FROM book; END; INSERT INTO shelf DEFAULT VALUES'),
      0,
    ],
    ['a transaction', () => run(`BEGIN; INSERT INTO book (name) VALUES ('c'); COMMIT`), 3],
    ['another connection', () => elsewhere(`INSERT INTO book (name) VALUES ('c')`), 3],
    [
      'another process',
      () =>
        execFileSync(process.execPath, [
          '-e',
          `new (require(${JSON.stringify(SQLITE)}))(${JSON.stringify(file())}).exec('DELETE FROM book')`,
        ]),
      0,
    ],
    [
      'another connection, with a log of its own',
      async () => {
        await run('PRAGMA journal_mode = WAL');
        expect(await total()).toBe(2);
        elsewhere(`INSERT INTO book (name) VALUES ('c')`);
      },
      3,
    ],
    [
      'a table in its place',
      () => run('ALTER TABLE book RENAME TO old; CREATE TABLE book AS SELECT * FROM old WHERE id = 1'),
      1,
    ],
    ['a temporary table before it', () => run('CREATE TEMP TABLE book AS SELECT * FROM main.book WHERE id = 1'), 1],
    ['a temporary view before it', () => run('CREATE TEMP VIEW book AS SELECT * FROM main.book WHERE id = 1'), 1],
  ])('changes with %s', async (_, write, expected) => {
    await write();
    expect([await total(), await total()]).toEqual([expected, expected]);
  });

  it.each(['ROLLBACK', 'COMMIT'])('is never what a transaction has not yet committed: %s', async (end) => {
    await run(`BEGIN; INSERT INTO book (name) VALUES ('c')`);
    expect(await total()).toBe(3);
    await run(end);
    expect(await total()).toBe(end === 'COMMIT' ? 3 : 2);
    await run(`SAVEPOINT s; DELETE FROM book`);
    expect(await total()).toBe(0);
    await run('ROLLBACK TO s; RELEASE s');
    expect(await total()).toBe(end === 'COMMIT' ? 3 : 2);
  });

  it.each(['a view', 'nothing'])('is counted anew where %s stands for rows of an attached database', async (what) => {
    const attached = `${file()}.attached`;
    await run(`ATTACH '${attached}' AS attached; CREATE TABLE attached.book AS SELECT * FROM book; DROP TABLE book`);
    if (what === 'a view') await run('CREATE TEMP VIEW book AS SELECT * FROM attached.book');
    expect(await total()).toBe(2);
    const other = new Connection(attached);
    other.exec('DELETE FROM book');
    other.close();
    expect(await total()).toBe(0);
  });

  it('is counted anew where a virtual table makes the rows', async () => {
    let rows = 4;
    own().table('makes', () => ({
      columns: ['id', 'name', 'shelfId'],
      *rows() {
        for (let id = 1; id <= rows; id += 1) yield { id, name: '', shelfId: null };
      },
    }));
    await run('DROP TABLE book; CREATE VIRTUAL TABLE book USING makes()');
    expect(await total()).toBe(4);
    rows = 5;
    expect(await total()).toBe(5);
  });

  it('is that of what is searched, where something is', async () => {
    expect(await total('/books/search?name=a&page=1&size=1')).toBe(1);
    expect(await total('/books/search?name=b&page=1&size=1')).toBe(1);
    expect(await total()).toBe(2);
  });

  it('fails as ever where the database is locked, and is right behind it', async () => {
    await run('PRAGMA journal_mode = DELETE; PRAGMA busy_timeout = 0');
    expect(await total()).toBe(2);
    const other = new Connection(file());
    other.exec(`BEGIN EXCLUSIVE; INSERT INTO book (name) VALUES ('c')`);
    const { status, json } = await service.get('/books?page=1&size=1');
    expect([status, json.message]).toEqual([503, 'The database is temporarily unavailable, try again']);
    other.exec('COMMIT');
    other.close();
    expect(await total()).toBe(3);
  });

  it('begins anew with another connection, which has seen as much as the last one', async () => {
    const reopened = async (meanwhile: string): Promise<number> => {
      await service.dataSource.destroy();
      elsewhere(meanwhile);
      await service.dataSource.initialize();
      return total();
    };
    expect(await reopened('SELECT 1')).toBe(2);
    expect(await reopened('DELETE FROM book')).toBe(0);
  });
});
