/** AccessModule: rules for users that the application finds itself, by a function or a class. */
import { Controller, Get, Injectable, Module, UnauthorizedException } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import {
  AccessModule,
  type AccessModuleOptions,
  AccessReport,
  type Authenticate,
  type HttpRequest,
  Roles,
  SecurityRulesGuard,
} from 'declarest';
import { addAccess } from 'declarest/openapi';
import { accessMatrix, as } from 'declarest/testing';
import { authModule } from '../access/ruled-app.js';
import { request } from '../harness/client.js';
import { untilLimit } from '../harness/limit.js';
import { bootError, linesOf, ONE_PLATFORM, startApp } from '../harness/platforms.js';
import { type NotesApp, startNotes } from './notes-app.js';

/** `ann EDITOR` in `X-User`: the id and the roles. */
const byHeader: Authenticate = ({ headers }: HttpRequest) => {
  const [id = '', ...roles] = String(headers['x-user'] ?? '').split(' ');
  return id === '' ? undefined : { id, roles, tenantId: 't1' };
};

@Injectable()
class Tickets {
  readonly owners = new Map([['7', 'ann']]);
}

@Module({ providers: [Tickets], exports: [Tickets] })
class TicketsModule {}

/** Its dependency belongs to a module that is not global. */
@Injectable()
class TicketLogin {
  constructor(private readonly tickets: Tickets) {}

  async authenticate({ headers }: HttpRequest) {
    const id = this.tickets.owners.get(String(headers['x-ticket']));
    return id === undefined ? undefined : { id };
  }
}

const of = (user: string) => ({ headers: { 'x-user': user } });

