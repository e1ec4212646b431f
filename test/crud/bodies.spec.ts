/** Bodies in which nothing was sent, or more than can be kept. */
import { IdempotencyKey } from 'declarest';
import {
  Column,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  type Relation,
  VersionColumn,
} from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { PASSWORD, startAuth } from '../auth/auth-app.js';
import { startCpuClock } from '../harness/cpu-time.js';
import { PLATFORMS } from '../harness/platforms.js';
import { authorizationOf } from '../harness/tokens.js';
import { type RawAnswer, rawRequest, type RawRequestParts, rawTarget } from '../harness/raw-socket.js';
import { type CrudService, failure, startCrud, success, wrongFields } from './service.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('varchar', { nullable: true })
  text!: string | null;

  @Column('simple-json', { nullable: true })
  extra!: unknown;
}

const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';
const EMPTY: [what: string, headers: string[], body: string][] = [
  ['of no bytes', ['Content-Length: 0'], ''],
  ['of no bytes, told in two digits', ['Content-Length: 00'], ''],
  ['of no chunks', [CHUNKED], '0\r\n\r\n'],
];
/** `[[[…]]]` */
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  let port: number;
  beforeAll(async () => {
    const resources = [{ entity: Note, endpoint: '/notes', enablePagination: true }];
    service = await startCrud(platform, { entities: [Note], resources });
    port = Number(new URL(service.url).port);
  });
  afterAll(() => service.close());

  /** With the framing that is given. */
  const sendRaw = async (method: string, target: string, headers: string[], body: string) => {
    const head = [`${method} ${target} HTTP/1.1`, 'Host: a', 'Connection: close', JSON_TYPE, ...headers];
    const { status, body: text } = await rawRequest(port, `${head.join('\r\n')}\r\n\r\n${body}`);
    return [status, JSON.parse(text)] as const;
  };

  it.each(EMPTY)('[4.3] a body %s is 400 and changes nothing', async (_, headers, body) => {
    const { json } = await service.post('/notes', { text: 'keep me' });
    const { id } = json.data;
    const refused = [
      400,
      failure(expect.stringMatching(/^The request body (must be a JSON object|is not a valid JSON object)/)),
    ];
    expect(await sendRaw('PUT', `/notes/${id}`, headers, body)).toEqual(refused);
    const before = (await service.get('/notes')).json.metadata.pagination.total;
    expect(await sendRaw('POST', '/notes', headers, body)).toEqual(refused);
    expect((await service.get(`/notes/${id}`)).json.data).toEqual({ id, text: 'keep me', extra: null });
    expect((await service.get('/notes')).json.metadata.pagination.total).toBe(before);
  });

  it('[4.3] an empty object is a body, however it is framed', async () => {
    expect((await sendRaw('POST', '/notes', ['Content-Length: 2'], '{}'))[0]).toBe(201);
    expect((await sendRaw('POST', '/notes', [CHUNKED], '2\r\n{}\r\n0\r\n\r\n'))[0]).toBe(201);
  });

  it('[4.3] what is nested too deeply is 400, wherever it stands', async () => {
    const { json } = await service.post('/notes', { text: 'a' });
    const tooDeep = [400, failure('The request body must be nested at most 100 levels deep')];
    for (const [method, path] of [
      ['POST', '/notes'],
      ['PUT', `/notes/${json.data.id}`],
    ] as const)
      for (const name of ['extra', 'id', 'text', 'unknown'])
        // The body is a level, too.
        for (const levels of [100, 20_000]) {
          const body = `{"${name}":${nested(levels)}}`;
          expect(await sendRaw(method, path, [`Content-Length: ${body.length}`], body)).toEqual(tooDeep);
        }
    const deepest = JSON.parse(nested(99)) as unknown;
    const { status, json: kept } = await service.post('/notes', { extra: deepest });
    expect([status, kept.data.extra]).toEqual([201, deepest]);
  });

  it('[4.3] a number that no double holds is 400 also within JSON, where it would be kept as null', async () => {
    for (const extra of ['1e400', '[1, -1e400]', '{"a": {"b": 1e400}}']) {
      const body = `{"extra": ${extra}}`;
      const [status, json] = await sendRaw('POST', '/notes', [`Content-Length: ${body.length}`], body);
      expect(wrongFields({ status, json } as never)).toEqual(['extra']);
    }
    const extra = { a: [1e308, -0.5, null, 'x', true] };
    expect((await service.post('/notes', { extra })).json).toEqual(
      success('Note created', { id: expect.any(Number), text: null, extra }),
    );
  });

  it('[2.3] the endpoints of the users read bodies in the same way', async () => {
    const app = await startAuth(platform);
    const at = Number(new URL(app.url).port);
    for (const target of ['/api/auth/login', '/api/auth/register']) {
      const empty = await rawTarget(at, target, { method: 'POST', headers: [JSON_TYPE], body: '' });
      expect([empty.status, JSON.parse(empty.body).message]).toEqual([
        400,
        expect.stringMatching(/^The request body (must be a JSON object|is not a valid JSON object)/),
      ]);
      const body = `{"email":${nested(20_000)},"password":"${PASSWORD}"}`;
      const deep = await rawTarget(at, target, { method: 'POST', headers: [JSON_TYPE], body });
      expect([deep.status, JSON.parse(deep.body).success]).toEqual([400, false]);
    }
    await app.close();
  });
});

