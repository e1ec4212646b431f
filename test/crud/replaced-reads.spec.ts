/** Cursors, totals, counts and exports through the methods of a repository that a provider replaced. */
import { Controller } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { CrudController } from 'declarest';
import { Column, DataSource, Entity, type FindManyOptions, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, failure, startCrud } from './service.js';

@Entity()
class Parcel {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  tenant!: string;

  @Column({ type: 'int', nullable: true })
  weight!: number | null;
}

/** Its methods find the records of one tenant. */
class TenantRepository extends Repository<Parcel> {
  private mine(given: FindManyOptions<Parcel> = {}): FindManyOptions<Parcel> {
    const where = [given.where ?? {}].flat().map((each) => ({ ...each, tenant: 'mine' }));
    return { ...given, where };
  }
  override find(given?: FindManyOptions<Parcel>): Promise<Parcel[]> {
    return super.find(this.mine(given));
  }
  override count(given?: FindManyOptions<Parcel>): Promise<number> {
    return super.count(this.mine(given));
  }
}

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    class Parcels extends CrudController({
      entity: Parcel,
      endpoint: '/parcels',
      enablePagination: 'both',
      enableCount: true,
      enableExport: true,
      aggregatableFields: ['weight'],
      sortableFields: ['weight'],
    }) {}
    Controller()(Parcels);
    service = await startCrud('express', {
      database,
      entities: [Parcel],
      controllers: [Parcels],
      providers: [
        {
          provide: getRepositoryToken(Parcel),
          inject: [DataSource],
          useFactory: (dataSource: DataSource) => new TenantRepository(Parcel, dataSource.manager),
        },
      ],
    });
    const parcels = Array.from({ length: 12 }, (_, index) => ({
      tenant: index % 2 === 0 ? 'mine' : 'theirs',
      weight: index % 4,
    }));
    await service.dataSource.getRepository(Parcel).insert(parcels);
  });
  afterAll(() => service.close());

  it('[7.5] pages by cursor, sorted as the methods sort', async () => {
    const ids: number[] = [];
    for (let after: string | null = ''; after !== null && ids.length < 20;) {
      const { json } = await service.get(`/parcels?pagination=cursor&size=4&sort=-weight${after && `&after=${after}`}`);
      ids.push(...(json.data as Parcel[]).map(({ id }) => id));
      after = json.metadata.pagination.next as string | null;
    }
    expect(ids).toEqual([3, 7, 11, 1, 5, 9]);
  });

  it('[7.6] [7.7] [7.8] counts and exports what the methods find, and estimates nothing', async () => {
    const { json } = await service.get('/parcels?count=estimated&size=4');
    expect(json.metadata.pagination).toEqual({ page: 1, size: 4, total: 6, totalPages: 2 });
    expect((await service.get('/parcels/count')).json.data).toEqual({ count: 6 });
    const { text } = await service.get('/parcels/export?format=csv&fields=id');
    expect(text).toBe('id\r\n1\r\n3\r\n5\r\n7\r\n9\r\n11\r\n');
  });

  it('[7.7] answers 501 to an aggregate, which no method can restrict', async () => {
    const { status, json } = await service.get('/parcels/aggregate?sum=weight');
    expect([status, json]).toEqual([501, failure('Parcel cannot be aggregated: its repository is replaced')]);
  });
});
