/** How exports share the connections of a data source with other requests. */
import { setTimeout as wait } from 'node:timers/promises';
import { CrudController, type ListQuery } from 'declarest';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { SERVER_DATABASES } from '../harness/busy-databases.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud } from './service.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 400 }) text!: string;
}

class Notes extends CrudController({ entity: Note, endpoint: '/notes', enableExport: true }) {
  override async beforeCreate(): Promise<void> {
    await wait(200);
    await super.export({ format: 'csv' } as ListQuery);
  }
}

const [platform] = PLATFORMS;
let service: CrudService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

const fill = async ({ dataSource }: CrudService, rows: number): Promise<void> =>
  void (await dataSource
    .createQueryBuilder()
    .insert()
    .into(Note)
    .values(Array.from({ length: rows }, () => ({ text: 'x'.repeat(400) })))
    .updateEntity(false)
    .execute());

interface Pool {
  on(event: 'acquire' | 'release', listener: () => void): void;
}

/** @returns how many connections were taken at the same time at most */
function watchPool({ driver }: DataSource): () => number {
  const { master, pool = master } = driver as unknown as { readonly master: Pool; readonly pool?: Pool };
  let taken = 0;
  let most = 0;
  pool.on('acquire', () => (most = Math.max(most, (taken += 1))));
  pool.on('release', () => (taken -= 1));
  return () => most;
}

if (SERVER_DATABASES.length > 0)
  it.each(SERVER_DATABASES)('[7.8] many exports at once leave the pool of %s to other requests', async (database) => {
    service = await startCrud(platform!, {
      database,
      entities: [Note],
      controllers: [Notes],
      dataSource: { poolSize: 4 } as never,
    });
    const { get, dataSource } = service;
    await fill(service, 3_000);
    const most = watchPool(dataSource);
    const files = await Promise.all(Array.from({ length: 20 }, () => get('/notes/export?format=csv')));
    expect(files.map(({ text }) => text.split('\r\n').length)).toEqual(files.map(() => 3_002));
    expect(most()).toBe(1);
  });

it.each(DATABASES)('[7.8] an export in a transaction waits for no other one on %s', async (database) => {
  service = await startCrud(platform!, { database, entities: [Note], controllers: [Notes] });
  const { get, post } = service;
  const created = post('/notes', { text: 'a' });
  await wait(100);
  const [{ status }, file] = await Promise.all([created, get('/notes/export?format=csv')]);
  expect([status, file.status]).toEqual([201, 200]);
});
