/** Generated endpoints, the client and the providers behind proxies that compress. Those that are not installed are left out. */
import { readFile } from 'node:fs/promises';
import { Controller, Get, Headers } from '@nestjs/common';
import { createClient, type Failure } from 'declarest-client';
import { dataProvider as reactAdmin } from 'ra-data-declarest';
import { dataProvider as refine } from 'refine-declarest';
import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import { blocksOf } from '../docs-blocks.js';
import { request } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { isInstalled, PROXIES } from '../harness/proxies.js';
import { freePort, type RunningProxy, shownConfig, startProxy } from './proxies.js';

/** Long enough to be compressed. */
const BODY = 'declarest '.repeat(150);
const EXPORTED = 1_500;

@Entity()
class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) title!: string;
  @Column({ type: 'text' }) body!: string;
  @VersionColumn() version!: number;
}

@Entity()
class Place {
  @PrimaryColumn({ length: 40 }) code!: string;
  @Column({ length: 40 }) name!: string;
}

@Entity()
class Line {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'text' }) text!: string;
}

@Controller('echo')
class EchoController {
  @Get()
  addresses(@Headers('x-forwarded-for') addresses: string): { addresses: string } {
    return { addresses };
  }
}

const KEYS = ['a/b', 'a,b', '50%', 'a%2Fb', 'x?y#z', 'a b', 'ä', 'a//b', 'a;b'];
const services = new Map<string, CrudService>();
let down: number;

beforeAll(async () => {
  if (!PROXIES.some(isInstalled)) return;
  down = await freePort();
  for (const platform of PLATFORMS) {
    const service = await startCrud(platform, {
      entities: [Article, Place, Line],
      resources: [
        { entity: Article, endpoint: '/articles', enablePagination: true },
        { entity: Article, endpoint: '/guarded', enablePagination: true, requireIfMatch: true },
        { entity: Place, endpoint: '/places' },
        { entity: Line, endpoint: '/lines', enableExport: true, enablePagination: true },
      ],
      controllers: [EchoController],
      isDescribed: false,
    });
    services.set(platform, service);
    await service.dataSource.getRepository(Place).insert(KEYS.map((code) => ({ code, name: `of ${code}` })));
    const lines = Array.from({ length: EXPORTED }, (_, index) => ({ text: `${index} ${BODY}` }));
    for (let first = 0; first < EXPORTED; first += 300)
      await service.dataSource.getRepository(Line).insert(lines.slice(first, first + 300));
  }
});
afterAll(async () => {
  for (const service of services.values()) await service.close();
});

const failureOf = (promise: Promise<unknown>): Promise<Failure & { statusCode?: number }> =>
  promise.then(
    () => {
      throw new Error('The call was expected to fail.');
    },
    (error: Failure) => error,
  );

it('docs/tasks/cors-and-proxies.md shows only settings that run here', async () => {
  const path = 'docs/tasks/cors-and-proxies.md';
  const shown = blocksOf({ path, text: await readFile(path, 'utf8') }).filter(({ language }) => language === 'text');
  const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trim());
  const run = new Set(PROXIES.flatMap(({ name }) => linesOf(shownConfig(name))));
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.flatMap(({ text }) => linesOf(text).filter((line) => !run.has(line)))).toEqual([]);
});

