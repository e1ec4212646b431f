/** The id of a request: in its answer, in lines of logs, in problem details and in events of accounts. */
import { AuthEvents, CrudController } from 'declarest';
import { waysIn } from 'declarest-logins/administration';
import { apiKeys } from 'declarest-logins/api-keys';
import { requestIdOf, requestIds } from 'declarest/observe';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PASSWORD, startAuth } from '../auth/auth-app.js';
import { startCrud } from '../crud/service.js';
import { type Answer, request, type RequestOptions } from '../harness/client.js';
import { linesOf, PLATFORMS } from '../harness/platforms.js';
import { logIn } from '../logins/keyed-app.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 40 })
  text!: string;
}

const seen: (string | undefined)[] = [];

class NotesController extends CrudController({ entity: Note, endpoint: '/api/notes', maxListSize: 9 }) {
  override beforeCreate(
    { text }: { text?: string },
    { request }: { request: Parameters<typeof requestIdOf>[0] | undefined },
  ): void {
    seen.push(requestIdOf(request), requestIdOf());
    if (text === 'broken') throw new Error('unexpected');
  }
}

const crud = { resources: [NotesController], entities: [Note] };
const configure = (app: { use: (middleware: unknown) => unknown }) => void app.use(requestIds());
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE_PARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

describe.each(PLATFORMS)('the id of a request on %s', (platform) => {
  const start = () => startCrud(platform, { ...crud, configure });

  it.each<[what: string, headers: Record<string, string>, id: string]>([
    ['its own', { 'x-request-id': 'proxy-7', traceparent: TRACE_PARENT }, 'proxy-7'],
    ['that of its trace', { traceparent: TRACE_PARENT }, TRACE],
    ['that of its trace of a later version', { traceparent: `cc-${TRACE}-00f067aa0ba902b7-01-more` }, TRACE],
  ])('is %s', async (_, headers, id) => {
    const service = await start();
    for (const path of ['/api/notes', '/api/notes/7', '/nothing'])
      expect((await service.send('GET', path, { headers })).headers['x-request-id']).toBe(id);
    await service.close();
  });

  it.each<[where: string, headers: Record<string, string>]>([
    ['none is sent', {}],
    ['it would break a line of a log', { 'x-request-id': 'a "b" c' }],
    ['it is too long', { 'x-request-id': 'a'.repeat(129) }],
    ['the trace is none', { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }],
    ['version 0 has more fields', { traceparent: `${TRACE_PARENT}-more` }],
  ])('is a new one where %s', async (_, headers) => {
    const service = await start();
    const ids = [];
    for (let time = 0; time < 2; time += 1)
      ids.push((await service.send('GET', '/api/notes', { headers })).headers['x-request-id']);
    expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(ids[0]).not.toBe(ids[1]);
    await service.close();
  });

  it('stands in hooks, in the line about an unexpected error, and in problem details', async () => {
    const service = await start();
    seen.length = 0;
    const headers = { accept: 'application/problem+json' };
    const answer = await service.send('POST', '/api/notes', { json: { text: 'broken' }, headers });
    const id = answer.headers['x-request-id'];
    expect([answer.status, answer.json]).toEqual([500, expect.objectContaining({ requestId: id, status: 500 })]);
    expect(seen).toEqual([id, id]);
    expect(linesOf(service.logs, 'error')).toEqual([
      expect.stringContaining(`A request failed unexpectedly: POST /api/notes, X-Request-Id "${id}".`),
    ]);
    await service.close();
  });

  it('is on a body that the platform cannot read', async () => {
    const service = await start();
    const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1' };
    const response = await fetch(`${service.url}/api/notes`, { method: 'POST', body: '{', headers });
    expect([response.status, response.headers.get('x-request-id')]).toEqual([400, 'r-1']);
    await service.close();
  });

  it('stands in events of accounts, of refused requests and of ways in', async () => {
    const plugins = [apiKeys(), waysIn()];
    const service = await startAuth(platform, { configure, auth: { administration: true, plugins } });
    const told: string[] = [];
    const events = service.app.get(AuthEvents, { strict: false });
    for (const name of ['login.failed', 'access.refused', 'wayIn.created', 'wayIn.revoked'] as const)
      events.on(name, (event) => void told.push(`${event.name} ${event.requestId}`));
    const { id, token } = await logIn(service, 'ADMIN');
    let count = 0;
    const send = (method: string, path: string, options: RequestOptions): Promise<Answer> =>
      request(service.url, method, `/api/auth/${path}`, {
        ...options,
        headers: { 'x-request-id': `r-${(count += 1)}` },
      });
    await send('POST', 'login', { json: { email: 'ann@shop.example', password: PASSWORD } });
    await send('GET', 'me', {});
    const created = await send('POST', `users/${id}/keys`, { token, json: { name: 'import', password: PASSWORD } });
    await send('DELETE', `users/${id}/ways-in/key/${created.json.data.id}`, { token, json: { password: PASSWORD } });
    expect(told).toEqual(['login.failed r-1', 'access.refused r-2', 'wayIn.created r-3', 'wayIn.revoked r-4']);
    await service.close();
  });

  it('is in no answer without the middleware, and no member of a body but problem details', async () => {
    const service = await startCrud(platform, crud);
    const headers = { 'x-request-id': 'r-3' };
    const answer = await service.send('GET', '/api/notes/7', { headers });
    expect([answer.headers['x-request-id'], Object.keys(answer.json as object)]).toEqual([
      undefined,
      ['success', 'message', 'timestamp'],
    ]);
    await service.close();
  });
});
