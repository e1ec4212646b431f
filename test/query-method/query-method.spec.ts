/** The option `enableQueryMethod`: `QUERY {endpoint}` answers what GET answers, with the query in its body. */
import { Get, Query, type MiddlewareConsumer } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import {
  cors,
  CrudController,
  CurrentUser,
  routesOf,
  type CrudOptions,
  type ListQuery,
  type Principal,
} from 'declarest';
import express from 'express';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { startCrud, type CrudService } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { bootError, linesOf, PLATFORMS } from '../harness/platforms.js';
import { documentOf } from '../openapi/described.js';

@Entity()
class Album {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @OneToMany('Tune', 'album') tunes!: Relation<Tune>[];
}

@Entity()
class Tune {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 200 }) name!: string;
  @Column({ type: 'integer', default: 0 }) price!: number;
  @Column({ type: 'boolean', default: false }) isOld!: boolean;
  @ManyToOne(() => Album, (album) => album.tunes) album!: Album;
}

const OPTIONS = {
  entity: Tune,
  enableQueryMethod: true,
  enablePagination: 'both',
  filterableFields: true,
  sortableFields: ['name', 'price'],
  includableRelations: ['album'],
} as const satisfies Omit<CrudOptions<Tune>, 'endpoint'>;

class Tunes extends CrudController({ ...OPTIONS, endpoint: '/api/tunes' }) {}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

const bodyOf = ({ json }: Answer): unknown => ({ ...json, timestamp: undefined });

/** Pairs of a query string and a JSON body that mean the same. */
const SAME: readonly (readonly [string, object])[] = [
  ['', {}],
  ['page=2&size=2', { page: 2, size: 2 }],
  ['sort=-price,name', { sort: '-price,name' }],
  ['sort=-price&sort=name', { sort: ['-price', 'name'] }],
  [
    'fields=id,name&fields[album]=name&include=album',
    { fields: 'id,name', 'fields[album]': 'name', include: ['album'] },
  ],
  ['filter[price][gte]=2&filter[price][lt]=4', { filter: { price: { gte: 2, lt: 4 } } }],
  ['filter[name]=a', { filter: { name: 'a' } }],
  ['filter[isOld]=true', { filter: { isOld: true } }],
  ['filter[name][in]=a,b\\,c', { filter: { name: { in: ['a', 'b,c'] } } }],
  ['filter[name][in]=a,d', { filter: { name: { in: 'a,d' } } }],
  ['filter[name][in]=e\\', { filter: { name: { in: ['e\\'] } } }],
  ['filter[price][between]=2,3', { filter: { price: { between: [2, 3] } } }],
  ['filter[name]=b,c', { filter: { name: { eq: ['b,c'] } } }],
  [
    'filter[or][0][price][gt]=3&filter[or][1][name]=a&filter[not][isOld]=true',
    { filter: { or: [{ price: { gt: 3 } }, { name: 'a' }], not: { isOld: true } } },
  ],
  ['filter[price]=2&filter[price][gte]=1', { 'filter[price]': 2, filter: { price: { gte: 1 } } }],
  ['pagination=cursor&size=2', { pagination: 'cursor', size: 2 }],
  ['count=none', { count: 'none' }],
];

