/** The option `deprecated`: the headers of its routes, the OpenAPI document, and what is refused at startup. */
import { Get, type MiddlewareConsumer, Module } from '@nestjs/common';
import { cors, CrudController, type CrudOptions, type ListQuery, routesOf } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud, type CrudService } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { documentOf } from '../openapi/described.js';

@Entity()
class Song {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;
}

class OldSongs extends CrudController({
  entity: Song,
  endpoint: '/api/v1/songs',
  deprecated: [
    { since: '2023-07-01', sunset: '2024-06-30T23:59:59+02:00', link: 'https://songs.example/v2?a=b' },
    { since: '2030-01-31T09:30:15.900Z', operations: ['delete', 'patch'] },
  ],
}) {
  @Get()
  override async findAll(query: ListQuery): Promise<unknown> {
    return super.findAll(query);
  }

  @Get('hits')
  hits(): string[] {
    return [];
  }
}

class Songs extends CrudController({
  entity: Song,
  endpoint: '/api/v2/songs',
  enableSearch: true,
  searchableFields: ['title'],
  enableIdempotency: true,
  deprecated: { since: '2026-02-01', link: '/docs/search', operations: ['search'] },
}) {}

@Module({})
class CrossOrigin {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(cors('https://songs.example')).forRoutes(...routesOf(OldSongs));
  }
}

const NAMES = ['deprecation', 'sunset', 'link'];
const announced = ({ status, headers }: Answer): unknown[] => [status, ...NAMES.map((name) => headers[name])];

const V2 = '<https://songs.example/v2?a=b>; rel="deprecation", <https://songs.example/v2?a=b>; rel="sunset"';
const ALL = ['@1688169600', 'Sun, 30 Jun 2024 21:59:59 GMT', V2];

describe.each(PLATFORMS)('deprecated resources on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    const resources = [OldSongs, Songs, { entity: Song, endpoint: '/api/songs' }];
    service = await startCrud(platform, {
      resources,
      imports: [CrossOrigin],
      isDescribed: (path) => path !== '/api/v1/songs/hits',
    });
    await service.post('/api/songs', { title: 'Hush' });
  });
  afterAll(() => service.close());

  it.each<[string, string, unknown, number]>([
    ['GET', '/api/v1/songs', undefined, 200],
    ['HEAD', '/api/v1/songs', undefined, 200],
    ['GET', '/api/v1/songs/1', undefined, 200],
    ['GET', '/api/v1/songs/7', undefined, 404],
    ['GET', '/api/v1/songs?size=1', undefined, 400],
    ['POST', '/api/v1/songs', { title: 'Help' }, 201],
    ['POST', '/api/v1/songs', { title: 7 }, 400],
    ['GET', '/api/v1/songs/hits', undefined, 200],
  ])('are announced by %s %s with status %o %i', async (method, path, json, status) => {
    const answer = await service.send(method, path, json === undefined ? {} : { json });
    expect(announced(answer)).toEqual([status, ...ALL]);
  });

  it('have other headers where an entry names the operation', async () => {
    const answer = await service.send('PATCH', '/api/v1/songs/1', { json: {} });
    expect(announced(answer)).toEqual([200, '@1896082215', undefined, undefined]);
    const search = await service.get('/api/v2/songs/search?title=hush');
    expect(announced(search)).toEqual([200, '@1769904000', undefined, '</docs/search>; rel="deprecation"']);
  });

  it.each(['/api/v2/songs', '/api/v2/songs/1', '/api/songs', '/api/songs/1'])('send nothing for %s', async (path) => {
    expect(announced(await service.get(path))).toEqual([200, undefined, undefined, undefined]);
  });

  it('are deprecated in the document', () => {
    const { paths } = documentOf(service.app);
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, { deprecated?: boolean }>).map(
        ([verb, each]) => [`${verb} ${path}`, each.deprecated] as const,
      ),
    );
    const deprecated = operations.filter(([, each]) => each === true).map(([place]) => place);
    const ofOld = operations
      .map(([place]) => place)
      .filter((place) => place.includes('/v1/') && !place.includes('hits'));
    expect(deprecated.toSorted()).toEqual([...ofOld, 'get /api/v2/songs/search'].toSorted());
    expect(operations.filter(([, each]) => each === false)).toEqual([]);
  });

  it('let pages of another origin read the headers', async () => {
    const { headers } = await service.get('/api/v1/songs');
    expect(headers['access-control-expose-headers']).toMatch(/, X-Total-Count, Deprecation, Sunset, Link$/);
  });
});

describe('the option deprecated', () => {
  const since = '2026-01-31';
  it.each<[string, unknown, string]>([
    [
      'an object',
      'soon',
      '`deprecated` of Song must be an object { since, sunset, link, operations }, or an array of them, got "soon". Give',
    ],
    ['a beginning', { sunset: since }, 'must be an object { since, sunset, link, operations }'],
    ['known members', { since, until: since }, 'must be an object { since, sunset, link, operations }'],
    [
      'a day of the calendar',
      { since: '2026-02-30' },
      '`deprecated.since` of Song must be a date such as "2026-01-31", or a date-time such as "2026-01-31T09:30:00Z", got "2026-02-30". Correct it.',
    ],
    ['a date-time with an offset', { since: '2026-01-31T09:30:00' }, '`deprecated.since` of Song must be a date'],
    ['an hour that exists', { since, sunset: '2026-01-31T25:00:00Z' }, '`deprecated.sunset` of Song must be a date'],
    [
      'a sunset behind the beginning',
      { since, sunset: '2026-01-30' },
      '`deprecated.sunset` of Song must be a date from `since` on (2026-01-31), got "2026-01-30". Correct one of the two.',
    ],
    [
      'a URL',
      { since, link: 'docs' },
      '`deprecated.link` of Song must be an http or https URL, or a path that begins with "/", got "docs". Give',
    ],
    ['a URL without a break of the header', { since, link: '/a>; rel="next"' }, '`deprecated.link` of Song must be'],
    ['another URL than of a script', { since, link: 'javascript:alert(1)' }, '`deprecated.link` of Song must be'],
    [
      'known operations',
      { since, operations: ['search'] },
      '`deprecated.operations` of Song must be names of operations: findAll, findById',
    ],
    ['an operation', { since, operations: [] }, 'must be an object { since, sunset, link, operations }'],
    [
      'each operation once',
      [
        { since, operations: ['create'] },
        { since, operations: ['create'] },
      ],
      'must be an array that covers each operation once, got "create" twice. Remove one of the two.',
    ],
    [
      'one entry for the others',
      [{ since }, { since }],
      'got an entry without `operations` twice. Remove one of the two.',
    ],
  ])('needs %s: %o', (_, deprecated, sentence) => {
    const options = { entity: Song, endpoint: '/songs', deprecated } as CrudOptions<Song>;
    expect(() => CrudController(options)).toThrow(sentence);
  });
});
