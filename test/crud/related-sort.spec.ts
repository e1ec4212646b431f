/** Lists sorted by columns of to-one relations, on each database and on both data paths, against SQL with joins. */
import type { CrudOptions } from 'declarest';
import { as, type TestUser } from 'declarest/testing';
import {
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
  type Relation,
  TableInheritance,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { DATABASES } from '../harness/databases.js';
import { crudError, type CrudService, startCrud, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

@Entity('country')
class Country {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@Entity('person')
@TableInheritance({ column: { type: 'varchar', name: 'kind', length: 20 } })
class Person {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@ChildEntity()
class Clerk extends Person {}

@Entity('customer')
class Customer {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'text', nullable: true }) name!: string | null;
  @Column({ type: 'int', nullable: true }) points!: number | null;
  @Column({ type: 'varchar', length: 20, nullable: true, select: false }) secret!: string | null;
  @Column({ name: 'owner_id', type: 'int', nullable: true }) ownerId!: number | null;
  @DeleteDateColumn({ name: 'deleted_at' }) deletedAt!: Date | null;
  @OneToMany('Purchase', 'customer') purchases!: Relation<Purchase>[];

  @ManyToOne(() => Country, { nullable: true })
  @JoinColumn({ name: 'country_id' })
  country!: Country | null;
}

@Entity('purchase')
class Purchase {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) note!: string;
  @Column('int') total!: number;
  @OneToOne('Receipt', 'purchase') receipt!: Relation<Receipt> | null;

  @ManyToOne(() => Customer, ({ purchases }) => purchases, { nullable: true })
  @JoinColumn({ name: 'customer_id' })
  customer!: Customer | null;

  @ManyToOne(() => Clerk, { nullable: true })
  @JoinColumn({ name: 'clerk_id' })
  clerk!: Clerk | null;
}

@Entity('receipt')
class Receipt {
  @PrimaryGeneratedColumn() id!: number;
  @Column('int') code!: number;

  @OneToOne(() => Purchase, ({ receipt }) => receipt)
  @JoinColumn({ name: 'purchase_id' })
  purchase!: Relation<Purchase>;
}

const ENTITIES = [Country, Person, Clerk, Customer, Purchase, Receipt];

/** How SQL with joins calls the fields of `sortableFields`. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  total: 'p.total',
  'customer.name': 'c.name',
  'customer.points': 'c.points',
  'customer.country.name': 'k.name',
  'receipt.code': 'r.code',
};
const JOINED =
  'SELECT p.id FROM purchase p LEFT JOIN customer c ON c.id = p.customer_id AND c.deleted_at IS NULL ' +
  'LEFT JOIN country k ON k.id = c.country_id LEFT JOIN receipt r ON r.purchase_id = p.id ORDER BY ';

const purchases = (more: Partial<CrudOptions<Purchase>> = {}): CrudOptions<Purchase> => ({
  entity: Purchase,
  endpoint: '/purchases',
  enablePagination: 'both',
  sortableFields: ['total', 'customer.name', 'customer.points', 'customer.country.name', 'receipt.code'],
  ...more,
});
const customers = (more: Partial<CrudOptions<Customer>> = {}): CrudOptions<Customer> => ({
  entity: Customer,
  endpoint: '/customers',
  enablePagination: true,
  ...more,
});

const COUNT = 30;
/** The position behind the record with this name is too long for a cursor. */
const LONG = 'z'.repeat(600);

/** Customer 4 is deleted, two have one name, customer 7 has none, and some purchases have no customer. */
async function fill({ dataSource }: CrudService): Promise<void> {
  await dataSource.getRepository(Country).insert([{ name: 'norway' }, { name: 'chile' }, { name: 'ghana' }]);
  const owners = [
    { name: 'bob', points: 9, country: { id: 1 } },
    { name: 'ann', points: 10, country: { id: 2 } },
    { name: LONG, points: null, country: null },
    { name: 'dan', points: 1, country: { id: 3 } },
    { name: 'bob', points: 100, country: { id: 2 } },
    { name: 'eva', points: 9, country: { id: 3 } },
    { name: null, points: 7, country: { id: 1 } },
  ];
  await dataSource.getRepository(Customer).insert(owners);
  await dataSource.query('UPDATE customer SET deleted_at = CURRENT_TIMESTAMP WHERE id = 4');
  const sold = Array.from({ length: COUNT }, (_, index) => ({
    note: 'sold',
    total: index % 5,
    customer: index % 8 === 7 ? null : { id: (index % 8) + 1 },
  }));
  await dataSource.getRepository(Purchase).insert(sold);
  const receipts = [3, 17, 8, 20].map((id, index) => ({ code: (index * 7) % 4, purchase: { id } }));
  await dataSource.getRepository(Receipt).insert(receipts);
}

const SORTS = [
  'customer.name',
  '-customer.name',
  'customer.points,-total',
  '-customer.points',
  'customer.country.name,customer.name',
  '-customer.country.name,total',
  'total,-customer.name',
  'receipt.code',
  '-receipt.code,customer.name',
];

const idsOf = (records: readonly { readonly id: unknown }[]): unknown[] => records.map(({ id }) => id);

describe.each(DATABASES)('on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('fastify', {
      database,
      entities: ENTITIES,
      resources: [
        purchases({ enableExport: true, enableSearch: true, searchableFields: ['note'] }),
        // A resource that shows all records of its entity.
        customers(),
      ],
    });
    await fill(twins.compiled);
    await fill(twins.repository);
  });
  afterAll(() => twins.close());

  async function expected(sort: string): Promise<unknown[]> {
    const keys = sort.split(',').map((key) => {
      const [name, direction] = key.startsWith('-') ? [key.slice(1), 'DESC'] : [key, 'ASC'];
      return `(${EXPRESSIONS[name]} IS NULL) ${direction}, ${EXPRESSIONS[name]} ${direction}`;
    });
    return idsOf(await twins.compiled.dataSource.query(`${JOINED}${[...keys, 'p.id'].join(', ')}`));
  }

  it.each(SORTS)('[7.2] [7.8] lists, searches and exports are sorted by %s', async (sort) => {
    const ids = await expected(sort);
    expect(ids).toHaveLength(COUNT);
    expect(idsOf((await twins.get(`/purchases?fields=id&size=100&sort=${sort}`)).json.data)).toEqual(ids);
    const second = await twins.get(`/purchases/search?q=sold&fields=id&size=10&page=2&sort=${sort}`);
    expect(idsOf(second.json.data)).toEqual(ids.slice(10, 20));
    const { text } = await twins.get(`/purchases/export?format=ndjson&fields=id&sort=${sort}`);
    expect(
      idsOf(
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { id: unknown }),
      ),
    ).toEqual(ids);
  });

  it.each(SORTS)('[7.5] pages by cursor together are the whole list, sorted by %s', async (sort) => {
    const ids = await expected(sort);
    for (const size of [1, 4]) {
      const found: unknown[] = [];
      for (let after = ''; found.length <= COUNT;) {
        const { json } = await twins.get(`/purchases?pagination=cursor&fields=id&size=${size}&sort=${sort}${after}`);
        found.push(...idsOf(json.data));
        const { next } = json.metadata.pagination;
        if (next === null) break;
        after = `&after=${next}`;
      }
      expect(found).toEqual(ids);
    }
  });

  it('[7.5] a cursor belongs to one path', async () => {
    const { json } = await twins.get('/purchases?pagination=cursor&size=2&sort=customer.points');
    const { next } = json.metadata.pagination;
    expect(wrongFields(await twins.get(`/purchases?size=2&sort=receipt.code&after=${next}`))).toEqual(['after']);
  });

  it.each(['customer.ownerId', 'customer', 'name', 'total,-total'])('[7.2] refuses sort=%s', async (sort) => {
    expect(wrongFields(await twins.get(`/purchases?sort=${sort}`))).toEqual(['sort']);
  });

  it('[9.4] a deleted related record changes no order', async () => {
    const read = async (): Promise<unknown[]> => {
      const answers: unknown[] = [];
      for (const sort of SORTS)
        for (const page of ['size=100', 'pagination=cursor&size=13']) {
          const { data, metadata } = (await twins.get(`/purchases?${page}&sort=${sort}`)).json;
          answers.push(data, metadata);
        }
      return answers;
    };
    const before = await read();
    await twins.query(`UPDATE customer SET name = 'aaa', points = 50, country_id = 2 WHERE id = 4`);
    expect(await read()).toEqual(before);
    await twins.query(`UPDATE customer SET name = 'dan', points = 1, country_id = 3 WHERE id = 4`);
  });
});

