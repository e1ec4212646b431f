/** Values that a database would round, pad, cut or take for another one are exact, or refused with 400. */
import { Column, DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES, createDatabase, IS_POOLED } from '../harness/databases.js';
import { crudError, type CrudService, startCrud, wrongFields } from './service.js';

/** SQLite knows the type by its long name only. */
function countryOf(type: 'char' | 'character') {
  @Entity()
  class Country {
    @PrimaryColumn({ type, length: 4 })
    id!: string;

    @Column({ type, length: 10 })
    name!: string;
  }
  return Country;
}

describe.each(DATABASES)('exact values on %s', (database) => {
  it('[7.1] finds a char(n) by the value that was sent', async () => {
    const Country = countryOf(database === 'sqlite' ? 'character' : 'char');
    const service = await startCrud('express', {
      database,
      entities: [Country],
      resources: [{ entity: Country, endpoint: '/countries', maxListSize: 5, filterableFields: true, clientId: true }],
    });
    const made = await service.post('/countries', { id: 'de', name: 'Spain ' });
    const name = database === 'sqlite' ? 'Spain ' : 'Spain';
    expect([made.status, made.json.data]).toEqual([201, { id: 'de', name }]);
    expect(made.headers['location']).toMatch(/\/countries\/de$/);
    expect((await service.get('/countries/de')).json.data).toEqual({ id: 'de', name });
    for (const query of ['name]=Spain%20', 'name][in]=x,Spain%20', 'id]=de'])
      expect([query, (await service.get(`/countries?filter[${query}`)).json.data]).toEqual([
        query,
        [{ id: 'de', name }],
      ]);
    expect((await service.put('/countries/de', { id: 'de', name })).json.data).toEqual({ id: 'de', name });
    await service.close();
  });

  it('[4.6] refuses fractions that the column does not hold, and years that databases do not store', async () => {
    @Entity()
    class Shift {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column(database === 'sqlite' ? { type: 'time' } : { type: 'time', precision: 1 })
      starts!: string;

      @Column({
        type: database === 'postgres' ? 'timestamp' : 'datetime',
        ...(database !== 'sqlite' && { precision: 0 }),
      })
      at!: Date;
    }
    const service = await startCrud('express', {
      database,
      entities: [Shift],
      resources: [{ entity: Shift, endpoint: '/shifts' }],
    });
    const valid = { starts: '09:30:15.5', at: '2026-01-31T09:30:15.000Z' };
    const made = await service.post('/shifts', valid);
    expect([made.status, made.json.data]).toEqual([201, { id: 1, ...valid }]);
    const isRounded = database !== 'sqlite';
    if (isRounded) {
      expect(wrongFields(await service.post('/shifts', { ...valid, starts: '09:30:15.55' }))).toEqual(['starts']);
      expect(wrongFields(await service.post('/shifts', { ...valid, at: '2026-01-31T09:30:15.5Z' }))).toEqual(['at']);
    }
    for (const at of ['9999-12-31T23:59:59-05:00', '0001-01-01T00:00:00+05:00', '-000044-03-15T00:00:00Z', 'infinity'])
      expect(wrongFields(await service.put('/shifts/1', { ...valid, at }))).toEqual(['at']);
    await service.close();
  });
});