describe.each(ONE_PLATFORM)('users of a function on %s', (platform) => {
  let app: NotesApp;
  afterEach(() => app?.close());
  const start = async (authenticate: AccessModuleOptions['authenticate'] = byHeader, options = {}, more = {}) =>
    (app = await startNotes(platform, { authenticate, ...options }, more));
  const statuses = (headers: Record<string, string>) =>
    Promise.all(
      ['/open', '/api/me', '/api/admin', '/api/edit', '/api/own/t1'].map(
        async (path) => (await app.get(path, { headers })).status,
      ),
    );

  it('rules, decorators, policies and the hierarchy of roles decide about them', async () => {
    await start(byHeader, { roleHierarchy: { CHIEF: ['ADMIN'] } });
    expect(await statuses({})).toEqual([200, 401, 401, 401, 401]);
    expect(await statuses({ 'x-user': 'ann' })).toEqual([200, 200, 403, 403, 200]);
    expect(await statuses({ 'x-user': 'ann EDITOR' })).toEqual([200, 200, 403, 200, 200]);
    expect(await statuses({ 'x-user': 'ann CHIEF EDITOR' })).toEqual([200, 200, 200, 200, 200]);
    const refused = await app.get('/api/admin', of('ann'));
    expect(refused.json).toEqual({ error: 'Admin access required' });
    const unknown = await app.get('/api/admin');
    expect([unknown.json, unknown.headers['www-authenticate']]).toEqual([
      { error: 'Authentication required' },
      'Bearer',
    ]);
    const invalid = await app.get('/api/admin', { token: 'x' });
    expect(invalid.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  it('CurrentUser and request.user are what the function has returned', async () => {
    await start();
    const user = { id: 'ann', email: '', roles: ['EDITOR'], tenantId: 't1' };
    expect((await app.get('/open', of('ann EDITOR'))).json).toEqual({ user, same: true });
    expect((await app.get('/open')).json).toEqual({ user: null, same: true });
  });

  it('owners of records are their ids', async () => {
    await start();
    const post = (user: string, text: string) =>
      request(app.url, 'POST', '/api/notes', { ...of(user), json: { text } });
    const created = await post('ann', 'of ann');
    expect([created.status, created.json.data]).toEqual([201, { id: 1, writer: 'ann', text: 'of ann' }]);
    expect((await request(app.url, 'DELETE', '/api/notes/1', of('bob'))).status).toBe(403);
    expect((await request(app.url, 'DELETE', '/api/notes/1')).status).toBe(401);
    expect((await request(app.url, 'DELETE', '/api/notes/1', of('ann'))).status).toBe(200);
  });

  it('the access report, the document and accessMatrix know the rules', async () => {
    await start();
    const rowOf = (path: string) => app.app.get(AccessReport).rows.find((row) => row.path === path)?.access;
    expect(['/open', '/api/me', '/api/admin', '/api/edit'].map(rowOf)).toEqual([
      'public',
      'any token',
      'ADMIN',
      'EDITOR',
    ]);
    const config = new DocumentBuilder().setOpenAPIVersion('3.1.0').build();
    const document = addAccess(SwaggerModule.createDocument(app.app, config), app.app);
    expect(document.paths['/api/admin']?.get).toMatchObject({
      security: [{ bearer: [] }],
      'x-access': { access: 'ADMIN' },
    });
    const cookies = new DocumentBuilder().setOpenAPIVersion('3.1.0').addCookieAuth('session').build();
    const ofCookies = addAccess(SwaggerModule.createDocument(app.app, cookies), app.app);
    expect(ofCookies.paths['/api/admin']?.get?.security).toEqual([{ cookie: [] }]);
    expect((await accessMatrix(app.app)).filter(({ agrees }) => !agrees)).toEqual([]);
    // The user of a test is not looked up.
    const { json } = await as(app.app, { sub: 'carl', roles: ['ADMIN'], claims: { tenantId: 't2' } }).get('/api/me');
    expect(json).toEqual({ id: 'carl', email: '', roles: ['ADMIN'], tenantId: 't2' });
  });

  it('an injectable class finds them too, with the providers of its module', async () => {
    const module = { module: TicketsModule, providers: [TicketLogin] };
    await start(TicketLogin, {}, { imports: [module] });
    expect(await statuses({ 'x-ticket': '7' })).toEqual([200, 200, 403, 403, 403]);
    expect(await statuses({ 'x-ticket': '8' })).toEqual([200, 401, 401, 401, 401]);
  });

  it('a function that throws refuses: 401 for what it refuses itself, 503 for anything else, and public routes go on', async () => {
    await start(({ headers }) => {
      if (headers['x-user'] === 'refused') throw new UnauthorizedException('a secret');
      throw new Error('the directory is away');
    });
    expect(await statuses({ 'x-user': 'refused' })).toEqual([200, 401, 401, 401, 401]);
    expect(await statuses({})).toEqual([200, 503, 503, 503, 503]);
    const answer = await app.get('/api/me');
    expect([answer.headers['retry-after'], answer.text]).toEqual(['5', expect.not.stringContaining('directory')]);
    expect((await app.get('/api/notes')).status).toBe(503);
    expect(linesOf(app.logs, 'error').join()).toContain('The user of a request could not be read.');
  });

  it('a function that hangs is refused after 5 s, and public routes go on then', async () => {
    await start(() => new Promise(() => {}));
    expect(await untilLimit(5_000, 5, () => statuses({}))).toEqual([200, 503, 503, 503, 503]);
  });

  it.each([
    ['no id', {}],
    ['an id that is an object', { id: { $ne: 1 } }],
    ['an id of spaces', { id: ' ' }],
    ['an id with NUL', { id: 'a\0' }],
    ['an id that is not well-formed', { id: '\ud800' }],
    ['an id of 256 characters', { id: 'x'.repeat(256) }],
    ['a fraction', { id: 1.5 }],
    ['NaN', { id: Number.NaN }],
    ['roles as a text', { id: 1, roles: 'ADMIN' }],
    ['a role that is no text', { id: 1, roles: ['ADMIN', 1] }],
    ['roles that look like an array', { id: 1, roles: { 0: 'ADMIN', length: 1 } }],
    ['1,001 roles', { id: 1, roles: Array(1_001).fill('ADMIN') }],
    ['an address that is an object', { id: 1, email: {} }],
    ['true', true],
    ['a text', 'ann'],
    ['an array', [1]],
  ])('a malformed user is none, with one line in the log: %s', async (_what, user) => {
    await start(() => user as never);
    expect(await statuses({})).toEqual([200, 401, 401, 401, 401]);
    const lines = linesOf(app.logs, 'warn').filter((line) => line.includes('of a user must be'));
    expect(lines).toHaveLength(5);
    expect(lines.join()).not.toMatch(/\$ne|xxx|ADMIN/);
    expect(lines[0]).toMatch(
      /, got (undefined|an object|an array of \d+|\d+ characters|NaN|1\.5)\. The request has no user\./,
    );
  });

  it('members that look like those of an object are harmless', async () => {
    const user = '{"id": "ann", "roles": [], "__proto__": {"roles": ["ADMIN"]}, "constructor": {"prototype": 1}}';
    await start(() => JSON.parse(user));
    expect(await statuses({})).toEqual([200, 200, 403, 403, 403]);
    expect((await app.get('/api/me')).json).toEqual({ id: 'ann', email: '', roles: [], constructor: { prototype: 1 } });
    expect(({} as { roles?: unknown }).roles).toBeUndefined();
  });
});

describe('the start', () => {
  const boot = async (options: object) =>
    bootError('express', { imports: [AccessModule.forRoot(options as AccessModuleOptions)] });

  it.each([
    [
      'nothing',
      {},
      /`authenticate` must be a function, a class with the method `authenticate`, .+, got undefined\. Set/,
    ],
    ['a class without the method', { authenticate: Tickets }, /`authenticate` must be a function.+got `Tickets`/],
    ['an object', { authenticate: { issuer: 'x' } }, /`authenticate` must be a function.+got an object/],
    ['an unknown option', { authenticate: byHeader, userClass: 1 }, /AccessModule options must .+got "userClass"/],
    [
      'a wrong default',
      { authenticate: byHeader, defaultAccess: 'open' },
      /AccessModule option `defaultAccess` must be/,
    ],
    [
      'a hierarchy with a cycle',
      { authenticate: byHeader, roleHierarchy: { A: ['B'], B: ['A'] } },
      /`roleHierarchy` must be a hierarchy without a cycle, got A > B > A/,
    ],
  ])('is refused by one sentence for %s', async (_what, options, sentence) => {
    const error = await boot(options).catch((thrown: Error) => thrown);
    expect(error.message).toMatch(sentence);
  });

  it('is refused beside AuthModule, and for two of them', async () => {
    const other = () => AccessModule.forRoot({ authenticate: byHeader });
    const both = await bootError('express', { imports: [authModule(), other()] });
    expect(both.message).toMatch(/^AuthModule and AccessModule must be imported once, got 2 imports\./);
    const twice = await bootError('express', {
      imports: [other(), AccessModule.forRoot({ authenticate: byHeader, strict: true })],
    });
    expect(twice.message).toMatch(/^AccessModule must be imported once, got 2 imports\./);
  });

  it('names both modules where decorators do nothing', async () => {
    @Controller()
    class Lonely {
      @Roles('ADMIN')
      @Get('lonely')
      get() {
        return {};
      }
    }
    const app = await startApp('express', { controllers: [Lonely] });
    expect(linesOf(app.logs, 'warn').join()).toContain('do nothing without AuthModule or AccessModule');
    await app.close();
  });

  it('exports the guard, so that a test can override it', async () => {
    const app = await startNotes('express', { authenticate: byHeader });
    expect(app.app.get(SecurityRulesGuard)).toBeInstanceOf(SecurityRulesGuard);
    await app.close();
  });
});
