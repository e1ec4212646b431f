/** ETag, If-Match and If-None-Match, and requests at the same time. */
import { Get, HttpCode, Param, Post, type Provider } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { CrudController, type JsonObject } from 'declarest';
import {
  BeforeRemove,
  BeforeUpdate,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  Repository,
  VersionColumn,
} from 'typeorm';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { StatementLog } from '../harness/statement-log.js';
import { crudError, type CrudService, failure, startCrud, wrongFields } from './service.js';
import { startTwins, type Twins } from './twins.js';

@Entity()
class Page {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @Column({ type: 'int', default: 0 })
  views!: number;

  @Column({ type: 'simple-json', nullable: true })
  layout!: unknown;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @VersionColumn()
  version!: number;
}

/** Its version is hidden from clients. */
@Entity()
class Sealed {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @VersionColumn({ select: false })
  version!: number;
}

@Entity()
class Loose {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;
}

const calls: string[] = [];

@Entity()
class Heard {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 20 })
  title!: string;

  @VersionColumn()
  version!: number;

  @BeforeUpdate()
  beforeUpdate(): void {
    calls.push('update');
  }

  @BeforeRemove()
  beforeRemove(): void {
    calls.push('remove');
  }
}

class PagesController extends CrudController({ entity: Page, endpoint: '/api/custom' }) {
  /** Answers another object. */
  @Get(':id')
  override async findById(id: string) {
    const found = await super.findById(id);
    return { ...found, data: { ...found.data, more: true } };
  }

  /** What `findById` gave is sent back by the code. */
  @Post(':id/view')
  @HttpCode(200)
  async view(@Param('id') id: string): Promise<unknown> {
    const { data } = await super.findById(id);
    return super.update(id, { ...data, views: data.views + 1 } as JsonObject);
  }
}

const ifMatch = (etag: string, json?: unknown) => ({
  headers: { 'if-match': etag },
  ...(json !== undefined && { json }),
});
const changed = (id: number) =>
  failure(`Page with id ${id} does not match If-Match: read it again and repeat the change`);
const counts = (answers: readonly Answer[]): Record<number, number> => {
  const found: Record<number, number> = {};
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1;
  return found;
};