(DATABASES.includes('postgres') ? describe : describe.skip)('what only PostgreSQL has', () => {
  let service: CrudService;
  beforeAll(async () => {
    @Entity()
    class Person {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column({ type: 'timestamptz', nullable: true })
      at!: Date | null;

      @Column({ type: 'date', nullable: true })
      day!: string | null;

      @Column({ length: 20, default: '' })
      name!: string;
    }
    service = await startCrud('express', {
      database: 'postgres',
      entities: [Person],
      resources: [{ entity: Person, endpoint: '/people' }],
      // `infinity` is no date-time, which the document says of such a column.
      isDescribed: false,
    });
  });
  afterAll(() => service.close());

  it.each([
    ['infinity', 'infinity'],
    ['-infinity', '-infinity'],
    ['0044-03-15 BC', '-000043-03-15T00:00:00.000Z'],
    ['20000-01-01', '+020000-01-01T00:00:00.000Z'],
  ])('[4.6] sends %s as it is, and PUT does not store another value', async (stored, moment) => {
    const [{ id }] = await service.dataSource.query(
      `INSERT INTO person (at, day) VALUES (timestamptz '${stored}' AT TIME ZONE 'UTC' AT TIME ZONE 'UTC', '${stored}') RETURNING id`,
    );
    const { json } = await service.get(`/people/${id}`);
    expect(json.data).toMatchObject({ day: stored });
    expect(String(json.data.at).slice(0, 10)).toBe(moment.slice(0, 10));
    expect((await service.put(`/people/${id}`, json.data)).status).toBe(200);
    const [row] = await service.dataSource.query(`SELECT day = '${stored}' AS same FROM person WHERE id = ${id}`);
    expect(row.same).toBe(true);
  });
});

(DATABASES.includes('postgres') ? it : it.skip)(
  '[7.1] [7.2] compares texts of a nondeterministic collation by their code points',
  async () => {
    @Entity()
    class Word {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column({ length: 20, collation: 'any_case' })
      name!: string;
    }
    const words = {
      entity: Word,
      endpoint: '/words',
      maxListSize: 9,
      filterableFields: true,
      sortableFields: ['name'],
    } as const;
    const { url, drop } = await withSetting(
      `CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    );
    const service = await startCrud('express', {
      database: 'postgres',
      entities: [Word],
      dataSource: { url } as never,
      resources: [{ ...words, enableSearch: true, searchableFields: ['name'] }],
    });
    for (const name of ['ann', 'Ann', 'bob']) await service.post('/words', { name });
    const found = async (query: string): Promise<unknown> => {
      const { status, json } = await service.get(`/words${query}`);
      return status === 200 ? json.data.map((each: { name: string }) => each.name) : status;
    };
    expect(await found('?filter[name]=Ann')).toEqual(['Ann']);
    expect(await found('?filter[name][in]=ANN,ann')).toEqual(['ann']);
    expect(await found('?filter[name][between]=Ann,Ann')).toEqual(['Ann']);
    expect(await found('?filter[name][icontains]=NN')).toEqual(['ann', 'Ann']);
    expect(await found('?filter[name][contains]=nn')).toEqual(['ann', 'Ann']);
    expect(await found('?filter[name][startsWith]=A')).toEqual(['Ann']);
    expect(await found('?sort=name')).toEqual(['Ann', 'ann', 'bob']);
    expect(await found('/search?name=ANN')).toEqual(['ann', 'Ann']);
    await service.close();
    await drop();
  },
);

// PgBouncer keeps the setting that its first connection to a database has.
(DATABASES.includes('postgres') && !IS_POOLED ? it : it.skip)(
  '[4.6] refuses to start where dates are not written as ISO',
  async () => {
    const { url, drop } = await withSetting(`ALTER DATABASE "$database" SET DateStyle = 'SQL, DMY'`);
    const Country = countryOf('char');
    const resources = [{ entity: Country, endpoint: '/countries' }];
    const dataSource = { url } as never;
    const error = await crudError('express', { database: 'postgres', entities: [Country], dataSource, resources });
    expect(error.message).toContain('The PostgreSQL setting DateStyle must be ISO, got SQL, DMY.');
    await drop();
  },
);

/** A database with a setting that its first connection makes. */
async function withSetting(statement: string): Promise<{ url: string; drop: () => Promise<void> }> {
  const { options, drop } = await createDatabase('postgres');
  const { url } = options as { url: string };
  const admin = await new DataSource({ type: 'postgres', url }).initialize();
  await admin.query(statement.replace('$database', new URL(url).pathname.slice(1)));
  await admin.destroy();
  return { url, drop };
}
