import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Body, Controller, Get, Headers, Post } from '@nestjs/common';
import { CurrentUser, InvalidOptionError, type Principal } from 'declarest';
import { as } from 'declarest/testing';
import { PLATFORMS, startApp } from '../harness/platforms.js';
import { type RuledApp, startRuled } from '../access/ruled-app.js';
import { createRuled } from './created-app.js';

@Controller('api')
class EchoController {
  @Get('me')
  me(@CurrentUser() user?: Principal) {
    return { user };
  }

  @Post('echo')
  echo(@Body() body: unknown, @Headers('x-test') test?: string) {
    return { body, test };
  }

  @Get('text')
  text() {
    return 'plain text';
  }
}

describe.each(PLATFORMS)('as(app, user) on %s', (platform) => {
  let running: RuledApp;
  beforeAll(async () => {
    running = await startRuled(platform, {
      controllers: [EchoController],
      routes: ['PUT api/any/:id', 'DELETE api/any/:id', 'PATCH api/any/:id'],
      rules: ({ requireAuth, requireRole, publicEndpoints }) => {
        requireAuth('/api/**');
        requireRole('ADMIN', '/api/any/**');
        publicEndpoints('/api/text');
      },
    });
  });
  afterAll(() => running.close());

  it('sends a valid token of that user', async () => {
    const user = { roles: ['EDITOR', 'ADMIN'], email: 'ann@example.com', sub: 7 };
    const { status, headers, json } = await as(running.app, user).get('/api/me');
    expect([status, json]).toEqual([200, { user: { id: 7, email: 'ann@example.com', roles: ['EDITOR', 'ADMIN'] } }]);
    expect(headers['content-type']).toContain('application/json');
    expect((await as(running.app, { roles: [] }).get('/api/me')).json.user).toEqual({ id: 1, email: '', roles: [] });
  });

  it('sends no token without a user', async () => {
    const { status, headers, json } = await as(running.app).get('/api/me');
    expect([status, headers['www-authenticate'], json]).toEqual([401, 'Bearer', { error: 'Authentication required' }]);
  });

  it('sends JSON, headers, and every method', async () => {
    const admin = as(running.app, { roles: ['ADMIN'] });
    const parts = { json: { a: 'ä' }, headers: { 'x-test': 'yes' } };
    expect((await admin.request('POST', '/api/echo', parts)).json).toEqual({ body: { a: 'ä' }, test: 'yes' });
    expect((await admin.post('/api/echo', [1])).json).toEqual({ body: [1] });
    expect((await admin.put('/api/any/1', {})).json.route).toBe('PUT api/any/:id');
    expect((await admin.delete('/api/any/1')).json.route).toBe('DELETE api/any/:id');
    expect((await admin.request('PATCH', '/api/any/1')).json.route).toBe('PATCH api/any/:id');
    expect((await as(running.app, { roles: ['USER'] }).delete('/api/any/1')).status).toBe(403);
    const { text, json } = await admin.get('/api/text');
    expect([text, json]).toEqual(['plain text', undefined]);
  });

  it('sends headers of the test in place of its own', async () => {
    const { status } = await as(running.app, { roles: ['USER'] }).request('GET', '/api/me', {
      headers: { authorization: 'Bearer none' },
    });
    expect(status).toBe(401);
  });

  it.each([
    ['a line break', '/a\r\nX: y'],
    ['a letter of several bytes', '/api/products/Ā'],
    ['nothing', ''],
  ])('refuses a path with %s', async (_, path) => {
    await expect(as(running.app).get(path)).rejects.toThrow(InvalidOptionError);
  });

  it.each<[what: string, user: object, message: string]>([
    ['an unknown name', { role: 'ADMIN' }, 'only the options roles, email, sub'],
    ['a role that is no array', { roles: 'ADMIN' }, 'as(app, user): roles: expected an array of names, got "ADMIN"'],
  ])('refuses %s', (_, user, message) => {
    expect(() => as(running.app, user as never)).toThrow(message);
  });

  it('makes an application listen that does not, once', async () => {
    const { app } = await createRuled(platform, { routes: ['GET api/x'] });
    const answers = await Promise.all([1, 2, 3].map(() => as(app, { roles: ['USER'] }).get('/api/x')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(app.getHttpServer().address()).toMatchObject({ address: '127.0.0.1' });
    await app.close();
    await expect(as(app).get('/api/x')).rejects.toThrow('one that is closed');
  });

  it('finds an application that listens on every address, and says that one without a port is out of reach', async () => {
    const everywhere = await createRuled(platform, { routes: ['GET api/x'] });
    await everywhere.app.listen(0);
    expect((await as(everywhere.app, { roles: ['USER'] }).get('/api/x')).status).toBe(200);
    await everywhere.app.close();
    const folder = await mkdtemp(join(tmpdir(), 'declarest-'));
    const local = await createRuled(platform, { routes: ['GET api/x'] });
    await local.app.listen(join(folder, 'socket'));
    await expect(as(local.app).get('/api/x')).rejects.toThrow('an application that listens on a port, got one that');
    await local.app.close();
    await rm(folder, { recursive: true });
  });
});

it('asks for AuthModule by name', async () => {
  const { app, close } = await startApp('express', { controllers: [EchoController] });
  expect((await as(app).get('/api/text')).text).toBe('plain text');
  await expect(as(app, { roles: ['USER'] }).get('/api/text')).rejects.toThrow(
    'declarest/testing: expected an application with AuthModule, got one without; import AuthModule.forRoot(…)',
  );
  await close();
});
