import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud } from '../crud/service.js';
import { SERVER_DATABASES } from '../harness/busy-databases.js';
import { createDatabase, type DatabaseName } from '../harness/databases.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

/** @returns the statuses of a POST and of a GET behind it, with a replica that never gets what the primary writes */
async function postThenGet(database: DatabaseName, replication: object): Promise<number[]> {
  const replica = await createDatabase(database);
  const { options } = replica;
  await (await new DataSource({ ...options, entities: [Item] } as never).initialize()).destroy();
  const primary = await createDatabase(database);
  const service = await startCrud('fastify', {
    database,
    entities: [Item],
    resources: [{ entity: Item, endpoint: '/api/items', maxListSize: 9 }],
    dataSource: {
      url: undefined,
      replication: { master: { url: urlOf(primary) }, slaves: [{ url: urlOf(replica) }], ...replication },
    } as never,
  });
  const created = await service.post('/api/items', { name: 'a' });
  const { status } = await service.get('/api/items/1');
  await service.close();
  await Promise.all([primary.drop(), replica.drop()]);
  return [created.status, status];
}

const urlOf = ({ options }: Awaited<ReturnType<typeof createDatabase>>): string => (options as { url: string }).url;

if (SERVER_DATABASES.length > 0)
  describe.each(SERVER_DATABASES)('a replica of %s that lags', (database) => {
    it("[4.6] is not read with defaultMode: 'master', as docs/tasks/deployment.md says", async () => {
      expect(await postThenGet(database, { defaultMode: 'master' })).toEqual([201, 200]);
      expect(await postThenGet(database, {})).toEqual([201, 404]);
    });
  });
