/** Bodies of QUERY that mean to harm, and those that say nothing. */
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { CrudController } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud, type CrudService } from '../crud/service.js';
import { PLATFORMS } from '../harness/platforms.js';
import { rawRequest } from '../harness/raw-socket.js';

@Entity()
class Leaf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

class Leaves extends CrudController({
  entity: Leaf,
  endpoint: '/leaves',
  enableQueryMethod: true,
  enablePagination: true,
  filterableFields: true,
  sortableFields: ['name'],
}) {}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const LIMIT = 100 * 1024;
const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
const padded = (length: number): string => `{"size":1${' '.repeat(length - 10)}}`;
const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join();

/** Bodies by their type, the status, and what the message says. */
const BODIES: readonly (readonly [string, string, string | Buffer, number, RegExp])[] = [
  ['no JSON', JSON_TYPE, '{"size":', 400, /JSON object/],
  ['an array', JSON_TYPE, '[{"size":1}]', 400, /JSON object/],
  ['a text', JSON_TYPE, '"size=1"', 400, /JSON object/],
  ['null', JSON_TYPE, 'null', 400, /JSON object/],
  ['a prototype', JSON_TYPE, '{"__proto__":{"size":1}}', 400, /valid/],
  ['a nested prototype', JSON_TYPE, '{"filter":{"__proto__":{"id":1}}}', 400, /valid/],
  ['a constructor', JSON_TYPE, '{"constructor":{"prototype":{"size":1}}}', 400, /valid/],
  ['a method of objects', FORM, 'toString=1', 400, /not valid/],
  ['null for a value', JSON_TYPE, '{"filter":{"name":null}}', 400, /not valid/],
  ['no values', JSON_TYPE, '{"filter":{"id":{"in":[]}}}', 400, /not valid/],
  ['no keys of a sort', JSON_TYPE, '{"sort":[]}', 400, /not valid/],
  ['a number that JSON rounds', JSON_TYPE, '{"filter":{"id":12345678901234567890}}', 400, /not valid/],
  ['a parameter twice', FORM, 'size=1&size=2', 400, /not valid/],
  ['a parameter in two forms', JSON_TYPE, '{"filter":{"id":1},"filter[id]":2}', 400, /not valid/],
  ['a name in brackets', JSON_TYPE, '{"filter":{"id][eq":1}}', 200, /list/],
  ['a hundred levels', JSON_TYPE, nested(101), 400, /100 levels/],
  ['levels without an end', JSON_TYPE, nested(10_000), 400, /100 levels/],
  ['many conditions', JSON_TYPE, `{"filter":{"id":{"in":[${many(200, String)}]}}}`, 400, /not valid/],
  ['many groups', JSON_TYPE, `{"filter":{"or":[${many(60, (id) => `{"id":${id}}`)}]}}`, 400, /not valid/],
  ['many parameters', JSON_TYPE, `{${many(8_000, (id) => `"a${id}":1`)}}`, 400, /not valid/],
  ['names that grow', JSON_TYPE, `{"${'x'.repeat(40_000)}":{${many(5_000, (id) => `"a${id}":1`)}}}`, 413, /100|102400/],
  [
    'lists with names that grow',
    JSON_TYPE,
    `{"${'x'.repeat(40_000)}":{${many(5_000, (id) => `"a${id}":[1]`)}}}`,
    413,
    /102400/,
  ],
  ['100 KiB of JSON', JSON_TYPE, padded(LIMIT), 200, /list/],
  ['more than 100 KiB of JSON', JSON_TYPE, padded(LIMIT + 1), 413, /larger/],
  ['more than 100 KiB of a form', FORM, `size=1&${'x'.repeat(LIMIT)}`, 413, /larger/],
  ['megabytes', JSON_TYPE, padded(5_000_000), 413, /larger/],
  ['another type', 'text/plain', 'size=1', 415, /application\/json or application\/x-www-form-urlencoded/],
  ['a type that begins alike', 'application/jsonp', '{}', 415, /application\/json or/],
  ['a patch', 'application/merge-patch+json', '{}', 415, /application\/json or/],
  ['another charset', `${JSON_TYPE}; charset=iso-8859-1`, '{"size":1}', 415, /application\/json/],
  ['an unknown charset', `${FORM}; charset=none`, 'size=1', 415, /application\/json/],
];

