/** The endpoint of a plugin in the document and in the access report, and what its hooks add to logins. */
import { AccessReport } from 'declarest';
import { secondFactor } from 'declarest-logins/second-factor';
import { accountEndpoint, type AuthPlugin } from 'declarest/plugin';
import { PASSWORD, startAuth, uniqueEmail } from '../auth/auth-app.js';
import type { Answer } from '../harness/client.js';
import { AuthenticatorApp } from '../logins/authenticator-app.js';
import { DescribedApi, documentOf } from './described.js';

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
  expect(Object.keys(use?.responses ?? {})).toEqual(['200', '400', '413', '415', '429', '500', '503']);
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

it('the document has every answer of a second factor, and both answers of a login', async () => {
  const app = await startAuth('express', { auth: { sessions: true, plugins: [secondFactor()] } });
  const api = new DescribedApi(documentOf(app.app));
  const email = uniqueEmail();
  const phone = new AuthenticatorApp(app, email, (await app.register({ email })).token);
  const answers: [string, Answer][] = [];
  const keep = async (id: string, answer: Promise<Answer>): Promise<Answer> => {
    answers.push([id, await answer]);
    return answer;
  };
  await keep('login', phone.login());
  await keep('confirmFactor', phone.post('mfa/confirm', { code: '123456' }));
  phone.secret = (await keep('enrolFactor', phone.post('mfa/enrol', { password: PASSWORD }))).json.data.secret;
  await keep('confirmFactor', phone.post('mfa/confirm', { code: '000000' }));
  const confirmed = await keep('confirmFactor', phone.post('mfa/confirm', { code: await phone.code() }));
  const [first = '', second = '', third = ''] = confirmed.json.data.recoveryCodes as string[];
  const { challenge } = (await keep('login', phone.login())).json.data;
  await keep('answerChallenge', phone.answer(challenge, '12'));
  await keep('answerChallenge', phone.answer(challenge, '000000'));
  phone.token = (await keep('answerChallenge', phone.answer(challenge, first))).json.data.token;
  await keep('renewRecoveryCodes', phone.post('mfa/codes', { code: 'x' }));
  await keep('disableFactor', phone.post('mfa/disable', { code: second }));
  await keep('renewRecoveryCodes', phone.post('mfa/codes', { code: third }));
  expect(answers.map(([, { status }]) => status)).toEqual([200, 409, 200, 401, 200, 200, 400, 401, 200, 400, 204, 401]);
  expect(answers.flatMap(([id, answer]) => api.wrongWith(api.operation(id), answer))).toEqual([]);
  const isRequired = (id: string) => api.operation(id).requestBody?.required;
  expect(['enrolFactor', 'logout', 'confirmFactor', 'refresh'].map(isRequired)).toEqual([false, false, true, true]);
  const tokens = {
    properties: { data: { anyOf: [{ required: ['user', 'token', 'refreshToken', 'expiresIn'] }, {}] } },
  };
  expect(api.operation('login').responses['200']?.content?.['application/json']?.schema).toMatchObject(tokens);
  await app.close();
});
