/**
 * What is stored, answered, found and sent back is one value: for each type of column and its extremes, in rows that
 * another program wrote.
 */
import { assert, asyncProperty, bigInt, record, string } from 'fast-check';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, type DataPath, startCrud, wrongFields } from '../crud/service.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { columnsOf, type ExactColumn, quoted } from './columns.js';

const PATHS: readonly DataPath[] = ['compiled', 'repository'];

function entityOf(columns: readonly ExactColumn[]) {
  class Inner {
    @Column({ type: 'int', nullable: true }) size!: number | null;
  }
  @Entity('exact')
  class Exact {
    @PrimaryGeneratedColumn() id!: number;
    @Column(() => Inner) inner!: Inner;
  }
  for (const { name, column } of columns) {
    const [first = '', last] = name.split('.');
    Column({ ...column, nullable: true })(last ? Inner.prototype : Exact.prototype, last ?? first);
  }
  return Exact;
}

type Members = Record<string, unknown>;
const at = (record: unknown, name: string): unknown =>
  name.split('.').reduce<unknown>((value, key) => (value as Members | undefined)?.[key], record);
const bodyOf = (name: string, value: unknown): unknown =>
  name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

const isAmong = (value: unknown, others: readonly unknown[] = []): boolean =>
  others.some((other) => JSON.stringify(other) === JSON.stringify(value));
/** In a list of a filter, a comma separates. */
const listed = (value: unknown): string => encodeURIComponent(String(value).replaceAll(',', '\\,'));

interface Row extends ExactColumn {
  readonly id: number;
  readonly answer: unknown;
}

/** The value of a column as the database writes it, with its type on SQLite. */
const STORED: Readonly<Record<DatabaseName, (column: string) => string>> = {
  sqlite: (column) => `typeof(${column}) || quote(${column})`,
  postgres: (column) => `CAST(${column} AS text)`,
  mariadb: (column) => `CAST(${column} AS CHAR)`,
};

const CASES = DATABASES.flatMap((database) => PATHS.map((path) => ({ database, path })));