@Entity()
class Item {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @Column({ type: 'int', nullable: true }) price!: number | null;
  @Column({ type: 'simple-json', nullable: true }) meta!: unknown;
  @VersionColumn() version!: number;
  @DeleteDateColumn() deletedAt!: Date | null;
  @ManyToOne(() => Item, ({ items }) => items, { nullable: true }) parent!: Relation<Item> | null;
  @OneToMany(() => Item, ({ parent }) => parent) items!: Item[];
}

const MAX_QUERY = 4_096;
/** Node accepts 16 kB of request line and headers. */
const MAX_HEAD = 15_000;
/** A quadratic algorithm takes seconds for 15,000 characters. */
const MAX_MS = 500;

const filled = (length: number, before: string, text: string, after = ''): string =>
  before + text.repeat(Math.floor((length - before.length - after.length) / text.length)) + after;

/** What is before, repeated and behind, of a parameter that has a meaning. */
const QUERIES: [path: string, before: string, text: string, after?: string][] = [
  ['', 'filter[name][in]=', 'a,'],
  ['', 'filter[name][in]=', '\\'],
  ['', 'filter[name][in]=', '\\,'],
  ['', 'filter[price]=', '1'],
  ['', 'filter[price]=', '0.'],
  ['', 'filter', '[not]', '[name]=a'],
  ['', 'filter', '[', '=a'],
  ['', 'filter', '[]', '=a'],
  ['', 'filter', '[or][0]', '[name]=a'],
  ['', 'filter[parent.name]=a', '&filter[or][1][name]=a'],
  ['', '', 'filter[a', '=1'],
  ['', 'sort=', '-'],
  ['', 'sort=', 'name,'],
  ['', 'sort=', '-name,price,'],
  ['', 'fields=', 'name,'],
  ['', 'fields=', '.'],
  ['', 'include=items&fields[items]=', 'name,'],
  ['', 'include=', 'items.'],
  ['', 'include=', 'items,parent,'],
  ['', 'after=', 'A'],
  ['', 'after=', 'W1sxL'],
  ['', 'page=', '9'],
  ['', 'size=', '0'],
  ['', 'page=1', '&page=1'],
  ['', 'a', '&a'],
  ['', '', '&'],
  ['', '', '='],
  ['', 'count=', '%'],
  ['', 'deleted=', '%00'],
  ['/search', 'q=', 'a'],
  ['/search', 'q=', '%25'],
  ['/search', 'name=', '!_'],
  ['/count', 'filter[name][startsWith]=', '_'],
  ['/aggregate', 'sum=', 'price,'],
  ['/aggregate', 'groupBy=', 'name,'],
  ['/aggregate', 'min=', 'price,'],
  ['/aggregate', 'avg=', ','],
  ['/export', 'format=csv&sort=', 'name,'],
  ['/export', 'format=', 'csv'],
  ['/1', 'include=', 'items,'],
];

const HEADERS: [name: string, before: string, text: string, after?: string][] = [
  ['If-Match', '', '"'],
  ['If-Match', '', '"1",'],
  ['If-Match', '', '"1" '],
  ['If-Match', '', 'W/'],
  ['If-Match', '', 'W/"'],
  ['If-Match', '"', '1'],
  ['If-Match', '"', '1', '"'],
  ['If-Match', '', ','],
  ['If-None-Match', '', '"1"'],
  ['If-None-Match', '', 'W/"1",'],
  ['If-None-Match', '*', ' '],
  ['Authorization', 'Bearer', ' '],
  ['Content-Type', 'application/json', ';a'],
  ['Content-Type', 'application/', 'merge-patch+'],
];

const IDS: [before: string, text: string][] = [
  ['', '9'],
  ['-', '0'],
  ['1', '.'],
  ['', '%31'],
  ['', '%'],
  ['', 'e'],
  ['exists/', '9'],
];

