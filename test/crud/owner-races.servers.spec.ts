/** A record gets another owner, or leaves a scope, while its old owner writes. */
import {
  Column,
  type DataSource,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryGeneratedColumn,
  type QueryRunner,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { besides, SERVER_DATABASES, untilBlocked } from '../harness/busy-databases.js';
import type { Answer } from '../harness/client.js';
import { claims, makeToken } from '../harness/tokens.js';
import { type CrudService, type DataPath, startCrud } from './service.js';

@Entity()
class Tag {
  @PrimaryGeneratedColumn() id!: number;
}

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'varchar', length: 20, default: 'old' }) name!: string;
  @Column({ type: 'simple-json', nullable: true }) extra!: unknown;
  @Column({ type: 'int' }) ownerId!: number;
  @ManyToMany(() => Tag) @JoinTable() tags!: Tag[];
  @DeleteDateColumn() deletedAt!: Date | null;
}

const token = makeToken({ payload: claims({ sub: '1' }) });
const shared = { entity: Item, enableBatch: true, enableRestore: true } as const;

type Send = (service: CrudService, endpoint: string) => Promise<Answer>;

const send =
  (method: string, path: string, json?: unknown): Send =>
  (service, endpoint) =>
    service.send(method, `${endpoint}${path}`, { token, ...(json !== undefined && { json }) });

const WRITES: readonly [string, Send][] = [
  ['PUT', send('PUT', '/1', { name: 'new', extra: null, ownerId: 1 })],
  ['PATCH', send('PATCH', '/1', { name: 'new' })],
  ['PATCH that merges', send('PATCH', '/1', { extra: { a: 1 } })],
  ['PATCH of a batch', send('PATCH', '/batch', { items: [{ id: 1, name: 'new' }] })],
  ['DELETE', send('DELETE', '/1')],
  ['DELETE of a batch', send('DELETE', '/batch?ids=1')],
];

const CASES = SERVER_DATABASES.flatMap((database) =>
  (['compiled', 'repository'] as DataPath[]).map((path) => [database, path] as const),
);

if (CASES.length > 0)
  describe.each(CASES)('on %s, %s', (database, path) => {
    let service: CrudService;
    let other: DataSource;
    let admin: QueryRunner;
    let locker: QueryRunner;
    let watcher: QueryRunner;
    beforeAll(async () => {
      service = await startCrud('fastify', {
        database,
        path,
        entities: [Item, Tag],
        resources: [
          { ...shared, endpoint: '/owned', owner: 'ownerId' },
          { ...shared, endpoint: '/private', owner: { field: 'ownerId', reads: true } },
          { ...shared, endpoint: '/linked', owner: 'ownerId', linkableRelations: ['tags'] },
          { ...shared, endpoint: '/scoped', scope: ({ user }) => ({ ownerId: Number(user?.id) }) },
        ],
        imports: [authModule({ defaultAccess: 'public' })],
      });
      other = await besides(service.dataSource);
      [admin, locker, watcher] = [1, 2, 3].map(() => other.createQueryRunner()) as [
        QueryRunner,
        QueryRunner,
        QueryRunner,
      ];
      await admin.query('INSERT INTO tag VALUES (1)');
    });
    afterAll(async () => {
      for (const runner of [admin, locker, watcher]) await runner.release();
      await other.destroy();
      await service.close();
    });
    beforeEach(async () => {
      await admin.query('DELETE FROM item_tags_tag');
      await admin.query('DELETE FROM item');
      await admin.query(
        `INSERT INTO item (id, name, "ownerId") VALUES (1, 'old', 1)`.replaceAll(
          '"',
          database === 'postgres' ? '"' : '`',
        ),
      );
    });
    afterEach(async () => {
      await admin.query('ROLLBACK');
      await locker.query(database === 'postgres' ? 'ROLLBACK' : 'UNLOCK TABLES');
    });
    const owner = database === 'postgres' ? '"ownerId"' : 'ownerId';
    const deleted = database === 'postgres' ? '"deletedAt"' : 'deletedAt';
    const begin = (runner: QueryRunner): Promise<unknown> =>
      runner.query(database === 'postgres' ? 'BEGIN' : 'START TRANSACTION');
    const stored = async () =>
      ((await admin.query(`SELECT name, ${owner} AS owner, ${deleted} AS deleted FROM item`)) as unknown[])[0];

    const endpoints = (
      [
        ['/owned', 403],
        ['/scoped', 404],
        ['/linked', 403],
        ['/private', 404],
      ] as const
    ).slice(0, path === 'compiled' ? 4 : 2);
    it.each(
      endpoints.flatMap(([endpoint, status]) =>
        WRITES.map(([what, write]) => [what, endpoint, status, write] as const),
      ),
    )('[11.32] a write that comes after the change is refused: %s %s is %i', async (_, endpoint, status, write) => {
      await begin(admin);
      await admin.query(`UPDATE item SET ${owner} = 2`);
      const answer = write(service, endpoint);
      await untilBlocked(watcher, 1);
      await admin.query('COMMIT');
      expect((await answer).status).toBe(status);
      expect(await stored()).toEqual({ name: 'old', owner: 2, deleted: null });
    });

    it.each(endpoints)(
      '[11.32] a restore that comes after the change is refused: %s is %i',
      async (endpoint, status) => {
        await admin.query(`UPDATE item SET ${deleted} = '2020-01-01'`);
        await begin(admin);
        await admin.query(`UPDATE item SET ${owner} = 2`);
        const answer = send('POST', '/1/restore')(service, endpoint);
        await untilBlocked(watcher, 1);
        await admin.query('COMMIT');
        expect((await answer).status).toBe(status);
        expect(await stored()).toMatchObject({ owner: 2, deleted: expect.any(Date) as unknown });
      },
    );

    it('[11.32] links are not changed after the change of the owner', async () => {
      await begin(admin);
      await admin.query(`UPDATE item SET ${owner} = 2`);
      const answer = send('PATCH', '/1', { tagsIds: [1] })(service, '/linked');
      await untilBlocked(watcher, 1);
      await admin.query('COMMIT');
      expect((await answer).status).toBe(403);
      expect(await admin.query('SELECT * FROM item_tags_tag')).toEqual([]);
    });

    it.each(
      endpoints.flatMap(([endpoint]) => WRITES.slice(0, 4).map(([what, write]) => [what, endpoint, write] as const)),
    )(
      '[11.32] the answer is the record as the write left it, whatever comes after it: %s %s',
      async (_, endpoint, write) => {
        // The write waits for the row, and whoever reads the table after it for the lock of the table.
        await begin(admin);
        await admin.query('SELECT * FROM item FOR UPDATE');
        const answer = write(service, endpoint);
        await untilBlocked(watcher, 1);
        if (database === 'postgres') await begin(locker);
        const locked = locker.query(
          database === 'postgres' ? 'LOCK TABLE item IN ACCESS EXCLUSIVE MODE' : 'LOCK TABLES item WRITE',
        );
        await untilBlocked(watcher, 2);
        await admin.query('COMMIT');
        await locked;
        await locker.query(`UPDATE item SET ${owner} = 2, name = 'later', extra = NULL`);
        await locker.query(database === 'postgres' ? 'COMMIT' : 'UNLOCK TABLES');
        const { status, json } = await answer;
        expect(status).toBe(200);
        const [record] = [json.data].flat() as unknown[];
        expect(record).toMatchObject({ id: 1, ownerId: 1 });
        expect(record).not.toMatchObject({ name: 'later' });
        expect(await stored()).toMatchObject({ name: 'later', owner: 2 });
      },
    );
  });
