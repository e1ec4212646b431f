// Makes clients of the service in test/generators, which has what generators have misread, by @hey-api/openapi-ts, kubb,
// orval and swagger-typescript-api; compiles them; and compares what their zod schemas make of bodies and answers. Sends
// requests through Prism, which compares them and the answers with the document.
//
//     npm run test:generators
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { clientFolder } from './client-folder.mjs';
import { freePort } from './free-port.mjs';
import { ADMIN, startGeneratorsService } from './generators-service.mjs';

const TEST = fileURLToPath(new URL('../test', import.meta.url));
const FOLDER = join(TEST, 'generators', 'clients');
const GENERATED = join(FOLDER, 'generated');
const DOCUMENT = join(GENERATED, 'openapi.json');
const PRODUCT = { name: 'Lamp', price: '12.50' };

const client = clientFolder(join(TEST, 'typed-client'));
const kubb = clientFolder(FOLDER);
for (const folder of ['generated', 'out']) rmSync(join(FOLDER, folder), { recursive: true, force: true });
mkdirSync(GENERATED);
const service = await startGeneratorsService();
try {
  writeFileSync(DOCUMENT, JSON.stringify(service.document));
  const swagger = ['generate', '--path', DOCUMENT, '--output', join(GENERATED, 'swagger-typescript-api')];
  await Promise.all([
    client('openapi-ts', [], FOLDER),
    client('orval', ['--config', 'orval.config.js'], FOLDER),
    client('swagger-typescript-api', [...swagger, '--name', 'service.ts'], FOLDER),
    kubb('kubb', ['generate']),
  ]);
  await client('tsc', ['--project', '.'], FOLDER);
  const list = await withProxy(sendRequests);
  const { parseAll } = await import(pathToFileURL(join(FOLDER, 'out', 'checks.js')).href);
  const created = { ...PRODUCT, stock: 0, grade: '100%', state: 'DRAFT', releasedOn: '2026-01-31' };
  const change = { name: 'Lamp of glass' };
  for (const [generator, parsed] of Object.entries(parseAll(PRODUCT, change, list)))
    assert.deepEqual([generator, ...parsed], [generator, created, change, list]);
  console.log('The clients of the generators compile, their schemas are right, and Prism found nothing.');
} finally {
  await service.close();
}

/** Calls `use` with the address of Prism in front of the service. */
async function withProxy(use) {
  const port = await freePort();
  const args = ['proxy', DOCUMENT, service.url, '--host', '127.0.0.1', '--port', port];
  const prism = spawn('prism', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(prism, 'exit');
  try {
    let output = '';
    for await (const chunk of prism.stdout.iterator({ destroyOnReturn: false })) {
      output += chunk;
      if (output.includes('Prism is listening')) break;
    }
    assert.match(output, /Prism is listening/);
    prism.stdout.resume();
    return await use(`http://127.0.0.1:${port}`);
  } finally {
    prism.kill('SIGKILL');
    await ended;
  }
}

/** @returns the answer to a list of products */
async function sendRequests(url) {
  let authorization;
  const send = async (status, method, path, json, more) => {
    const body = json && JSON.stringify(json);
    const type = json && { 'content-type': 'application/json' };
    const headers = { ...(authorization && { authorization }), ...type, ...more };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body }) });
    const text = await response.text();
    const violations = JSON.parse(response.headers.get('sl-violations') ?? '[]');
    const place = `${method} ${path} ${text.slice(0, 300)}`;
    assert.deepEqual([response.status, violations], [status, []], place);
    return { etag: response.headers.get('etag'), text };
  };
  const { data: session } = JSON.parse((await send(200, 'POST', '/api/auth/login', ADMIN)).text);
  authorization = `Bearer ${session.token}`;
  await send(200, 'GET', '/api/auth/me');
  // The body may be left out, and the password is not sent.
  await send(400, 'POST', '/api/auth/mfa/enrol');

  await send(201, 'POST', '/api/countries', { code: 'DEU', name: 'Germany' });
  await send(201, 'POST', '/api/categories', { name: 'Kitchen' });
  const tag = JSON.parse((await send(201, 'POST', '/api/tags', { label: 'new' })).text).data.id;
  await send(201, 'POST', '/api/products', { ...PRODUCT, originId: 'DEU', categoryId: 1, tagsIds: [tag] });
  await send(200, 'GET', '/api/products/1');
  await send(404, 'GET', '/api/products/9007199254740993');
  await send(201, 'POST', '/api/products/1/reviews', { stars: 4 });
  await send(200, 'GET', '/api/products/1/reviews');
  await send(200, 'PATCH', '/api/products/1', { tier: null, releasedOn: '2026-02-01', extra: { a: [1] } });
  await send(200, 'GET', '/api/products/export?format=csv');
  const filters = 'filter[price][gte]=1&filter[grade][in]=100%25&filter[grade][in]=1st&filter[stock]=0';
  const query = `${filters}&sort=-price&sort=name&include=tags&include=origin&include=reviews&page=1&size=5`;
  const list = await send(200, 'GET', `/api/products?${query}`);

  const keyed = { 'idempotency-key': 'first' };
  const { etag } = await send(201, 'POST', '/api/orders', { number: 'A-1', dueOn: '2026-01-31' }, keyed);
  await send(200, 'PATCH', '/api/orders/1', { status: 'SENT' }, { 'if-match': etag });
  await send(200, 'GET', '/api/orders/late?on=2026-12-31');
  await send(200, 'POST', '/api/orders/1/cancel', { reason: 'sold out' });
  await send(201, 'POST', '/api/order-lines', { orderId: 1, position: 2 });
  await send(200, 'GET', '/api/order-lines/1%2C2');
  await send(201, 'POST', '/api/parcels', { id: '9007199254740993' });
  await send(200, 'GET', '/api/parcels/9007199254740993');
  await send(200, 'DELETE', '/api/parcels/batch?ids=9007199254740993');
  return JSON.parse(list.text);
}
