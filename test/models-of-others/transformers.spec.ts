/** Columns with transformers, as public models have them: what GET answers can be sent back, and no row ends a list. */
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud, wrongFields } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';

/** As JSON an object, as text its digits, such as the ids of oneuptime. */
class Reference {
  constructor(readonly code: string) {}
  static parse(code: string): Reference {
    if (!/^[a-z]+-\d+$/.test(code)) throw new TypeError(`${code} is no reference`);
    return new Reference(code);
  }
  toString(): string {
    return this.code;
  }
  toJSON(): object {
    return { _type: 'Reference', value: this.code };
  }
}

@Entity('value_orders')
class Order {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 30, default: '' }) title!: string;

  @Column({
    type: 'varchar',
    length: 60,
    nullable: true,
    transformer: {
      to: (value: object | null) => value && String(value),
      from: (code: string | null) => (code === null ? null : Reference.parse(code)),
    },
  })
  reference!: Reference | null;

  /** NULL is read as 0, as many do. */
  @Column({ type: 'int', nullable: true, transformer: { to: (n: number) => n, from: (n: number | null) => n ?? 0 } })
  amount!: number;

  /** Only the database sets it. */
  @Column({
    type: 'int',
    default: 7,
    transformer: { to: () => undefined, from: (n: unknown) => n },
  })
  opened!: number;

  @Column({
    type: 'int',
    default: 0,
    transformer: {
      to: (size: string | undefined) => size && ['S', 'M'].indexOf(size),
      from: (size: number) => {
        const name = ['S', 'M'][size];
        if (name === undefined) throw new RangeError('unknown size');
        return name;
      },
    },
  })
  size!: string;
}

const PATHS = DATABASES.flatMap((database) => [[database, 'compiled'] as const, [database, 'repository'] as const]);

describe.each(PATHS)('transformers on %s, %s', (database: DatabaseName, path) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      path,
      entities: [Order],
      resources: [{ entity: Order, endpoint: '/orders', maxListSize: 100, enableBatch: true }],
    });
  });
  afterAll(() => service.close());

  const table = database === 'mariadb' ? '`value_orders`' : '"value_orders"';
  const query = (sql: string): Promise<unknown> => service.dataSource.query(sql);
  const rows = async () => JSON.parse(JSON.stringify(await query(`SELECT * FROM ${table} ORDER BY id`))) as object[];
  /** A row of another program. */
  const insert = async (values: Readonly<Record<string, string>>): Promise<number> => {
    await query(`INSERT INTO ${table} (${Object.keys(values).join()}) VALUES (${Object.values(values).join()})`);
    return Number(((await rows()).at(-1) as { id: unknown }).id);
  };
  const dataOf = ({ json }: Answer) => (json as { data: Record<string, unknown> }).data;

  it('[4.6] [8.1] PUT and PATCH of what GET answered change nothing in the row', async () => {
    const id = await insert({ title: `'a'`, reference: `'abc-1'`, opened: '3' });
    const before = await rows();
    const record = dataOf(await service.get(`/orders/${id}`));
    expect(record).toMatchObject({
      reference: { _type: 'Reference', value: 'abc-1' },
      amount: 0,
      opened: 3,
      size: 'S',
    });
    const { id: _, ...sent } = record;
    for (const method of ['PUT', 'PATCH']) {
      const answer = await service.send(method, `/orders/${id}`, { json: sent });
      expect([answer.status, dataOf(answer)], answer.text).toEqual([200, record]);
      expect(await rows()).toEqual(before);
    }
    for (const [name, value] of Object.entries(sent)) {
      const { status } = await service.send('PATCH', `/orders/${id}`, { json: { [name]: value } });
      expect([status, await rows()], name).toEqual([200, before]);
    }
    const items = [{ id, ...sent }];
    expect((await service.send('PATCH', '/orders/batch', { json: { items } })).status).toBe(200);
    expect(await rows()).toEqual(before);
  });

  it('[4.6] [8.1] another value is stored by its transformer, and null too', async () => {
    const { id } = dataOf(await service.post('/orders', { reference: 'abc-2', amount: 4, size: 'M' }));
    const stored = async () => (await rows()).find((row) => (row as { id: unknown }).id === id);
    expect(await stored()).toMatchObject({ reference: 'abc-2', amount: 4, opened: 7, size: 1 });
    await service.send('PATCH', `/orders/${String(id)}`, { json: { reference: 'abc-3', opened: 9 } });
    expect(await stored()).toMatchObject({ reference: 'abc-3', amount: 4, opened: 7 });
    await service.put(`/orders/${String(id)}`, { reference: null, amount: null, size: 'S' });
    expect(await stored()).toMatchObject({ reference: null, amount: null, size: 0 });
  });

  it.each([
    [
      'an object that its transformer does not know',
      { reference: { _type: 'Reference', value: 'abc-9' } },
      'reference',
    ],
    ['a text that cannot be read back', { reference: 'none' }, 'reference'],
    ['a number that cannot be read back', { size: 'XL' }, 'size'],
  ])('[4.6] [8.1] %s is 400, and leaves no row behind', async (_, body, name) => {
    const id = await insert({ title: `'kept'`, reference: `'abc-1'` });
    const before = await rows();
    expect(wrongFields(await service.post('/orders', body))).toEqual([name]);
    expect(wrongFields(await service.put(`/orders/${id}`, body))).toEqual([name]);
    expect(wrongFields(await service.send('PATCH', `/orders/${id}`, { json: body }))).toEqual([name]);
    const batch = await service.post('/orders/batch', { items: [{}, body] });
    expect(wrongFields(batch)).toEqual([`items[1].${name}`]);
    expect(await rows()).toEqual(before);
  });

  it('[4.6] a row that a transformer refuses is answered with null, and can be mended and deleted', async () => {
    const id = await insert({ title: `'broken'`, reference: `'none'`, size: '9' });
    const list = await service.get('/orders');
    expect(list.status, list.text).toBe(200);
    expect((dataOf(list) as unknown as object[]).at(-1)).toMatchObject({
      id,
      title: 'broken',
      reference: null,
      size: null,
    });
    expect(dataOf(await service.get(`/orders/${id}`))).toMatchObject({ title: 'broken', reference: null });
    expect(service.logs.join('\n')).toContain(`value_orders.reference of the record ${id}`);
    const mended = await service.send('PATCH', `/orders/${id}`, { json: { reference: 'abc-5', size: 'S' } });
    if (path === 'compiled') expect(dataOf(mended)).toMatchObject({ reference: { value: 'abc-5' }, size: 'S' });
    else expect(mended.status, mended.text).toBe(409);
    if (path === 'compiled') expect((await service.del(`/orders/${id}`)).status).toBe(200);
    else await query(`DELETE FROM ${table} WHERE id = ${id}`);
  });
});
