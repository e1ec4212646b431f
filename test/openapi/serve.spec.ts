/** Documents and folders that are served compressed, with an ETag: what clients and caches get, byte by byte. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { InvalidOptionError } from 'declarest';
import { addAccess, serveDocuments, serveFolder } from 'declarest/openapi';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { AppModule } from '../../sample-app/app.module.js';
import { readConfig } from '../../sample-app/config.js';
import { serveDocs } from '../../sample-app/docs.js';
import { bootError, PLATFORMS, type RunningApp, startApp } from '../harness/platforms.js';
import { type RuledApp, startRuled, TOKENS, type Who } from '../access/ruled-app.js';

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Sends these headers only. `fetch` would ask for gzip, and decode it. */
function send(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Received> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      const { statusCode: status } = answer;
      buffer(answer).then((bytes) => resolve({ status, headers: answer.headers, bytes }), reject);
    });
    sent.on('error', reject).end();
  });
}

const GZIP = { 'accept-encoding': 'deflate, GZIP;q=0.5' };
const SCRIPT = `export const text = '${'long '.repeat(1_000)}';`;
const folder = mkdtempSync(join(tmpdir(), 'declarest-served-'));
mkdirSync(join(folder, 'assets'));
writeFileSync(join(folder, 'index.html'), '<script src="./assets/main script.js"></script>');
writeFileSync(join(folder, 'assets', 'main script.js'), SCRIPT);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: RuledApp;
  let made: number;
  beforeAll(async () => {
    made = 0;
    app = await startRuled(platform, {
      routes: ['GET notes'],
      rules: ({ publicEndpoints, requireRole }) => {
        publicEndpoints('/docs-json', '/admin/**');
        requireRole('ADMIN', 'GET /admin/resources.json');
      },
      configure: (nest) => {
        nest.setGlobalPrefix('api');
        nest.enableCors({ origin: ['http://shop.example', 'http://other.example'] });
        const config = new DocumentBuilder().setTitle('Notes é').setOpenAPIVersion('3.1.0').build();
        const document = () => addAccess(SwaggerModule.createDocument(nest, config), nest);
        const counted = () => ((made += 1), document());
        serveDocuments(nest, { '/docs-json': counted, '/admin/resources.json': () => ({ of: ['ADMIN'] }) });
        serveFolder(nest, '/admin', folder, 'assets');
        SwaggerModule.setup('swagger', nest, document, { ui: false, raw: ['json'] });
      },
    });
  });
  afterAll(() => app.close());

  const read = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(`${app.url}${path}`, headers, method);
  const as = (who: Who): Record<string, string> => ({ authorization: `Bearer ${TOKENS[who]}` });

  it('makes a document once, before the first request', async () => {
    expect(made).toBe(1);
    await Promise.all([read('/docs-json'), read('/docs-json', GZIP)]);
    expect(made).toBe(1);
  });

  it('sends gzip to clients that accept it, and plain bytes to others', async () => {
    const [plain, gzip] = [await read('/docs-json'), await read('/docs-json', GZIP)];
    const { info, paths } = JSON.parse(plain.bytes.toString()) as OpenAPIObject;
    expect([info.title, paths['/api/notes']?.get]).toMatchObject([
      'Notes é',
      { 'x-access': { access: 'any token', rule: 'default' } },
    ]);
    expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes);
    expect([plain.headers['content-encoding'], gzip.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    for (const { status, headers, bytes } of [plain, gzip]) {
      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(headers['content-length']).toBe(String(bytes.length));
      expect(headers['cache-control']).toBe('private, no-cache');
    }
    for (const refusal of ['gzip;q=0', 'gzip; q=0.000, br', 'br', '', 'identity, xgzip'])
      expect((await read('/docs-json', { 'accept-encoding': refusal })).bytes).toEqual(plain.bytes);
  });

  it('sends 304 without a body to clients that have the document, in either encoding', async () => {
    const { etag = '' } = (await read('/docs-json')).headers;
    expect(etag).toMatch(/^W\/"[\w-]{43}"$/);
    expect((await read('/docs-json', GZIP)).headers.etag).toBe(etag);
    for (const known of [etag, `"a", ${etag}`, etag.slice(2), '*']) {
      const { status, headers, bytes } = await read('/docs-json', { ...GZIP, 'if-none-match': known });
      expect([known, status, headers.etag, bytes.length]).toEqual([known, 304, etag, 0]);
      expect(headers.vary).toMatch(/\bAccept-Encoding\b/);
    }
    expect((await read('/docs-json', { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('answers HEAD with the headers of GET', async () => {
    const names = ['content-type', 'content-length', 'content-encoding', 'etag', 'vary'];
    const [got, head] = [await read('/docs-json', GZIP), await read('/docs-json', GZIP, 'HEAD')];
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of names) expect([name, head.headers[name]]).toEqual([name, got.headers[name]]);
  });

  it('keeps what others say in Vary', async () => {
    const { headers } = await read('/docs-json', { origin: 'http://shop.example' });
    expect(headers['access-control-allow-origin']).toBe('http://shop.example');
    expect(headers.vary?.split(/, */)).toEqual(['Origin', 'Accept-Encoding']);
  });

  it('leaves it to the access rules who reads a document', async () => {
    const paths = ['ANYBODY', 'USER', 'ADMIN'].map(async (who) => {
      const { status } = await read('/admin/resources.json', who === 'ANYBODY' ? {} : as(who as Who));
      return [who, status];
    });
    expect(await Promise.all(paths)).toEqual([
      ['ANYBODY', 401],
      ['USER', 403],
      ['ADMIN', 200],
    ]);
    expect((await read('/admin/resources.json', { 'if-none-match': '*' })).status).toBe(401);
  });

  it('serves the files of a folder, from any depth, and nothing else', async () => {
    const page = await read('/admin/');
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['cache-control']).toBe('private, no-cache');
    expect((await read('/admin/index.html')).bytes).toEqual(page.bytes);
    const script = await read('/admin/assets/main%20script.js', GZIP);
    expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(script.headers['cache-control']).toBe('private, max-age=31536000, immutable');
    expect(gunzipSync(script.bytes).toString()).toBe(SCRIPT);
    expect(script.bytes.length).toBeLessThan(200);
    const { etag = '' } = script.headers;
    expect((await read('/admin/assets/main%20script.js', { 'if-none-match': etag })).status).toBe(304);
    for (const path of [
      '/admin/none.js',
      '/admin/assets',
      '/admin/assets/',
      '/admin/%2e%2e/package.json',
      '/admin/..%2fx',
    ])
      expect([path, (await read(path)).status]).toEqual([path, 404]);
  });

  it('redirects to the slash that the addresses in the page need', async () => {
    const { status, headers } = await read('/admin');
    expect([status, headers.location]).toEqual([301, 'admin/']);
  });

  it('leaves the JSON of SwaggerModule as it is', async () => {
    const { status, bytes } = await read('/swagger-json');
    expect([status, JSON.parse(bytes.toString())]).toEqual([
      200,
      JSON.parse((await read('/docs-json')).bytes.toString()),
    ]);
  });

  it.each([
    ['A path of serveDocuments()', 'docs-json', (path: string) => ({ [path]: () => ({}) })],
    ['The path of serveFolder()', '/', undefined],
  ])('%s must not be %j', async (name, path, documents) => {
    const error = await bootError(
      platform,
      {},
      {
        configure: (nest) => (documents ? serveDocuments(nest, documents(path)) : serveFolder(nest, path, folder)),
      },
    );
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toBe(`${name} must be a path such as "/docs-json", got "${path}". Begin it with a slash.`);
  });
});

describe('the document of the sample', () => {
  let shop: RunningApp;
  beforeAll(async () => {
    const config = readConfig({ DATABASE: ':memory:', ADMIN_PASSWORD: 'the boss of the shop', PORT: '0' });
    shop = await startApp('express', AppModule.with({ ...config, jwtSecret: 'x'.repeat(32) }), {
      configure: serveDocs,
    });
  });
  afterAll(() => shop.close());

  it('has at most 45 kB on the wire', async () => {
    const { status, headers, bytes } = await send(`${shop.url}/docs-json`, GZIP);
    expect([status, headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(bytes.length).toBeLessThanOrEqual(45_000);
    expect(JSON.parse(gunzipSync(bytes).toString()).paths).toHaveProperty('/api/products/{id}');
  });
});
