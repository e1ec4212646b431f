/** The endpoint of a plugin in the document and in the access report, and what its hooks add to logins. */
import { accountEndpoint, AccessReport, type AuthPlugin } from 'declarest';
import { startAuth } from '../auth/auth-app.js';
import { documentOf } from './described.js';

const plugin: AuthPlugin = {
  name: 'codes',
  endpoints: [
    accountEndpoint({
      name: 'useCode',
      route: 'POST code',
      access: 'public',
      summary: 'Log in by a code',
      texts: { code: { type: 'string' } },
      run: () => ({}),
    }),
    accountEndpoint({
      name: 'removeCode',
      route: 'DELETE codes/:id',
      access: { anyOf: ['SUPPORT_AGENT'] },
      status: 204,
      summary: 'Remove a code',
      run: () => undefined,
    }),
  ],
  describe: () => ({ members: { amr: { type: 'string' } }, login: { 403: { description: 'Another step' } } }),
};

it('the endpoints of a plugin are in the document and in the access report', async () => {
  const { app, close } = await startAuth('express', { auth: { plugins: [plugin] } });
  const { paths } = documentOf(app);
  const use = paths['/api/auth/code']?.post;
  expect(Object.keys(use?.responses ?? {})).toEqual(['400', '413', '415', '429', '500', '503']);
  expect(JSON.stringify(use?.requestBody)).toContain('"required":["code"]');
  const remove = paths['/api/auth/codes/{id}']?.delete;
  expect(Object.keys(remove?.responses ?? {})).toEqual(['204', '401', '403', '500', '503']);
  expect(JSON.stringify(remove?.responses['403'])).toContain('Support agent access required');
  expect(JSON.stringify(remove?.parameters)).toContain('"in":"path"');
  const login = paths['/api/auth/login']?.post?.responses;
  expect(login?.['403']).toMatchObject({ description: 'Another step' });
  expect(JSON.stringify(login?.['200'])).toContain('"amr"');
  const { rows } = app.get(AccessReport, { strict: false });
  expect(rows.filter(({ path }) => path.startsWith('/api/auth/code'))).toMatchObject([
    { method: 'POST', path: '/api/auth/code' },
    { method: 'DELETE', path: '/api/auth/codes/:id' },
  ]);
  await close();
});