describe.each(PLATFORMS)('QUERY on %s', (platform) => {
  let service: CrudService;
  const ask = (path: string, body: string | object, type = JSON_TYPE): Promise<Answer> =>
    service.send('QUERY', path, {
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': type },
    });

  class Guarded extends CrudController({ ...OPTIONS, endpoint: '/api/guarded' }) {
    @Get()
    override async findAll(query: ListQuery, @CurrentUser() user?: Principal): Promise<unknown> {
      const found = await super.findAll(query);
      return { ...(found as object), user: user?.id ?? null, overridden: true };
    }
  }
  class Narrow extends CrudController({
    ...OPTIONS,
    endpoint: '/api/narrow',
    filterableFields: ['name'],
    scope: () => true,
  }) {
    @Get()
    override async findAll(): Promise<unknown> {
      return super.findAll(...([] as unknown as [ListQuery]));
    }
  }

  beforeAll(async () => {
    class CrossOrigin {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(cors('https://tunes.example')).forRoutes(...routesOf(Tunes));
      }
    }
    service = await startCrud(platform, {
      resources: [
        Tunes,
        Guarded,
        Narrow,
        { ...OPTIONS, endpoint: '/api/off', enableQueryMethod: false },
        { ...OPTIONS, endpoint: '/api/albums/:albumId/tunes' },
        { ...OPTIONS, endpoint: '/api/keyed', enableIdempotency: true },
        { entity: Album, endpoint: '/api/albums' },
      ],
      imports: [{ module: CrossOrigin }],
      isDescribed: false,
    });
    await service.dataSource.getRepository(Album).save([{ name: 'first' }, { name: 'second' }]);
    const names = ['a', 'b,c', 'd', 'e\\', 'f'];
    await service.dataSource
      .getRepository(Tune)
      .save(names.map((name, index) => ({ name, price: index, isOld: index === 4, album: { id: index < 3 ? 1 : 2 } })));
  });
  afterAll(() => service.close());

  it.each(SAME)('answers as GET ?%s', async (query, json) => {
    const wanted = await service.get(`/api/tunes?${query}`);
    expect(wanted.status).toBe(200);
    const answers = [
      await ask('/api/tunes', json),
      // An empty body has no parameters to say, and is refused.
      ...(query === ''
        ? []
        : [await ask('/api/tunes', query, FORM), await ask('/api/tunes', query, `${FORM}; charset=UTF-8`)]),
    ];
    for (const answer of answers) {
      expect([answer.status, bodyOf(answer)]).toEqual([200, bodyOf(wanted)]);
      expect(answer.headers['x-total-count']).toBe(wanted.headers['x-total-count']);
      expect(answer.headers['content-type']).toBe(wanted.headers['content-type']);
      expect(answer.headers['accept-query']).toBe('application/json, application/x-www-form-urlencoded');
      expect(wanted.headers['accept-query']).toBe(answer.headers['accept-query']);
    }
  });

  it('finds what GET cannot be asked for, because its query string is too long', async () => {
    const or = Array.from({ length: 45 }, (_, index) => ({ name: index === 40 ? 'd' : 'x'.repeat(150 + index) }));
    const query = or.map(({ name }, index) => `filter[or][${index}][name]=${name}`).join('&');
    expect((await service.get(`/api/tunes?${query}`)).status).toBe(400);
    for (const answer of [await ask('/api/tunes', query, FORM), await ask('/api/tunes', { filter: { or } })]) {
      expect(answer.status).toBe(200);
      expect(answer.json.data.map(({ name }: Tune) => name)).toEqual(['d']);
    }
  });

  it('runs the override of the list, with all its parameters', async () => {
    const answer = await ask('/api/guarded', { filter: { name: 'a' } });
    expect(answer.json).toMatchObject({ overridden: true, user: null, data: [{ name: 'a' }] });
    expect(answer.json.data).toHaveLength(1);
    // This one calls the operation without the query, which is that of the request.
    expect((await ask('/api/narrow', { filter: { name: 'd' } })).json.data.map(({ name }: Tune) => name)).toEqual([
      'd',
    ]);
    expect((await ask('/api/narrow', { filter: { price: 1 } })).status).toBe(400);
  });

  it('restricts nested endpoints to their path', async () => {
    const inside = await ask('/api/albums/2/tunes', { sort: '-name' });
    expect(inside.json.data.map(({ name }: Tune) => name)).toEqual(['f', 'e\\']);
    expect((await ask('/api/albums/x/tunes', {})).status).toBe((await service.get('/api/albums/x/tunes')).status);
  });

  it('is no write for resources with Idempotency-Key', async () => {
    const sent = { body: '{}', headers: { 'content-type': JSON_TYPE, 'idempotency-key': 'k' } };
    const answer = await service.send('QUERY', '/api/keyed', sent);
    expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([200, undefined]);
  });

  it.each(['/api/off', '/api/tunes/1', '/api/albums', '/api/none', '/api/tunes/search'])(
    'is 404 for %s',
    async (path) => {
      const answer = await ask(path, {});
      expect([answer.status, answer.headers['accept-query']]).toEqual([404, undefined]);
    },
  );

  // Browsers compare the case, and `fetch` keeps that of the page.
  it.each(['QUERY', 'query'])(
    'is allowed by preflights for %s, whose headers let pages read Accept-Query',
    async (method) => {
      const { status, headers } = await service.send('OPTIONS', '/api/tunes', {
        headers: { origin: 'https://tunes.example', 'access-control-request-method': method },
      });
      expect(status).toBe(204);
      expect(headers['access-control-allow-methods']?.split(', ')).toContain(method);
      expect(headers['access-control-allow-methods']).toBe('GET, POST, PUT, DELETE, OPTIONS, PATCH, QUERY, query');
      expect(headers['access-control-expose-headers']).toMatch(/, Accept-Query$/);
      const answer = await ask('/api/tunes', 'x', 'text/plain');
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([415, 'https://tunes.example']);
    },
  );

  it('is not in the document, as OpenAPI 3.1 has no operation for it', () => {
    const { paths } = documentOf(service.app);
    expect(Object.keys(paths['/api/tunes'] ?? {})).toEqual(['get', 'post']);
    expect(JSON.stringify(paths)).not.toContain('ByQuery');
  });

  it('answers failures in the shape of the resource', async () => {
    const answer = await ask('/api/tunes', { sort: 'colour', colour: 1 });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ success: false, message: 'The query is not valid' });
    expect(answer.json.errors.map(({ field }: { field: string }) => field)).toEqual(['colour', 'sort']);
  });
});