describe.each(CASES)('rows of another program on $database, $path', ({ database, path }) => {
  const columns = columnsOf(database);
  const compared = columns.filter(({ isCompared }) => isCompared !== false);
  const ordered = compared.filter(({ isOrdered }) => isOrdered !== false);
  const rows: Row[] = [];
  let service: CrudService;

  const columnOf = (name: string): string => {
    const column = service.dataSource.getMetadata('Exact').findColumnWithPropertyPath(name);
    return service.dataSource.driver.escape(column?.databaseName ?? name);
  };
  const stored = async ({ id, name, text = STORED[database] }: Row): Promise<unknown> => {
    const [row] = await service.dataSource.query<{ value: unknown }[]>(
      `SELECT ${text(columnOf(name))} AS value FROM exact WHERE id = ${id}`,
    );
    return row?.value;
  };
  const rowsOf = (column: ExactColumn): Row[] => rows.filter(({ name }) => name === column.name);
  const idsOf = (json: unknown): number[] => (json as { data: { id: number }[] }).data.map(({ id }) => id);
  const onlyOf = (name: string): string => `filter[${name}][isNull]=false`;

  beforeAll(async () => {
    const entity = entityOf(columns);
    const names = compared.map(({ name }) => name) as never[];
    const sorted = ordered.map(({ name }) => name) as never[];
    // Values of columns depend on no platform: one database runs on Fastify.
    service = await startCrud(database === 'sqlite' && path === 'repository' ? 'fastify' : 'express', {
      database,
      path,
      // docs/tasks/client.md: floats are described as numbers, although other programs store NaN and infinity.
      isDescribed: false,
      entities: [entity],
      resources: [
        {
          entity,
          endpoint: '/exact',
          enablePagination: 'both',
          enableExport: true,
          filterableFields: names,
          sortableFields: ['id', ...sorted],
          aggregatableFields: sorted,
        },
      ],
    });
    for (const column of columns)
      for (const [sql, answer] of column.values) {
        const id = rows.length + 1;
        await service.dataSource.query(`INSERT INTO exact (${columnOf(column.name)}) VALUES (${sql})`);
        rows.push({ ...column, id, answer });
      }
  });
  afterAll(() => service.close());

  it.each(columns)('[4.6] GET answers what is stored, and PUT of the answer changes nothing: $name', async (column) => {
    for (const row of rowsOf(column)) {
      const { json } = await service.get(`/exact/${row.id}`);
      expect(at(json.data, row.name)).toEqual(row.answer);
      const before = await stored(row);
      const put = await service.put(`/exact/${row.id}`, json.data);
      expect([put.status, put.json.data]).toEqual([200, json.data]);
      expect(await stored(row)).toEqual(before);
    }
  });

  it.each(compared)('[7.3] a filter by what GET answers finds exactly its row: $name', async (column) => {
    for (const { id, name, answer } of rowsOf(column)) {
      const value = listed(answer);
      const isRange = typeof answer !== 'boolean' && ordered.includes(column);
      const queries = [`=${encodeURIComponent(String(answer))}`, `[in]=${value}`];
      for (const query of [...queries, ...(isRange ? [`[between]=${value},${value}`] : [])]) {
        const { json } = await service.get(`/exact?filter[${name}]${query}&${onlyOf(name)}`);
        expect([query, answer, json.errors ?? idsOf(json)]).toEqual([query, answer, [id]]);
      }
    }
  });

  it.each(ordered)('[7.5] pages and sorts by every value: $name', async (column) => {
    const { name } = column;
    const expected = rowsOf(column).map(({ id }) => id);
    for (const [sort, ids] of [[name, expected] as const, [`-${name}`, expected.toReversed()] as const]) {
      const found: number[] = [];
      let after = '';
      for (let page = 0; page <= expected.length; page += 1) {
        const { json } = await service.get(`/exact?sort=${sort}&size=1&pagination=cursor&${onlyOf(name)}${after}`);
        found.push(...idsOf(json));
        const { next } = (json.metadata as { pagination: { next: string | null } }).pagination;
        if (next === null) break;
        after = `&after=${next}`;
      }
      expect([sort, found]).toEqual([sort, ids]);
      const { text } = await service.get(`/exact/export?format=ndjson&sort=${sort}&${onlyOf(name)}`);
      const lines = text.split('\n').filter(Boolean);
      const exported = lines.map((line) => JSON.parse(line) as Members);
      expect(exported.map((record) => [record['id'], at(record, name)])).toEqual(
        ids.map((id) => [id, rows[id - 1]?.answer]),
      );
    }
  });

  it.each(ordered)('[7.7] groups have the values that GET answers: $name', async (column) => {
    const { name } = column;
    const { json } = await service.get(`/exact/aggregate?groupBy=${name}&${onlyOf(name)}`);
    const expected = rowsOf(column).map(({ answer }) => ({ groupBy: { [name]: answer }, count: 1 }));
    expect(json.data).toEqual(expected);
  });

  it.each(columns)(
    '[4.6] a write answers what the next GET answers, or 400 naming the field: $name',
    async (column) => {
      const { name, readOnly = [] } = column;
      for (const { answer } of rowsOf(column).filter((row) => !isAmong(row.answer, readOnly))) {
        const made = await service.post('/exact', bodyOf(name, answer));
        expect([made.json.errors ?? made.status, at(made.json.data, name)]).toEqual([201, answer]);
        const { json } = await service.get(`/exact/${made.json.data.id}`);
        expect(json.data).toEqual(made.json.data);
      }
      for (const value of column.refused ?? []) {
        const answer = await service.post('/exact', bodyOf(name, value));
        expect([value, wrongFields(answer)]).toEqual([value, [name]]);
      }
    },
  );

  it.runIf(path === 'compiled')('[4.6] [7.3] the same holds for random values', async () => {
    const cents = bigInt(-9_999_999_999n, 9_999_999_999n);
    const fields = {
      text: string({ unit: 'binary', maxLength: 12 }).filter((text) => !text.includes('\0')),
      price: cents.map((n) =>
        `${n < 0n ? '-' : ''}${String(n).replace('-', '').padStart(3, '0')}`.replace(/..$/, '.$&'),
      ),
      serial: bigInt(-(2n ** 63n) + 1n, 2n ** 63n - 1n).map(String),
    };
    const written = async (values: Record<keyof typeof fields, string>): Promise<void> => {
      const { text, ...numbers } = values;
      const sql = [quoted(text, database), ...Object.values(numbers)];
      const columns = ['text', ...Object.keys(numbers)];
      await service.dataSource.query(`INSERT INTO exact (${columns.map(columnOf).join()}) VALUES (${sql.join()})`);
      const [row] = await service.dataSource.query<{ id: unknown }[]>('SELECT MAX(id) AS id FROM exact');
      const id = Number(row?.id);
      const before = await Promise.all(
        columns.map((name) => stored({ ...rows[0]!, text: STORED[database], name, id })),
      );
      const { data } = (await service.get(`/exact/${id}`)).json;
      expect({ ...values, ...data, serial: String(data.serial) }).toEqual({ ...data, ...values });
      for (const name of columns) {
        const { json } = await service.get(`/exact?size=100&filter[${name}]=${encodeURIComponent(String(data[name]))}`);
        expect(idsOf(json)).toContain(id);
      }
      expect((await service.put(`/exact/${id}`, data)).json.data).toEqual(data);
      const after = await Promise.all(columns.map((name) => stored({ ...rows[0]!, text: STORED[database], name, id })));
      expect(after).toEqual(before);
    };
    await assert(asyncProperty(record(fields), written), { numRuns: 20 });
  });

  it('[4.6] PATCH of one member never rounds the numbers of the others', async () => {
    const text = '{"ids":{"discord":750727362669608961},"price":20}';
    await service.dataSource.query(`INSERT INTO exact (document) VALUES ('${text}')`);
    const [last] = await service.dataSource.query<{ id: number }[]>('SELECT MAX(id) AS id FROM exact');
    const row = { ...rows[0]!, name: 'document', id: Number(last?.id) };
    const before = await stored(row);
    const patched = await service.send('PATCH', `/exact/${row.id}`, { json: { document: { price: 21 } } });
    expect(wrongFields(patched)).toEqual(['document']);
    expect(await stored(row)).toBe(before);
  });
});
