/** A database that keeps a request waiting for longer than the application lets it. */
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { besides, BUSY_CASES, makeBusy } from '../harness/busy-databases.js';
import { DATABASES } from '../harness/databases.js';
import { failure, startCrud } from './service.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

const PATHS = ['compiled', 'repository'] as const;
const all = PATHS.flatMap((path) => BUSY_CASES.map((each) => [each.database, path, each.what, each] as const));

describe('[4.6] a database that is busy is told of as 503, and is asked again', () => {
  it.each(all)('on %s, %s: %s', async (database, path, _, busyCase) => {
    const service = await startCrud('express', {
      entities: [Item],
      resources: [{ entity: Item, endpoint: '/api/items', enablePagination: true }],
      database,
      path,
      dataSource: { extra: busyCase.extra } as never,
    });
    await service.post('/api/items', { name: 'a' });
    const release = await makeBusy(service.dataSource, Item, busyCase);
    const answers = await Promise.all([
      service.get('/api/items/1'),
      service.put('/api/items/1', { name: 'b' }),
      service.get('/api/items/1'),
    ]);
    const busy = [503, failure('The database is busy, try again')];
    expect(answers.map(({ status, json }) => [status, json])).toEqual([busy, busy, busy]);
    await release();
    expect((await service.get('/api/items/1')).json.data).toEqual({ id: 1, name: 'a' });
    await service.close();
  });
});

(DATABASES.includes('postgres') ? it : it.skip).each(PATHS)(
  '[4.6] what pg alone gives up goes on in PostgreSQL: nobody is told to try again, on the path %s',
  async (path) => {
    const service = await startCrud('express', {
      entities: [Item],
      resources: [{ entity: Item, endpoint: '/api/items', enablePagination: true }],
      database: 'postgres',
      path,
      dataSource: { extra: { query_timeout: 200 } } as never,
    });
    await service.post('/api/items', { name: 'a' });
    const other = await besides(service.dataSource);
    const runner = other.createQueryRunner();
    for (const sql of ['BEGIN', 'LOCK TABLE item IN ACCESS EXCLUSIVE MODE']) await runner.query(sql);
    const { status, json } = await service.put('/api/items/1', { name: 'b' });
    expect([status, json]).toEqual([500, failure('Internal server error')]);
    await runner.query('COMMIT');
    await runner.release();
    await other.destroy();
    await service.close();
  },
);