describe.each(PLATFORMS)('long inputs on %s', (platform) => {
  let service: CrudService;
  const authorization = `Authorization: ${authorizationOf({ roles: ['USER'] }).authorization}`;
  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: [Item, IdempotencyKey],
      imports: [authModule({ defaultAccess: 'public' })],
      resources: [
        {
          entity: Item,
          endpoint: '/items',
          enablePagination: 'both',
          enableSearch: true,
          enableExists: true,
          enableCount: true,
          enableExport: true,
          searchableFields: ['name'],
          filterableFields: ['name', 'price', 'parent.name'],
          sortableFields: ['name', 'price'],
          aggregatableFields: ['name', 'price'],
          includableRelations: ['items', 'parent', 'items.items'],
          enableBatch: true,
          deletedRoles: ['USER'],
          enableIdempotency: true,
        },
      ],
    });
    await service.post('/items', { name: 'a'.repeat(20), price: 1, meta: { a: 1 } });
    await service.post('/items', { name: 'b', parentId: 1 });
  });
  afterAll(() => service.close());

  /** On a busy machine one answer may take long, but not each of three. */
  async function answer(target: string, parts?: RawRequestParts): Promise<RawAnswer> {
    let took = Infinity;
    for (let attempt = 0; ; attempt += 1) {
      const milliseconds = startCpuClock();
      const headers = [...(parts?.headers ?? [])];
      // The header itself may be what is long.
      if (!headers.some((header) => header.startsWith('Authorization'))) headers.push(authorization);
      const raw = await rawTarget(service.port, target, { ...parts, headers });
      took = Math.min(took, milliseconds());
      if (took >= MAX_MS && attempt < 2) continue;
      expect([target.slice(0, 40), raw.status === undefined || raw.status >= 500, took < MAX_MS]).toEqual([
        target.slice(0, 40),
        false,
        true,
      ]);
      return raw;
    }
  }

  it.each(QUERIES)(
    '[7.9] a long query string is read in linear time: %s?%s…%s',
    async (path, before, text, after = '') => {
      const { status, body } = await answer(`/items${path}?${filled(MAX_HEAD, before, text, after)}`);
      expect([status, body]).toEqual([
        400,
        expect.stringContaining(`The query string must be at most ${MAX_QUERY} bytes long, got 1`),
      ]);
      await answer(`/items${path}?${filled(MAX_QUERY, before, text, after)}`);
    },
  );

  it.each([
    ['ids=', '1,'],
    ['ids=', '\\,'],
    ['atomic=', 't'],
    ['ids=1&purge=', 't'],
  ])('[7.9] [8.2] a long query string of a batch is read in linear time: %s%s…', async (before, text) => {
    for (const length of [MAX_QUERY, MAX_HEAD])
      expect((await answer(`/items/batch?${filled(length, before, text)}`, { method: 'DELETE' })).status).toBe(400);
  });

  it('[8.6] a long Idempotency-Key is 400', async () => {
    const headers = [`Idempotency-Key: ${'a'.repeat(MAX_HEAD)}`, 'Content-Type: application/json'];
    expect((await answer('/items', { method: 'POST', headers, body: '{"name":"a"}' })).status).toBe(400);
  });

  it.each(IDS)('[4.3] a long id is read in linear time: %s%s…', async (before, text) => {
    await answer(`/items/${filled(MAX_HEAD, before, text)}`);
    await answer(`/items/${filled(MAX_HEAD, before, text)}?include=items`, { method: 'DELETE' });
  });

  it.each(HEADERS)('[8.5] a long header is read in linear time: %s: %s%s…', async (name, before, text, after = '') => {
    const headers = [`${name}: ${filled(MAX_HEAD, before, text, after)}`];
    const json = name === 'Content-Type' ? [] : ['Content-Type: application/json'];
    await answer('/items/1', { headers });
    await answer('/items/1', { method: 'PATCH', headers: [...headers, ...json], body: '{"price":2}' });
  });

  it.each([
    ['nested objects', '{"meta":', '{"a":', '1', '}', '}'],
    ['nested arrays', '{"meta":', '[', '1', ']', '}'],
    ['a text', '{"name":"', 'a', '', '', '"}'],
    ['a number', '{"price":', '1', '', '', '}'],
    ['members', '{', '"a":1,', '"b":1', '', '}'],
    ['nulls', '{"meta":{', '"a":null,', '"b":1', '', '}}'],
  ])('[8.1] a long body is read in linear time: %s', async (_what, before, text, inner, closing, after) => {
    const count = Math.floor(16_000 / (text.length + closing.length));
    const body = before + text.repeat(count) + inner + closing.repeat(count) + after;
    for (const method of ['PATCH', 'PUT'])
      await answer('/items/2', { method, headers: ['Content-Type: application/json'], body });
    await answer('/items', { method: 'POST', headers: ['Content-Type: application/json'], body });
  });

  it('[7.9] 4,096 bytes of query string are accepted, and one more is 400', async () => {
    const sent = (bytes: number) => answer(`/items?${filled(bytes, 'filter[name]=', 'a')}`);
    const [within, beyond] = [await sent(MAX_QUERY), await sent(MAX_QUERY + 1)];
    expect([beyond.status, beyond.body]).toEqual([400, expect.stringContaining(`got ${MAX_QUERY + 1}`)]);
    expect([within.status, within.body]).toEqual([200, expect.stringContaining('"data":[]')]);
  });
});