for (const installed of PROXIES)
  describe.skipIf(!isInstalled(installed))(`behind ${installed.name}`, () => {
    let proxy: RunningProxy;
    beforeAll(async () => {
      const ports = [...services.values()].map(({ port }) => port);
      proxy = await startProxy(installed.name, [...ports, down]);
    });
    afterAll(() => proxy.close());

    describe.each(PLATFORMS)('on %s', (platform) => {
      let url: string;
      let service: CrudService;
      beforeAll(() => {
        service = services.get(platform)!;
        url = proxy.urlOf(service.port);
      });

      const made = async (): Promise<number> => {
        const { id } = await service.dataSource.getRepository(Article).save({ title: 'one', body: BODY });
        return id;
      };
      const send = (method: string, path: string, headers: Record<string, string> = {}, json?: object) =>
        request(url, method, path, { headers: { 'accept-encoding': 'gzip', ...headers }, ...(json && { json }) });

      it.each(['articles', 'guarded'])('[8.5] %s: sends a tag that comes back as the version', async (name) => {
        const path = `/${name}/${await made()}`;
        const read = await send('GET', path);
        const etag = read.headers['etag']!;
        expect([read.status, read.headers['content-encoding'], etag]).toEqual([
          200,
          'gzip',
          expect.stringContaining('1') as unknown,
        ]);
        expect((await send('GET', path, { 'if-none-match': etag })).status).toBe(304);
        const changed = await send('PATCH', path, { 'if-match': etag }, { title: 'two' });
        expect(changed.status).toBe(200);
        for (const tags of [etag, `"999", ${etag}`])
          expect((await send('PATCH', path, { 'if-match': tags }, { title: 'three' })).status).toBe(412);
        expect((await send('DELETE', path, { 'if-match': etag })).status).toBe(412);
        expect((await send('GET', path, { 'if-none-match': etag })).status).toBe(200);
        const next = changed.headers['etag']!;
        const json = { title: 'three', body: BODY };
        expect((await send('PUT', path, { 'if-match': `"999", ${next}` }, json)).status).toBe(200);
        const last = (await send('GET', path)).headers['etag']!;
        expect((await send('DELETE', path, { 'if-match': last })).status).toBe(200);
      });

      it.each(['articles', 'guarded'])('[8.5] %s: no client overwrites what it has not seen', async (resource) => {
        const title = async (id: number) =>
          (await service.dataSource.getRepository(Article).findOneByOrFail({ id })).title;

        const id = await made();
        const params = { id };
        const [ann, bob] = [createClient(url), createClient(url)];
        const read = async (client: typeof ann) =>
          (await client.request<{ data: object }>('GET', `${resource}/:id`, { params })).data;
        const [seen, seenByBob] = [await read(ann), await read(bob)];
        const path = `${resource}/:id`;
        const { data } = await bob.request<{ data: object }>('PATCH', path, {
          params,
          json: { title: 'by Bob' },
          seen: seenByBob,
        });
        const stale = ann.request('PATCH', path, { params, json: { title: 'by Ann' }, seen });
        expect((await failureOf(stale)).status).toBe(412);
        expect(await title(id)).toBe('by Bob');
        await bob.request('PATCH', path, { params, json: { title: 'again' }, seen: data });

        const provider = reactAdmin(url);
        const { data: form } = await provider.getOne(resource, { id });
        await provider.update(resource, { id, data: { ...form, title: 'by Cleo' }, previousData: form });
        const late = provider.update(resource, { id, data: { ...form, title: 'by Dan' }, previousData: form });
        expect((await failureOf(late)).status).toBe(412);
        expect(await title(id)).toBe('by Cleo');

        const [first, second] = [refine(url), refine(url)];
        for (const each of [first, second]) await each.getOne({ resource, id });
        await first.update({ resource, id, variables: { title: 'by Eve' } });
        const lost = second.update({ resource, id, variables: { title: 'by Finn' } });
        expect((await failureOf(lost)).statusCode).toBe(412);
        expect(await title(id)).toBe('by Eve');
        await first.deleteOne({ resource, id });
      });

      it('[4.1] finds records by keys that have to be escaped', async () => {
        for (const prefix of ['/', '/shop/'] as const) {
          const found = [];
          for (const key of KEYS) {
            const base = proxy.urlOf(service.port, prefix);
            const { pathname } = new URL(base);
            const path = `${pathname.replace(/\/$/, '')}/places/${encodeURIComponent(key)}`;
            found.push((await request(base, 'GET', path)).json?.data?.name);
          }
          expect([prefix, found]).toEqual([prefix, KEYS.map((key) => `of ${key}`)]);
        }
      });

      it('[7.8] passes on the whole of an export', async () => {
        for (const encoding of ['gzip', 'identity']) {
          const response = await fetch(`${url}/lines/export?format=ndjson`, {
            headers: { 'accept-encoding': encoding },
          });
          const lines = (await response.text()).trimEnd().split('\n');
          expect([lines.length, JSON.parse(lines.at(-1)!).text]).toEqual([EXPORTED, `${EXPORTED - 1} ${BODY}`]);
        }
      });

      it('[5] gives Location the prefix that it removes from paths', async () => {
        const below = proxy.urlOf(service.port, '/shop/');
        const { headers, status } = await request(below, 'POST', '/shop/articles', { json: { title: 'x', body: 'y' } });
        expect([status, headers['location']]).toEqual([201, expect.stringMatching(/^\/shop\/articles\/\d+$/)]);
        expect((await request(below, 'GET', headers['location']!)).status).toBe(200);
      });

      it('ends X-Forwarded-For with the address of the client', async () => {
        const { json } = await request(url, 'GET', '/echo', { headers: { 'x-forwarded-for': '203.0.113.9' } });
        const spoofed = installed.name === 'Caddy' ? '' : '203.0.113.9, ';
        expect(json.addresses).toBe(`${spoofed}127.0.0.1`);
      });
    });

    it('tells the client that the server does not answer', async () => {
      const client = createClient(proxy.urlOf(down));
      const { status, message } = await failureOf(client.request('GET', 'articles'));
      expect([502, 503]).toContain(status);
      expect(message).toMatch(new RegExp(`^A proxy answered .*with status ${status}`));
      expect(message).not.toContain('url of the client');
    });
  });