describe.each(DATABASES)('QUERY on %s', (database) => {
  it('finds what GET finds', async () => {
    const service = await startCrud('express', {
      database,
      resources: [Tunes, { entity: Album, endpoint: '/api/albums' }],
    });
    await service.dataSource.getRepository(Tune).save(['a', 'B', 'c'].map((name, price) => ({ name, price })));
    const json = { filter: { not: { name: { in: ['a'] } } }, sort: ['-name'] };
    const answer = await service.send('QUERY', '/api/tunes', { json });
    expect(bodyOf(answer)).toEqual(bodyOf(await service.get('/api/tunes?filter[not][name][in]=a&sort=-name')));
    expect(answer.json.data).toHaveLength(2);
    await service.close();
  });
});

describe('QUERY in other applications', () => {
  const start = (platform: (typeof PLATFORMS)[number], parts: Partial<Parameters<typeof startCrud>[1]>) =>
    startCrud(platform, {
      resources: [Tunes, { entity: Album, endpoint: '/api/albums' }],
      isDescribed: false,
      ...parts,
    });

  it.each(PLATFORMS)('has the global prefix and the version of the list on %s', async (platform) => {
    class Versions extends CrudController({ ...OPTIONS, endpoint: '/tunes' }) {}
    const { Controller } = await import('@nestjs/common');
    Controller({ path: '/tunes', version: '2' })(Versions);
    const service = await start(platform, {
      resources: [Versions, { entity: Album, endpoint: '/albums' }],
      configure: (app) => void app.setGlobalPrefix('base').enableVersioning(),
    });
    expect((await service.send('QUERY', '/base/v2/tunes', { json: {} })).status).toBe(200);
    expect((await service.send('QUERY', '/tunes', { json: {} })).status).toBe(404);
    await service.close();
  });

  it.each(PLATFORMS)('works with rawBody: true on %s', async (platform) => {
    const service = await start(platform, { nestOptions: { rawBody: true } });
    expect((await service.send('QUERY', '/api/tunes', { json: { size: 1 } })).json.metadata.pagination.size).toBe(1);
    await service.close();
  });

  it('needs no body parser of the application on Express', async () => {
    const service = await start('express', { nestOptions: { bodyParser: false } });
    const form = { body: 'size=1', headers: { 'content-type': FORM } };
    for (const sent of [{ json: { size: 1 } }, form])
      expect((await service.send('QUERY', '/api/tunes', sent)).json.metadata.pagination.size).toBe(1);
    await service.close();
  });

  it('reads bodies that parsers in front of it have read on Express', async () => {
    const server = express().use(express.json(), express.urlencoded({ extended: true }));
    const service = await start('express', { adapter: new ExpressAdapter(server) });
    await service.dataSource.getRepository(Tune).save(['a', 'b,c', 'd'].map((name) => ({ name })));
    const form = { body: 'filter[name][in]=a,b\\,c&size=1', headers: { 'content-type': FORM } };
    for (const sent of [{ json: { filter: { name: { in: ['a', 'b,c'] } }, size: 1 } }, form]) {
      const { json } = await service.send('QUERY', '/api/tunes', sent);
      expect(json.metadata.pagination).toMatchObject({ size: 1, total: 2 });
    }
    await service.close();
  });

  it.each(PLATFORMS)('leaves QUERY routes of the application alone on %s', async (platform) => {
    const { Body, Controller, QueryMethod } = await import('@nestjs/common');
    class Own {
      answer(body: unknown): unknown {
        return { body };
      }
    }
    Controller('/own')(Own);
    QueryMethod()(
      Own.prototype,
      'answer',
      Object.getOwnPropertyDescriptor(Own.prototype, 'answer') as PropertyDescriptor,
    );
    Body()(Own.prototype, 'answer', 0);
    const service = await start(platform, { controllers: [Own] });
    const json = { text: 'x'.repeat(90_000) };
    expect((await service.send('QUERY', '/own', { json })).json).toEqual({ body: json });
    await service.close();
  });

  it('changes nothing where no resource has the option', async () => {
    const service = await start('express', {
      resources: [{ entity: Album, endpoint: '/api/albums' }],
      imports: [
        {
          module: class Cross {
            configure(consumer: MiddlewareConsumer): void {
              consumer.apply(cors()).forRoutes('*path');
            }
          },
        },
      ],
    });
    const { headers } = await service.get('/api/albums');
    expect(headers['accept-query']).toBeUndefined();
    expect(headers['access-control-allow-methods']).toBe('GET, POST, PUT, DELETE, OPTIONS, PATCH');
    expect(headers['access-control-expose-headers']).not.toContain('Accept-Query');
    expect((await service.send('QUERY', '/api/albums', { json: {} })).status).toBe(404);
    expect(linesOf(service.logs, 'warn')).toEqual([expect.stringContaining('Unpaginated list endpoints')]);
    await service.close();
  });
});

