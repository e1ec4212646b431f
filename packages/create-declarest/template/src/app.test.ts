import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { INestApplication } from '@nestjs/common';
import { accessMatrix, as } from 'declarest/testing';

let app: INestApplication;

before(async () => {
  process.env['NODE_ENV'] = 'test'; // environment.ts then selects the test database
  const { createApp } = await import('./create-app.js');
  app = await createApp({ logger: false });
});
after(() => app?.close());

test('a registered user creates tasks, and only an administrator deletes them', async () => {
  const user = { email: `${randomUUID()}@example.com`, password: 'correct horse battery' };
  assert.equal((await as(app).post('/api/auth/register', user)).status, 201);
  const login = await as(app).post('/api/auth/login', user);
  const headers = { Authorization: `Bearer ${login.json.data.token}` };

  const json = { title: 'Write the first test' };
  assert.equal((await as(app).post('/api/tasks', json)).status, 401);
  const created = await as(app).request('POST', '/api/tasks', { json, headers });
  assert.equal(created.status, 201);
  const task = `/api/tasks/${created.json.data.id}`;
  assert.equal((await as(app).request('DELETE', task, { headers })).status, 403);
  assert.equal((await as(app, { roles: ['ADMIN'] }).delete(task)).status, 200);
});

test('a session is refreshed, and ends with a logout', async () => {
  const user = { email: `${randomUUID()}@example.com`, password: 'correct horse battery' };
  await as(app).post('/api/auth/register', user);
  const login = await as(app).post('/api/auth/login', user);
  const refreshed = await as(app).post('/api/auth/refresh', { refreshToken: login.json.data.refreshToken });
  assert.equal(refreshed.status, 200);
  const { refreshToken } = refreshed.json.data;
  assert.equal((await as(app).post('/api/auth/logout', { refreshToken })).status, 204);
  assert.equal((await as(app).post('/api/auth/refresh', { refreshToken })).status, 401);
});

test('a browser at the origin of the front end may call the service', async () => {
  const { frontEndOrigin } = await import('./environment.js');
  assert.ok(frontEndOrigin);
  const headers = { Origin: frontEndOrigin, 'Access-Control-Request-Method': 'POST' };
  const preflight = await as(app).request('OPTIONS', '/api/tasks', { headers });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers['access-control-allow-origin'], frontEndOrigin);
});

test('every route behaves as the access rules say', async () => {
  const rows = await accessMatrix(app);
  assert.deepEqual(
    rows.filter(({ agrees }) => !agrees),
    [],
  );
});