describe.each(DATABASES)('on %s', (database) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins('express', {
      database,
      entities: [Page, Loose, Sealed],
      resources: [
        { entity: Page, endpoint: '/api/pages', enableRestore: true },
        { entity: Loose, endpoint: '/api/loose' },
        { entity: Sealed, endpoint: '/api/sealed' },
      ],
    });
  });
  beforeEach(async () => {
    await twins.empty();
    for (const path of ['pages', 'loose', 'sealed']) await twins.post(`/api/${path}`, { title: 'one' });
  });
  afterAll(() => twins.close());

  it('[8.5] returns 412 for an If-Match that does not match, and changes nothing', async () => {
    await twins.put('/api/pages/1', { title: 'two' });
    const { data } = (await twins.get('/api/pages/1')).json;
    expect(data.version).toBe(2);
    const never = [
      '"1"',
      'W/"1"',
      'w/"2"',
      'W/W/"2"',
      'W/2',
      '"W/2"',
      '2',
      '"2',
      '""',
      '"x"',
      '"02"',
      '"9999999999999999999"',
      '"1", "3"',
      '"2" "3"',
      '"1-gzip"',
      '"2-gzip-gzip"',
      '"2gzip"',
      '"2-GZIP"',
      '"2;br"',
      '"2--zstd"',
      '"2-lz4"',
      '"-gzip"',
      'W/"-br"',
      'W/"2-1S5+YnnoG35W8q4Kr4e8iE5vKoQ"',
      '',
      '*, "1"',
    ];
    for (const etag of never)
      for (const [method, json] of [
        ['PUT', { title: 'three' }],
        ['PATCH', { title: 'three' }],
        ['PATCH', { layout: { a: 1 } }],
        ['PATCH', {}],
        ['DELETE', undefined],
      ] as const)
        expect([etag, (await twins.send(method, '/api/pages/1', ifMatch(etag, json))).json]).toEqual([
          etag,
          changed(1),
        ]);
    expect((await twins.get('/api/pages/1')).json.data).toEqual(data);
  });

  it.each([
    'W/"1"',
    '"1-gzip"',
    '"1-br"',
    '"1-zstd"',
    '"1-deflate"',
    '"1--gzip"',
    '"1;gzip"',
    'W/"1-gzip"',
    'W/"9" , "1-br"',
    '"9-gzip",W/"8",W/"1"',
  ])('[8.5] [issue 16] changes the record once for If-Match: %s, as a proxy that compresses sends it', async (etag) => {
    const send = async (method: string, json?: unknown) =>
      (await twins.send(method, '/api/pages/1', ifMatch(etag, json))).status;
    expect(await send('PATCH', { title: 'two' })).toBe(200);
    expect([await send('PATCH', { title: 'three' }), await send('PUT', { title: 'x' }), await send('DELETE')]).toEqual([
      412, 412, 412,
    ]);
    expect((await twins.get('/api/pages/1')).json.data).toMatchObject({ title: 'two', version: 2 });
  });

  it('[8.5] changes the record where one ETag of If-Match matches, or for *', async () => {
    const send = async (method: string, etag: string, json?: unknown) =>
      (await twins.send(method, '/api/pages/1', ifMatch(etag, json))).status;
    expect(await send('PUT', '"1"', { title: 'two' })).toBe(200);
    expect(await send('PATCH', '"9", W/"8" ,"a,b",, "2"', { title: 'three' })).toBe(200);
    expect(await send('PATCH', ' * ', { layout: { a: 1 } })).toBe(200);
    expect(await send('DELETE', '"4"')).toBe(200);
    expect((await twins.get('/api/pages/1')).status).toBe(404);
  });

  it('[8.5] a PATCH of the stored document is no new version, and needs the version all the same', async () => {
    for (const layout of [[1, { a: 2 }], 5, null, { a: { b: 1 } }]) {
      const { version } = (await twins.send('PATCH', '/api/pages/1', { json: { title: 'two', layout } })).json.data;
      const stale = await twins.send('PATCH', '/api/pages/1', ifMatch('"1"', { layout }));
      const same = await twins.send('PATCH', '/api/pages/1', ifMatch(`"${version}"`, { layout }));
      expect([stale.status, same.status, same.json.data.version]).toEqual([412, 200, version]);
    }
  });

  it('[8.5] refuses in the order of a wrong id, 404, 412, a wrong body', async () => {
    const status = async (id: unknown, etag: string, json: unknown) =>
      (await twins.send('PATCH', `/api/pages/${String(id)}`, ifMatch(etag, json))).status;
    expect(await status('x', '"8"', { colour: 1 })).toBe(400);
    expect(await status(99, '"8"', { colour: 1 })).toBe(404);
    expect(await status(99, '*', { title: 'x' })).toBe(404);
    expect(await status(1, '"8"', { colour: 1 })).toBe(412);
    expect(await status(1, '"8"', { layout: { a: 1 }, title: null })).toBe(412);
    expect(await status(1, '"1"', { colour: 1 })).toBe(400);
  });

  it('[8.5] returns 412 for an entity without a version, or with a hidden one, other than for *', async () => {
    for (const path of ['/api/loose/1', '/api/sealed/1']) {
      expect((await twins.compiled.get(path)).headers['etag']).not.toMatch(/^"/);
      for (const [method, json] of [['PUT', { title: 'x' }], ['PATCH', { title: 'x' }], ['DELETE']] as const)
        expect((await twins.send(method, path, ifMatch('"1"', json))).status).toBe(412);
      expect((await twins.send('PATCH', path, ifMatch('*', { title: 'x' }))).status).toBe(200);
      expect((await twins.send('DELETE', path, ifMatch('*'))).status).toBe(200);
    }
  });

  it.each(['compiled', 'repository'] as const)(
    '[8.5] of 50 parallel changes with one If-Match one is made on the path %s',
    async (path) => {
      const service = twins[path];
      const race = async (method: string, etag: string, jsonOf: (index: number) => unknown) =>
        counts(
          await Promise.all(
            Array.from({ length: 50 }, (_, index) =>
              service.send(method, '/api/pages/1', ifMatch(etag, jsonOf(index))),
            ),
          ),
        );
      expect(await race('PATCH', '"1"', (index) => ({ title: `t${index}` }))).toEqual({ 200: 1, 412: 49 });
      expect(await race('PATCH', '"2"', (index) => ({ layout: { [`k${index}`]: 1 } }))).toEqual({ 200: 1, 412: 49 });
      expect(await race('PUT', '"3"', (index) => ({ title: `t${index}` }))).toEqual({ 200: 1, 412: 49 });
      expect((await service.get('/api/pages/1')).json.data.version).toBe(4);
      expect(await race('DELETE', '"4"', () => undefined)).toEqual({ 200: 1, 404: 49 });
    },
  );

  it('[8.5] asks for the version in the statement that changes the record', async () => {
    const logger = new StatementLog();
    const service = await startCrud('express', {
      database,
      path: 'compiled',
      entities: [Page],
      resources: [{ entity: Page, endpoint: '/api/pages' }],
      dataSource: { logger },
    });
    const { json } = await service.post('/api/pages', { title: 'one' });
    for (const [method, body] of [['PATCH', { title: 'two' }], ['PUT', { title: 'three' }], ['DELETE']] as const) {
      const etag = (await service.get(`/api/pages/${json.data.id}`)).headers['etag'] as string;
      logger.take();
      expect((await service.send(method, `/api/pages/${json.data.id}`, ifMatch(etag, body))).status).toBe(200);
      const [first] = logger.take().filter(([sql]) => !/^(BEGIN|START|SET)/i.test(sql));
      expect(first?.[0]).toMatch(/^(UPDATE|DELETE)[^]* WHERE [^]*version/);
    }
    await service.close();
  });

  it('[8.5] calls no listener for a change that If-Match refuses', async () => {
    const service = await startCrud('express', {
      database,
      entities: [Heard],
      resources: [{ entity: Heard, endpoint: '/api/heard' }],
    });
    await service.post('/api/heard', { title: 'a' });
    calls.length = 0;
    const send = async (method: string, etag: string, json?: unknown) =>
      (await service.send(method, '/api/heard/1', ifMatch(etag, json))).status;
    expect(await send('PUT', '"2"', { title: 'b' })).toBe(412);
    expect(await send('PATCH', '"2"', { title: 'b' })).toBe(412);
    expect(await send('DELETE', '"2"')).toBe(412);
    expect(calls).toEqual([]);
    expect(await send('PATCH', '"1"', { title: 'b' })).toBe(200);
    const deletes = await Promise.all(
      Array.from({ length: 5 }, () => service.send('DELETE', '/api/heard/1', ifMatch('"2"'))),
    );
    expect(counts(deletes)).toEqual({ 200: 1, 404: 4 });
    // A listener of a deletion runs before the row is locked, and so perhaps for those that come too late.
    expect(new Set(calls)).toEqual(new Set(['update', 'remove']));
    await service.close();
  });

  it('[8.5] holds where a provider replaces the repository', async () => {
    const replaced: Provider = {
      provide: getRepositoryToken(Page),
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => {
        class Pages extends Repository<Page> {
          override createQueryBuilder(...args: Parameters<Repository<Page>['createQueryBuilder']>) {
            return super.createQueryBuilder(...args);
          }
        }
        return new Pages(Page, dataSource.manager);
      },
    };
    class Controller extends CrudController({
      entity: Page,
      endpoint: '/api/pages',
      enableRestore: true,
      deletedRoles: [],
    }) {}
    const service = await startCrud('express', {
      database,
      entities: [Page],
      resources: [],
      controllers: [Controller],
      providers: [replaced],
    });
    const { headers } = await service.post('/api/pages', { title: 'one' });
    expect(headers['etag']).toBe('"1"');
    const patches = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        service.send('PATCH', '/api/pages/1', ifMatch('"1"', { layout: { [`k${index}`]: 1 } })),
      ),
    );
    expect(counts(patches)).toEqual({ 200: 1, 412: 9 });
    const merges = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        service.send('PATCH', '/api/pages/1', { json: { layout: { [`m${index}`]: 1 } } }),
      ),
    );
    expect(counts(merges)).toEqual({ 200: 5 });
    expect(Object.keys((await service.get('/api/pages/1')).json.data.layout)).toHaveLength(6);
    expect((await service.del('/api/pages/1')).status).toBe(200);
    expect((await service.get('/api/pages/1')).status).toBe(404);
    expect((await service.send('POST', '/api/pages/1/restore')).status).toBe(200);
    expect((await service.get('/api/pages/1')).status).toBe(200);
    await service.close();
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: [Page, Loose],
      resources: [
        { entity: Page, endpoint: '/api/pages', enableRestore: true },
        { entity: Loose, endpoint: '/api/loose', enableExists: true },
        PagesController,
      ],
    });
    await service.post('/api/loose', { title: 'one' });
  });
  afterAll(() => service.close());

  const made = async (): Promise<number> => (await service.post('/api/pages', { title: 'one' })).json.data.id;
  const etagOf = ({ headers }: Answer): string => headers['etag'] ?? 'none';

  it('[8.5] sends a strong ETag with every whole record', async () => {
    const created = await service.post('/api/pages', { title: 'one' });
    const path = created.headers['location']!;
    expect(etagOf(created)).toBe('"1"');
    expect(etagOf(await service.get(path))).toBe('"1"');
    expect(etagOf(await service.send('HEAD', path))).toBe('"1"');
    expect(etagOf(await service.put(path, { title: 'two' }))).toBe('"2"');
    expect(etagOf(await service.send('PATCH', path, { json: { views: 1 } }))).toBe('"3"');
    await service.del(path);
    expect(etagOf(await service.send('POST', `${path}/restore`))).toBe('"5"');
    expect(etagOf(await service.get(path))).toBe('"5"');
  });

  it('[8.5] sends none with anything else', async () => {
    const id = await made();
    for (const path of [`/api/pages/${id}?fields=id,title,version`, '/api/pages', '/api/loose/1', `/api/custom/${id}`])
      expect(etagOf(await service.get(path))).not.toMatch(/^"/);
    expect(etagOf(await service.del(`/api/pages/${id}`))).not.toMatch(/^"/);
  });

  it('[8.5] returns 304 without a body to GET and HEAD with a matching If-None-Match', async () => {
    const id = await made();
    const get = (header: string, method = 'GET', path = `/api/pages/${id}`) =>
      service.send(method, path, { headers: { 'if-none-match': header } });
    const changed = ['"1-gzip"', 'W/"1-br"', '"1;gzip"', '"1--gzip"', '"x", "1-zstd"'];
    for (const header of ['"1"', 'W/"1"', '*', '"x", W/"1"', ',"1"', ...changed]) {
      const answer = await get(header);
      expect([header, answer.status, answer.text, etagOf(answer)]).toEqual([header, 304, '', '"1"']);
    }
    expect((await get('"1"', 'HEAD')).status).toBe(304);
    for (const header of ['"2"', '1', '"1', 'w/"1"', '', '"2-gzip"', '"1gzip"', '"1-lz4"', '"-gzip"'])
      expect([header, (await get(header)).status, (await get(header)).json?.data.id]).toEqual([header, 200, id]);
    expect((await get('"1"', 'GET', `/api/pages/${id}?fields=title`)).status).toBe(200);
    expect((await get('"1"', 'GET', '/api/pages/99999')).status).toBe(404);
    const changes = { headers: { 'if-none-match': '"1"' }, json: { title: 'x' } };
    expect((await service.send('PATCH', `/api/pages/${id}`, changes)).status).toBe(200);
  });

  it('[8.5] [8.9] lets an override send what super.findById returned to super.update', async () => {
    const id = await made();
    const answer = await service.send('POST', `/api/custom/${id}/view`);
    expect([answer.status, answer.json.data.views, etagOf(answer)]).toEqual([200, 1, '"2"']);
  });

  it('[8.5] with requireIfMatch returns 428 without If-Match, after 404 and before a wrong body', async () => {
    const strict = await startCrud(platform, {
      entities: [Page],
      resources: [{ entity: Page, endpoint: '/api/pages', requireIfMatch: true }],
    });
    const { status } = await strict.post('/api/pages', { title: 'one' });
    expect(status).toBe(201);
    for (const [method, json] of [
      ['PUT', { title: 'x' }],
      ['PATCH', { colour: 1 }],
      ['PATCH', {}],
      ['DELETE'],
    ] as const) {
      const answer = await strict.send(method, '/api/pages/1', json && { json });
      expect([answer.status, answer.json]).toEqual([
        428,
        failure('Changing Page with id 1 requires If-Match: send the ETag that GET returned'),
      ]);
      expect((await strict.send(method, '/api/pages/9', json && { json })).status).toBe(404);
    }
    expect((await strict.send('PATCH', '/api/pages/1', ifMatch('"1"', { title: 'x' }))).status).toBe(200);
    expect((await strict.send('PATCH', '/api/pages/1', ifMatch('"1"', { title: 'y' }))).status).toBe(412);
    expect(wrongFields(await strict.send('PATCH', '/api/pages/1', ifMatch('*', { colour: 1 })))).toEqual(['colour']);
    expect((await strict.send('DELETE', '/api/pages/1', ifMatch('*'))).status).toBe(200);
    await strict.close();
  });

  it('[8.5] refuses requireIfMatch for an entity without a version', async () => {
    const { message } = await crudError(platform, {
      entities: [Loose],
      resources: [{ entity: Loose, endpoint: '/api/loose', requireIfMatch: true }],
    });
    expect(message).toContain('`requireIfMatch` needs a @VersionColumn() on Loose. Declare the column');
  });
});

