/** The option `enablePageLinks`: the `Link` header of pages by number and by cursor. */
import { Get } from '@nestjs/common';
import { CrudController, type CrudOptions, type ListQuery } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud, type CrudService } from '../crud/service.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';

@Entity()
class Tune {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 200 })
  name!: string;
}

const OPTIONS = {
  entity: Tune,
  enablePageLinks: true,
  enableSearch: true,
  searchableFields: ['name'],
  sortableFields: ['name'],
  filterableFields: ['name'],
} as const satisfies Omit<CrudOptions<Tune>, 'endpoint'>;

class OldTunes extends CrudController({
  ...OPTIONS,
  endpoint: '/api/old',
  enablePagination: true,
  deprecated: { since: '2026-01-31', link: '/docs' },
}) {
  @Get()
  override async findAll(query: ListQuery): Promise<unknown> {
    return super.findAll(query);
  }
}

/** The references by their relations. */
function linksOf({
  headers,
}: {
  readonly headers: Readonly<Record<string, string>>;
}): Record<string, string> | undefined {
  const { link } = headers;
  if (link === undefined) return undefined;
  return Object.fromEntries([...link.matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, target, name]) => [name, target]));
}

describe.each(PLATFORMS)('pages on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      resources: [
        { ...OPTIONS, endpoint: '/api/numbered', enablePagination: true },
        { ...OPTIONS, endpoint: '/api/cursors', enablePagination: 'cursor' },
        { ...OPTIONS, endpoint: '/api/both', enablePagination: 'both', enableIdempotency: true },
        { ...OPTIONS, endpoint: '/api/off', enablePagination: true, enablePageLinks: false },
        OldTunes,
      ],
    });
    const names = Array.from({ length: 5 }, (_, index) => ({ name: `tune ${index}` }));
    await service.dataSource.getRepository(Tune).insert(names);
  });
  afterAll(() => service.close());

  it.each<[string, Record<string, string>]>([
    ['?size=2', { first: '?size=2&page=1', next: '?size=2&page=2', last: '?size=2&page=3' }],
    [
      '?page=2&size=2',
      { first: '?size=2&page=1', prev: '?size=2&page=1', next: '?size=2&page=3', last: '?size=2&page=3' },
    ],
    ['?size=2&page=3', { first: '?size=2&page=1', prev: '?size=2&page=2', last: '?size=2&page=3' }],
    ['?size=2&page=9', { first: '?size=2&page=1', prev: '?size=2&page=3', last: '?size=2&page=3' }],
    ['', { first: '?page=1', last: '?page=1' }],
    ['?filter[name]=none', { first: '?filter[name]=none&page=1', last: '?filter[name]=none&page=1' }],
    ['?size=2&count=none', { first: '?size=2&count=none&page=1', next: '?size=2&count=none&page=2' }],
    ['?size=2&count=none&page=3', { first: '?size=2&count=none&page=1', prev: '?size=2&count=none&page=2' }],
    [
      '/search?name=tune&size=3&sort=-name',
      {
        first: '?name=tune&size=3&sort=-name&page=1',
        next: '?name=tune&size=3&sort=-name&page=2',
        last: '?name=tune&size=3&sort=-name&page=2',
      },
    ],
  ])('by number have the relations that exist: %o', async (query, links) => {
    const answer = await service.get(`/api/numbered${query}`);
    expect([answer.status, linksOf(answer)]).toEqual([200, links]);
    expect(linksOf(await service.send('HEAD', `/api/numbered${query}`))).toEqual(links);
  });

  it.each([
    ['/api/cursors?size=2', '?size=2'],
    ['/api/both?pagination=cursor&size=2', '?pagination=cursor&size=2'],
  ])('by cursor are followed from %s to the end', async (start, first) => {
    const [path = ''] = start.split('?');
    const names: string[] = [];
    let link: string | undefined = start.slice(path.length);
    for (let count = 0; link !== undefined; count += 1) {
      const answer = await service.get(path + link);
      names.push(...answer.json.data.map(({ name }: Tune) => name));
      const links = linksOf(answer);
      expect(Object.keys(links ?? {})).toEqual(answer.json.metadata.pagination.hasNext ? ['first', 'next'] : ['first']);
      if (count === 0) expect(links?.['first']).toBe(first);
      const begun = await service.get(path + links?.['first']);
      expect(begun.json.metadata.pagination).toMatchObject({ size: 2, hasNext: true });
      expect(begun.json.data[0].name).toBe('tune 0');
      link = links?.['next'];
    }
    expect(names).toEqual(['tune 0', 'tune 1', 'tune 2', 'tune 3', 'tune 4']);
  });

  it('by cursor lead to the first page by cursor, where clients choose', async () => {
    const { json } = await service.get('/api/both?pagination=cursor&size=2');
    const answer = await service.get(`/api/both?size=2&after=${json.metadata.pagination.next}`);
    expect(linksOf(answer)).toMatchObject({ first: '?size=2&pagination=cursor' });
  });

  it('keep the query as it was sent, without what could end the header', async () => {
    const query = 'filter%5Bname%5D%5Bcontains%5D=t%20n+%26e"<>\\^`{|}&p%61ge=2&size=1';
    const { status, headers } = await service.get(`/api/numbered?${query}`);
    const kept = 'filter%5Bname%5D%5Bcontains%5D=t%20n+%26e%22%3C%3E%5C%5E%60%7B%7C%7D&size=1&page=1';
    expect([status, headers['link']]).toEqual([
      200,
      ['first', 'prev', 'last'].map((name) => `<?${kept}>; rel="${name}"`).join(', '),
    ]);
  });

  it('do not name the host, whatever the request says', async () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
    const answer = await service.send('GET', '/api/numbered', { headers });
    expect(answer.headers['link']).toBe('<?page=1>; rel="first", <?page=1>; rel="last"');
  });

  it('have no links for a query that is long', async () => {
    const answer = await service.get(`/api/numbered?filter[name]=${'a'.repeat(700)}`);
    expect([answer.status, answer.headers['link']]).toEqual([200, undefined]);
  });

  it('keep the links of a deprecated resource, also of an override', async () => {
    const { headers } = await service.get('/api/old');
    expect(headers['link']).toBe('</docs>; rel="deprecation", <?page=1>; rel="first", <?page=1>; rel="last"');
  });

  it.each(['/api/off?size=2', '/api/numbered/1', '/api/numbered?page=0', '/api/both/1'])(
    'are the only answers with links, and %s has none',
    async (path) => {
      const { headers } = await service.get(path);
      expect(headers['link']).toBeUndefined();
    },
  );
});

describe.each(DATABASES)('pages with an estimated total on %s', (database) => {
  it.each(PLATFORMS)('have no last page, unless the database counts, on %s', async (platform) => {
    const resources = [{ ...OPTIONS, endpoint: '/api/tunes', enablePagination: true as const }];
    const service = await startCrud(platform, { database, resources });
    await service.dataSource.getRepository(Tune).insert(Array.from({ length: 5 }, () => ({ name: 'tune' })));
    const answer = await service.get('/api/tunes?size=2&count=estimated');
    const last = database === 'sqlite' ? { last: '?size=2&count=estimated&page=3' } : {};
    const others = { first: '?size=2&count=estimated&page=1', next: '?size=2&count=estimated&page=2' };
    expect(linksOf(answer)).toEqual({ ...others, ...last });
    await service.close();
  });
});

it('the option enablePageLinks needs enablePagination', () => {
  const refused =
    '`enablePageLinks` of Tune must be used together with enablePagination, got no enablePagination. Set enablePagination or leave enablePageLinks out.';
  expect(() => CrudController({ entity: Tune, endpoint: '/tunes', enablePageLinks: true })).toThrow(refused);
});
