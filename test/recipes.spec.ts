/** Runs each recipe of docs/tasks/recipes.md, and those that it links, in a real application. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UserAccounts } from 'declarest';
import { as } from 'declarest/testing';
import type { Client } from 'declarest-client';
import { DataSource, EntityManager, Repository } from 'typeorm';
import { deleteDataSourceByName, initializeTransactionalContext, StorageDriver } from 'typeorm-transactional';
import { type Compiled, compile, REPOSITORY } from './compiled.js';
import { startChild } from './child-process.js';
import { type Block, blocksOf } from './docs-blocks.js';
import { createDatabase } from './harness/databases.js';
import { type Answer, request } from './harness/client.js';
import { type Platform, PLATFORMS, type RunningApp, type StartOptions, startApp } from './harness/platforms.js';

const page = { path: 'docs/tasks/recipes.md', text: await readFile(join(REPOSITORY, 'docs/tasks/recipes.md'), 'utf8') };
/** Longer ones, which the page links. */
const FILES = ['tenants', 'unit-test', 'nestjs-cls', 'typeorm-transactional'];
const recipes: readonly Pick<Block, 'file' | 'text'>[] = [
  ...blocksOf(page).filter(({ language }) => language === 'ts'),
  ...(await Promise.all(
    FILES.map(async (name) => ({
      file: `docs-blocks/${name}.ts`,
      text: await readFile(join(REPOSITORY, `test/recipes/${name}.ts`), 'utf8'),
    })),
  )),
];

const recipeWith = (code: string): Pick<Block, 'file' | 'text'> => {
  const block = recipes.find(({ text }) => text.includes(code));
  if (!block) throw new TypeError(`No recipe has ${code}`);
  return block;
};

/** @nestjs/throttler is CommonJS and requires ES modules, which Jest can do on Node 24 only: it runs in a process. */
const LIMITED = 'docs-blocks/limited.ts';
const LIMITED_TEXT = `
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CommentsModule } from './${basename(recipeWith('ThrottlerGuard').file, '.ts')}.js';

class AppModule {}
const database = TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true });
for (const adapter of [new ExpressAdapter(), new FastifyAdapter()]) {
  const app = await NestFactory.create({ module: AppModule, imports: [database, CommentsModule] }, adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  console.log(await app.getUrl());
}
`;

let compiled: Compiled;
let uploads: string;
beforeAll(async () => {
  uploads = await mkdtemp(join(tmpdir(), 'declarest-uploads-'));
  // With fast hashes, and files outside of the repository.
  const adapted = (text: string): string =>
    text
      .replace('AuthModule.forRoot({', '$& bcryptRounds: 4,')
      .replace(`diskStorage('uploads')`, `diskStorage('${uploads}')`);
  const sources = Object.fromEntries(recipes.map(({ file, text }) => [file, adapted(text)]));
  compiled = await compile([], { ...sources, [LIMITED]: LIMITED_TEXT });
});
afterAll(async () => {
  await compiled.remove();
  await rm(uploads, { recursive: true, force: true });
});

/** What the recipe with this code exports. */
async function recipe<E>(code: string): Promise<E> {
  return (await import(join(compiled.directory, recipeWith(code).file.replace(/\.ts$/, '.js')))) as E;
}

/** Typed for browsers, so its types are checked by `npm run test:client`. */
async function clientRecipe() {
  return (await import(join(REPOSITORY, 'test/typed-client/recipes/files.ts'))) as {
    client: Client;
    createPicture(title: string, file: Blob): Promise<number>;
  };
}

async function start(platform: Platform, module: Type, options: StartOptions = {}): Promise<RunningApp> {
  const database = await createDatabase();
  return startApp(
    platform,
    { imports: [TypeOrmModule.forRoot(database.options), module] },
    { ...options, onClose: database.drop },
  );
}

const send = ({ url }: RunningApp, method: string, path: string, json?: unknown): Promise<Answer> =>
  request(url, method, path, json === undefined ? {} : { json });

