/** Requests of the client with the types of a document, exports, imports and uploads. */
import { createClient, Failure, type ImportResult } from 'declarest-client';
import { Column, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';

@Entity()
class Lamp {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
  @Column('integer') price!: number;
  @VersionColumn() version!: number;
}

interface Json<T> {
  content: { 'application/json': T };
}
interface Row {
  id: number;
  name: string;
  price: number;
  version: number;
}
interface NewLamp {
  name: string;
  price: number;
}
interface Params<Query = never> {
  query?: Query;
  header?: never;
  path?: never;
  cookie?: never;
}
interface OfRecord {
  query?: never;
  header?: { 'If-Match'?: string };
  path: { id: number };
  cookie?: never;
}
interface List {
  size?: number;
  sort?: ('name' | '-name' | 'price' | '-price')[];
  'filter[name][in]'?: string[];
  'filter[price][gte]'?: number;
}
interface Results<T> {
  data: ({ status: number; data: T } | { status: number; message: string })[];
}
interface Refused {
  400: Json<{ message: string; fields?: Record<string, string> }>;
}

/** What openapi-typescript writes of the document of this service, in short. */
interface paths {
  '/api/auth/me': { parameters: Params; get: object };
  '/api/lamps': {
    parameters: Params;
    get: { parameters: Params<List>; requestBody?: never; responses: { 200: Json<{ data: Row[] }> } & Refused };
    post: { parameters: Params; requestBody: Json<NewLamp>; responses: { 201: Json<{ data: Row }> } & Refused };
    delete?: never;
  };
  '/api/lamps/{id}': {
    parameters: Params;
    get: { parameters: OfRecord; requestBody?: never; responses: { 200: Json<{ data: Row }>; 304: object } };
    patch: {
      parameters: OfRecord;
      requestBody: Json<Partial<NewLamp>>;
      responses: { 200: Json<{ data: Row }> } & Refused;
    };
  };
  '/api/lamps/batch': {
    parameters: Params;
    post: {
      parameters: Params<{ atomic?: boolean }>;
      requestBody: Json<{ items: NewLamp[] }>;
      responses: { 201: Json<{ data: Row[] }>; 207: Json<Results<Row>> } & Refused;
    };
    delete: {
      parameters: { query: { ids: number[]; atomic?: boolean }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: Json<{ data: null }>; 207: Json<Results<null>> } & Refused;
    };
  };
  '/api/lamps/export': {
    parameters: Params;
    get: {
      parameters: { query: List & { format: 'csv' | 'ndjson' }; header?: never; path?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { content: { 'application/x-ndjson': string; 'text/csv': string } } } & Refused;
    };
  };
  '/api/lamps/import': {
    parameters: Params;
    post: {
      parameters: Params<{ atomic?: boolean }>;
      requestBody: { content: { 'application/x-ndjson': string; 'text/csv': string } };
      responses: { 200: { content: { 'application/x-ndjson': string } } } & Refused;
    };
  };
}

const failure = (promise: Promise<unknown>): Promise<Failure> =>
  promise.then(
    () => expect.unreachable(),
    (error: Failure) => error,
  );

const NDJSON = { 'Content-Type': 'application/x-ndjson' };
const CSV = { 'Content-Type': 'text/csv' };

async function all<T>(lines: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  const open = () => createClient<paths>(`${service.url}/api`);

  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: [Lamp],
      resources: [
        {
          entity: Lamp,
          endpoint: '/api/lamps',
          enablePagination: true,
          enableBatch: true,
          enableExport: true,
          enableImport: true,
          filterableFields: ['name', 'price'],
          sortableFields: ['name', 'price'],
        },
      ],
    });
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    await service.dataSource.getRepository(Lamp).clear();
    await service.dataSource.getRepository(Lamp).insert([
      { name: 'a,b', price: 5 },
      { name: 'a', price: 7 },
      { name: 'c', price: 7 },
    ]);
  });

  const namesOf = (rows: readonly { readonly name: string }[]): string[] => rows.map(({ name }) => name);

  it('reads, changes and writes a record of the version that it has read', async () => {
    const client = open();
    const { data: lamp } = await client.request('POST', 'lamps', { json: { name: 'd', price: 1 } });
    const params = { id: lamp.id };
    const { data: changed } = await client.request('PATCH', 'lamps/:id', { params, json: { price: 2 }, seen: lamp });
    const price: number = changed.price;
    expect(price).toBe(2);
    const stale = client.request('PATCH', 'lamps/:id', { params, json: { price: 3 }, seen: lamp });
    expect((await failure(stale)).status).toBe(412);
  });

  it('sends lists and groups of filters', async () => {
    const sort = ['-price', 'name'] as const;
    const { data: byPrice } = await open().request('GET', 'lamps', { query: { sort: [...sort], size: 2 } });
    expect(namesOf(byPrice)).toEqual(['a', 'c']);
    const { data: named } = await open().request('GET', 'lamps', { query: { 'filter[name][in]': ['a,b', 'c'] } });
    expect(namesOf(named)).toEqual(['a,b', 'c']);
    const query = { 'filter[or][0][price][gte]': 7, 'filter[or][1][name]': 'a,b', 'filter[not][name]': 'c' };
    expect(namesOf((await open().request('GET', 'lamps', { query })).data)).toEqual(['a,b', 'a']);
  });

  it('writes batches, as a whole or each item by itself', async () => {
    const client = open();
    const json = {
      items: [
        { name: 'e', price: 1 },
        { name: 'f', price: 2 },
      ],
    };
    const { data: created } = await client.request('POST', 'lamps/batch', { json });
    const ids: number[] = created.map(({ id }) => id);
    expect((await client.request('DELETE', 'lamps/batch', { query: { ids } })).data).toBeNull();
    const wrong = {
      items: [
        { name: 'g'.repeat(41), price: 1 },
        { name: 'h', price: 2 },
      ],
    };
    expect((await failure(client.request('POST', 'lamps/batch', { json: wrong }))).fields).toHaveProperty([
      'items[0].name',
    ]);
    const { data: results } = await client.request('POST', 'lamps/batch', { json: wrong, query: { atomic: false } });
    const statuses: number[] = results.map(({ status }) => status);
    expect(statuses).toEqual([400, 201]);
  });

  it('reads the records of an export as they arrive, and its CSV as a file', async () => {
    const names: string[] = [];
    const query = { sort: ['name' as const] };
    for await (const { name } of open().lines('GET', 'lamps/export', { query: { ...query, format: 'ndjson' } }))
      names.push(name);
    expect(names).toEqual(['a', 'a,b', 'c']);
    const response = await open().stream('GET', 'lamps/export', { query: { ...query, format: 'csv' } });
    expect((await response.text()).split('\r\n').slice(0, 3)).toEqual([
      'id,name,price,version',
      expect.stringMatching(/^\d+,a,7,1$/),
      expect.stringMatching(/^\d+,"a,b",5,1$/),
    ]);
    const csv = all(open().lines('GET', 'lamps/export', { query: { format: 'csv' } }));
    expect((await failure(csv)).message).toMatch(
      /for "lamps\/export" must be NDJSON\. Check the format of the query\.$/,
    );
    const refused = open().stream('GET', 'lamps/export', { query: { format: 'xml' as never } });
    expect((await failure(refused)).fields).toHaveProperty('format');
  });

  it('imports a file or a stream, and says what became of each line', async () => {
    const csv = new Blob(['name,price\nDesk lamp,30\nFloor lamp,much\n']);
    const lines = open().lines('POST', 'lamps/import', { body: csv, headers: CSV, query: { atomic: false } });
    const results: ImportResult<Row>[] = await all(lines);
    expect(results).toEqual([
      { line: 2, status: 201, data: { id: expect.any(Number), name: 'Desk lamp', price: 30, version: 1 } },
      expect.objectContaining({ line: 3, status: 400, errors: [expect.objectContaining({ field: 'price' })] }),
    ]);
    const body = new Blob(['{"name":"i","price":1}\n{"name":"j","price":2}\n']).stream();
    const stored = await all(open().lines('POST', 'lamps/import', { body: body as never, headers: NDJSON }));
    expect(stored.map(({ status, data }) => [status, data?.name])).toEqual([
      [201, 'i'],
      [201, 'j'],
    ]);
    const wrong = all(open().lines('POST', 'lamps/import', { body: csv, headers: CSV }));
    expect((await failure(wrong)).fields).toHaveProperty(['lines[3].price']);
  });
});

