/** The primary of a `replication` of MySQL or MariaDB is away for a while. */
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { startProxy } from '../harness/busy-databases.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { linesOf } from '../harness/platforms.js';

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30 })
  name!: string;
}

const startReplicated = (urls: readonly string[], replication: object): Promise<CrudService> =>
  startCrud('fastify', {
    database: 'mariadb',
    entities: [Item],
    resources: [{ entity: Item, endpoint: '/api/items', maxListSize: 9 }],
    dataSource: {
      url: undefined,
      replication: { master: { url: urls[0] }, slaves: [{ url: urls[1] }], ...replication },
    } as never,
  });

const warningsOf = ({ logs }: CrudService): string[] =>
  linesOf(logs, 'warn').filter((line) => line.includes('`replication` of the data source'));

if (DATABASES.includes('mariadb'))
  describe('a replicated data source of MariaDB', () => {
    it('[4.3] needs the line of a warning, with which an outage of the primary is 503 and ends', async () => {
      const direct = await createDatabase('mariadb');
      const { url } = direct.options as { url: string };
      const proxy = await startProxy('mariadb');
      const { port } = new URL(process.env['TEST_MYSQL_URL']!);
      const proxied = Object.assign(new URL(url), { hostname: '127.0.0.1', port }).href;

      const first = await startReplicated([proxied, url], {});
      const [warning = '', ...others] = warningsOf(first);
      await first.close();
      expect(others).toEqual([]);
      const [, lines = ''] = /Add to `replication`: (.*?)\. /.exec(warning) ?? [];
      const service = await startReplicated([proxied, url], new Function(`return { ${lines} }`)() as object);
      expect(warningsOf(service)).toEqual([]);
      expect((await service.post('/api/items', { name: 'a' })).status).toBe(201);

      await proxy.stop();
      for (let n = 0; n < 8; n += 1) {
        const { status, headers } = await service.post('/api/items', { name: 'lost' });
        expect([n, status, headers['retry-after']]).toEqual([n, 503, '5']);
        expect((await service.get('/api/items/1')).status).toBe(200);
      }
      await proxy.start();
      while ((await service.post('/api/items', { name: 'b' })).status === 503)
        await new Promise((resolve) => setTimeout(resolve, 100));
      expect((await service.get('/api/items')).json.data).toEqual([
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ]);
      await service.close();
      await proxy.remove();
      await direct.drop();
    });
  });
