/**
 * The document is exact: what it allows is never refused for its form, what it forbids always is, and answers are as it
 * says. `npm run proof:proxy` sends the requests through Prism, a proxy that validates them and the answers by itself.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { authModule } from '../access/ruled-app.js';
import { startChild } from '../child-process.js';
import { startCrud, type CrudService } from '../crud/service.js';
import { request, type Answer } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { authorizationOf } from '../harness/tokens.js';
import { DescribedApi, documentOf, isPartialAnswer, type Described, type Parameter } from './described.js';
import { Requests, type RandomRequest } from './random-requests.js';
import { ENTITIES, Item, Label, Maker, Remark, resources } from './shop-service.js';

/** `npm run proof:document` sends 20,000; `DOCUMENT_SEED` makes others. */
const REQUESTS = Number(process.env['DOCUMENT_REQUESTS'] ?? 150);
/** By this seed, they reach each operation. */
const SEED = Number(process.env['DOCUMENT_SEED'] ?? 3);
const HAS_PROXY = process.env['DOCUMENT_PROXY'] === 'on';
const EDITOR = { sub: 1, roles: ['ADMIN', 'EDITOR'] };

vi.setConfig({ testTimeout: 120_000 + REQUESTS * 100 });

describe.each(PLATFORMS)('on %s', (platform) => {
  let service: CrudService;
  let api: DescribedApi;
  let requests: Requests;
  let folder: string;
  /** Of the service, or of the proxy before it. */
  let url: string;
  const makers = ['0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e21', '0b6f1a52-6a0e-4f0e-9a55-0f6d1c9b7e22'];

  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: ENTITIES,
      resources,
      imports: [authModule({ defaultAccess: 'public' })],
    });
    const { dataSource } = service;
    await dataSource.getRepository(Maker).insert(makers.map((id, index) => ({ id, name: `maker ${index}` })));
    await dataSource.getRepository(Label).insert([{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' }]);
    for (const title of ['one', 'two', 'three', 'four'])
      await dataSource.getRepository(Item).save({ title, price: 1.5, maker: { id: makers[0]! }, labels: [{ id: 1 }] });
    await dataSource.getRepository(Remark).insert([1, 2, 3].map((itemId) => ({ text: 'x', item: { id: itemId } })));
    api = new DescribedApi(documentOf(service.app));
    requests = new Requests(api, idsOf, !HAS_PROXY);
    folder = await mkdtemp(join(tmpdir(), 'declarest-document-'));
    url = HAS_PROXY ? await startProxy(service.url, api.document, folder) : service.url;
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const idsOf = ({ path }: Described, { name }: Parameter): unknown[] => {
    if (name === 'id' && path.includes('makers')) return makers;
    return [1, 2, 3];
  };

  /** Without imports, whose body is a file: test/crud/imports.spec.ts sends them. */
  const hasJson = ({ requestBody }: Described): boolean => !requestBody || 'application/json' in requestBody.content;
  const generated = (): Described[] =>
    api.operations.filter((each) => !each.path.startsWith('/api/auth') && hasJson(each));

  const send = async ({ method, path, body }: RandomRequest): Promise<Answer> =>
    request(url, method, path, {
      headers: authorizationOf(EDITOR),
      ...(body !== undefined && { json: body }),
    });

  it('a request that the document allows is not refused for its form, and its answer is as described', async () => {
    const any = fc.oneof(
      ...generated().map((operation) => requests.allowed(operation).map((sent) => ({ operation, sent }))),
    );
    await fc.assert(
      fc.asyncProperty(any, async ({ operation, sent }) => {
        // Limits of the whole query string.
        fc.pre(Buffer.byteLength(sent.path) < 4_000 && sent.path.split('filter%5B').length <= 50);
        const answer = await send(sent);
        const isPartial = isPartialAnswer(sent.path);
        const wrong = [...api.wrongWith(operation, answer, { isPartial }), ...(isPartial ? [] : violations(answer))];
        const isRefused = [400, 413, 415, 422, 500].includes(answer.status);
        if (isRefused || wrong.length > 0)
          throw new Error(
            [
              `${sent.method} ${decodeURIComponent(sent.path)} ${JSON.stringify(sent.body)}`,
              `${answer.status} ${answer.text}`,
              ...wrong,
            ].join('\n'),
          );
      }),
      { numRuns: REQUESTS, seed: SEED, endOnFailure: true },
    );
  });

  // The proxy would report each of them.
  it.skipIf(HAS_PROXY)('a request that the document forbids is refused', async () => {
    const any = fc.oneof(
      ...generated().flatMap((operation) => {
        const sent = requests.forbidden(operation);
        return sent ? [sent.map((each) => ({ operation, sent: each }))] : [];
      }),
    );
    await fc.assert(
      fc.asyncProperty(any, async ({ operation, sent }) => {
        const answer = await send(sent);
        // An unknown record is told before a wrong body; with `atomic=false`, each item has a status of its own.
        const isRefused =
          answer.status === 400 ||
          (answer.status === 404 && operation.path.includes('{')) ||
          (answer.status === 207 && answer.text.includes('"status":400'));
        const wrong = api.wrongWith(operation, answer);
        if (!isRefused || wrong.length > 0)
          throw new Error(
            [
              `${sent.method} ${decodeURIComponent(sent.path)} ${JSON.stringify(sent.body)}`,
              `${answer.status} ${answer.text}`,
              ...wrong,
            ].join('\n'),
          );
      }),
      { numRuns: REQUESTS, seed: SEED, endOnFailure: true },
    );
  });
});

/** What the proxy finds wrong with the request or the answer. */
function violations({ headers }: Answer): string[] {
  const found = JSON.parse(headers['sl-violations'] ?? '[]') as readonly unknown[];
  return found.map((each) => JSON.stringify(each));
}

/** @returns its URL */
async function startProxy(target: string, document: object, folder: string): Promise<string> {
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const port = String((probe.address() as AddressInfo).port);
  probe.close();
  const args = ['proxy', file, target, '--host', '127.0.0.1', '--port', port];
  await startChild('prism', args, { cwd: folder, env: { HOME: folder } }).says(/Prism is listening/);
  return `http://127.0.0.1:${port}`;
}
