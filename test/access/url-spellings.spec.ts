import { as } from 'declarest/testing';
import { urlSpellings } from './url-spellings.js';
import { PLATFORMS } from '../harness/platforms.js';
import { startRuled } from './ruled-app.js';
import { adapterFor, startSpellingApp } from './spelling-app.js';

it('writes a path in many ways, each with a name and a target of its own', () => {
  const spellings = urlSpellings('/api/admin/tasks');
  const targets = spellings.map(({ target }) => target);
  expect(new Set(spellings.map(({ name }) => name)).size).toBe(spellings.length);
  expect(new Set(targets).size).toBe(spellings.length);
  expect(targets).not.toContain('/api/admin/tasks');
  expect(targets).toEqual(
    expect.arrayContaining([
      '/API/ADMIN/TASKS',
      '/api/admin/tasks/',
      '/api/admin//tasks',
      '/api/admin/%74asks',
      '/api/admin/%2574asks',
      '/api/admin%2ftasks',
      '/api/admin/x/../tasks',
      '/api/admin/tasks;x',
      '/api\\admin\\tasks#',
      '/api/admin/tasks%',
      '/api/admin/tasks\0',
      '/api/admin/tas%E2%84%AAs',
      '/api/admin/%EF%BD%94asks',
      'http://127.0.0.1/api/admin/tasks',
      'api/admin/tasks',
    ]),
  );
});

it.each(['/', '/x', '/api/Ōsaka'])('writes %s without the path itself or an empty one', (path) => {
  const targets = urlSpellings(path).map(({ target }) => target);
  expect(targets.length).toBeGreaterThan(30);
  for (const unwanted of ['', encodeURI(path)]) expect(targets).not.toContain(unwanted);
  expect(targets.every((target) => /^[^\r\n\u0100-\uffff]+$/.test(target))).toBe(true);
});

describe.each(PLATFORMS)('on %s', (platform) => {
  it('no spelling of a protected path reaches a handler', async () => {
    const { app, entered, close } = await startSpellingApp(platform, 'unusual');
    for (const { name, target } of urlSpellings('/api/admin/stats')) {
      const { status } = await as(app, { roles: ['USER'] }).request('GET', target);
      expect([name, [400, 401, 403, 404].includes(status), entered]).toEqual([name, true, []]);
    }
    await close();
  });

  it('finds the vulnerability of an application that compares the URL as text', async () => {
    const naive = await startRuled(platform, {
      adapter: adapterFor(platform, platform === 'express' ? 'default' : 'unusual'),
      routes: ['GET api/secret'],
      rules: ({ publicEndpoints }) => publicEndpoints('/**'),
      configure: (app) =>
        void app.use((request: { url: string }, response: { statusCode: number; end(): void }, next: () => void) => {
          if (request.url !== '/api/secret') return next();
          response.statusCode = 401;
          response.end();
        }),
    });
    const answers = await Promise.all(
      urlSpellings('/api/secret').map(async ({ name, target }) => {
        const { status } = await as(naive.app).request('GET', target);
        return status === 200 ? [name] : [];
      }),
    );
    expect(answers.flat()).toEqual(
      expect.arrayContaining(['"/" at the end', '"?x=/open/page" at the end', '"#" at the end']),
    );
    await naive.close();
  });
});