const user: TestUser = { sub: 1, roles: ['USER'] };
const editor: TestUser = { sub: 2, roles: ['EDITOR'] };
const hidden = { read: ['EDITOR'] };

it.each<[string, Partial<CrudOptions<Purchase>>, Partial<CrudOptions<Customer>>]>([
  ['the column', {}, { fieldPermissions: { name: hidden } }],
  ['the foreign key', { fieldPermissions: { customerId: hidden } }, {}],
])('[9.3] who may not read %s of a related record cannot sort by it', async (_, own, related) => {
  const resources = [purchases(own), customers(related)];
  const imports = [authModule({ defaultAccess: 'public' })];
  const service = await startCrud('express', { entities: ENTITIES, resources, imports });
  await fill(service);
  const list = '/purchases?pagination=cursor&sort=customer.name';
  const refused = await as(service.app, user).get(list);
  expect(wrongFields(refused)).toEqual(['sort']);
  expect(JSON.stringify(refused.json)).not.toContain('total, customer.name');
  expect((await as(service.app, editor).get(list)).status).toBe(200);
  const further = await as(service.app, user).get('/purchases?sort=customer.country.name');
  expect(further.status).toBe(own.fieldPermissions ? 400 : 200);
  await service.close();
});

const EVERY_CALLER = (path: string): string =>
  `CRUD option \`sortableFields\` of Purchase must be to-one relations to records that every caller sees, got "${path}". Leave its fields out.`;

