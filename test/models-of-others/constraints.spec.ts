/** Values that only the database refuses: 400 names the field, as far as the database tells it and the client knows it. */
import { Check, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';

const CHECKS = {
  positive_price: 'price > 0',
  ordered_days: `begins <= ends AND state <> 'price'`,
  hidden_margin: 'margin + price < 1000',
} as const;

function orderOf(database: DatabaseName) {
  @Entity('checked_orders')
  class Order {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ default: 1 }) price!: number;
    @Column({ default: 0 }) begins!: number;
    @Column({ default: 0 }) ends!: number;
    @Column({ default: '' }) state!: string;
    @Column({ default: 0 }) margin!: number;
    @Column({ type: database === 'sqlite' ? 'character' : 'char', default: 'a' }) kind!: string;
    @Column('decimal', {
      precision: 10,
      scale: 2,
      nullable: true,
      transformer: { to: (value: unknown) => value, from: (value: unknown) => value },
    })
    amount!: string | null;
  }
  // TypeORM makes no CHECK on MySQL and MariaDB.
  for (const [name, sql] of Object.entries(CHECKS)) Check(name, sql)(Order);
  return Order;
}

describe.each(DATABASES)('constraints on %s', (database) => {
  const Order = orderOf(database);
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Order],
      resources: [
        { entity: Order, endpoint: '/orders', fieldPermissions: { margin: { read: 'never', write: 'never' } } },
      ],
    });
    if (database === 'mariadb')
      for (const [name, sql] of Object.entries(CHECKS))
        await service.dataSource.query(`ALTER TABLE checked_orders ADD CONSTRAINT ${name} CHECK (${sql})`);
  });
  afterAll(() => service.close());

  const refused = async (body: object): Promise<unknown> => {
    const { id } = (await service.post('/orders', {})).json.data;
    const answers = [await service.post('/orders', body), await service.send('PATCH', `/orders/${id}`, { json: body })];
    expect(answers[1]?.json.errors).toEqual(answers[0]?.json.errors);
    return answers.map(({ status, json }) => [
      status,
      json.message,
      json.errors?.map(({ field }: { field: string }) => field),
    ])[0];
  };

  it('[4.3] a CHECK names its fields', async () => {
    expect(await refused({ price: 0 })).toEqual([400, 'Order is not valid', ['price']]);
    expect(await refused({ begins: 2, ends: 1 })).toEqual([400, 'Order is not valid', ['begins', 'ends', 'state']]);
  });

  it('[4.3] [9.3] a CHECK names no field that the client does not know', async () => {
    expect(await refused({ price: 1000 })).toEqual([400, 'Order is not valid', ['price']]);
  });

  it.skipIf(database === 'sqlite')('[4.3] a text for a number behind a transformer names the field', async () => {
    expect(await refused({ amount: 'a "b"' })).toEqual([400, 'Order is not valid', ['amount']]);
    expect((await service.post('/orders', { amount: '1.50' })).json.data?.amount).toBe('1.50');
  });

  it('[4.3] char without a length has one character', async () => {
    const isOne = database !== 'sqlite';
    const sent = await service.post('/orders', { kind: 'ab' });
    expect([sent.status, sent.json.errors?.[0].field]).toEqual(isOne ? [400, 'kind'] : [201, undefined]);
  });
});
