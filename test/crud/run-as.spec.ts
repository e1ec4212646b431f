/** Generated operations that code calls outside of a request. */
import { CrudController, type HookContext, runAs } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud } from './service.js';

@Entity()
class Shop {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@Entity()
class Order {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) title!: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note!: string | null;
  @Column() shopId!: number;
  @Column() ownerId!: number;
}

const seen: HookContext[] = [];
class Orders extends CrudController({
  entity: Order,
  endpoint: '/shops/:shopId/orders',
  owner: { field: 'ownerId', reads: true, except: ['ADMIN'] },
  fieldPermissions: { note: { read: ['CLERK'], write: ['CLERK'] } },
}) {
  override beforeCreate(_: unknown, context: HookContext): void {
    seen.push(context);
  }
}

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  let orders: Orders;
  const path = { shopId: 3 };
  const ann = { id: 7, roles: ['USER'] };

  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Shop, Order],
      resources: [Orders],
      imports: [authModule({ defaultAccess: 'public', roleHierarchy: { ADMIN: ['CLERK'] } })],
    });
    orders = service.app.get(Orders);
  });
  afterAll(() => service.close());
  beforeEach(() => service.dataSource.getRepository(Order).clear());

  it('[2.7] are those of the user: owner, scope, fields and the values of the path', async () => {
    const { data } = await runAs(ann, () => orders.create({ title: 'a' }), { path });
    expect(data).toEqual({ id: data.id, title: 'a', shopId: 3, ownerId: 7 });
    expect(seen.at(-1)).toMatchObject({ user: { id: 7, roles: ['USER'], email: '' }, request: undefined });
    const refused = runAs(ann, () => orders.create({ title: 'a', note: 'x' }), { path });
    await expect(refused).rejects.toMatchObject({ status: 400 });
    const idsOf = async (user: typeof ann, shopId: unknown) =>
      (await runAs(user, () => orders.findAll({}), { path: { shopId } })).data.map(({ id }) => id);
    expect(await idsOf(ann, '3')).toEqual([data.id]);
    expect(await idsOf(ann, 4)).toEqual([]);
    expect(await idsOf({ id: 8, roles: ['USER'] }, 3)).toEqual([]);
  });

  it('[2.7] [3.2] roles include those of the hierarchy', async () => {
    const admin = { id: 1, roles: ['ADMIN'] };
    const { data } = await runAs(admin, () => orders.create({ title: 'a', note: 'x' }), { path });
    expect(data).toMatchObject({ note: 'x', ownerId: 1 });
    await runAs(ann, () => orders.create({ title: 'b' }), { path });
    expect((await runAs(admin, () => orders.findAll({}), { path })).data).toHaveLength(2);
  });

  it('[2.7] without a user or a value of the path they are refused', async () => {
    await expect(runAs(undefined, () => orders.create({ title: 'a' }), { path })).rejects.toMatchObject({
      status: 401,
    });
    await expect(runAs(ann, () => orders.findAll({}))).rejects.toThrow(
      'Order is served below :shopId: its operations need a value for it; run them by runAs(user, work, { path: { shopId: … } })',
    );
    await expect(runAs(ann, () => orders.findAll({}), { path: { shopId: 'x' } })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('[2.7] [8.9] within a hook they belong to its transaction, and to their own user', async () => {
    class Shops extends CrudController({ entity: Shop, endpoint: '/shops' }) {
      override async beforeCreate({ name }: { readonly name?: string }): Promise<void> {
        await runAs(ann, () => nested.app.get(Orders).create({ title: 'by the hook' }), { path: { shopId: 5 } });
        if (name === 'refused') throw new Error('refused');
      }
    }
    const nested = await startCrud('express', { database, entities: [Shop, Order], resources: [Orders, Shops] });
    expect((await nested.post('/shops', { name: 'refused' })).status).toBe(500);
    expect((await nested.post('/shops', { name: 'kept' })).status).toBe(201);
    const found = await nested.dataSource.getRepository(Order).find();
    expect(found.map(({ title, ownerId, shopId }) => [title, ownerId, shopId])).toEqual([['by the hook', 7, 5]]);
    await nested.close();
  });
});
