/** Filter operators that an application adds by `CrudModule.forRoot`. */
import { CrudModule, type CrudOptions, type FilterOperator } from 'declarest';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, Raw, type Relation } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { crudError, startCrud, type CrudService } from './service.js';

@Entity()
class Shop {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  name!: string;

  @OneToMany(() => Item, (item) => item.shop)
  items!: Relation<Item>[];
}

@Entity()
class Item {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 60 })
  name!: string;

  @Column({ type: 'integer', nullable: true })
  price!: number | null;

  @Column({ type: 'simple-json', nullable: true })
  labels!: readonly string[] | null;

  @Column({ type: 'boolean', default: false })
  hidden!: boolean;

  @ManyToOne(() => Shop, (shop) => shop.items)
  shop!: Relation<Shop>;
}

@Entity()
class Bid {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'integer' })
  price!: number;
}

const near: FilterOperator = {
  name: 'near',
  takes: ['number', 'exact number'],
  expected: 'a number and a distance',
  schema: { type: 'string', pattern: '^\\d+,\\d+$' },
  read: (text) => (/^\d{1,9},\d{1,9}$/.test(text) ? text.split(',').map(Number) : undefined),
  sql: ({ name }, value, distance) => `ABS(${name} - ${value}) <= ${distance}`,
};

/** It has an OR, and reads every text. */
const sameOrLonger: FilterOperator = {
  name: 'sameOrLonger',
  takes: ['text'],
  expected: 'a text',
  read: (text) => [text, text],
  sql: ({ name, database }, text, other) =>
    `${name} = ${text} OR ${database === 'sqlite' ? 'LENGTH' : 'CHAR_LENGTH'}(${name}) > ${
      database === 'sqlite' ? 'LENGTH' : 'CHAR_LENGTH'
    }(${database === 'postgres' ? `CAST(${other} AS text)` : other})`,
};

const labelled: FilterOperator = {
  name: 'labelled',
  takes: ['simple-json'],
  expected: 'a label of letters',
  read: (text) => (/^[a-z]+$/.test(text) ? [`%"${text}"%`] : undefined),
  sql: ({ name }, pattern) => `${name} LIKE ${pattern}`,
};

const QUOTED = `'; -- " \` \\ :name $1 ?`;

const items: CrudOptions<Item> = {
  entity: Item,
  endpoint: '/items',
  filterableFields: ['name', 'price', 'labels', 'hidden', 'shop.name'],
  aggregatableFields: ['price'],
  searchableFields: ['name'],
  enableSearch: true,
  enableCount: true,
  enableExport: true,
  enablePagination: 'both',
  scope: () => ({ hidden: false }),
};

const OPERATORS = [near, sameOrLonger, labelled];

