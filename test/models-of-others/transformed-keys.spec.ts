/** Foreign keys with a transformer beside their relation, and transformers that give a bigint. */
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';

class Uuid {
  constructor(readonly value: string) {}
  toString(): string {
    return this.value;
  }
  toJSON(): object {
    return { _type: 'Uuid', value: this.value };
  }
}
const asUuid = {
  to: (value: object | string | null | undefined) => value && String(value),
  from: (value: string | null) => value && new Uuid(value),
};

@Entity('numbered_pages')
class Page {
  @PrimaryColumn('bigint') no!: string;
}

@Entity('tenants_of_lines')
class Tenant {
  @PrimaryGeneratedColumn('uuid') id!: string;
}

@Entity('page_lines')
class Line {
  @PrimaryGeneratedColumn() id!: number;

  @Column({ type: 'bigint', transformer: { to: (no: number) => no, from: (no: string) => Number(no) } })
  pageNo!: number;
  @ManyToOne(() => Page)
  @JoinColumn({ name: 'pageNo' })
  page!: Page;

  @Column({ type: 'uuid', nullable: true, transformer: asUuid })
  tenantId!: Uuid | null;
  @ManyToOne(() => Tenant, { nullable: true })
  @JoinColumn({ name: 'tenantId' })
  tenant!: Tenant | null;

  @Column({
    type: 'bigint',
    nullable: true,
    transformer: { to: (n: bigint) => n?.toString(), from: (n: string | null) => (n === null ? 0n : BigInt(n)) },
  })
  sats!: bigint;

  @Column({
    type: 'varchar',
    length: 60,
    default: '0',
    transformer: {
      to: (held: { sum: string | number } | undefined) => held && String(held.sum),
      from: (sum: string) => ({ sum: BigInt(sum) }),
    },
  })
  total!: object;
}

const PATHS = DATABASES.flatMap((database) => [[database, 'compiled'] as const, [database, 'repository'] as const]);
const UUID = '0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e21';

describe.each(PATHS)('transformed keys and big integers on %s, %s', (database, path) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      database,
      path,
      entities: [Line, Page, Tenant],
      resources: [
        {
          entity: Line,
          endpoint: '/lines',
          maxListSize: 100,
          filterableFields: ['pageNo', 'tenantId', 'sats'],
          sortableFields: ['sats'],
          includableRelations: ['page', 'tenant'],
          enableExport: true,
        },
      ],
    });
    await service.dataSource.getRepository(Page).insert([{ no: '7' }, { no: '8' }]);
    await service.dataSource.getRepository(Tenant).insert({ id: UUID });
  });
  afterAll(() => service.close());

  const dataOf = ({ json }: Answer) => (json as { data: Record<string, unknown> }).data;
  const rows = async () =>
    JSON.parse(JSON.stringify(await service.dataSource.query('SELECT * FROM page_lines ORDER BY id'))) as object[];

  it('[4.6] a foreign key is answered, described, found and sent back as its transformer has it', async () => {
    const posted = await service.post('/lines', { pageNo: 7, tenantId: UUID });
    expect([posted.status, dataOf(posted)], posted.text).toMatchObject([
      201,
      { pageNo: 7, tenantId: { _type: 'Uuid', value: UUID } },
    ]);
    const { id, ...sent } = dataOf(posted);
    const before = await rows();
    for (const method of ['PUT', 'PATCH']) {
      const answer = await service.send(method, `/lines/${String(id)}`, { json: sent });
      expect([answer.status, dataOf(answer), await rows()], answer.text).toEqual([200, { id, ...sent }, before]);
    }
    const moved = await service.send('PATCH', `/lines/${String(id)}`, { json: { pageNo: 8 } });
    expect(dataOf(moved)).toMatchObject({ pageNo: 8 });
    for (const query of ['filter[pageNo]=8', `filter[tenantId]=${UUID}`, 'filter[tenantId][isNull]=false'])
      expect(dataOf(await service.get(`/lines?${query}&include=page,tenant`)), query).toMatchObject([
        { pageNo: 8, page: { no: 8 }, tenant: { id: UUID } },
      ]);
    expect((await service.post('/lines', { pageNo: 99 })).status).toBe(409);
  });

  it('[4.6] [7.8] a bigint is a number up to 53 bits and text beyond, also within an object', async () => {
    const posted = await service.post('/lines', { pageNo: 7, sats: '9007199254740993', total: { sum: 5 } });
    expect([posted.status, dataOf(posted)], posted.text).toMatchObject([
      201,
      { sats: '9007199254740993', total: { sum: 5 } },
    ]);
    const { id, ...sent } = dataOf(posted);
    const before = await rows();
    for (const method of ['PUT', 'PATCH']) {
      const { status } = await service.send(method, `/lines/${String(id)}`, { json: sent });
      expect([status, await rows()]).toEqual([200, before]);
    }
    const found = dataOf(await service.get('/lines?filter[sats][gt]=9007199254740992'));
    expect(found).toMatchObject([{ id, sats: '9007199254740993' }]);
    const small = await service.send('PATCH', `/lines/${String(id)}`, { json: { sats: 12, total: { sum: '7' } } });
    expect(dataOf(small)).toMatchObject({ sats: 12, total: { sum: 7 } });
    expect((await service.get('/lines?sort=-sats')).status).toBe(200);
    expect((await service.get('/lines/export?format=ndjson')).text).toContain('"sats":12');
  });
});