it('takes only what the document has', () => {
  const client = createClient<paths>('https://shop.example/api');
  const params = { id: 1 };
  const wrong = async () => [
    // @ts-expect-error The resource is called lamps.
    await client.request('GET', 'lamp'),
    // @ts-expect-error Paths are below the url.
    await client.request('GET', '/api/lamps'),
    // @ts-expect-error A lamp is not removed by itself.
    await client.request('DELETE', 'lamps/:id', { params }),
    // @ts-expect-error The path needs an id.
    await client.request('GET', 'lamps/:id'),
    // @ts-expect-error The id is a number.
    await client.request('GET', 'lamps/:id', { params: { id: '1' } }),
    // @ts-expect-error The list has no parameter of the path.
    await client.request('GET', 'lamps', { params }),
    // @ts-expect-error The list has no such parameter.
    await client.request('GET', 'lamps', { query: { colour: 'red' } }),
    // @ts-expect-error The list cannot be sorted by this field.
    await client.request('GET', 'lamps', { query: { sort: ['version'] } }),
    // @ts-expect-error A lamp has no colour.
    await client.request('PATCH', 'lamps/:id', { params, json: { colour: 'red' } }),
    // @ts-expect-error The price is a number.
    await client.request('PATCH', 'lamps/:id', { params, json: { price: '5' } }),
    // @ts-expect-error A new lamp needs a price.
    await client.request('POST', 'lamps', { json: { name: 'a' } }),
    // @ts-expect-error A new lamp has a body.
    await client.request('POST', 'lamps'),
    // @ts-expect-error A read has none.
    await client.request('GET', 'lamps', { json: {} }),
    // @ts-expect-error The deletion of a batch needs ids.
    await client.request('DELETE', 'lamps/batch', { query: {} }),
    // @ts-expect-error An item has no colour.
    await client.request('POST', 'lamps/batch', { json: { items: [{ name: 'a', price: 1, colour: 'red' }] } }),
    // @ts-expect-error An export needs a format.
    await client.stream('GET', 'lamps/export', {}),
    // @ts-expect-error An import takes a file.
    client.lines('POST', 'lamps/import', { json: {} }),
    // @ts-expect-error A record has no colour.
    (await client.request('GET', 'lamps/:id', { params })).data.colour,
    // @ts-expect-error Each item has a result.
    (await client.request('POST', 'lamps/batch', { json: { items: [] }, query: { atomic: false } })).data[0]?.name,
  ];
  expect(wrong).toBeTypeOf('function');
});