describe.each(PLATFORMS)('bodies of QUERY on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, { resources: [Leaves], isDescribed: false });
    await service.dataSource.getRepository(Leaf).save([{ name: 'a' }, { name: 'b' }]);
  });
  afterAll(() => service.close());

  it.each(BODIES)('%s', async (_, type, body, status, message) => {
    const answer = await service.send('QUERY', '/leaves', { body, headers: { 'content-type': type } });
    expect([answer.status, answer.json.message]).toEqual([status, expect.stringMatching(message)]);
    expect(Object.keys(answer.json)).toEqual(expect.arrayContaining(['success', 'message', 'timestamp']));
    expect(answer.headers['accept-query']).toBe('application/json, application/x-www-form-urlencoded');
    expect(answer.text.length).toBeLessThan(150_000);
    expect(Object.hasOwn(Object.prototype, 'size')).toBe(false);
  });

  it('are refused with a prototype in a form, on Fastify by its parser', async () => {
    const body = '__proto__[size]=1&__proto__=1';
    expect((await service.send('QUERY', '/leaves', { body, headers: { 'content-type': FORM } })).status).toBe(400);
    expect(Object.hasOwn(Object.prototype, 'size')).toBe(false);
  });

  it('must be there, with its type', async () => {
    for (const sent of [
      {},
      { headers: { 'content-type': JSON_TYPE } },
      { body: '', headers: { 'content-type': JSON_TYPE } },
    ])
      expect((await service.send('QUERY', '/leaves', sent)).status).toBe(400);
    expect((await service.send('QUERY', '/leaves', { body: '{}' })).status).toBe(415);
  });

  it('must hold all parameters: none are in the URL', async () => {
    const answer = await service.send('QUERY', '/leaves?size=1', { json: {} });
    expect([answer.status, answer.json.message]).toEqual([
      400,
      'QUERY must have its parameters in the body, got some in the URL',
    ]);
  });

  it('are decoded by Express only', async () => {
    const bomb = gzipSync(`{"size":1${' '.repeat(50_000_000)}}`);
    const headers = { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' };
    const small = await service.send('QUERY', '/leaves', { body: gzipSync('{"size":1}'), headers });
    const large = await service.send('QUERY', '/leaves', { body: bomb.subarray(0, 60_000), headers });
    expect(platform === 'express' ? [small.status] : []).toEqual(platform === 'express' ? [200] : []);
    expect(small.status === 200 || small.status === 400 || small.status === 415).toBe(true);
    expect([400, 413, 415]).toContain(large.status);
  });

  const HEAD = `QUERY /leaves HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${JSON_TYPE}\r\n`;
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

  it('may be chunked', async () => {
    const body = ['{"si', 'ze":1}', ''].map(chunk).join('');
    const { status, body: answer } = await rawRequest(service.port, `${HEAD}Transfer-Encoding: chunked\r\n\r\n${body}`);
    expect([status, JSON.parse(answer).metadata.pagination.size]).toEqual([200, 1]);
    const large = [padded(LIMIT + 1), ''].map(chunk).join('');
    expect((await rawRequest(service.port, `${HEAD}Transfer-Encoding: chunked\r\n\r\n${large}`)).status).toBe(413);
  });

  it('have one length', async () => {
    const both = await rawRequest(
      service.port,
      `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`,
    );
    expect(both.status).toBe(400);
  });

  it('that do not arrive hold no other request up', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`${HEAD}Content-Length: 50\r\n\r\n{"size"`);
    expect((await service.send('QUERY', '/leaves', { json: {} })).status).toBe(200);
    socket.destroy();
    expect((await service.get('/leaves')).status).toBe(200);
  });
});
