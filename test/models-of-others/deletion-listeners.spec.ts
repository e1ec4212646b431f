/** Listeners of deletions that write the row by another connection of the pool: no lock of the request makes them wait. */
import {
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { DATABASES } from '../harness/databases.js';

let others: DataSource | undefined;
const write = (id: number): unknown => others?.query(`UPDATE heard_files SET writes = writes + 1 WHERE id = ${id}`);

@Entity('heard_files')
class File {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: 0 }) writes!: number;
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;

  @BeforeRemove()
  @BeforeSoftRemove()
  @BeforeRecover()
  async count(): Promise<void> {
    await write(this.id);
  }
}

describe.each(DATABASES)('listeners of deletions on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [File],
      resources: [
        {
          entity: File,
          endpoint: '/files',
          maxListSize: 10,
          enableBatch: true,
          enableRestore: true,
          deletedRoles: ['ADMIN'],
        },
      ],
      // A statement that waits for a lock fails soon.
      ...(database === 'postgres' && { dataSource: { extra: { lock_timeout: 3_000 } } as object }),
    });
    others = service.dataSource;
  });
  afterAll(async () => {
    others = undefined;
    await service.close();
  });

  const make = async (): Promise<number> => (await service.post('/files', {})).json.data.id;
  const writes = async (id: number): Promise<unknown> => {
    const rows = await service.dataSource.query<{ writes: unknown }[]>(
      `SELECT writes FROM heard_files WHERE id = ${id}`,
    );
    return rows[0]?.writes;
  };

  it('[8.4] DELETE, its batch and restore end, with what the listeners wrote', async () => {
    const [one, two] = [await make(), await make()];
    expect((await service.del(`/files/${one}`)).json.message).toMatch(/deleted/);
    expect(await writes(one)).toBe(1);
    const restored = await service.send('POST', `/files/${one}/restore`);
    expect([restored.status, restored.json.data?.writes]).toEqual([200, 2]);
    expect((await service.del(`/files/batch?ids=${one},${two}`)).status).toBe(200);
    expect([await writes(one), await writes(two)]).toEqual([3, 1]);
  });
});
