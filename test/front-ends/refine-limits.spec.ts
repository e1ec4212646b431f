/** The data provider of refine at the limits of a service: groups of filters, lists that leave out records, failures of batches. */
import { Get } from '@nestjs/common';
import type { BaseRecord, CrudFilter, HttpError } from '@refinedev/core';
import { CrudController, type ListQuery } from 'declarest';
import { dataProvider, type DeclarestDataProvider } from 'refine-declarest';
import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';

@Entity()
export class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40, unique: true }) name!: string;
  @Column('integer', { default: 0 }) stock!: number;
  @Column({ type: 'datetime', nullable: true }) soldAt!: Date | null;
  @DeleteDateColumn() deletedAt!: Date | null;
}

/** Has fewer records on a page than the server has read. */
class InStockController extends CrudController({ entity: Item, endpoint: '/stock', enablePagination: true }) {
  @Get()
  override async findAll(query: ListQuery) {
    const page = await super.findAll(query);
    return { ...page, data: page.data.filter(({ stock }) => stock > 0) };
  }
}

const item = { entity: Item, enablePagination: true } as const;
const RESOURCES = [
  { ...item, endpoint: '/items', filterableFields: true, sortableFields: ['id'], enableBatch: true, maxBatchSize: 100 },
  { ...item, endpoint: '/plain' },
  InStockController,
] as const;

describe.each(PLATFORMS)('refine on %s', (platform) => {
  let service: CrudService;
  let data: DeclarestDataProvider;
  let sent: string[];

  beforeAll(async () => {
    service = await startCrud(platform, { entities: [Item], resources: [...RESOURCES] });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    sent = [];
    const record = ((input, init) => {
      sent.push(`${init?.method} ${decodeURIComponent(String(input).replace(service.url, ''))}`);
      return fetch(input, init);
    }) as typeof fetch;
    data = dataProvider(service.url, { fetch: record });
    await service.dataSource.getRepository(Item).clear();
  });

  const fill = <T extends object>(entity: new () => T, rows: object[]) =>
    service.dataSource.getRepository(entity).insert(rows as never);
  const failure = async (promise: Promise<unknown>): Promise<HttpError> => {
    const error: unknown = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error === undefined) throw new Error('The call was expected to fail.');
    return error as HttpError;
  };

  describe('filters', () => {
    beforeEach(() =>
      fill(Item, [
        { id: 1, name: 'a', stock: 1, soldAt: new Date('2026-01-01T00:00:00Z') },
        { id: 2, name: 'b', stock: 2, soldAt: new Date('2026-02-01T00:00:00Z') },
        { id: 3, name: 'c', stock: 3 },
        { id: 4, name: 'd', stock: 4 },
      ]),
    );
    const named = (value: string): CrudFilter => ({ field: 'name', operator: 'eq', value });
    const stock = (operator: 'eq' | 'ne' | 'gt' | 'lt', value: number): CrudFilter => ({
      field: 'stock',
      operator,
      value,
    });
    const or = (...value: CrudFilter[]): CrudFilter => ({ operator: 'or', value });
    const and = (...value: CrudFilter[]): CrudFilter => ({ operator: 'and', value });
    const idsOf = async (...filters: CrudFilter[]): Promise<unknown[]> =>
      (await data.getList({ resource: 'items', filters })).data.map(({ id }) => id);

    it.each<[string, CrudFilter[], number[]]>([
      ['two conditions of one operator', [stock('ne', 1), stock('ne', 2)], [3, 4]],
      ['two groups of alternatives', [or(stock('gt', 3), stock('lt', 3)), or(named('a'), named('c'))], [1]],
      ['alternatives inside alternatives', [or(or(named('a'), named('b')), named('c'))], [1, 2, 3]],
      ['one alternative of two conditions', [or(and(stock('gt', 1), stock('lt', 4)))], [2, 3]],
      [
        'two negations',
        [
          { field: 'name', operator: 'ncontains', value: 'A' },
          { field: 'name', operator: 'ncontains', value: 'B' },
        ],
        [3, 4],
      ],
      ['a date', [{ field: 'soldAt', operator: 'gt', value: new Date('2026-01-15T00:00:00Z') }], [2]],
      ['a big integer', [{ field: 'stock', operator: 'gte', value: 4n }], [4]],
      [
        'cleared values',
        [named(undefined as never), { field: 'name', operator: 'contains', value: '' }, or(named(null as never))],
        [1, 2, 3, 4],
      ],
      [
        'groups 3 deep',
        [or(and(or(and(or(named('a'), named('b')), stock('lt', 2)), named('d')), stock('gt', 0)), named('c'))],
        [1, 3, 4],
      ],
    ])('finds the records of %s', async (_, filters, ids) => {
      expect(await idsOf(...filters)).toEqual(ids);
    });

    it('leaves it to the server to refuse groups that are too deep, and shows its reason', async () => {
      let deep = named('a');
      for (let depth = 0; depth < 4; depth += 1) deep = or(and(deep, stock('gt', depth)), named('z'));
      expect((await failure(idsOf(deep))).message).toContain('must have at most 3 groups inside each other');
    });

    it.each<[string, CrudFilter, string]>([
      ['a list of no values', { field: 'name', operator: 'in', value: [] }, 'must have an array of values, got []'],
      [
        'one end of a range',
        { field: 'stock', operator: 'between', value: [1] },
        'must have an array of two values, got [1]',
      ],
      ['several values', { field: 'name', operator: 'eq', value: ['a', 'b'] }, 'must have one value, got ["a","b"]'],
    ])('refuses %s without a request', async (_, filter, message) => {
      expect((await failure(idsOf(filter))).message).toContain(message);
      expect(sent).toEqual([]);
    });
  });

  it('reads all pages of a list that leaves out records of each page', async () => {
    await fill(
      Item,
      Array.from({ length: 150 }, (_, at) => ({ id: at + 1, name: `n${at}`, stock: at % 2 })),
    );
    const list = await data.getList({ resource: 'stock', pagination: { mode: 'off' } });
    expect([list.data.length, sent.length]).toEqual([75, 2]);
  });

  it.each(['', '.', '..'])('refuses the id "%s", which would lead to another URL', async (id) => {
    expect((await failure(data.deleteOne({ resource: 'items', id }))).message).toContain('Pass the id of a record.');
    expect(sent).toEqual([]);
  });

  it('says how many records were written before a failure', async () => {
    const variables = [{ name: 'a' }, { name: 'b' }, { name: 'a' }];
    const error = await failure(data.createMany({ resource: 'plain', variables }));
    expect(error).toMatchObject({
      statusCode: 409,
      message: '2 of 3 records of "plain" were written. Item cannot be created: name is already taken',
      errors: { name: 'is already taken' },
    });
    const whole = await failure(data.createMany({ resource: 'items', variables: [{ name: 'x' }, { name: 'x' }] }));
    expect(whole.message).toBe('Item cannot be created: name is already taken');
  });

  it('writes more records than a batch holds by several', async () => {
    const variables = Array.from({ length: 101 }, (_, at) => ({ name: `n${at}` }));
    const created = await data.createMany<BaseRecord>({ resource: 'items', variables });
    expect([created.data.length, sent.length]).toEqual([101, 2]);
  });

  it('calls a URL that begins with the base, and leaves out parameters without a value', async () => {
    const query = { size: 1, page: undefined };
    await data.custom({ url: `${data.getApiUrl()}/items`, method: 'get', query });
    await data.custom({ url: '/items', method: 'get', query });
    expect(sent).toEqual(['GET /items?size=1', 'GET /items?size=1']);
  });
});
