/** The time to answer long inputs: no parameter, header or body is read in more than linear time. */
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
import { IdempotencyKey } from 'declarest';
import { bearer } from '../../lib/testing/client.js';
import { authModule } from '../access/ruled-app.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type RawAnswer, rawTarget, type RawRequestParts } from '../harness/raw-socket.js';
import { type CrudService, startCrud } from './service.js';

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
  let authorization: string;
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
          idempotency: true,
        },
      ],
    });
    const headers = await bearer(service.app, { sub: 1, roles: ['USER'] });
    authorization = `Authorization: ${headers['authorization']}`;
    await service.post('/items', { name: 'a'.repeat(20), price: 1, meta: { a: 1 } });
    await service.post('/items', { name: 'b', parentId: 1 });
  });
  afterAll(() => service.close());

  /** On a busy machine one answer may take long, but not each of three. */
  async function answer(target: string, parts?: RawRequestParts): Promise<RawAnswer> {
    let took = Infinity;
    for (let attempt = 0; ; attempt += 1) {
      const started = performance.now();
      const headers = [...(parts?.headers ?? [])];
      // The header itself may be what is long.
      if (!headers.some((header) => header.startsWith('Authorization'))) headers.push(authorization);
      const raw = await rawTarget(service.port, target, { ...parts, headers });
      took = Math.min(took, performance.now() - started);
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
