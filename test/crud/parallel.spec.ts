import { Column, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud } from './service.js';

class Size {
  @Column({ default: 0 })
  width!: number;

  @Column({ default: 0 })
  height!: number;
}

@Entity()
class Account {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ default: 0 })
  a!: number;

  @Column({ default: 0 })
  b!: number;

  @Column({ default: 0 })
  c!: number;

  @Column({ type: 'varchar', length: 10, nullable: true })
  d!: string | null;

  @Column(() => Size)
  size!: Size;

  @VersionColumn()
  version!: number;
}

@Entity()
class Name {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true, length: 20 })
  name!: string;
}

const START = { a: 0, b: 0, c: 0, d: 'start', size: { width: 0, height: 0 } };
// Each changes what the other leaves as it is at the start: a write of the differences only would mix them.
const FIRST = { a: 1, b: 0, c: 1, d: null, size: { width: 1, height: 0 } };
const SECOND = { a: 0, b: 2, c: 2, d: 'start', size: { width: 0, height: 2 } };

describe.each(DATABASES)('on %s', (database) => {
  describe.each(PLATFORMS)('and %s', (platform) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        resources: [
          { entity: Account, endpoint: '/api/accounts' },
          { entity: Name, endpoint: '/api/names' },
        ],
      });
    });
    afterAll(() => service.close());

    it('[4.6] of two PUTs at once one of the bodies stands whole, never a mixture', async () => {
      const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
      const path = `/api/accounts/${id}`;
      const outcomes = new Set<string>();
      for (let round = 0; round < 40; round += 1) {
        await service.put(path, START);
        const answers = await Promise.all(
          (round % 2 ? [FIRST, SECOND] : [SECOND, FIRST]).map((body) => service.put(path, body)),
        );
        for (const { status, json } of answers) {
          const { id: _id, version: _version, ...rest } = (json.data ?? {}) as Record<string, unknown>;
          expect(status).toBe(200);
          expect([FIRST, SECOND]).toContainEqual(rest);
        }
        const { id: _id, version: _version, ...rest } = (await service.get(path)).json.data;
        expect([FIRST, SECOND]).toContainEqual(rest);
        outcomes.add(JSON.stringify(rest));
      }
      expect(outcomes.size).toBeGreaterThan(0);
    });

    it('[4.6] the version counts every one of many PUTs at once', async () => {
      const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
      await Promise.all(Array.from({ length: 20 }, (_, a) => service.put(`/api/accounts/${id}`, { ...START, a })));
      expect((await service.get(`/api/accounts/${id}`)).json.data.version).toBe(21);
    });

    it('[4.6] a PUT at the same time as a DELETE never brings a record back', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
        const path = `/api/accounts/${id}`;
        const [updated, deleted] = await Promise.all([service.put(path, FIRST), service.del(path)]);
        expect([200, 404]).toContain(updated.status);
        expect(deleted.status).toBe(200);
        expect((await service.get(path)).status).toBe(404);
      }
    });

    it('[4.1] of two DELETEs at once one is 200 and the other 404', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
        const answers = await Promise.all([1, 2].map(() => service.del(`/api/accounts/${id}`)));
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
      }
    });

    it('[4.3] of many records at once with one unique value one is created, and the others are 409', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => service.post('/api/names', { name: 'Ann' })));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
      expect((await service.get('/api/names')).json.data).toHaveLength(1);
    });

    it('[4.1] of many records created at once each answer has its own', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => service.post('/api/names', { name: `n${index}` })),
      );
      expect(answers.map(({ json }) => json.data.name)).toEqual(Array.from({ length: 20 }, (_, index) => `n${index}`));
      expect(new Set(answers.map(({ headers }) => headers['location'])).size).toBe(20);
    });
  });
});
