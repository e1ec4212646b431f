/** The files of records through the data provider of react-admin. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CrudModule } from 'declarest';
import { diskStorage, FileColumn, FileCrudController, type StoredFile } from 'declarest-files';
import type { HttpError, RaRecord } from 'ra-core';
import { Column, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { JPEG, PDF, PNG } from '../files-package/tickets.js';
import { PLATFORMS } from '../harness/platforms.js';
import { Member, PAGES, type Providers, providersFor, type Service, startService } from './admin-service.js';

@Entity()
class Ticket {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) title!: string;
  @FileColumn({ types: ['image/png', 'image/jpeg'], maxBytes: 20_000 }) photo!: StoredFile | null;
  @VersionColumn() version!: number;
}

describe.each(PLATFORMS)('files of react-admin on %s', (platform) => {
  let folder: string;
  let service: Service;
  let providers: Providers;
  let ticket: RaRecord;
  const file = new File([PNG], 'lamp ä+b.png', { type: 'image/png' });
  const sent = (): unknown[] => providers.sent.map(({ method, path, headers }) => [method, path, headers['If-Match']]);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'declarest-provider-files-'));
    const options = {
      entity: Ticket,
      endpoint: '/api/tickets',
      ...PAGES,
      sortableFields: ['id'],
      requireIfMatch: true,
    } as const;
    const controller = FileCrudController(options, diskStorage(folder));
    service = await startService(platform, { userClass: Member }, CrudModule.forFeature(controller));
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    providers = providersFor(service.api);
    ticket = (await providers.data.create<RaRecord>('tickets', { data: { title: 'Broken lamp' } })).data as RaRecord;
    providers.sent.length = 0;
  });

  it('are stored with their name in the version that the user saw, and read again', async () => {
    const { data } = await providers.data.writeFile('tickets', {
      id: ticket.id,
      field: 'photo',
      file,
      previousData: ticket,
    });
    expect(data).toMatchObject({ id: ticket.id, version: 2, photo: { type: 'image/png', name: 'lamp ä+b.png' } });
    const path = `/tickets/${ticket.id}/photo`;
    expect(sent()).toEqual([['PUT', expect.stringMatching(new RegExp(`^${path}\\?name=`)), '"1"']]);
    const response = await providers.data.readFile('tickets', { id: ticket.id, field: 'photo' });
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
    const { data: renamed } = await providers.data.update('tickets', {
      id: ticket.id,
      data: { ...data, title: 'Lamp' },
      previousData: data,
    });
    expect(renamed).toMatchObject({ title: 'Lamp', photo: data['photo'] });
    expect(sent().at(-1)).toEqual(['PATCH', `/tickets/${ticket.id}`, '"2"']);
  });

  it('are images in the width that is asked for', async () => {
    const { default: sharp } = await import('sharp');
    const image = await sharp({ create: { width: 60, height: 40, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const params = { id: ticket.id, field: 'photo' };
    await providers.data.writeFile('tickets', { ...params, file: new Blob([image]), previousData: ticket });
    const response = await providers.data.readFile('tickets', { ...params, width: 30 });
    expect((await sharp(await response.arrayBuffer()).metadata()).width).toBe(30);
  });

  it('are replaced and removed where lists have no version of their record', async () => {
    const [listed] = (
      await providers.data.getList('tickets', {
        pagination: { page: 1, perPage: 1 },
        sort: { field: 'id', order: 'DESC' },
        filter: {},
      })
    ).data as [RaRecord];
    const params = { id: listed.id, field: 'photo' };
    const fresh = providersFor(service.api);
    const file = new Blob([JPEG]);
    const { data: stored } = await fresh.data.writeFile('tickets', { ...params, file, previousData: listed });
    expect(stored).toMatchObject({ version: 2, photo: { type: 'image/jpeg', name: 'photo.jpg' } });
    const before = (await readdir(join(folder, 'ticket', 'photo'))).length;
    const { data } = await fresh.data.deleteFile('tickets', { ...params, previousData: stored });
    expect(data).toMatchObject({ id: listed.id, photo: null });
    expect((await readdir(join(folder, 'ticket', 'photo'))).length).toBe(before - 1);
  });

  it('are not stored in a version that somebody else has changed', async () => {
    const other = providersFor(service.api);
    await other.data.update('tickets', { id: ticket.id, data: { ...ticket, title: 'Mine' }, previousData: ticket });
    const write = providers.data.writeFile('tickets', { id: ticket.id, field: 'photo', file, previousData: ticket });
    const error = await write.catch((each: HttpError) => each);
    expect(error).toMatchObject({ status: 412, message: expect.stringContaining('was changed by somebody else') });
  });

  it.each([
    ['type', new Blob([PDF]), 415, 'must be image/png or image/jpeg, got application/pdf'],
    ['size', new Blob([PNG, Buffer.alloc(20_000)]), 413, 'must have at most 20000 bytes'],
  ])('have the message of a refused %s at their field', async (_, file, status, message) => {
    const params = { id: ticket.id, field: 'photo', file, previousData: ticket };
    const error = await providers.data.writeFile('tickets', params).catch((each: HttpError) => each);
    expect(error).toMatchObject({ status, body: { errors: { photo: message } } });
  });

  it('stay below their record', async () => {
    const read = providers.data.readFile('tickets', { id: ticket.id, field: '..' });
    await expect(read).rejects.toMatchObject({ status: 400 });
    expect(sent()).toEqual([]);
  });
});
