/** Bodies in which nothing was sent, or more than can be kept. */
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORMS } from '../harness/platforms.js';
import { rawRequest, rawTarget } from '../harness/raw-socket.js';
import { PASSWORD, startAuth } from '../auth/auth-app.js';
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