class Size {
  @Column({ default: 0 })
  width!: number;

  @Column({ default: 0 })
  height!: number;
}

@Entity()
class Account {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ default: 0 })
  a!: number;

  @Column({ default: 0 })
  b!: number;

  @Column({ default: 0 })
  c!: number;

  @Column({ type: 'varchar', length: 10, nullable: true })
  d!: string | null;

  @Column(() => Size)
  size!: Size;

  @VersionColumn()
  version!: number;
}

@Entity()
class Name {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true, length: 20 })
  name!: string;
}

const START = { a: 0, b: 0, c: 0, d: 'start', size: { width: 0, height: 0 } };
// Each changes what the other leaves as it is at the start: a write of the differences only would mix them.
const FIRST = { a: 1, b: 0, c: 1, d: null, size: { width: 1, height: 0 } };
const SECOND = { a: 0, b: 2, c: 2, d: 'start', size: { width: 0, height: 2 } };

describe.each(DATABASES)('requests at the same time without conditions, on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('fastify', {
      database,
      entities: [Account, Name],
      resources: [
        { entity: Account, endpoint: '/api/accounts' },
        { entity: Name, endpoint: '/api/names' },
      ],
    });
  });
  afterAll(() => service.close());

  it('[4.6] concurrent PUTs never mix', async () => {
    const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
    const path = `/api/accounts/${id}`;
    const outcomes = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      await service.put(path, START);
      const answers = await Promise.all(
        (round % 2 ? [FIRST, SECOND] : [SECOND, FIRST]).map((body) => service.put(path, body)),
      );
      for (const { status, json } of answers) {
        const { id: _id, version: _version, ...rest } = (json.data ?? {}) as Record<string, unknown>;
        expect(status).toBe(200);
        expect([FIRST, SECOND]).toContainEqual(rest);
      }
      const { id: _id, version: _version, ...rest } = (await service.get(path)).json.data;
      expect([FIRST, SECOND]).toContainEqual(rest);
      outcomes.add(JSON.stringify(rest));
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  it('[4.6] the version counts every one of many PUTs at once', async () => {
    const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
    await Promise.all(Array.from({ length: 20 }, (_, a) => service.put(`/api/accounts/${id}`, { ...START, a })));
    expect((await service.get(`/api/accounts/${id}`)).json.data.version).toBe(21);
  });

  it('[4.6] a PUT at the same time as a DELETE never brings a record back', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
      const path = `/api/accounts/${id}`;
      const [updated, deleted] = await Promise.all([service.put(path, FIRST), service.del(path)]);
      expect([200, 404]).toContain(updated.status);
      expect(deleted.status).toBe(200);
      expect((await service.get(path)).status).toBe(404);
    }
  });

  it('[4.1] of two DELETEs at once one is 200 and the other 404', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = (await service.post('/api/accounts', START)).json.data as { id: number };
      const answers = await Promise.all([1, 2].map(() => service.del(`/api/accounts/${id}`)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    }
  });

  it('[4.3] of many records at once with one unique value one is created, and the others are 409', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.post('/api/names', { name: 'Ann' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect((await service.get('/api/names')).json.data).toHaveLength(1);
  });

  it('[4.1] of many records created at once each answer has its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => service.post('/api/names', { name: `n${index}` })),
    );
    expect(answers.map(({ json }) => json.data.name)).toEqual(Array.from({ length: 20 }, (_, index) => `n${index}`));
    expect(new Set(answers.map(({ headers }) => headers['location'])).size).toBe(20);
  });
});