describe('[7.2] [9.4] refuses to start with a sort by', () => {
  it.each<[string, Partial<CrudOptions<Purchase>>, CrudOptions<Customer>[], unknown]>([
    ['records with a scope', {}, [customers({ scope: () => ({ points: 9 }) })], EVERY_CALLER('customer')],
    [
      'records that only their owners read',
      { includableRelations: ['customer'] },
      [customers({ owner: { field: 'ownerId', reads: true } })],
      EVERY_CALLER('customer'),
    ],
    ['records of a class that shares its table', { sortableFields: ['clerk.name'] }, [], EVERY_CALLER('clerk')],
    ['many records', { sortableFields: ['customer.purchases.total'] }, [], EVERY_CALLER('customer.purchases')],
    [
      'records that several resources serve',
      {},
      [customers(), customers({ endpoint: '/clients' })],
      'CRUD option `sortableFields` of Purchase must be relations to entities with one resource, got "customer", for Customer has several. Name the one that applies: includableRelations: [{ relation: "customer", controller: … }].',
    ],
    [
      'a hidden column',
      { sortableFields: ['customer.secret'] },
      [],
      expect.stringMatching(
        /^CRUD option `sortableFields` of Purchase must be fields .+, got "customer.secret"\. Name/,
      ),
    ],
  ])('%s', async (_, own, related, message) => {
    const imports = [authModule({ defaultAccess: 'public' })];
    const resources = [purchases(own), ...related];
    expect((await crudError('express', { entities: ENTITIES, resources, imports })).message).toEqual(message);
  });
});
