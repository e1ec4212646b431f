import { BeforeInsert, Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { linesOf, loggedAtBoot, PLATFORMS } from '../harness/platforms.js';
import { createDatabase } from '../harness/databases.js';
import { CrudController, CrudModule, type CrudResource } from 'declarest';
import { TypeOrmModule } from '@nestjs/typeorm';
import { type CrudService, naming, startCrud, success, wrongFields } from './service.js';

@Entity()
class Row {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

@Entity()
class Word {
  @PrimaryColumn({ length: 20 })
  id!: string;

  @Column({ length: 20 })
  word!: string;

  @BeforeInsert()
  setId(): void {
    this.id = this.word;
  }
}

@Entity()
class Empty {
  @PrimaryGeneratedColumn()
  id!: number;
}

const numbered = (first: number, last: number): { id: number; name: string }[] =>
  Array.from({ length: last - first + 1 }, (_, index) => ({ id: first + index, name: `row ${first + index}` }));

/** No integers from 1, as they stand in a query string. */
const NO_PAGES = [
  '0',
  '-1',
  '-0',
  '1.5',
  '1.0',
  'abc',
  '',
  '%20',
  '1%20',
  '%2B1',
  '1e1',
  '0x1',
  '1,2',
  '1_0',
  '%EF%BC%91',
  '%D9%A1',
  'NaN',
  'Infinity',
  'null',
  'true',
  '1%00',
  '[1]',
  '9'.repeat(30),
];

describe.each(DATABASES)('on %s', (database) => {
  describe.each(PLATFORMS)('and %s', (platform) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        resources: [
          { entity: Row, endpoint: '/api/rows', enablePagination: true },
          { entity: Row, endpoint: '/api/whole' },
          { entity: Row, endpoint: '/api/cut', maxListSize: 30, enableSearch: true, searchableFields: ['name'] },
          { entity: Row, endpoint: '/api/exact', maxListSize: 145 },
          { entity: Row, endpoint: '/api/roomy', maxListSize: 146 },
          { entity: Row, endpoint: '/api/both', maxListSize: 5, enablePagination: true },
          { entity: Word, endpoint: '/api/words', enablePagination: true },
          { entity: Empty, endpoint: '/api/empty', enablePagination: true },
          { entity: Empty, endpoint: '/api/empty-cut', maxListSize: 1 },
        ],
      });
      await service.dataSource.getRepository(Row).insert(numbered(1, 145).map(({ name }) => ({ name })));
    });
    afterAll(() => service.close());

    it.each<[string, { id: number }[], object]>([
      ['', numbered(1, 20), { page: 1, size: 20, total: 145, totalPages: 8 }],
      ['?page=1', numbered(1, 20), { page: 1, size: 20, total: 145, totalPages: 8 }],
      ['?page=2', numbered(21, 40), { page: 2, size: 20, total: 145, totalPages: 8 }],
      ['?page=8', numbered(141, 145), { page: 8, size: 20, total: 145, totalPages: 8 }],
      ['?page=9', [], { page: 9, size: 20, total: 145, totalPages: 8 }],
      ['?size=1', numbered(1, 1), { page: 1, size: 1, total: 145, totalPages: 145 }],
      ['?size=29&page=5', numbered(117, 145), { page: 5, size: 29, total: 145, totalPages: 5 }],
      ['?size=99', numbered(1, 99), { page: 1, size: 99, total: 145, totalPages: 2 }],
      ['?size=100', numbered(1, 100), { page: 1, size: 100, total: 145, totalPages: 2 }],
      ['?size=101', numbered(1, 100), { page: 1, size: 100, total: 145, totalPages: 2 }],
      ['?size=1000000&page=2', numbered(101, 145), { page: 2, size: 100, total: 145, totalPages: 2 }],
      ['?size=9007199254740991', numbered(1, 100), { page: 1, size: 100, total: 145, totalPages: 2 }],
      ['?page=9007199254740991', [], { page: 9007199254740991, size: 20, total: 145, totalPages: 8 }],
      ['?page=9007199254740991&size=100', [], { page: 9007199254740991, size: 100, total: 145, totalPages: 2 }],
    ])('[4.4] %p gives the array in data, and the page in metadata', async (query, data, pagination) => {
      const { status, json } = await service.get(`/api/rows${query}`);
      expect([status, json]).toEqual([200, success(naming('Row'), data, { pagination })]);
    });

    it('[4.4] an empty collection has no pages', async () => {
      const { status, json } = await service.get('/api/empty');
      const pagination = { page: 1, size: 20, total: 0, totalPages: 0 };
      expect([status, json]).toEqual([200, success(naming('Empty'), [], { pagination })]);
    });

    it('[4.4] all pages together hold every record once, in the order of the primary key', async () => {
      const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => service.get(`/api/rows?size=30&page=${page}`)));
      expect(pages.flatMap(({ json }) => json.data as unknown[])).toEqual(numbered(1, 145));
    });

    it('[4.4] the order is by primary key, whatever was changed last, and whatever its type', async () => {
      for (const word of ['pear', 'apple', 'fig', 'date']) await service.post('/api/words', { word });
      await service.put('/api/words/apple', { word: 'zzz' });
      const ids = async (query: string) =>
        (await service.get(`/api/words${query}`)).json.data.map((each: { id: string }) => each.id);
      expect(await ids('')).toEqual(['apple', 'date', 'fig', 'pear']);
      expect(await ids('?size=3&page=2')).toEqual(['pear']);
    });

    it('[4.4] without pagination the list is whole and has no metadata', async () => {
      const { json } = await service.get('/api/whole');
      expect(json).toEqual(success(naming('Row'), numbered(1, 145)));
    });

    it.each([
      ['/api/cut', 30, true],
      ['/api/exact', 145, false],
      ['/api/roomy', 145, false],
    ])(
      '[4.4] with maxListSize, %s has %d records and says whether there are more: %p',
      async (path, count, truncated) => {
        const { status, json } = await service.get(path);
        expect([status, json]).toEqual([200, success(naming('Row'), numbered(1, count), { truncated })]);
      },
    );

    it('[4.4] with maxListSize, an empty list is not truncated', async () => {
      expect((await service.get('/api/empty-cut')).json).toEqual(success(naming('Empty'), [], { truncated: false }));
    });

    it('[4.4] [4.5] with maxListSize, an unpaged search is cut like the list', async () => {
      const cut = (await service.get('/api/cut/search?name=row')).json;
      expect([cut.data, cut.metadata]).toEqual([numbered(1, 30), { truncated: true }]);
      const few = (await service.get('/api/cut/search?name=row%2014')).json;
      expect([few.data.length, few.metadata]).toEqual([7, { truncated: false }]);
    });

    it('[4.4] with pagination, it is the page that bounds a list', async () => {
      const { json } = await service.get('/api/both?page=2');
      expect(json).toEqual(
        success(naming('Row'), numbered(21, 40), { pagination: { page: 2, size: 20, total: 145, totalPages: 8 } }),
      );
    });

    it.each(NO_PAGES)('[4.4] the page %p is 400', async (page) => {
      expect(wrongFields(await service.get(`/api/rows?page=${page}`))).toEqual(['page']);
    });

    it.each(NO_PAGES)('[4.4] the size %p is 400', async (size) => {
      expect(wrongFields(await service.get(`/api/rows?size=${size}`))).toEqual(['size']);
    });
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      resources: [
        { entity: Row, endpoint: '/api/rows', enablePagination: true },
        { entity: Row, endpoint: '/api/whole' },
      ],
    });
    await service.post('/api/rows', { name: 'row 1' });
  });
  afterAll(() => service.close());

  it('[4.4] a wrong page and a wrong size are named at once', async () => {
    expect(wrongFields(await service.get('/api/rows?page=0&size=x&colour=red'))).toEqual(['colour', 'page', 'size']);
  });

  it.each(['page=1&page=2', 'page=1&page=1', 'size=1&size=2'])(
    '[4.4] a repeated parameter, %s, is 400',
    async (query) => {
      expect(wrongFields(await service.get(`/api/rows?${query}`))).toEqual([query.slice(0, 4)]);
    },
  );

  it.each([
    ['sort=name', 'sort'],
    ['name=row', 'name'],
    ['q=row', 'q'],
    ['PAGE=1', 'PAGE'],
    ['Page=1', 'Page'],
    ['page%20=1', 'page '],
    ['page[]=1', 'page[]'],
    ['page[a]=1', 'page[a]'],
    ['limit=1', 'limit'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
    ['toString=1', 'toString'],
    ['x', 'x'],
    ['=1', ''],
  ])('[4.4] the unknown parameter %s is 400 and the known ones are named', async (query, name) => {
    const answer = await service.get(`/api/rows?${query}`);
    expect(wrongFields(answer)).toEqual([name]);
    expect(answer.json.errors[0].message).toMatch(/page.*size/);
  });

  it('[4.4] a known parameter beside an unknown one does not make it known', async () => {
    expect(wrongFields(await service.get('/api/rows?page=1&size=5&order=desc'))).toEqual(['order']);
  });

  it.each(['page=1', 'size=10', 'name=row'])('[4.4] without pagination, %s is unknown too', async (query) => {
    expect(wrongFields(await service.get(`/api/whole?${query}`))).toEqual([query.split('=')[0]]);
  });

  it.each(['?', '?&', '?&&'])('[4.4] a query without parameters, %s, is none', async (query) => {
    expect((await service.get(`/api/rows${query}`)).json.data).toEqual([{ id: 1, name: 'row 1' }]);
  });

  it('[4.4] parameters may be percent-encoded', async () => {
    expect((await service.get('/api/rows?%70age=%31')).json.metadata.pagination.page).toBe(1);
  });

  const warnings = async (...resources: CrudResource[]): Promise<string[]> => {
    const database = await createDatabase();
    const imports = [TypeOrmModule.forRoot(database.options), CrudModule.forFeature(...resources)];
    const { logs } = await loggedAtBoot(platform, { imports }, { onClose: database.drop });
    return linesOf(logs, 'warn');
  };

  it('[4.4] a boot warning names lists without a bound', async () => {
    class WholeRows extends CrudController({ entity: Row, endpoint: '/api/by-class' }) {}
    const lines = await warnings(
      { entity: Row, endpoint: '/api/rows', enablePagination: true },
      { entity: Row, endpoint: '/api/whole' },
      WholeRows,
      { entity: Row, endpoint: '/api/cut', maxListSize: 5 },
    );
    const about = lines.filter((line) => line.includes('/api/'));
    expect(about.join('\n')).toMatch(/\/api\/whole\b/);
    expect(about.join('\n')).toMatch(/\/api\/by-class\b/);
    expect(about.join('\n')).not.toMatch(/\/api\/(rows|cut)\b/);
    expect(about.join('\n')).toMatch(/enablePagination|maxListSize/);
  });

  it('[4.4] where every list has a bound there is no such warning', async () => {
    expect(
      await warnings(
        { entity: Row, endpoint: '/api/rows', enablePagination: true },
        { entity: Row, endpoint: '/api/cut', maxListSize: 5 },
      ),
    ).toEqual([]);
  });
});
