/** Columns other than the key to which records of the same table refer. */
import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { startCrud } from './service.js';

@Entity()
class Place {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true, length: 10 })
  code!: string;

  @ManyToOne(() => Place, { nullable: true })
  @JoinColumn({ name: 'parentCode', referencedColumnName: 'code' })
  parent!: Relation<Place> | null;
}

it.each(DATABASES)('[4.3] PATCH of a referenced column is 409 without a field, on %s', async (database) => {
  const service = await startCrud('express', {
    database,
    entities: [Place],
    resources: [{ entity: Place, endpoint: '/places', maxListSize: 5 }],
  });
  await service.post('/places', { code: 'a' });
  await service.post('/places', { code: 'b', parentId: 'a' });
  const referenced = await service.send('PATCH', '/places/1', { json: { code: 'c' } });
  expect([referenced.status, referenced.json.message, referenced.json.fields]).toEqual([
    409,
    'Place cannot be updated: other records refer to it',
    undefined,
  ]);
  const missing = await service.send('PATCH', '/places/2', { json: { parentId: 'x' } });
  expect([missing.status, Object.keys(missing.json.fields)]).toEqual([409, ['parentId']]);
  await service.close();
});
