/** Imports of files: what an export wrote on each database, refused lines, and uploads over real sockets. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Post } from '@nestjs/common';
import { CrudController, type HookContext, type HookValues } from 'declarest';
import { IsEmail } from 'class-validator';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { type Answer, request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM, PLATFORMS } from '../harness/platforms.js';
import { type CrudService, failure, startCrud, wrongFields } from './service.js';
import { startShop, type Shop } from '../harness/shop.js';

class Size {
  @Column({ type: 'int', nullable: true }) width!: number | null;
}

@Entity()
class Mark {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) text!: string;
}

@Entity()
class Ware {
  @PrimaryColumn() id!: number;
  @Column({ length: 40, unique: true }) name!: string;
  @Column({ type: 'varchar', nullable: true }) note!: string | null;
  @Column({ type: 'int', default: 7 }) stock!: number;
  @Column({ type: 'decimal', precision: 10, scale: 2, nullable: true }) price!: string | null;
  @Column({ type: 'bigint', nullable: true }) serial!: string | null;
  @Column({ type: 'float', nullable: true }) weight!: number | null;
  @Column({ type: Boolean, nullable: true }) fragile!: boolean | null;
  @Column({ type: 'simple-json', nullable: true }) extra!: unknown;
  @Column({ type: 'simple-array', nullable: true }) words!: string[] | null;
  @Column({ type: 'date', nullable: true }) day!: string | null;
  @Column(() => Size) size!: Size;
  @ManyToOne(() => Mark, { nullable: true }) mark!: Mark | null;
  @ManyToMany(() => Mark) @JoinTable() marks!: Mark[];
}

@Entity()
class Copy extends Ware {}

@Entity()
class Contact {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40, unique: true }) @IsEmail() email!: string;
  @Column({ length: 20, default: 'none' }) group!: string;
}

@Entity()
class Hooked {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40, unique: true }) name!: string;
}

class HookedController extends CrudController({ entity: Hooked, endpoint: '/api/hooked', enableImport: true }) {
  static readonly seen: string[] = [];

  override beforeCreate(values: HookValues<Hooked>, _context: HookContext): void {
    HookedController.seen.push(String(values.name));
  }
}

@Controller('/api/own')
class Own {
  @Post('files')
  files(): string {
    return 'mine';
  }
}

const WARES = [
  { id: 1, name: '=1+1', note: '', stock: 0, price: '-1.50', serial: '-9007199254740993', weight: 1.5, fragile: true },
  { id: 2, name: 'a,b', note: 'two\nlines "said"', extra: { '=a': ['b', null] }, words: ['x', 'y'], day: '2026-01-31' },
  { id: 3, name: '123', note: 'null', extra: 'text', fragile: false, size: { width: 4 }, markId: 1, marksIds: [1, 2] },
  { id: 4, name: 'ä 🦊 \u2028 end', note: 'true', weight: 1e21, extra: 5, marksIds: [] },
];

const ARE_LINES = { headers: { 'content-type': 'application/x-ndjson' } };
const IS_CSV = { headers: { 'content-type': 'text/csv' } };

const linesOf = ({ status, text, headers }: Answer): unknown[] => {
  expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
};

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    const options = {
      enableExport: true,
      enableImport: true,
      linkableRelations: ['marks'],
      sortableFields: ['id'],
    } as const;
    service = await startCrud(ONE_PLATFORM[0] ?? 'express', {
      database,
      entities: [Mark, Ware, Copy, Contact],
      resources: [
        { entity: Mark, endpoint: '/api/marks', enableBatch: true },
        { entity: Ware, endpoint: '/api/wares', ...options },
        { entity: Copy, endpoint: '/api/copies', ...options },
        { entity: Contact, endpoint: '/api/contacts', enableImport: true, enableCount: true, sortableFields: ['id'] },
      ],
      isDescribed: false,
    });
    await service.post('/api/marks/batch', { items: [{ text: 'a' }, { text: 'b' }] });
    for (const ware of WARES) expect((await service.post('/api/wares', ware)).status).toBe(201);
  });
  afterAll(() => service.close());

  it.each([
    ['ndjson', 'application/x-ndjson'],
    ['csv', 'text/csv; charset=utf-8; header=present'],
  ])('stores what an export wrote as %s', async (format, type) => {
    await service.dataSource.createQueryBuilder().delete().from(Copy).execute();
    const { text: body } = await service.get(`/api/wares/export?format=${format}`);
    const answer = await service.send('POST', '/api/copies/import', { body, headers: { 'content-type': type } });
    expect(linesOf(answer)).toMatchObject(WARES.map(({ id }) => ({ status: 201, data: { id } })));
    const [wares, copies] = await Promise.all(['wares', 'copies'].map((path) => service.get(`/api/${path}?sort=id`)));
    expect(copies?.json.data).toEqual(wares?.json.data);
  });

  it('answers each line with the record that is stored, defaults included', async () => {
    const body = 'email,group\r\nann@shop.example,\r\nbob@shop.example,"friends"\r\n';
    const answer = await service.send('POST', '/api/contacts/import', { body, ...IS_CSV });
    const [ann, bob] = (await service.get('/api/contacts?sort=id')).json.data as object[];
    expect(ann).toMatchObject({ email: 'ann@shop.example', group: 'none' });
    expect(linesOf(answer)).toEqual([
      { line: 2, status: 201, data: ann },
      { line: 3, status: 201, data: bob },
    ]);
  });

  it('stores nothing where a line is wrong or in conflict, and names the line', async () => {
    const count = async (): Promise<number> => (await service.get('/api/contacts/count')).json.data.count as number;
    const before = await count();
    const wrong = '{"email":"new@shop.example"}\n\n{"email":"none"}\n{"colour":1,"email":"c@shop.example"}\nnone\n[]';
    const refused = await service.send('POST', '/api/contacts/import', { body: wrong, ...ARE_LINES });
    expect(wrongFields(refused)).toEqual(['lines[3].email', 'lines[4].colour', 'lines[5]', 'lines[6]']);
    const taken = '{"email":"new@shop.example"}\n{"email":"ann@shop.example"}\n';
    const conflict = await service.send('POST', '/api/contacts/import', { body: taken, ...ARE_LINES });
    expect([conflict.status, conflict.json]).toMatchObject([409, { fields: { email: expect.any(String) as string } }]);
    expect(await count()).toBe(before);
  });

  it('stores each line by itself with atomic=false', async () => {
    const emails = Array.from({ length: 1_203 }, (_, index) => `user${index}@shop.example`);
    const wrong = new Map([
      [3, { email: 'none' }],
      [700, { email: 'user0@shop.example' }],
      [1_202, { email: 'last@shop.example', colour: 1 }],
    ]);
    const body = emails.map((email, index) => JSON.stringify(wrong.get(index) ?? { email })).join('\r\n');
    const answer = await service.send('POST', '/api/contacts/import?atomic=false', { body, ...ARE_LINES });
    const results = linesOf(answer) as { line: number; status: number; data?: { email: string } }[];
    expect(results.map(({ line }) => line)).toEqual(emails.map((_, index) => index + 1));
    expect(results.filter(({ status }) => status !== 201)).toMatchObject([
      { line: 4, status: 400, errors: [{ field: 'email' }] },
      { line: 701, status: 409, fields: { email: 'is already taken' } },
      { line: 1_203, status: 400, errors: [{ field: 'colour' }] },
    ]);
    const stored = results.flatMap(({ data }) => data?.email ?? []);
    expect(stored).toEqual(emails.filter((_, index) => !wrong.has(index)));
  });

  it.each([
    ['a column that is no field', 'email,colour\na@shop.example,1\n', ['colour']],
    ['a column twice', 'email,group,email\na@shop.example,1,b@shop.example\n', ['email']],
    ['a line with other cells', 'email,group\na@shop.example\n', ['lines[2]']],
    ['a quote that does not end', 'email,group\n"a@shop.example,b\n', ['lines[2]']],
    ['a column that the server sets', 'id,email\n5,a@shop.example\n', ['lines[2].id']],
  ])('refuses CSV with %s', async (_, body, fields) => {
    expect(wrongFields(await service.send('POST', '/api/contacts/import', { body, ...IS_CSV }))).toEqual(fields);
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('declarest-import-'));
  let known: string[];
  beforeAll(async () => {
    known = folders();
    service = await startCrud(platform, {
      entities: [Contact, Hooked],
      resources: [
        { entity: Contact, endpoint: '/api/contacts', enableImport: true, enableCount: true },
        HookedController,
      ],
      controllers: [Own],
      isDescribed: false,
    });
  });
  afterEach(async () => {
    // The file of an answer is removed when the answer has been sent.
    while (folders().some((name) => !known.includes(name))) await delay(5);
  });
  afterAll(() => service.close());

  it.each([
    [415, 'application/json', 'The file must be application/x-ndjson or text/csv in UTF-8', '{}'],
    [415, 'text/csv; charset=latin1', 'The file must be application/x-ndjson or text/csv in UTF-8', 'email\n'],
    [400, 'text/csv', 'The file is empty', ''],
    [400, 'text/csv', 'The file must be in UTF-8', Buffer.from('email\n\xE9\n', 'latin1')],
  ])('answers %i for %s: %s', async (status, type, message, body) => {
    const answer = await service.send('POST', '/api/contacts/import', { body, headers: { 'content-type': type } });
    expect([answer.status, answer.json]).toEqual([status, failure(message)]);
  });

  it('leaves other routes as they are', async () => {
    const own = await service.send('POST', '/api/own/files', { body: 'a,b', ...IS_CSV });
    expect(own.status).toBe(platform === 'express' ? 201 : 415);
    expect((await service.send('POST', '/api/contacts', { body: 'a,b', ...IS_CSV })).status).toBe(415);
    expect((await service.send('POST', '/api/none', { body: 'a,b', ...IS_CSV })).status).toBe(404);
    expect((await service.send('POST', '/api/hooked', { json: { name: 'z' } })).status).toBe(201);
  });

  it('stores nothing of an upload that ends early, and logs no error', async () => {
    const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1' });
    await once(socket, 'connect');
    const head =
      'POST /api/contacts/import HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-ndjson\r\nContent-Length: 999\r\n\r\n';
    socket.write(`${head}{"email":"early@shop.example"}\n`);
    while (folders().every((name) => known.includes(name))) await delay(5);
    socket.destroy();
    while (folders().some((name) => !known.includes(name))) await delay(5);
    expect((await service.get('/api/contacts/count')).json.data.count).toBe(0);
    expect(service.logs.filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('answers 503 where no temporary file can be created, and logs the cause once', async () => {
    vi.stubEnv('TMPDIR', '/none');
    try {
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const answer = await service.send('POST', '/api/contacts/import', { body: '{}', ...ARE_LINES });
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
        expect(answer.json).toEqual(failure('The server is busy, try again'));
      }
    } finally {
      vi.unstubAllEnvs();
    }
    expect(service.logs.filter((line) => line.startsWith('error'))).toEqual([expect.stringContaining('ENOENT')]);
    expect((await service.send('POST', '/api/contacts/import', { body: '{}', ...ARE_LINES })).status).toBe(400);
  });

  it('refuses a large file while it is sent', async () => {
    const body = Buffer.alloc(2 ** 24, 0xff);
    const answer = await fetch(`${service.url}/api/contacts/import`, { method: 'POST', body, ...ARE_LINES });
    expect([answer.status, await answer.json()]).toEqual([400, failure('The file must be in UTF-8')]);
  });

  it('calls a hook once for each line with atomic=false', async () => {
    HookedController.seen.length = 0;
    const body = '{"name":"a"}\n{"name":"a"}\n{"name":"b"}\n';
    const answer = await service.send('POST', '/api/hooked/import?atomic=false', { body, ...ARE_LINES });
    expect(linesOf(answer)).toMatchObject([{ status: 201 }, { status: 409 }, { status: 201 }]);
    expect(HookedController.seen).toEqual(['a', 'a', 'b']);
  });

  it.each([
    ['10,000 records', Array.from({ length: 10_001 }, (_, index) => `{"email":"u${index}@shop.example"}`).join('\n')],
    ['32 MiB', `{"email":"u@shop.example"}\n${' '.repeat(2 ** 25)}`],
  ])('refuses more than %s with atomic=true', async (_, body) => {
    const answer = await service.send('POST', '/api/contacts/import', { body, ...ARE_LINES });
    const message = 'The file must have at most 10000 records in 33554432 bytes; send atomic=false for more';
    expect([answer.status, answer.json]).toEqual([400, failure(message)]);
  });
});

describe.each(ONE_PLATFORM)('for a caller with limits, on %s', (platform) => {
  let shop: Shop;
  let token: string;
  const send = (body: string, query = '', sender = token): Promise<Answer> =>
    request(shop.url, 'POST', `/api/products/import${query}`, { body, ...ARE_LINES, token: sender });
  beforeAll(async () => {
    shop = await startShop(platform, {
      overridden: false,
      products: {
        enableImport: true,
        scope: ({ user }) => user?.roles.includes('ADMIN') === true || { stock: 5 },
        fieldPermissions: { description: { read: ['ADMIN'], write: ['ADMIN'] } },
      },
    });
    token = await shop.register();
  });
  afterAll(() => shop.close());

  it('needs a user as POST does', async () => {
    const { url } = shop;
    expect((await request(url, 'POST', '/api/products/import', { body: '{}', ...ARE_LINES })).status).toBe(401);
  });

  it('stores no record outside of the scope, and no field that the caller may not write', async () => {
    const lamp = '{"name":"Lamp","price":3,"stock":5}\n';
    const outside = '{"name":"Chair","price":3,"stock":6}\n';
    const hidden = '{"name":"Bed","price":3,"stock":5,"description":"x"}\n';
    expect((await send(lamp + outside)).status).toBe(403);
    expect(wrongFields(await send(lamp + hidden))).toEqual(['lines[2].description']);
    const results = linesOf(await send(lamp + outside + hidden, '?atomic=false'));
    expect(results).toMatchObject([{ status: 201, data: { name: 'Lamp' } }, { status: 403 }, { status: 400 }]);
    const admin = await shop.admin();
    const { json } = await request(shop.url, 'GET', '/api/products', { token: admin });
    expect(json.data).toMatchObject([{ name: 'Lamp', stock: 5, description: null }]);
  });
});
