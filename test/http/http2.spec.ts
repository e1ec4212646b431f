/** Bodies of HTTP/2, which need no `Content-Length`: a body is what the headers do not end (RFC 9113 §8.1). */
import { connect, type ClientHttp2Session } from 'node:http2';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AuthModule, AuthUser, CrudController } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud, type CrudService } from '../crud/service.js';

@Entity()
class Member extends AuthUser {}

@Entity()
class Leaf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

class Leaves extends CrudController({
  entity: Leaf,
  endpoint: '/leaves',
  enableBatch: true,
  enablePagination: true,
  filterableFields: true,
}) {}

const JSON_TYPE = { 'content-type': 'application/json' };
const ACCOUNT = { email: 'ann@example.com', password: 'correct horse' };

let service: CrudService;
let session: ClientHttp2Session;
beforeAll(async () => {
  service = await startCrud('fastify', {
    adapter: new FastifyAdapter({ http2: true, forceCloseConnections: true } as never),
    resources: [Leaves],
    imports: [
      AuthModule.forRoot({
        userClass: Member,
        jwtSecret: 'x'.repeat(32),
        bcryptRounds: 4,
        sessions: true,
        defaultAccess: 'public',
      }),
    ],
  });
  session = connect(service.url);
});
afterAll(async () => {
  session.close();
  await service.close();
});

/** Sends a body in DATA frames without a length. @param body `null` ends the request with its headers */
function send(
  method: string,
  path: string,
  body: string | null,
  headers: object = JSON_TYPE,
  // oxlint-disable-next-line typescript/no-explicit-any -- a test states what it expects of the body by asserting it
): Promise<{ status: number; json: any }> {
  const sent = { ':method': method, ':path': path, ...headers };
  return new Promise((resolve, reject) => {
    const stream = session.request(sent, { endStream: body === null });
    let status = 0;
    let text = '';
    stream.on('response', (answer) => (status = Number(answer[':status'])));
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    stream.on('error', reject).on('end', () => resolve({ status, json: text === '' ? undefined : JSON.parse(text) }));
    if (body !== null) stream.end(body);
  });
}

const json = (method: string, path: string, body: unknown) => send(method, path, JSON.stringify(body));

it('[6] reads the bodies of accounts, which have no length', async () => {
  expect((await json('POST', '/api/auth/register', ACCOUNT)).status).toBe(201);
  const login = await json('POST', '/api/auth/login', ACCOUNT);
  expect([login.status, login.json.success]).toEqual([200, true]);
  const { refreshToken } = login.json.data as { refreshToken: string };
  expect((await json('POST', '/api/auth/refresh', { refreshToken })).status).toBe(200);
});

it('[4.6] reads the bodies of records, batches and merge patches, which have no length', async () => {
  expect((await json('POST', '/leaves', { name: 'oak' })).json.data).toEqual({ id: 1, name: 'oak' });
  expect((await json('PUT', '/leaves/1', { name: 'elm' })).json.data).toEqual({ id: 1, name: 'elm' });
  expect((await json('PATCH', '/leaves/1', { name: 'ash' })).json.data).toEqual({ id: 1, name: 'ash' });
  const patch = { 'content-type': 'application/merge-patch+json' };
  expect((await send('PATCH', '/leaves/1', '{"name":"fir"}', patch)).json.data.name).toBe('fir');
  expect((await json('POST', '/leaves/batch', { items: [{ name: 'a' }, { name: 'b' }] })).status).toBe(201);
  expect((await send('DELETE', '/leaves/batch?ids=2', null, {})).status).toBe(200);
  expect((await send('DELETE', '/leaves/3', '', {})).status).toBe(200);
});

it('[4.3] refuses an absent, an empty and a broken body, and one of another type', async () => {
  for (const body of [null, '', '{"name":', '[]'])
    expect([body, (await send('POST', '/leaves', body)).status]).toEqual([body, 400]);
  expect((await send('POST', '/leaves', null)).json.message).toContain('got none');
  expect((await send('POST', '/leaves', 'name: oak', { 'content-type': 'text/yaml' })).status).toBe(415);
  expect((await send('POST', '/api/auth/login', null)).json.message).toContain('got none');
  const length = { ...JSON_TYPE, 'content-length': '0' };
  expect((await send('POST', '/leaves', '', length)).json.message).toContain('got none');
});

it('[2.3] takes no body, and an empty one, where the body is optional', async () => {
  for (const body of [null, '']) expect((await send('POST', '/api/auth/logout', body, {})).status).toBe(401);
  await json('POST', '/api/auth/register', { ...ACCOUNT, email: 'bob@example.com' });
  const { json: login } = await json('POST', '/api/auth/login', { ...ACCOUNT, email: 'bob@example.com' });
  const { token } = login.data as { token: string };
  expect((await send('POST', '/api/auth/logout', '', { authorization: `Bearer ${token}` })).status).toBe(204);
});
