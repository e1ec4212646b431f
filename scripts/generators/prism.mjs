// Sends requests to a service through Prism, which answers by an error of its own where a request or an answer is not as
// the document says: 422 and 401 for requests, 500 for answers.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { freePort } from '../free-port.mjs';

/** Calls `use` with the address of the proxy. */
export async function withPrism(command, document, target, use) {
  const port = await freePort();
  const args = ['proxy', document, target, '--errors', '--host', '127.0.0.1', '--port', port];
  const prism = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(prism, 'exit');
  try {
    let output = '';
    for await (const chunk of prism.stdout.iterator({ destroyOnReturn: false })) {
      output += chunk;
      if (output.includes('Prism is listening')) break;
    }
    assert.match(output, /Prism is listening/);
    prism.stdout.resume();
    await use(`http://127.0.0.1:${port}`);
  } finally {
    prism.kill('SIGKILL');
    await ended;
  }
}

/**
 * Sends the requests that proxies have refused before, each in a step of its own.
 *
 * @param product what creates a product
 * @returns the answer to a list of products with related records
 */
export async function sendRequests(url, login, product, step) {
  let authorization;
  /** @returns `data` of the answer, and the headers */
  const send = async (status, method, path, json, more) => {
    let data;
    let headers = new Headers();
    await step(`prism passes ${method} ${decodeURIComponent(path)}`, async () => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(authorization && { authorization }),
          ...(json && { 'content-type': 'application/json' }),
          ...more,
        },
        ...(json && { body: JSON.stringify(json) }),
      });
      const text = await response.text();
      assert.equal(response.status, status, text.slice(0, 1_000));
      data = JSON.parse(text);
      headers = response.headers;
    });
    return { data, headers };
  };

  const session = await send(200, 'POST', '/api/auth/login', login);
  authorization = `Bearer ${session.data?.data.token}`;
  await send(200, 'GET', '/api/auth/me');
  // The service refuses it, because it has no password. A proxy must not.
  await send(400, 'POST', '/api/auth/mfa/enrol');

  await send(201, 'POST', '/api/countries', { code: 'DEU', name: 'Germany' });
  await send(201, 'POST', '/api/categories', { name: 'Kitchen' });
  const tag = await send(201, 'POST', '/api/tags', { label: 'new' });
  const links = { originId: 'DEU', categoryId: 1, tagsIds: [tag.data?.data.id] };
  await send(201, 'POST', '/api/products', { ...product, ...links });
  await send(200, 'GET', '/api/products/1');
  await send(404, 'GET', '/api/products/9007199254740993');
  await send(201, 'POST', '/api/products/1/reviews', { stars: 4 });
  await send(200, 'GET', '/api/products/1/reviews');
  await send(200, 'PATCH', '/api/products/1', { tier: null, releasedOn: '2026-02-01', extra: { a: [1] } });

  const order = await send(201, 'POST', '/api/orders', { number: 'A-1', dueOn: '2026-01-31' });
  const seen = { 'if-match': order.headers.get('etag') ?? '' };
  await send(200, 'PATCH', '/api/orders/1', { status: 'SENT' }, seen);
  await send(200, 'GET', '/api/orders/late?on=2026-12-31');
  await send(201, 'POST', '/api/order-lines', { orderId: 1, position: 2 });
  await send(200, 'GET', '/api/order-lines/1%2C2');
  await send(201, 'POST', '/api/parcels', { id: '9007199254740993' });
  await send(200, 'GET', '/api/parcels/9007199254740993');

  const filters = 'filter[price][gte]=1&filter[grade][in]=100%25&filter[grade][in]=1st&filter[stock]=0';
  const query = `${filters}&sort=-price&sort=name&include=tags&include=origin&include=reviews&page=1&size=5`;
  return (await send(200, 'GET', `/api/products?${query}`)).data;
}
