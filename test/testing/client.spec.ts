import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Body, Controller, Get, Headers, Patch, Post } from '@nestjs/common';
import { CurrentUser, InvalidOptionError, type Principal } from 'declarest';
import { as } from 'declarest/testing';
import { PLATFORMS, startApp } from '../harness/platforms.js';
import { type RuledApp, startRuled } from '../access/ruled-app.js';
import { createRuled } from './created-app.js';
import { refusal } from '../harness/refusal.js';

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

  @Patch('patched')
  patched(@Body() body: unknown) {
    return { body };
  }
}

describe.each(PLATFORMS)('as(app, user) on %s', (platform) => {
  let running: RuledApp;
  beforeAll(async () => {
    running = await startRuled(platform, {
      controllers: [EchoController],
      routes: ['PUT api/any/:id', 'DELETE api/any/:id'],
      rules: ({ requireAuth, requireRole }) => {
        requireAuth('/api/**');
        requireRole('ADMIN', '/api/any/**');
      },
    });
  });
  afterAll(() => running.close());

  it('sends a valid token of the user, or none', async () => {
    const user = { roles: ['EDITOR', 'ADMIN'], email: 'ann@example.com', sub: 7 };
    const { status, headers, json } = await as(running.app, user).get('/api/me');
    expect([status, json]).toEqual([200, { user: { id: 7, email: 'ann@example.com', roles: ['EDITOR', 'ADMIN'] } }]);
    expect(headers['content-type']).toContain('application/json');
    expect((await as(running.app, { roles: [] }).get('/api/me')).json.user).toEqual({ id: 1, email: '', roles: [] });
    expect(await as(running.app).get('/api/me')).toMatchObject({
      status: 401,
      json: refusal('Authentication required'),
    });
    const own = { headers: { authorization: 'Bearer none' } };
    expect((await as(running.app, user).request('GET', '/api/me', own)).status).toBe(401);
  });

  it('sends JSON and headers with every method', async () => {
    const admin = as(running.app, { roles: ['ADMIN'] });
    const parts = { json: { a: 'ä' }, headers: { 'x-test': 'yes' } };
    expect((await admin.request('POST', '/api/echo', parts)).json).toEqual({ body: { a: 'ä' }, test: 'yes' });
    expect(await admin.get('/api/none')).toMatchObject({ status: 404, text: expect.stringContaining('/api/none') });
    expect((await admin.post('/api/echo', [1])).json).toEqual({ body: [1] });
    expect((await admin.patch('/api/patched', { a: 1 })).json).toEqual({ body: { a: 1 } });
    expect((await admin.put('/api/any/1', {})).json.route).toBe('PUT api/any/:id');
    expect((await admin.delete('/api/any/1')).json.route).toBe('DELETE api/any/:id');
  });

  it('makes an application listen once', async () => {
    const { app } = await createRuled(platform, { routes: ['GET api/x'] });
    const answers = await Promise.all([1, 2, 3].map(() => as(app, { roles: ['USER'] }).get('/api/x')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(app.getHttpServer().address()).toMatchObject({ address: '127.0.0.1' });
    await app.close();
    await expect(as(app).get('/api/x')).rejects.toThrow('one that is closed');
  });

  it('finds an application on every address, and refuses one without a port', async () => {
    const everywhere = await createRuled(platform, { routes: ['GET api/x'] });
    await everywhere.app.listen(0);
    expect((await as(everywhere.app, { roles: ['USER'] }).get('/api/x')).status).toBe(200);
    await everywhere.app.close();
    const folder = await mkdtemp(join(tmpdir(), 'declarest-'));
    const local = await createRuled(platform, { routes: ['GET api/x'] });
    await local.app.listen(join(folder, 'socket'));
    await expect(as(local.app).get('/api/x')).rejects.toThrow(
      'the application must be one that listens on a port, got one that listens on ',
    );
    await local.app.close();
    await rm(folder, { recursive: true });
  });
});

it.each(['/a\r\nX: y', '/api/products/Ā', ''])('refuses the path %j', async (path) => {
  const { app } = await createRuled('express', {});
  await expect(as(app).get(path)).rejects.toThrow(InvalidOptionError);
});

it('refuses a wrong user, and an application without AuthModule', async () => {
  const { app, close } = await startApp('express', { controllers: [EchoController] });
  expect(() => as(app, { role: 'ADMIN' } as never)).toThrow('only the options roles, email, sub');
  expect(() => as(app, { roles: 'ADMIN' } as never)).toThrow(
    'as(app, user): roles must be an array of non-empty names, got "ADMIN"',
  );
  await expect(as(app, { roles: ['USER'] }).get('/api/me')).rejects.toThrow(
    'the application must be one with AuthModule or AccessModule, got one without. Import AuthModule.forRoot(…)',
  );
  await close();
});
