/** The newsroom of 95 lines, as its readers, authors and editors use it. */
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import bcrypt from 'bcrypt';
import { as, type Answer, type Client } from 'declarest/testing';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { DataSource } from 'typeorm';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { Mailbox, mailsTo } from '../auth/mailbox.js';
import { linesOf, PLATFORMS, type RunningApp, startApp } from '../harness/platforms.js';
import { AuthenticatorApp } from '../logins/authenticator-app.js';
import { browse, CLIENT, type IdentityProvider, startProvider } from '../logins/identity-provider.js';
import { SoftwareAuthenticator } from '../logins/passkeys/software-authenticator.js';
import { Article, Author, Tag, User } from './entities.js';
import { Newsroom } from './newsroom.js';
import { refusal } from '../harness/refusal.js';

const FOLDER = new URL('.', import.meta.url);

it('[issue 42] has at most 95 lines, 38 of them entities', () => {
  const lines = new Map(
    readdirSync(FOLDER)
      .filter((file) => !file.endsWith('.spec.ts'))
      .map((file) => [file, readFileSync(new URL(file, FOLDER), 'utf8').trimEnd().split('\n').length]),
  );
  expect([...lines.keys()].toSorted()).toEqual(['entities.ts', 'newsroom.ts']);
  expect(lines.get('entities.ts')).toBeLessThanOrEqual(38);
  expect([...lines.values()].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(95);
});

const titles = ({ status, json, text }: Answer): string[] => {
  if (status !== 200) throw new Error(`Expected a list, got ${status} ${text}`);
  return (json.data as { title: string }[]).map(({ title }) => title);
};
const statusOf = ({ status }: Answer): number => status;

const SITE = 'https://news.example';
const { privateKey } = generateKeyPairSync('ed25519', {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

// The newsroom hashes by the rounds of production, which test/auth checks.
const { hash } = bcrypt;
const hashing = vi.spyOn(bcrypt, 'hash').mockImplementation((password: string | Buffer) => hash(password, 4));
afterAll(() => hashing.mockRestore());

/** The identity provider of the authors. */
let google: IdentityProvider;
beforeAll(async () => {
  google = await startProvider([`${SITE}/login/google`]);
});
afterAll(() => google.close());

const DRAFT = { slug: 'strike', title: 'Strike', body: 'The trams stand still.', words: 300 };

const ARTICLES: readonly { title: string; words: number; by: number; day: number; about: string[] }[] = [
  { title: 'Bridge', words: 900, by: 0, day: 1, about: ['city'] },
  { title: 'Court', words: 400, by: 0, day: 3, about: ['city', 'law'] },
  { title: 'Derby', words: 600, by: 1, day: 2, about: ['sport'] },
  { title: 'Elections', words: 1200, by: 0, day: 0, about: [] },
  { title: 'Floods', words: 200, by: 1, day: 0, about: [] },
];

/** The platforms do not differ by the database. */
const PLACES = DATABASES.flatMap((database) =>
  PLATFORMS.slice(database === 'sqlite' ? 0 : 1).map((platform) => ({ database, platform })),
);

describe.each(PLACES)('the newsroom on $platform and $database', ({ database, platform }) => {
  let running: RunningApp;
  let dataSource: DataSource;
  /** Readers have no account. */
  let reader: Client;
  let ann: Client;
  let ben: Client;
  let editor: Client;
  let articles: Article[];
  let authors: Author[];
  let tags: Tag[];
  const at = (title: string): string => `/api/articles/${articles.find((each) => each.title === title)?.id}`;
  /** The one of Ann. */
  const profile = (): string => `/api/authors/${authors[0]?.id}`;
  const tagIds = (...words: string[]): number[] =>
    words.map((word) => tags.find((each) => each.word === word)?.id ?? 0);

  beforeAll(async () => {
    const { options, drop } = await createDatabase(database);
    const provider = { ...CLIENT, issuer: google.issuer, redirectUris: [`${SITE}/login/google`] };
    const keys = [{ kid: '2026', alg: 'EdDSA' as const, privateKey }];
    running = await startApp(platform, Newsroom.with(options, new Mailbox(), provider, keys), { onClose: drop });
    dataSource = running.app.get(DataSource);
    const account = async (email: string, role: string): Promise<Client> => {
      const { id } = await dataSource.getRepository(User).save({ email, role, password: 'no login' });
      return as(running.app, { sub: id, email, roles: [role] });
    };
    reader = as(running.app);
    ann = await account('ann@news.example', 'USER');
    ben = await account('ben@news.example', 'USER');
    editor = await account('eve@news.example', 'EDITOR');
  });
  afterAll(() => running.close());

  /** Bridge, Court and Derby are published, Elections and Floods are drafts. Ben owns Derby and Floods, Ann the others. */
  beforeEach(async () => {
    for (const entity of [Article, Author, Tag]) await dataSource.createQueryBuilder().delete().from(entity).execute();
    authors = await dataSource.getRepository(Author).save([
      { name: 'Ann Ames', feedPassword: 'canary-password', owner: { id: 1 } },
      { name: 'Ben Burr', owner: { id: 2 } },
    ]);
    tags = await dataSource.getRepository(Tag).save(['city', 'law', 'sport'].map((word) => ({ word })));
    articles = await dataSource.getRepository(Article).save(
      ARTICLES.map(({ title, words, by, day, about }) => ({
        title,
        words,
        slug: title.toLowerCase(),
        body: `${title} of the day`,
        editorNotes: `canary-note on ${title}`,
        author: authors[by]!,
        owner: { id: by + 1 },
        tags: tags.filter(({ word }) => about.includes(word)),
        ...(day && { status: 'published', publishedAt: new Date(Date.UTC(2026, 0, day)) }),
      })),
    );
  });

  it('starts without a warning', () => {
    expect(linesOf(running.logs, 'warn')).toEqual([]);
  });

  it('[2.3] takes an author from the registration to the published article', async () => {
    const { json: account } = await reader.post('/api/auth/register', {
      email: 'cid@news.example',
      password: 'correct horse battery',
    });
    const headers = { authorization: `Bearer ${account.data.token}` };
    const author = await reader.request('POST', '/api/authors', { headers, json: { name: 'Cid Cole' } });
    expect(author.json.data).toMatchObject({ name: 'Cid Cole', ownerId: account.data.user.id });
    const json = { ...DRAFT, authorId: author.json.data.id as number, tagsIds: tagIds('sport', 'city') };
    const draft = await reader.request('POST', '/api/articles', { headers, json });
    const { id } = draft.json.data as { id: number };
    expect([draft.status, draft.headers['location']]).toEqual([201, `/api/articles/${id}`]);
    expect(draft.json.data).toEqual({
      ...json,
      id,
      tagsIds: tagIds('city', 'sport'),
      status: 'draft',
      publishedAt: null,
      ownerId: account.data.user.id as number,
    });
    expect(statusOf(await reader.get(`/api/articles/${id}`))).toBe(404);
    const publishing = { status: 'published', publishedAt: '2026-02-01T08:00:00Z' };
    expect((await editor.patch(`/api/articles/${id}`, publishing)).json.data).toMatchObject({ status: 'published' });
    expect(titles(await reader.get('/api/articles?size=1'))).toEqual(['Strike']);
  });

  const auth = (path: string, json?: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    reader.request('POST', `/api/auth/${path}`, { ...(json && { json }), headers });
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  const password = 'correct horse battery';
  const addressOf = (name: string): string => `${name}@${platform}-${database}.example`;
  /** What a browser sends with a request of the same page. */
  const cookieOf = ({ headers }: Answer): Record<string, string> => ({
    cookie: String(headers['set-cookie']).split(';')[0] ?? '',
    'sec-fetch-site': 'same-origin',
  });

  it('[issue 42] an author refreshes by a cookie, forgets the password, and logs out everywhere', async () => {
    const email = addressOf('dot');
    const registered = await auth('register', { email, password });
    expect(registered.json.data).not.toHaveProperty('refreshToken');
    const refreshed = await auth('refresh', undefined, cookieOf(registered));
    expect(refreshed.json.data).toEqual({ token: expect.any(String), expiresIn: 900 });
    expect(statusOf(await auth('refresh', undefined, { cookie: cookieOf(registered)['cookie']! }))).toBe(403);
    const author = { headers: bearer(refreshed.json.data.token), json: { name: 'Dot Dean' } };
    expect(statusOf(await reader.request('POST', '/api/authors', author))).toBe(201);
    expect(statusOf(await auth('password/forgot', { email }))).toBe(202);
    const [mail] = await mailsTo(email);
    expect(mail?.link).toBe(`${SITE}/reset#token=${mail?.token}`);
    expect(statusOf(await auth('password/reset', { token: mail?.token, password: `${password} 2` }))).toBe(204);
    expect(statusOf(await auth('refresh', undefined, cookieOf(refreshed)))).toBe(401);
    expect(statusOf(await auth('login', { email, password }))).toBe(401);
    const again = await auth('login', { email, password: `${password} 2` });
    expect(statusOf(await auth('logout-all', undefined, bearer(again.json.data.token)))).toBe(204);
    expect(statusOf(await auth('refresh', undefined, cookieOf(again)))).toBe(401);
  });

  it('[issue 42] an editor deletes a tag after a second factor, and not without it', async () => {
    const email = addressOf('eva');
    const { json: account } = await auth('register', { email, password });
    await dataSource.getRepository(User).update({ email }, { role: 'EDITOR' });
    const app = new AuthenticatorApp(running, email, account.data.token);
    app.secret = (await app.post('mfa/enrol', { password })).json.data.secret;
    expect(statusOf(await app.post('mfa/confirm', { code: await app.code() }))).toBe(200);
    const tag = `/api/tags/${tags[0]!.id}`;
    const refused = await editor.delete(tag);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('error="insufficient_user_authentication"'),
    ]);
    const { challenge } = (await auth('login', { email, password })).json.data;
    const login = await auth('mfa/challenge', { challenge, code: await app.code(1) });
    const headers = bearer(login.json.data.token);
    expect(statusOf(await reader.request('DELETE', tag, { headers }))).toBe(200);
  });

  it('[issue 42] an author registers and logs in by a passkey', async () => {
    const device = new SoftwareAuthenticator(SITE);
    const email = addressOf('fay');
    const created = device.create((await auth('passkeys/register/options', { email })).json.data);
    expect(statusOf(await auth('passkeys/register', { email, credential: created }))).toBe(201);
    const credential = device.get((await auth('passkeys/login/options')).json.data);
    const { status, json } = await auth('passkeys/login', { credential });
    expect([status, json.data.user.email]).toEqual([200, email]);
  });

  it('[issue 42] an author logs in at the identity provider', async () => {
    const [subject, email] = [`gus-${platform}-${database}`, addressOf('gus')];
    google.accounts.set(subject, { email, email_verified: true, given_name: 'Gus' });
    const { url, verifier } = (await auth('oidc/google', {})).json.data as { url: string; verifier: string };
    expect(new URL(url).searchParams.get('redirect_uri')).toBe(`${SITE}/login/google`);
    const { status, json } = await auth('oidc', { url: await browse(url, subject), verifier });
    expect([status, json.data.user]).toEqual([200, expect.objectContaining({ email, firstName: 'Gus' })]);
  });

  it('[issue 42] a program writes by a key of an author, and deletes nothing', async () => {
    const { json: account } = await auth('register', { email: addressOf('hal'), password });
    const { key } = (await auth('keys', { password, name: 'agency' }, bearer(account.data.token))).json.data;
    const created = await reader.request('POST', '/api/authors', { json: { name: 'Agency' }, headers: bearer(key) });
    expect(created.status).toBe(201);
    const path = `/api/authors/${created.json.data.id}`;
    expect(statusOf(await reader.request('DELETE', path, { headers: bearer(key) }))).toBe(403);
    expect(statusOf(await reader.request('DELETE', path, { headers: bearer(account.data.token) }))).toBe(200);
  });

  it('[issue 42] another service verifies tokens by the published keys', async () => {
    const { json: account } = await auth('register', { email: addressOf('ida'), password });
    const { json: keys } = await reader.get('/.well-known/jwks.json');
    const { payload, protectedHeader } = await jwtVerify(account.data.token, createLocalJWKSet(keys));
    expect([payload['email'], protectedHeader.alg, protectedHeader.kid]).toEqual([addressOf('ida'), 'EdDSA', '2026']);
  });

  it('[9.1] shows published articles to readers, own drafts to authors, and everything to editors', async () => {
    expect(titles(await reader.get('/api/articles?sort=title'))).toEqual(['Bridge', 'Court', 'Derby']);
    expect(titles(await ann.get('/api/articles?sort=title'))).toEqual(['Bridge', 'Court', 'Derby', 'Elections']);
    expect(titles(await ben.get('/api/articles?filter[status]=draft'))).toEqual(['Floods']);
    expect(titles(await editor.get('/api/articles?filter[status]=draft&sort=title'))).toEqual(['Elections', 'Floods']);
    const draft = at('Elections');
    const get = (client: Client): Promise<Answer> => client.get(draft);
    expect(await Promise.all([reader, ben, ann, editor].map(async (each) => statusOf(await get(each))))).toEqual([
      404, 404, 200, 200,
    ]);
    expect(statusOf(await ben.patch(draft, { title: 'Mine' }))).toBe(404);
    expect(statusOf(await ben.delete(draft))).toBe(404);
    expect(titles(await reader.get('/api/articles/search?q=of%20the%20day'))).toHaveLength(3);
    expect(titles(await ann.get('/api/articles/search?title=ELECT'))).toEqual(['Elections']);
  });

  it('[7.1] filters by status, length, date, author and tag', async () => {
    const found = async (filter: string): Promise<string[]> =>
      titles(await editor.get(`/api/articles?sort=title&${filter}`));
    expect(await found('filter[words][between]=400,900')).toEqual(['Bridge', 'Court', 'Derby']);
    expect(await found('filter[publishedAt][gte]=2026-01-02')).toEqual(['Court', 'Derby']);
    expect(await found('filter[author.name]=Ben%20Burr')).toEqual(['Derby', 'Floods']);
    expect(await found('filter[tags.word][in]=law,sport')).toEqual(['Court', 'Derby']);
    expect(await found('filter[or][0][tags.word]=sport&filter[or][1][words][gt]=1000')).toEqual(['Derby', 'Elections']);
    expect(statusOf(await editor.get('/api/articles?filter[body]=x'))).toBe(400);
  });

  it('[7.2] sorts by the newest first, and as the reader wishes', async () => {
    const first = await reader.get('/api/articles?size=2');
    expect(titles(first)).toEqual(['Court', 'Derby']);
    expect(first.json.metadata.pagination).toEqual({ page: 1, size: 2, total: 3, totalPages: 2 });
    expect(titles(await reader.get('/api/articles?size=2&page=2'))).toEqual(['Bridge']);
    expect(titles(await reader.get('/api/articles?sort=-words,title'))).toEqual(['Bridge', 'Derby', 'Court']);
    expect(statusOf(await reader.get('/api/articles?sort=slug'))).toBe(400);
  });

  it('[7.4] includes the author and the tags of each article', async () => {
    const path = '/api/articles?include=author,tags&fields=title&fields[author]=name&sort=title&size=2';
    expect((await reader.get(path)).json.data).toEqual([
      { title: 'Bridge', author: { name: 'Ann Ames' }, tags: [{ id: expect.any(Number), word: 'city' }] },
      {
        title: 'Court',
        author: { name: 'Ann Ames' },
        tags: [
          { id: expect.any(Number), word: 'city' },
          { id: expect.any(Number), word: 'law' },
        ],
      },
    ]);
  });

  it('[8.3] links tags by their ids', async () => {
    const patched = await ann.patch(at('Court'), { tagsIds: tagIds('sport', 'law') });
    expect([patched.status, patched.json.data.tagsIds]).toEqual([200, tagIds('law', 'sport')]);
    expect(titles(await reader.get('/api/articles?filter[tags.word]=city'))).toEqual(['Bridge']);
    const unknown = await ann.patch(at('Court'), { tagsIds: [tags[0]!.id, 99_999] });
    expect([unknown.status, unknown.json.message]).toEqual([409, expect.stringContaining('99999')]);
    expect((await reader.get(at('Court'))).json.data.tagsIds).toEqual(tagIds('law', 'sport'));
  });

  it('[8.1] changes by PATCH what is sent, and nothing else', async () => {
    const { data: before } = (await ann.get(at('Bridge'))).json;
    const { status, json } = await ann.patch(at('Bridge'), { words: 950 });
    expect([status, json.data]).toEqual([200, { ...before, words: 950 }]);
    expect((await ann.patch(profile(), { name: 'Ann A.' })).json.data.name).toBe('Ann A.');
    expect((await ann.patch(profile(), { name: 'Ann Ames' })).json.data.name).toBe('Ann Ames');
    const wrong = await ann.patch(at('Bridge'), { title: null, colour: 'red' });
    expect([wrong.status, wrong.json.errors.map(({ field }: { field: string }) => field).toSorted()]).toEqual([
      400,
      ['colour', 'title'],
    ]);
    expect((await ann.put(at('Bridge'), { ...before, title: 'Bridges' })).json.data.title).toBe('Bridges');
  });

  it('[9.2] lets the owner and editors change an article, and nobody else', async () => {
    const refused = await ben.patch(at('Bridge'), { title: 'Mine' });
    expect([refused.status, refused.json]).toEqual([403, refusal('Owner access required')]);
    expect(statusOf(await ben.delete(at('Bridge')))).toBe(403);
    expect(statusOf(await ben.put(profile(), { name: 'Mine' }))).toBe(403);
    expect(statusOf(await reader.patch(at('Bridge'), { title: 'Mine' }))).toBe(401);
    expect(statusOf(await reader.post('/api/articles', { ...DRAFT, authorId: authors[0]!.id }))).toBe(401);
    expect(statusOf(await ben.post('/api/articles', { ...DRAFT, authorId: authors[0]!.id, ownerId: 1 }))).toBe(400);
    expect(statusOf(await ann.patch(at('Bridge'), { ownerId: 2 }))).toBe(400);
    expect((await editor.patch(at('Bridge'), { ownerId: 2 })).json.data.ownerId).toBe(2);
    expect(statusOf(await ben.patch(at('Bridge'), { title: 'Mine' }))).toBe(200);
  });

  it('[9.3] lets only editors read and write notes, and only editors publish', async () => {
    expect((await editor.get(at('Bridge'))).json.data.editorNotes).toBe('canary-note on Bridge');
    const everywhere = ['/api/articles?include=author,tags', '/api/articles/search?q=bridge', at('Bridge')];
    for (const client of [reader, ann])
      for (const path of everywhere) {
        const { status, text } = await client.get(path);
        expect([status, text]).toEqual([200, expect.not.stringMatching(/canary|editorNotes/)]);
      }
    for (const query of ['fields=editorNotes', 'sort=editorNotes', 'filter[editorNotes][contains]=c'])
      expect(statusOf(await ann.get(`/api/articles?${query}`))).toBe(400);
    for (const change of [{ editorNotes: 'x' }, { status: 'draft' }, { slug: 'other' }])
      expect([change, statusOf(await ann.patch(at('Bridge'), change))]).toEqual([change, 400]);
    const { data } = (await ann.get(at('Bridge'))).json;
    expect(statusOf(await ann.put(at('Bridge'), data))).toBe(200);
    const noted = await editor.patch(at('Bridge'), { editorNotes: 'Cut it' });
    expect(noted.json.data.editorNotes).toBe('Cut it');
    expect(statusOf(await editor.patch(at('Bridge'), { slug: 'other' }))).toBe(400);
  });

  it('[4.6] takes the password of a feed, and never sends it', async () => {
    const feedPassword = 'canary-new';
    const answers = [
      await ann.post('/api/authors', { name: 'Feed', feedPassword }),
      await ann.patch(profile(), { feedPassword }),
      await ann.put(profile(), { name: 'Ann Ames', feedPassword }),
      await editor.get('/api/authors'),
      await editor.get('/api/articles?include=author'),
    ];
    for (const { status, text } of answers)
      expect([status < 300, text]).toEqual([true, expect.not.stringMatching(/canary-(?!note)|feedP/)]);
    expect(statusOf(await editor.get('/api/authors?fields=feedPassword'))).toBe(400);
    const stored = await dataSource.getRepository(Author).find({ select: { id: true, feedPassword: true } });
    expect(stored.map((each) => each.feedPassword ?? '').toSorted()).toEqual(['', feedPassword, feedPassword]);
  });

  it('[7.7] gives editors a dashboard, and everyone the number of what they see', async () => {
    const dashboard = '/api/articles/aggregate?groupBy=status&sum=words';
    expect((await editor.get(dashboard)).json.data).toEqual([
      { groupBy: { status: 'draft' }, count: 2, sum: { words: 1400 } },
      { groupBy: { status: 'published' }, count: 3, sum: { words: 1900 } },
    ]);
    const perAuthor = await editor.get('/api/articles/aggregate?groupBy=authorId&max=words&filter[status]=draft');
    expect(perAuthor.json.data).toEqual([
      { groupBy: { authorId: authors[0]!.id }, count: 1, max: { words: 1200 } },
      { groupBy: { authorId: authors[1]!.id }, count: 1, max: { words: 200 } },
    ]);
    const refused = [await reader.get(dashboard), await ann.get(dashboard)];
    expect(refused.map(({ status, json }) => [status, json])).toEqual([
      [401, refusal('Authentication required')],
      [403, refusal('Editor access required')],
    ]);
  });

  it('[8.4] hides a deleted article, which its owner and editors restore', async () => {
    expect(statusOf(await ann.delete(at('Bridge')))).toBe(200);
    for (const client of [reader, ann, editor]) expect(statusOf(await client.get(at('Bridge')))).toBe(404);
    expect(statusOf(await ann.get('/api/articles?deleted=only'))).toBe(400);
    const hidden = await editor.get('/api/articles?deleted=only');
    expect([titles(hidden), hidden.json.data[0].deletedAt]).toEqual([['Bridge'], expect.any(String)]);
    expect(statusOf(await ben.request('POST', `${at('Bridge')}/restore`))).toBe(403);
    expect(statusOf(await editor.request('POST', `${at('Bridge')}/restore`))).toBe(200);
    expect(titles(await reader.get('/api/articles?sort=title'))).toEqual(['Bridge', 'Court', 'Derby']);
    expect(statusOf(await editor.delete(`${at('Bridge')}?purge=true`))).toBe(200);
    expect(statusOf(await ann.request('POST', `${at('Bridge')}/restore`))).toBe(404);
  });

  it('[3.2] lets only editors write tags', async () => {
    expect(statusOf(await ann.post('/api/tags', { word: 'art' }))).toBe(403);
    expect(statusOf(await ann.patch(`/api/tags/${tags[0]!.id}`, { word: 'art' }))).toBe(403);
    expect(statusOf(await editor.post('/api/tags', { word: 'art' }))).toBe(201);
    const taken = await editor.post('/api/tags', { word: 'art' });
    expect([taken.status, taken.json.message]).toEqual([409, expect.stringContaining('word')]);
    expect((await reader.get('/api/tags')).json.metadata.pagination.total).toBe(4);
  });
});
