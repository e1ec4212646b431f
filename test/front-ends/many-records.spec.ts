/** Many records at once, with both providers: ids that are texts, lists that the server cuts, and resources without batches. */
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';

@Entity()
class Word {
  @PrimaryColumn({ length: 200 }) id!: string;
  @Column({ length: 40 }) text!: string;
}

@Entity()
class Place {
  @PrimaryColumn({ length: 36 }) shop!: string;
  @PrimaryColumn({ length: 36 }) shelf!: string;
  @Column({ length: 20 }) name!: string;
}

/** `/words` and `/unlisted` have no batches, and read `/batch` as the id of a record. */
const RESOURCES = [
  { entity: Word, endpoint: '/words', filterableFields: ['id'], maxListSize: 2 },
  { entity: Word, endpoint: '/batched-words', filterableFields: ['id'], enablePagination: true, enableBatch: true },
  { entity: Place, endpoint: '/places', enablePagination: true, enableBatch: true },
] as const;
const KEYS = { places: ['shop', 'shelf'] };

/** The methods of a provider in one form. */
interface Provider {
  find(resource: string, ids: string[]): Promise<unknown[]>;
  filter(operator: 'in' | 'nin' | 'between', values: string[]): Promise<unknown[]>;
  update(resource: string, ids: string[], changes: object): Promise<unknown>;
  remove(resource: string, ids: string[]): Promise<unknown>;
}

const idsOf = ({ data }: { readonly data: readonly { readonly id?: unknown }[] }): unknown[] =>
  data.map(({ id }) => id);

function openReactAdmin(url: string, fetch: typeof globalThis.fetch): Provider {
  const data = reactAdmin.dataProvider(url, { fetch, keys: KEYS });
  return {
    find: async (resource, ids) => idsOf(await data.getMany(resource, { ids })),
    filter: async (operator, values) =>
      idsOf(await data.getList('batched-words', { filter: { id: { [operator]: values } } })),
    update: (resource, ids, changes) => data.updateMany(resource, { ids, data: changes }),
    remove: (resource, ids) => data.deleteMany(resource, { ids }),
  };
}

function openRefine(url: string, fetch: typeof globalThis.fetch): Provider {
  const data = refine.dataProvider(url, { fetch, keys: KEYS });
  return {
    find: async (resource, ids) => idsOf(await data.getMany({ resource, ids })),
    filter: async (operator, value) =>
      idsOf(await data.getList({ resource: 'batched-words', filters: [{ field: 'id', operator, value }] })),
    update: (resource, ids, variables) => data.updateMany({ resource, ids, variables }),
    remove: (resource, ids) => data.deleteMany({ resource, ids }),
  };
}

const CASES = PLATFORMS.flatMap((platform) => [
  ['react-admin', platform, openReactAdmin] as const,
  ['refine', platform, openRefine] as const,
]);

describe.each(CASES)('%s on %s', (_, platform, open) => {
  let service: CrudService;
  let data: Provider;
  let sent: string[];

  beforeAll(async () => {
    service = await startCrud(platform, { entities: [Word, Place], resources: [...RESOURCES] });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    sent = [];
    data = open(service.url, (async (input, init) => {
      sent.push(`${init?.method} ${decodeURIComponent(String(input).replace(service.url, ''))}`);
      return fetch(input, init);
    }) as typeof fetch);
    await service.dataSource.getRepository(Word).clear();
  });

  const words = () => service.dataSource.getRepository(Word);
  const fill = (ids: string[]) => words().insert(ids.map((id) => ({ id, text: id.slice(0, 40) })));
  const texts = async (): Promise<string[]> =>
    (await words().find({ order: { id: 'ASC' } })).map(({ id, text }) => `${id}=${text}`);

  it('reads all records where the server cuts its list', async () => {
    await fill(['a', 'b', 'c']);
    expect(await data.find('words', ['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    expect(sent).toEqual(['GET /words?filter[id][in]=a,b,c', 'GET /words/c']);
  });

  describe('with ids that end in a backslash', () => {
    const IDS = ['a\\', 'b', 'a\\,', 'c\\\\', 'd'];
    beforeEach(() => fill([...IDS, 'a,b', 'other']));

    it('reads these records, and no others', async () => {
      expect((await data.find('batched-words', IDS)).toSorted()).toEqual(IDS.toSorted());
    });

    it('filters by them', async () => {
      expect((await data.filter('in', IDS)).toSorted()).toEqual(IDS.toSorted());
      expect((await data.filter('nin', IDS)).toSorted()).toEqual(['a,b', 'other']);
      expect((await data.filter('between', ['a\\', 'b'])).toSorted()).toEqual(['a\\', 'a\\,', 'b'].toSorted());
    });

    it.each(['words', 'batched-words'])('[8.2] deletes these records of %s, and no others', async (resource) => {
      await data.remove(resource, IDS);
      expect(await texts()).toEqual(['a,b=a,b', 'other=other']);
    });
  });

  describe('with more ids than a query string holds', () => {
    it.each([
      ['urn:example:country:of:the:long:kind:', 100],
      ['ä,'.repeat(40), 40],
      ["%,!(');~ ".repeat(10), 40],
    ])('reads and deletes the records %j', async (prefix, count) => {
      const ids = Array.from({ length: count }, (_, at) => `${prefix}${at}`);
      await fill(ids);
      expect(await data.find('batched-words', ids)).toHaveLength(count);
      await data.remove('batched-words', ids);
      expect(await words().count()).toBe(0);
    });

    it('[8.2] changes them in one transaction', async () => {
      const ids = Array.from({ length: 100 }, (_, at) => `${'ä'.repeat(100)}${at}`);
      await fill(ids);
      await data.update('batched-words', ids, { text: 'new' });
      expect(sent).toEqual(['PATCH /batched-words/batch']);
    });

    it('[8.2] deletes records with keys of several columns', async () => {
      const places = service.dataSource.getRepository(Place);
      const rows = Array.from({ length: 100 }, (_, at) => ({
        shop: `${'s'.repeat(30)}${at}`,
        shelf: 'f'.repeat(36),
        name: '',
      }));
      await places.insert(rows);
      await data.remove(
        'places',
        rows.map(({ shop, shelf }) => `${shop},${shelf}`),
      );
      expect(await places.count()).toBe(0);
    });
  });

  describe('without batches', () => {
    const ids = ['a', 'b'];
    beforeEach(() => fill(ids));

    it.each(['without', 'with'])(
      'changes and deletes them one by one, %s a record that has the id "batch"',
      async (has) => {
        if (has === 'with') await words().insert({ id: 'batch', text: 'kept' });
        const rest = has === 'with' ? ['batch=kept'] : [];
        await data.update('words', ids, { text: 'new' });
        expect(await texts()).toEqual(['a=new', 'b=new', ...rest]);
        expect(sent).toEqual(['PATCH /words/batch', 'PATCH /words/a', 'PATCH /words/b']);
        await open(service.url, fetch).remove('words', ids);
        expect(await texts()).toEqual(rest);
      },
    );

    it('takes a missing record of a batch for what it is', async () => {
      const missing = data.update('batched-words', ['a', 'batch'], { text: 'new' });
      await expect(missing).rejects.toMatchObject({ message: 'Word with id batch not found' });
      expect(sent).toEqual(['PATCH /batched-words/batch']);
      expect(await texts()).toEqual(['a=a', 'b=b']);
    });
  });
});