describe.each(PLATFORMS)('on %s', (platform) => {
  it.each([
    ['dataSource.transaction', 'Purchase', 'Purchases', 'class PurchaseService'],
    ['@nestjs-cls/transactional', 'Errand', 'Errands', 'class ErrandService'],
    ['typeorm-transactional', 'Trip', 'Trips', 'class TripService'],
  ])('transactions: %s stores the record and its log entry, or neither', async (_, name, many, code) => {
    const exported = await recipe<Record<string, Type>>(code);
    const classOf = (each: string): Type => exported[each] as Type;
    // typeorm-transactional patches classes that other tests share.
    const { getRepository } = EntityManager.prototype;
    const { extend } = Repository.prototype;
    initializeTransactionalContext({ storageDriver: StorageDriver.ASYNC_LOCAL_STORAGE });
    const running = await start(platform, classOf(`${many}Module`));
    const service = running.app.get<{ place(title: string): Promise<number> }>(classOf(`${name}Service`), {
      strict: false,
    });
    await expect(service.place('refused')).rejects.toMatchObject({ status: 409 });
    const id = await service.place('kept');
    const dataSource = running.app.get(DataSource, { strict: false });
    const found = [await dataSource.getRepository(classOf(name)).find()];
    found.push(await dataSource.getRepository(classOf(`${name}Log`)).find());
    expect(found).toMatchObject([[{ id, title: 'kept' }], [{ [`${name.toLowerCase()}Id`]: id }]]);
    await running.close();
    deleteDataSourceByName('default');
    Object.assign(EntityManager.prototype, { getRepository });
    Object.assign(Repository.prototype, { extend });
    Reflect.deleteProperty(Repository.prototype, 'manager');
  });

  it('tenants: nobody sees or writes the records of another tenant', async () => {
    const { TenantsModule } = await recipe<{ TenantsModule: Type }>('class TenantScope');
    const running = await start(platform, TenantsModule);
    const accounts = running.app.get(UserAccounts, { strict: false });
    const member = async (name: string, tenantId: number) => {
      const user = { email: `${name}@shop.example`, password: 'correct horse battery', tenantId };
      const { id } = await accounts.create(user as never);
      return as(running.app, { sub: id, roles: ['USER'] });
    };
    const [ann, bob] = [await member('ann', 1), await member('bob', 2)];
    const created = await ann.post('/api/invoices', { title: 'Lamps' });
    expect([created.status, created.json.data]).toEqual([201, { id: 1, title: 'Lamps', tenantId: 1 }]);
    expect((await ann.get('/api/invoices')).json.data).toHaveLength(1);
    expect((await bob.get('/api/invoices')).json.data).toEqual([]);
    expect((await bob.get('/api/invoices/1')).status).toBe(404);
    expect((await bob.patch('/api/invoices/1', { title: 'Mine' })).status).toBe(404);
    expect((await bob.post('/api/invoices', { title: 'Mine', tenantId: 1 })).status).toBe(400);
    await running.close();
  });

  it('webhooks: the response does not wait for the receiver, and a failed delivery is repeated', async () => {
    const received: unknown[] = [];
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const receiver: Server = createServer((incoming, response) => {
      let text = '';
      incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
      incoming.on('end', () => {
        received.push(JSON.parse(text));
        response.statusCode = received.length === 1 ? 500 : 200;
        void answered.then(() => response.end());
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    process.env['WEBHOOK_URL'] = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const { ParcelsModule } = await recipe<{ ParcelsModule: Type }>('class Webhooks');
    const running = await start(platform, ParcelsModule);
    // The receiver answers after the test has the response.
    expect((await send(running, 'POST', '/api/parcels', { address: 'Main Street 1' })).status).toBe(201);
    answer();
    while (received.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(received).toEqual([
      { event: 'parcel created', id: 1 },
      { event: 'parcel created', id: 1 },
    ]);
    await running.close();
    receiver.close();
  });

  it('Swagger: the page is public, and the document needs a token', async () => {
    const { LibraryModule, serveDocs } = await recipe<{ LibraryModule: Type; serveDocs: StartOptions['configure'] }>(
      'serveDocs',
    );
    const running = await start(platform, LibraryModule, { configure: serveDocs! });
    const page = await send(running, 'GET', '/docs');
    expect([page.status, page.text.includes('swagger-ui')]).toEqual([200, true]);
    expect((await send(running, 'GET', '/docs-json')).status).toBe(401);
    const { json } = await as(running.app, { roles: ['USER'] }).get('/docs-json');
    expect(Object.keys(json.paths)).toEqual(expect.arrayContaining(['/api/books', '/api/auth/login']));
    await running.close();
  });

  it('jobs: each record belongs to the user as whom the job works', async () => {
    interface Recipe {
      RemindersModule: Type;
      NightlyJob: Type<{ run(ids: readonly number[]): Promise<void> }>;
      RemindersController: Type;
    }
    const { RemindersModule, NightlyJob } = await recipe<Recipe>('NightlyJob');
    const running = await start(platform, RemindersModule);
    await running.app.get(NightlyJob, { strict: false }).run([3, 4]);
    expect(await running.app.get(DataSource).query('SELECT "text", "userId" FROM reminder ORDER BY id')).toEqual([
      { text: 'Pay the invoice', userId: 3 },
      { text: 'Pay the invoice', userId: 4 },
    ]);
    await running.close();
  });
});

it('rate limit: counts one operation of a resource, on both platforms', async () => {
  const child = startChild(process.execPath, [join(compiled.directory, LIMITED.replace(/\.ts$/, '.js'))], {
    cwd: compiled.directory,
  });
  const [, ...urls] = await child.says(/(http:\S+)\n(http:\S+)\n/);
  for (const url of urls) {
    const send = async (method: string, json?: unknown): Promise<number> =>
      (await request(url, method, '/api/comments', json === undefined ? {} : { json })).status;
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1) statuses.push(await send('POST', { text: 'Fine' }));
    expect(statuses).toEqual([201, 201, 201, 429]);
    for (let index = 0; index < 4; index += 1) expect(await send('GET')).toBe(200);
  }
  child.signal('SIGKILL');
});

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(500)]);

it.each(PLATFORMS)('upload on %s: a file belongs to a record, and only an editor sends it', async (platform) => {
  const { PicturesModule } = await recipe<{ PicturesModule: Type }>('FileCrudController');
  const running = await start(platform, PicturesModule);
  const editor = as(running.app, { roles: ['EDITOR'] });
  await editor.post('/api/pictures', { title: 'Lamp' });
  const bearerOf = async (role: string): Promise<string> => {
    const user = { email: `${role.toLowerCase()}@shop.example`, password: 'correct horse battery' };
    await running.app.get(UserAccounts, { strict: false }).create({ ...user, role } as never);
    return `Bearer ${(await send(running, 'POST', '/api/auth/login', user)).json.data.token}`;
  };
  const upload = (id: number, body: Buffer, authorization: string): Promise<Answer> =>
    request(running.url, 'PUT', `/api/pictures/${id}/file`, {
      body,
      headers: { 'content-type': 'image/png', authorization },
    });
  const bearer = await bearerOf('EDITOR');
  expect((await upload(1, PNG, await bearerOf('USER'))).status).toBe(403);
  const stored = await upload(1, PNG, bearer);
  expect([stored.status, stored.json.data.file.size]).toEqual([200, PNG.length]);
  expect((await upload(1, Buffer.concat([PNG, Buffer.alloc(100_000)]), bearer)).status).toBe(413);
  expect((await upload(2, PNG, bearer)).status).toBe(404);
  const sent = await send(running, 'GET', '/api/pictures/1/file');
  expect([sent.status, sent.headers['content-length']]).toEqual([200, String(PNG.length)]);
  await running.close();
});

it('upload: the recipe of declarest-client creates the record and uploads the file', async () => {
  const { PicturesModule } = await recipe<{ PicturesModule: Type }>('FileCrudController');
  const running = await start('express', PicturesModule);
  vi.stubGlobal('location', { href: running.url });
  const { client, createPicture } = await clientRecipe();
  const user = { email: 'ann@shop.example', password: 'correct horse battery' };
  const accounts = running.app.get(UserAccounts, { strict: false });
  const { id } = await accounts.create(user as never);
  await client.login(user);
  const file = new Blob([PNG], { type: 'image/png' });
  await expect(createPicture('Lamp', file)).rejects.toThrow('Editor access required');
  await accounts.setRole(id, 'EDITOR');
  await client.login(user);
  const created = await createPicture('Lamp', file);
  const params = { id: created };
  const stored = { title: 'Lamp', file: { size: PNG.length } };
  expect(await client.request('GET', 'pictures/:id', { params })).toMatchObject({ data: stored });
  vi.unstubAllGlobals();
  await running.close();
});

it('unit test: an override runs by itself', async () => {
  const { createdArticle } = await recipe<{ createdArticle(): Promise<unknown> }>('createdArticle');
  expect(await createdArticle()).toEqual({ id: 1, title: 'Lamps', authorId: 7 });
});
