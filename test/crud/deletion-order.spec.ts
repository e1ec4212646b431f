/** DELETE of several records that refer to each other: the order of the ids does not matter. */
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Folder {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ default: '' })
  name!: string;

  @ManyToOne(() => Folder, { nullable: true })
  parent!: Relation<Folder> | null;

  @ManyToOne(() => Folder, { nullable: true, onDelete: 'RESTRICT' })
  source!: Relation<Folder> | null;
}

const ORDERS = ['1,2,3,4', '4,3,2,1', '2,4,1,3', '3,1,4,2', '1,3,2,4'];

describe.each(DATABASES)('batches that delete on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    const resources = [{ entity: Folder, endpoint: '/folders', enableBatch: true, maxListSize: 50 }];
    twins = await startTwins('express', { database, entities: [Folder], resources });
  });
  beforeEach(async () => {
    await twins.empty();
    for (const body of [{}, { parentId: 1 }, { parentId: 2 }, { parentId: 1, sourceId: 3 }, {}])
      expect((await twins.post('/folders', body)).status).toBe(201);
  });
  afterAll(() => twins.close());

  it.each(ORDERS)('[8.2] remove records that refer to each other, sent as %s', async (ids) => {
    expect((await twins.del(`/folders/batch?ids=${ids}`)).status).toBe(200);
    expect((await twins.get('/folders')).json.data.map(({ id }: { id: number }) => id)).toEqual([5]);
  });

  it('[8.2] are 409 where a record outside of the batch refers to one', async () => {
    expect((await twins.del('/folders/batch?ids=1,2,3')).status).toBe(409);
    expect((await twins.get('/folders')).json.data).toHaveLength(5);
    expect((await twins.del('/folders/batch?ids=3,99')).status).toBe(404);
  });
});