describe.each(DATABASES)('custom operators on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Item, Shop, Bid],
      imports: [CrudModule.forRoot({ operators: OPERATORS })],
      resources: [
        items,
        { entity: Shop, endpoint: '/shops', filterableFields: ['name', 'items.price', 'items.name'] },
        {
          entity: Bid,
          endpoint: '/bids',
          scope: () => ({
            price: Raw(
              (name) =>
                near.sql({ name, database: database === 'mariadb' ? 'mysql' : database }, ':value', ':distance'),
              { value: 10, distance: 2 },
            ),
          }),
        },
      ],
    });
    await service.dataSource.getRepository(Bid).save([7, 8, 12, 13].map((price) => ({ price })));
    const shops = await service.dataSource.getRepository(Shop).save([{ name: 'Near' }, { name: 'Far' }]);
    await service.dataSource.getRepository(Item).save([
      { name: 'a', price: 8, labels: ['red'], shop: shops[0]! },
      { name: 'bb', price: 12, labels: ['blue', 'red'], shop: shops[0]! },
      { name: QUOTED, price: 13, labels: null, shop: shops[1]! },
      { name: 'none', price: null, labels: [], shop: shops[1]! },
      { name: 'hidden of all names, and the longest one', price: 10, labels: ['red'], hidden: true, shop: shops[1]! },
    ]);
  });
  afterAll(() => service.close());

  const ids = async (path: string): Promise<unknown> => {
    const { status, json } = await service.get(path);
    return status === 200 ? (json.data as { id: number }[]).map(({ id }) => id) : json;
  };

  it('[7.1] filters lists, pages, searches, counts, aggregates and exports, within the scope', async () => {
    expect(await ids('/items?filter[price][near]=10,2')).toEqual([1, 2]);
    expect(await ids('/items?filter[price][near]=10,3&pagination=cursor&size=5')).toEqual([1, 2, 3]);
    expect(await ids('/items/search?q=b&filter[price][near]=10,3')).toEqual([2]);
    expect((await service.get('/items/count?filter[price][near]=10,3')).json.data).toEqual({ count: 3 });
    expect((await service.get('/items/aggregate?sum=price&filter[price][near]=10,2')).json.data).toEqual([
      { count: 2, sum: { price: 20 } },
    ]);
    expect((await service.get('/items/export?format=csv&fields=id&filter[price][near]=10,2')).text).toBe(
      'id\r\n1\r\n2\r\n',
    );
  });

  it('[7.1] combines with groups and with NULL as built-in operators do', async () => {
    expect(await ids('/items?filter[or][0][price][near]=8,0&filter[or][1][name]=none')).toEqual([1, 4]);
    expect(await ids('/items?filter[not][price][near]=10,2')).toEqual([3, 4]);
    expect(await ids('/items?filter[price][near]=10,5&filter[price][lt]=12')).toEqual([1]);
  });

  it('[7.1] follows relations', async () => {
    expect(await ids('/shops?filter[items.price][near]=9,1')).toEqual([1]);
    expect(await ids('/items?filter[shop.name][sameOrLonger]=Far')).toEqual([1, 2, 3, 4]);
  });

  it('[9.1] keeps to the scope where its SQL has an OR', async () => {
    expect(await ids('/items?filter[name][sameOrLonger]=a')).toEqual([1, 2, 3, 4]);
    expect(await ids('/items?filter[price][lt]=9&filter[name][sameOrLonger]=zz')).toEqual([]);
    expect(await ids('/shops?filter[items.name][sameOrLonger]=none&filter[name]=Near')).toEqual([]);
  });

  it('[7.1] binds values, whatever they contain', async () => {
    const path = `/items?filter[name][sameOrLonger]=${encodeURIComponent(QUOTED)}`;
    expect(await ids(path)).toEqual([3]);
    expect(await ids(`${path}&filter[price][near]=13,0`)).toEqual([3]);
    expect(await ids(`/items?filter[name][sameOrLonger]=${encodeURIComponent(`') OR 1=1; -- ${QUOTED}`)}`)).toEqual([]);
  });

  it('[7.1] filters columns of types that built-in operators do not take', async () => {
    expect(await ids('/items?filter[labels][labelled]=red')).toEqual([1, 2]);
    expect((await service.get('/items?filter[labels][eq]=red')).json.errors).toEqual([
      { field: 'filter[labels][eq]', message: 'unknown operator; known ones are labelled' },
    ]);
  });

  it('[9.1] is SQL for a scope too', async () => {
    expect(await ids('/bids')).toEqual([2, 3]);
  });

  it('[7.9] is 400 on other columns, and for a text that it does not read', async () => {
    const errorsOf = async (query: string): Promise<unknown> => {
      const { status, json } = await service.get(`/items?${query}`);
      return [status, json.errors];
    };
    expect(await errorsOf('filter[hidden][near]=1,2')).toEqual([
      400,
      [{ field: 'filter[hidden][near]', message: 'unknown operator; known ones are eq, ne, in, nin, isNull' }],
    ]);
    expect(await errorsOf('filter[price][near]=1')).toEqual([
      400,
      [{ field: 'filter[price][near]', message: 'must be a number and a distance' }],
    ]);
    expect(await errorsOf('filter[name][sameOrLonger]=%00')).toEqual([
      400,
      [{ field: 'filter[name][sameOrLonger]', message: 'must be a text' }],
    ]);
  });
});

describe('CrudModule.forRoot', () => {
  const refusal = (options: unknown): string => {
    try {
      CrudModule.forRoot(options as never);
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    [{ operators: [near] }, /^accepted$/],
    [{ operators: null }, /^CrudModule option `operators` must be an array, got null\./],
    [
      { operator: [near] },
      /^CrudModule options must be an object with only the options operators, ignoredParameters, got "operator"\./,
    ],
    [{ operators: [5] }, /^CrudModule option `operators` must be an object of options, got 5\./],
    [
      { operators: [{ ...near, run: 1 }] },
      /^CrudModule option `operators` must be an object with only .*, got "run"\./,
    ],
    [
      { operators: [{ ...near, name: 'eq' }] },
      /^CrudModule option `operators\.eq\.name` must be a word that is no built-in/,
    ],
    [{ operators: [{ ...near, name: 'isAbove' }] }, /`operators\.isAbove\.name` must be a word/],
    [{ operators: [{ ...near, name: 'so near' }] }, /`operators\.so near\.name` must be a word/],
    [{ operators: [{ ...near, takes: [] }] }, /`operators\.near\.takes` must be an array of kinds or types of columns/],
    [{ operators: [{ ...near, expected: '' }] }, /`operators\.near\.expected` must be a text/],
    [{ operators: [{ ...near, schema: 'text' }] }, /`operators\.near\.schema` must be a JSON Schema, got "text"\./],
    [
      { operators: [{ ...near, read: undefined }] },
      /`operators\.near\.read` must be a function that returns the values/,
    ],
    [{ operators: [{ ...near, sql: 'x' }] }, /`operators\.near\.sql` must be a function that returns SQL/],
    [
      { operators: [near, near] },
      /^CrudModule option `operators` must be operators of different names, got "near" twice\./,
    ],
  ])('[1] %j', (options, expected) => {
    expect(refusal(options)).toMatch(expected);
  });

  it('[1] is called once', async () => {
    const imports = OPERATORS.map((each) => CrudModule.forRoot({ operators: [each] }));
    const error = await crudError('express', {
      entities: [Bid],
      imports,
      resources: [{ entity: Bid, endpoint: '/bids' }],
    });
    expect(error.message).toBe('CrudModule.forRoot must be called once, got twice. Give one call all options.');
  });

  it('[7.1] without the operator, its column cannot be filtered', async () => {
    const error = await crudError('express', { entities: [Item, Shop], resources: [items] });
    expect(error.message).toMatch(
      /^CRUD option `filterableFields` of Item must be fields among .*, got "labels", a simple-json/,
    );
  });
});