const LINES = { headers: { 'Content-Type': 'application/x-ndjson; charset=utf-8' } };
const answering = (body: ConstructorParameters<typeof Response>[0]) =>
  createClient('/api', { fetch: async () => new Response(body, LINES) });

it('reads lines whatever the pieces are in which they arrive', async () => {
  const bytes = new TextEncoder().encode('{"name":"ü"}\n\n{"name":"z"}');
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  expect(await all(answering(body as never).lines('GET', 'lamps/export'))).toEqual([{ name: 'ü' }, { name: 'z' }]);
});

it.each<[string, string, Error | undefined]>([
  ['its connection breaks', '{"name":"a"}\n', new TypeError('terminated')],
  ['its last line is cut', '{"name":"a"}\n{"na', undefined],
])('fails where %s, and takes half a file for no whole one', async (_, text, error) => {
  const pieces = [text];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.pop();
      if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece));
      else if (error) controller.error(error);
      else controller.close();
    },
  });
  const found: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const line of answering(body as never).lines('GET', 'lamps/export')) found.push(line);
  };
  const { status, message } = await failure(read());
  expect([status, message]).toEqual([
    0,
    expect.stringMatching(/^The answer from \/api\/lamps\/export for "lamps\/export" ended early \(.+\)\. Lines are/),
  ]);
  expect(found).toEqual([{ name: 'a' }]);
});

it('ends the request where the loop ends', async () => {
  const cancel = vi.fn();
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void =>
    controller.enqueue(new TextEncoder().encode('{"name":"a"}\n'));
  const body = new ReadableStream<Uint8Array>({ pull, cancel });
  for await (const line of answering(body as never).lines('GET', 'lamps/export')) {
    expect(line).toEqual({ name: 'a' });
    break;
  }
  expect(cancel).toHaveBeenCalledOnce();
});

it('repeats an upload whose token was refused, but not that of a stream', async () => {
  const uploads: (string | null)[] = [];
  const answer = (url: string, { headers, body }: RequestInit): Response => {
    const token = `x.${url.endsWith('/refresh') ? 'new' : 'old'}.x`;
    if (/(login|refresh)$/.test(url)) return Response.json({ data: { token, refreshToken: token, expiresIn: 900 } });
    const sent = new Headers(headers).get('Authorization');
    uploads.push(`${sent} ${body instanceof Blob}`);
    const isNew = sent === 'Bearer x.new.x';
    return Response.json(isNew ? { data: {} } : { error: 'Authentication required' }, { status: isNew ? 201 : 401 });
  };
  const fetch = (async (url, init = {}) => answer(String(url), init)) as typeof globalThis.fetch;
  const client = createClient('https://shop.example/api', { fetch });
  const file = new Blob(['x']);
  await client.login({});
  const { status, message, needsLogin } = await failure(
    client.request('POST', 'files', { body: file.stream() as never }),
  );
  expect([status, message, needsLogin]).toEqual([
    401,
    'The token was replaced while "files" was sent. Send it again, with another stream.',
    false,
  ]);
  expect(uploads).toEqual(['Bearer x.old.x false']);
  await client.request('POST', 'files', { body: file });
  await client.login({});
  await client.request('POST', 'files', { body: file });
  expect(uploads.slice(1)).toEqual(['Bearer x.new.x true', 'Bearer x.old.x true', 'Bearer x.new.x true']);
});
