/** `s3Storage` of declarest-files against a server with the API of S3. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { findOrphans, type FileStorage } from 'declarest-files';
import { s3Storage } from 'declarest-files/s3';
import S3rver from 's3rver';
import { PLATFORMS } from '../harness/platforms.js';
import { JPEG, PNG, startTickets, Ticket, type Tickets } from './tickets.js';

let server: S3rver;
let folder: string;
let storage: FileStorage;
let client: S3Client;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'declarest-s3-'));
  server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'files' }],
  });
  const { port } = (await server.run()) as AddressInfo;
  client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-north-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 1,
  });
  storage = s3Storage({ client, bucket: 'files', prefix: 'tickets/' });
});
afterAll(async () => {
  client.destroy();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const keysIn = async (within: FileStorage, prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of within.list(prefix)) keys.push(key);
  return keys;
};

const bytesOf = async (stream: Readable | undefined): Promise<Buffer> =>
  Buffer.concat((await stream?.toArray()) as Buffer[]);

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: Tickets;
  beforeAll(async () => {
    service = await startTickets(platform, { storage });
  });
  afterAll(() => service.close());

  it('stores, sends, replaces and removes files', async () => {
    const path = `/tickets/${(await service.as('ann', 'POST', '/tickets', { title: 'Lamp' })).json.data.id}`;
    const { status, json } = await service.upload(`${path}/photo`, PNG);
    expect([status, await keysIn(storage, 'ticket/photo/')]).toEqual([200, [json.data.photo.key]]);
    expect((await service.download(`${path}/photo`)).body).toEqual(PNG);
    const part = await service.download(`${path}/photo`, { range: 'bytes=100-199' });
    expect([part.status, part.body]).toEqual([206, PNG.subarray(100, 200)]);
    await service.upload(`${path}/photo`, JPEG, { type: 'image/jpeg' });
    expect((await service.download(`${path}/photo`)).body).toEqual(JPEG);
    const [key = ''] = await keysIn(storage, 'ticket/photo/');
    expect(await keysIn(s3Storage({ client, bucket: 'files' }), 'tickets/')).toEqual([`tickets/${key}`]);
    await storage.write('ticket/photo/orphan', Readable.from([PNG]), 'image/png');
    const orphans: string[] = [];
    for await (const each of findOrphans(service.dataSource, Ticket, storage, { olderThanMs: -1_000 }))
      orphans.push(each);
    expect(orphans).toEqual(['ticket/photo/orphan']);
    await storage.remove('ticket/photo/orphan');
    expect((await service.upload(`${path}/photo`, Buffer.alloc(20_001), { type: 'image/png' })).status).toBe(413);
    expect((await service.as('ann', 'DELETE', path)).status).toBe(200);
    expect(await keysIn(storage, 'ticket/photo/')).toEqual([]);
    expect(await storage.read(key)).toBeUndefined();
  });
});

it('sends large files in parts, and leaves nothing of one that fails', async () => {
  const part = Buffer.alloc(2 ** 20, 'x');
  const large = (parts: number) =>
    Readable.from(
      (async function* () {
        for (let index = 0; index < parts; index += 1) yield part;
        if (parts > 20) throw new Error('ended early');
      })(),
      { objectMode: false },
    );
  await storage.write('large', large(12), 'image/png');
  expect((await bytesOf(await storage.read('large'))).length).toBe(12 * 2 ** 20);
  // s3rver does not know AbortMultipartUpload, whose failure is told then.
  await expect(storage.write('failed', large(21), 'image/png')).rejects.toThrow(/ended early|method is not allowed/);
  expect(await keysIn(storage, '')).toEqual(['large']);
});
