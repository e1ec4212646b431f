/** declarest-files: uploads and downloads under the scope, the owner and the fields of a record. */
import * as http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AuthModule, AuthUser, CrudModule, InvalidOptionError, SecurityConfig } from 'declarest';
import { as } from 'declarest/testing';
import { FileColumn, FileCrudController, findOrphans, type FileStorage, type StoredFile } from 'declarest-files';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { request } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';
import { ONE_PLATFORM, PLATFORMS } from '../harness/platforms.js';
import { authorizationOf, TEST_SECRET } from '../harness/tokens.js';
import { failure, startCrud, wrongFields } from '../crud/service.js';
import { JPEG, Letter, MAX_BYTES, PDF, PNG, startTickets, Ticket, type Tickets } from './tickets.js';

const STAFF = 'eve:STAFF';

const PLACES = DATABASES.flatMap((database) =>
  PLATFORMS.slice(database === 'sqlite' ? 0 : 1).map((platform) => ({ database, platform })),
);

describe.each(PLACES)('files on $platform and $database', ({ database, platform }) => {
  let service: Tickets;
  let path: string;
  beforeAll(async () => {
    service = await startTickets(platform, { database });
  });
  beforeEach(async () => {
    const { json } = await service.as('ann', 'POST', '/tickets', { title: 'Broken lamp' });
    path = `/tickets/${json.data.id}`;
  });
  afterAll(() => service.close());

  const photoOf = async (): Promise<StoredFile | null> => (await service.as('ann', 'GET', path)).json.data.photo;

  describe('an upload', () => {
    it('stores the bytes, and answers the record with their type, size and name', async () => {
      const { status, json, headers } = await service.upload(`${path}/photo?name=lamp%20%C3%A4.png`, PNG);
      expect([status, headers['etag']]).toEqual([200, '"2"']);
      expect(json).toMatchObject({ success: true, message: 'Ticket updated', data: { title: 'Broken lamp' } });
      expect(json.data.photo).toEqual({
        key: expect.stringMatching(/^ticket\/photo\/[\da-f-]{36}$/),
        type: 'image/png',
        size: PNG.length,
        name: 'lamp ä.png',
      });
      expect(await photoOf()).toEqual(json.data.photo);
      const other = await service.upload(`${path}/photo`, JPEG, { type: 'application/octet-stream' });
      expect(other.json.data.photo).toMatchObject({ type: 'image/jpeg', name: 'photo.jpg' });
    });

    it('is refused by the type of its bytes, and by its own type', async () => {
      const wrong = await service.upload(`${path}/photo`, PDF);
      expect([wrong.status, wrong.json]).toEqual([
        415,
        {
          ...failure('Ticket is not valid', { photo: 'must be image/png or image/jpeg, got application/pdf' }),
          errors: [{ field: 'photo', message: 'must be image/png or image/jpeg, got application/pdf' }],
        },
      ]);
      for (const body of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<!doctype html><script></script>', 'PNG'])
        expect((await service.upload(`${path}/photo`, body)).status).toBe(415);
      for (const type of ['application/pdf', 'application/json', 'text/plain', 'multipart/form-data; boundary=x'])
        expect([type, (await service.upload(`${path}/photo`, '{}', { type })).status]).toEqual([type, 415]);
      const packed = { headers: { 'content-encoding': 'gzip' } };
      expect((await service.upload(`${path}/photo`, PNG, packed)).status).toBe(415);
      expect(await photoOf()).toBeNull();
    });

    it('of no bytes is 400, of too many 413, also without a length', async () => {
      expect(wrongFields(await service.upload(`${path}/photo`, ''))).toEqual(['photo']);
      for (const name of ['', 'a/b', 'a%5Cb', 'a%00', 'x'.repeat(201)])
        expect(wrongFields(await service.upload(`${path}/photo?name=${name}`, PNG))).toEqual(['name']);
      const most = Buffer.concat([PNG, Buffer.alloc(MAX_BYTES)]).subarray(0, MAX_BYTES);
      expect((await service.upload(`${path}/photo`, most)).status).toBe(200);
      const more = Buffer.concat([most, Buffer.from('x')]);
      const { status, json } = await service.upload(`${path}/photo`, more);
      expect([status, json.fields]).toEqual([413, { photo: `must have at most ${MAX_BYTES} bytes` }]);
      const chunked = await fetch(`${service.url}${path}/photo`, {
        method: 'PUT',
        headers: { 'content-type': 'image/png', 'x-user': 'ann' },
        body: new Blob([more]).stream(),
        duplex: 'half',
      } as RequestInit);
      expect(chunked.status).toBe(413);
      expect((await photoOf())?.size).toBe(MAX_BYTES);
    });

    it('is refused as a PATCH is, before its body', async () => {
      await service.as(STAFF, 'POST', '/tickets', { title: 'Far away', city: 'Aarhus' });
      const far = (await service.as(STAFF, 'GET', '/tickets')).json.data.at(-1).id;
      const before = await service.stored();
      const large = Buffer.alloc(MAX_BYTES + 1);
      const statusOf = async (to: string, sent: Parameters<Tickets['upload']>[2]) =>
        (await service.upload(to, large, sent)).status;
      expect(await statusOf('/tickets/x/photo', {})).toBe(400);
      expect(await statusOf(`/tickets/${far}/photo`, {})).toBe(404);
      expect(await statusOf(`/tickets/${far}/photo`, { as: STAFF })).toBe(413);
      const other = await service.upload(`${path}/photo`, large, { as: 'ben' });
      expect([other.status, other.json]).toEqual([403, { error: 'Owner access required' }]);
      expect(await statusOf(`${path}/photo`, { headers: { 'if-match': '"9"' } })).toBe(412);
      expect(await statusOf(`${path}/photo`, { headers: { 'if-match': '"1"' } })).toBe(413);
      const report = await service.upload(`${path}/report`, PDF, { type: 'application/pdf' });
      expect(wrongFields(report)).toEqual(['report']);
      expect(await statusOf(`${path}/photo?width=1`, {})).toBe(400);
      expect(await service.stored()).toEqual(before);
      expect((await service.upload(`${path}/report`, PDF, { type: 'application/pdf', as: STAFF })).status).toBe(200);
    });

    it('leaves nothing where the record cannot be changed after all, or where it ends early', async () => {
      await service.upload(`${path}/photo`, PNG);
      await service.dataSource.getRepository(Ticket).update(path.slice('/tickets/'.length), { title: 'refused' });
      const before = await service.stored();
      expect((await service.upload(`${path}/photo`, JPEG)).status).toBe(409);
      const headers = { 'content-type': 'image/png', 'content-length': String(PNG.length + 5), 'x-user': 'ann' };
      const { port } = new URL(service.url);
      const cut = http.request({ port, path: `${path}/photo`, method: 'PUT', headers });
      cut.on('error', () => undefined);
      cut.write(PNG);
      await vi.waitFor(async () => expect((await service.stored()).length).toBe(before.length + 1));
      cut.destroy();
      await vi.waitFor(async () => expect(await service.stored()).toEqual(before));
      expect((await service.download(`${path}/photo`)).body).toEqual(PNG);
    });

    it('reaches the storage while it is sent', async () => {
      const before = await service.stored();
      const headers = { 'content-type': 'image/png', 'transfer-encoding': 'chunked', 'x-user': 'ann' };
      const { port } = new URL(service.url);
      const sending = http.request({ port, path: `${path}/photo`, method: 'PUT', headers });
      const answered = new Promise<http.IncomingMessage>((resolve) => sending.on('response', resolve));
      sending.write(PNG);
      await vi.waitFor(async () => expect((await service.stored()).length).toBe(before.length + 1));
      expect(await photoOf()).toBeNull();
      sending.end('end');
      const answer = await answered;
      answer.resume();
      expect([answer.statusCode, (await photoOf())?.size]).toEqual([200, PNG.length + 3]);
    });
  });

  it('JSON of clients makes no file, keeps the one that GET answered, and clears it by null', async () => {
    await service.upload(`${path}/photo`, PNG);
    const { data: record } = (await service.as('ann', 'GET', path)).json;
    for (const photo of [{ ...record.photo, name: 'x' }, { key: 'ticket/photo/x' }, 'x', 1, []]) {
      expect(wrongFields(await service.as('ann', 'PATCH', path, { photo }))).toEqual(['photo']);
      expect(wrongFields(await service.as('ann', 'POST', '/tickets', { title: 'x', photo }))).toEqual(['photo']);
    }
    const copy = await service.as('ann', 'POST', '/tickets', { title: 'x', photo: record.photo });
    expect(wrongFields(copy)).toEqual(['photo']);
    const replaced = await service.as('ann', 'PUT', path, { ...record, title: 'Renamed' });
    expect([replaced.status, replaced.json.data.photo]).toEqual([200, record.photo]);
    expect((await service.download(`${path}/photo`)).body).toEqual(PNG);
    const before = await service.stored();
    expect((await service.as('ann', 'PATCH', path, { photo: null })).json.data.photo).toBeNull();
    expect((await service.stored()).length).toBe(before.length - 1);
  });

  describe('a download', () => {
    beforeEach(() => service.upload(`${path}/photo?name=${encodeURIComponent('a "ä".png')}`, PNG));

    it('has the type of the bytes, the name, and an ETag', async () => {
      const { status, headers, body } = await service.download(`${path}/photo`);
      expect([status, body.equals(PNG)]).toEqual([200, true]);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(PNG.length),
        'content-disposition': `inline; filename="a ___.png"; filename*=UTF-8''a%20%22%C3%A4%22.png`,
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'bytes',
        'cache-control': 'no-store',
        etag: expect.stringMatching(/^"[\da-f-]{36}"$/),
      });
      const etag = headers.get('etag') ?? '';
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const again = await service.download(`${path}/photo`, { 'if-none-match': known });
        expect([again.status, again.body.length, again.headers.get('etag')]).toEqual([304, 0, etag]);
      }
      expect((await service.download(`${path}/photo`, { 'if-none-match': '"x"' })).status).toBe(200);
      const head = await service.send('HEAD', `${path}/photo`, { headers: { 'x-user': 'ann', range: 'bytes=0-1' } });
      expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(PNG.length)]);
      await service.upload(`${path}/report`, PDF, { type: 'application/pdf', as: STAFF });
      const report = await service.download(`${path}/report`, { 'x-user': STAFF });
      expect(report.headers.get('content-disposition')).toMatch(/^attachment; filename="report\.pdf"/);
    });

    it('of a range is 206, or 416 outside of the file', async () => {
      const { length } = PNG;
      const etag = (await service.download(`${path}/photo`)).headers.get('etag') ?? '';
      const ranges: [range: string, from: number, to: number][] = [
        ['bytes=0-0', 0, 1],
        ['bytes=100-199', 100, 200],
        ['bytes=100-', 100, length],
        ['bytes=-10', length - 10, length],
        [`bytes=-${length + 5}`, 0, length],
        [`bytes=5-${length + 5}`, 5, length],
      ];
      for (const [range, from, to] of ranges) {
        const part = await service.download(`${path}/photo`, { range, 'if-range': etag });
        expect([range, part.status, part.headers.get('content-range'), part.headers.get('content-length')]).toEqual([
          range,
          206,
          `bytes ${from}-${to - 1}/${length}`,
          String(to - from),
        ]);
        expect(part.body).toEqual(PNG.subarray(from, to));
      }
      for (const range of [`bytes=${length}-`, 'bytes=-0', `bytes=${length + 1}-${length + 2}`]) {
        const { status, headers } = await service.download(`${path}/photo`, { range });
        expect([range, status, headers.get('content-range')]).toEqual([range, 416, `bytes */${length}`]);
      }
      for (const range of ['bytes=5-1', 'bytes=0-1,3-4', 'lines=1-2', '5'])
        expect([range, (await service.download(`${path}/photo`, { range })).status]).toEqual([range, 200]);
      expect((await service.download(`${path}/photo`, { range: 'bytes=0-1', 'if-range': '"x"' })).status).toBe(200);
    });

    it('needs that the caller sees the record and the column', async () => {
      await service.upload(`${path}/report`, PDF, { type: 'application/pdf', as: STAFF });
      expect((await service.download(`${path}/report`)).status).toBe(404);
      expect((await service.download(`${path}/report`, { 'x-user': STAFF })).status).toBe(200);
      expect((await service.download(`${path}/photo`, { 'x-user': 'ben' })).status).toBe(200);
      await service.as(STAFF, 'PATCH', path, { city: 'Aarhus' });
      const { status, body } = await service.download(`${path}/photo`);
      expect([status, JSON.parse(body.toString()).message]).toEqual([
        404,
        `Ticket with id ${path.slice('/tickets/'.length)} not found`,
      ]);
      expect((await service.download(`${path}/photo?size=1`, { 'x-user': STAFF })).status).toBe(400);
      expect((await service.download('/tickets/x/photo')).status).toBe(400);
    });

    it('is 404 where there is no file', async () => {
      const { key } = (await photoOf())!;
      await service.storage.remove(key);
      expect((await service.download(`${path}/photo`)).status).toBe(404);
      await service.as('ann', 'PATCH', path, { photo: null });
      const { status, body } = await service.download(`${path}/photo`);
      expect(status).toBe(404);
      expect(JSON.parse(body.toString())).toEqual(failure(expect.stringMatching(/^Ticket with id \d+ has no photo$/)));
    });
  });

  describe('a file is removed', () => {
    it('when it is replaced or deleted, by whom may change the record', async () => {
      const before = (await service.stored()).length;
      await service.upload(`${path}/photo`, PNG);
      await service.upload(`${path}/photo`, JPEG);
      expect((await service.stored()).length).toBe(before + 1);
      expect((await service.as('ben', 'DELETE', `${path}/photo`)).status).toBe(403);
      expect(wrongFields(await service.as('ann', 'DELETE', `${path}/report`))).toEqual(['report']);
      expect((await service.stored()).length).toBe(before + 1);
      const { status, json } = await service.as('ann', 'DELETE', `${path}/photo`);
      expect([status, json.data.photo]).toEqual([200, null]);
      expect((await service.stored()).length).toBe(before);
      expect((await service.as('ann', 'DELETE', `${path}/photo`)).status).toBe(200);
    });

    it('with its record, also in a batch, and not where that is rolled back', async () => {
      const before = (await service.stored()).length;
      await service.upload(`${path}/photo`, PNG);
      await service.upload(`${path}/report`, PDF, { type: 'application/pdf', as: STAFF });
      const id = path.slice('/tickets/'.length);
      expect((await service.as('ann', 'DELETE', `/tickets/batch?ids=${id},999999`)).status).toBe(404);
      expect((await service.stored()).length).toBe(before + 2);
      expect((await service.as('ann', 'DELETE', `/tickets/batch?ids=${id}`)).status).toBe(200);
      expect((await service.stored()).length).toBe(before);
    });

    it('not with a record that is only hidden', async () => {
      const before = (await service.stored()).length;
      const { json } = await service.as(STAFF, 'POST', '/letters', {});
      const letter = `/letters/${json.data.id}`;
      await service.upload(`${letter}/scan`, PDF, { type: 'application/pdf' });
      await service.as(STAFF, 'DELETE', letter);
      expect((await service.download(`${letter}/scan`)).status).toBe(404);
      await service.as(STAFF, 'POST', `${letter}/restore`);
      expect((await service.download(`${letter}/scan`)).body).toEqual(PDF);
      expect((await service.as(STAFF, 'DELETE', `${letter}?purge=true`)).status).toBe(200);
      expect((await service.stored()).length).toBe(before);
    });
  });

  it('findOrphans finds files that no record refers to', async () => {
    await service.upload(`${path}/photo`, PNG);
    const { json } = await service.as(STAFF, 'POST', '/letters', {});
    await service.upload(`/letters/${json.data.id}/scan`, PDF, { type: 'application/pdf' });
    await service.as(STAFF, 'DELETE', `/letters/${json.data.id}`);
    const { dataSource, storage } = service;
    const orphansOf = async (entity: typeof Ticket | typeof Letter, options?: object): Promise<string[]> => {
      const found: string[] = [];
      for await (const key of findOrphans(dataSource, entity, storage, options)) found.push(key);
      return found;
    };
    expect(await orphansOf(Ticket, { olderThanMs: 0 })).toEqual([]);
    expect(await orphansOf(Letter, { olderThanMs: 0 })).toEqual([]);
    const { key } = (await photoOf())!;
    await dataSource.getRepository(Ticket).delete(path.slice('/tickets/'.length));
    await dataSource.getRepository(Letter).delete(json.data.id);
    await delay(5);
    expect(await orphansOf(Ticket, { olderThanMs: 0 })).toEqual([key]);
    expect(await orphansOf(Letter, { olderThanMs: 0 })).toEqual([expect.stringMatching(/^letter\/scan\//)]);
    expect(await orphansOf(Ticket)).toEqual([]);
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  it('media types of files are 415 on other routes', async () => {
    const service = await startTickets(platform);
    const { status } = await service.send('POST', '/tickets', { body: PNG, headers: { 'content-type': 'image/png' } });
    expect(status).toBe(415);
    await service.close();
  });

  it('a storage that fails is 503', async () => {
    const away = (): never => {
      throw new Error('away');
    };
    const storage = { write: away, read: away, remove: away, list: away } as unknown as FileStorage;
    const service = await startTickets(platform, { storage });
    const { json } = await service.as('ann', 'POST', '/tickets', { title: 'Lamp' });
    const path = `/tickets/${json.data.id}/photo`;
    const { status, headers } = await service.upload(path, PNG);
    expect([status, headers['retry-after']]).toEqual([503, '5']);
    const photo = { key: 'ticket/photo/x', type: 'image/png', size: 1, name: 'x' };
    await service.dataSource.query(`UPDATE ticket SET photo = '${JSON.stringify(photo)}'`);
    expect((await service.download(path)).status).toBe(503);
    expect((await service.as('ann', 'DELETE', path)).status).toBe(200);
    await service.close();
  });
});

@Entity()
class Editor extends AuthUser {}

@Entity()
class Picture {
  @PrimaryGeneratedColumn() id!: number;
  @FileColumn({ types: ['image/png'], maxBytes: MAX_BYTES }) image!: StoredFile | null;
}

@Entity()
class Note {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) text!: string;
}

describe('FileCrudController', () => {
  it('gives the file the access of the record', async () => {
    class Rules extends SecurityConfig {
      configure(): void {
        this.requireRole('ADMIN', '/admin/**');
      }
    }
    const written: string[] = [];
    const storage = {
      write: async (key: string, bytes: AsyncIterable<Buffer>) => {
        for await (const _ of bytes) written.push(key);
      },
      read: () => Promise.resolve(undefined),
    } as unknown as FileStorage;
    const access = { read: 'public', create: 'public', update: ['EDITOR'] } as const;
    const service = await startCrud(ONE_PLATFORM[0] ?? 'express', {
      entities: [Editor, Picture],
      imports: [
        AuthModule.forRoot({ userClass: Editor, jwtSecret: TEST_SECRET }),
        CrudModule.forFeature(FileCrudController({ entity: Picture, endpoint: '/pictures', access }, storage)),
      ],
      providers: [Rules],
      isDescribed: false,
    });
    await service.post('/pictures', {});
    const put = async (roles?: string[]): Promise<number> => {
      const headers = { 'content-type': 'image/png', ...(roles && authorizationOf({ roles })) };
      return (await request(service.url, 'PUT', '/pictures/1/image', { body: PNG, headers })).status;
    };
    expect([await put(), await put(['USER']), written]).toEqual([401, 403, []]);
    expect([await put(['EDITOR']), written.length > 0]).toEqual([200, true]);
    expect((await service.get('/pictures/1/image')).status).toBe(404);
    expect((await as(service.app, { roles: ['USER'] }).delete('/pictures/1/image')).status).toBe(403);
    await service.close();
  });

  it('describes bodies that are files', async () => {
    const service = await startTickets('express');
    const { paths } = SwaggerModule.createDocument(service.app, new DocumentBuilder().build());
    const binary = { schema: { type: 'string', format: 'binary' } };
    const { get, put, delete: remove } = paths['/tickets/{id}/photo']!;
    expect(put?.operationId).toBe('putTicketPhoto');
    expect(put?.requestBody).toMatchObject({
      required: true,
      content: { 'image/png': binary, 'image/jpeg': binary, 'application/octet-stream': binary },
    });
    expect(Object.keys(put!.responses)).toEqual(expect.arrayContaining(['200', '403', '404', '412', '413', '415']));
    const { content } = get!.responses['200'] as { content: object };
    expect(content).toEqual({ 'image/png': binary, 'image/jpeg': binary });
    expect(Object.keys(get!.responses)).toEqual(expect.arrayContaining(['206', '304', '404', '416']));
    expect(remove?.summary).toBe('Remove the photo of a Ticket');
    await service.close();
  });

  it('generates only what the operations of the resource allow', async () => {
    const storage = {} as FileStorage;
    const reads = FileCrudController({ entity: Picture, endpoint: '/pictures', operations: ['findById'] }, storage);
    const service = await startCrud('express', { entities: [Picture], resources: [reads], isDescribed: false });
    const statusOf = async (method: string) => (await service.send(method, '/pictures/1/image')).json.message;
    expect(await statusOf('GET')).toBe('Picture with id 1 not found');
    expect(await statusOf('DELETE')).toMatch(/^Cannot DELETE/);
    await service.close();
  });

  it('refuses wrong declarations', () => {
    const png = ['image/png'];
    for (const [options, text] of [
      [{ types: [], maxBytes: 1 }, '@FileColumn option `types` must be an array of media types with a signature'],
      [{ types: ['image/svg+xml'], maxBytes: 1 }, '@FileColumn option `types` must be'],
      [{ types: png }, '@FileColumn option `maxBytes` must be an integer from 1'],
      [{ types: png, maxBytes: 1, maxbytes: 1 }, 'The options of @FileColumn'],
    ] as const)
      expect(() => FileColumn(options as never)).toThrow(text);
    const declare = () => FileCrudController({ entity: Note, endpoint: '/notes' }, {} as FileStorage);
    expect(declare).toThrow(InvalidOptionError);
    expect(declare).toThrow('The entity of FileCrudController must be one with a file column, got Note');
  });
});