describe('the option enableQueryMethod', () => {
  it.each([['yes', 'CRUD option `enableQueryMethod` of Tune must be true or false, got "yes". Set one of the two.']])(
    'must not be %o',
    (value, message) => {
      const declare = () => CrudController({ ...OPTIONS, endpoint: '/x', enableQueryMethod: value as never });
      expect(declare).toThrow(message);
    },
  );

  it('needs findAll', () => {
    expect(() =>
      CrudController({
        ...OPTIONS,
        endpoint: '/x',
        enablePagination: false,
        operations: ['findById'],
      }),
    ).toThrow(
      'CRUD option `enableQueryMethod` of Tune must be used with findAll in `operations`, got `operations` without findAll.',
    );
  });

  const boot = (controller: new () => object) =>
    bootError('express', { controllers: [controller] }).catch((error: unknown) => error as Error);

  it('refuses an override that reads the query of the URL, or a member with the name of its method', async () => {
    class Reads extends CrudController({ ...OPTIONS, endpoint: '/x' }) {
      @Get()
      override async findAll(@Query() query: ListQuery): Promise<unknown> {
        return super.findAll(query);
      }
    }
    class Named extends CrudController({ ...OPTIONS, endpoint: '/x' }) {
      findAllByQuery(): void {}
    }
    expect((await boot(Reads)).message).toMatch(
      /^Reads\.findAll must be without @Query\(\), because `enableQueryMethod` is on, got a parameter with @Query\(\)\./,
    );
    expect((await boot(Named)).message).toBe(
      'Named.findAllByQuery must be left to `enableQueryMethod`, got a member with this name. Rename it.',
    );
  });
});
