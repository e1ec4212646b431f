/** `@UpdateDateColumn` after a change: it has the fraction of a second that its column holds, as `@CreateDateColumn` has. */
import { setTimeout as delay } from 'node:timers/promises';
import { AfterLoad, BeforeUpdate, Column, CreateDateColumn, DeleteDateColumn, Entity } from 'typeorm';
import { PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { DATABASES } from '../harness/databases.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ default: '' })
  text!: string;

  @CreateDateColumn()
  createdAt!: Date;

  @UpdateDateColumn()
  updatedAt!: Date;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

@Entity()
class Heard extends Note {
  @BeforeUpdate()
  trim(): void {
    this.text = this.text.trim();
  }
}

@Entity()
class Loaded extends Note {
  @AfterLoad()
  read(): void {
    this.text = this.text.trim();
  }
}

const entities = [Note, Heard, Loaded];

// SQLite's CURRENT_TIMESTAMP has whole seconds for both columns, so that dates are equal within a second.
describe.each(DATABASES)('update dates on %s', (database) => {
  const isLater = (date: string, before: string): boolean => (database === 'sqlite' ? date >= before : date > before);
  let service: CrudService;
  beforeAll(async () => {
    const resources = entities.map((entity) => {
      const endpoint = `/${entity.name.toLowerCase()}`;
      return {
        entity,
        endpoint,
        filterableFields: true as const,
        maxListSize: 50,
        enableRestore: true,
        enableBatch: true,
      };
    });
    service = await startCrud('express', { database, entities, resources });
  });
  afterAll(() => service.close());

  /** Two changes within one second, so that at least one of them lies behind a whole second. */
  const soon = (): Promise<void> => delay(15);

  it.each(['/note', '/heard', '/loaded'])('[4.6] keep their fraction in each kind of change of %s', async (path) => {
    const { data } = (await service.post(path, {})).json;
    const url = `${path}/${data.id}`;
    let last: string = data.updatedAt;
    const changes = [
      () => service.send('PATCH', url, { json: { text: 'a' } }),
      () => service.put(url, { text: 'b' }),
      () => service.send('PATCH', `${path}/batch`, { json: { items: [{ id: data.id, text: 'c' }] } }),
    ];
    for (const change of [...changes, ...changes]) {
      await soon();
      expect((await change()).status).toBe(200);
      const { updatedAt, createdAt } = (await service.get(url)).json.data;
      expect(isLater(updatedAt, createdAt)).toBe(true);
      const operator = database === 'sqlite' ? 'gte' : 'gt';
      const found = await service.get(`${path}?filter[updatedAt][${operator}]=${last}`);
      expect(found.json.data.map(({ id }: { id: number }) => id)).toEqual([data.id]);
      last = updatedAt;
    }
  });

  it('[8.4] keep it when a record is restored', async () => {
    const { data } = (await service.post('/note', {})).json;
    await soon();
    expect((await service.del(`/note/${data.id}`)).status).toBe(200);
    const [row] = await service.dataSource.getRepository(Note).find({ withDeleted: true, where: { id: data.id } });
    expect([row!.deletedAt, row!.updatedAt].map((at) => isLater(at!.toJSON(), data.updatedAt))).toEqual([true, true]);
    const { json } = await service.send('POST', `/note/${data.id}/restore`);
    expect(isLater(json.data.updatedAt, data.updatedAt)).toBe(true);
    expect((await service.send('POST', `/note/${data.id}/restore`)).json.data).toEqual(json.data);
  });
});
