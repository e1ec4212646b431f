/** Pages with the client, for suites in a browser. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import type { Client, createClient } from 'declarest-client';
import type { BrowserContext, Page } from 'playwright-core';

export const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

const CLIENT = fileURLToPath(new URL('../../packages/declarest-client/src', import.meta.url));

/** The client as a page loads it. */
export async function moduleOf(file: string): Promise<string> {
  const source = await readFile(join(CLIENT, file.replace(/\.js$/, '.ts')), 'utf8');
  const jsc = { parser: { syntax: 'typescript' }, target: 'es2022' } as const;
  return (await transform(source, { jsc, module: { type: 'es6' }, swcrc: false, configFile: false })).code;
}

export const PAGE = `<title>shop</title>
<script type="module">
  import { createClient } from '/client/index.js';
  globalThis.createClient = createClient;
</script>`;

/** A page on a port, that is an origin, of its own. All of them are one site. */
export async function openOrigin(): Promise<{ origin: string; server: Server }> {
  const server = createServer((request, response) => {
    const file = /^\/client\/([\w-]+\.js)$/.exec(request.url ?? '')?.[1];
    if (file === undefined) response.setHeader('Content-Type', 'text/html').end(PAGE);
    else void moduleOf(file).then((code) => response.setHeader('Content-Type', 'text/javascript').end(code));
  });
  await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve));
  return { origin: `http://localhost:${(server.address() as AddressInfo).port}`, server };
}

export type Window = { createClient: typeof createClient; client: Client };

/** Opens a page with a client. */
export async function open(context: BrowserContext, url: string, api: string, cookie = false): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'createClient' in globalThis);
  await page.evaluate(
    ({ api, cookie }) => {
      const window = globalThis as unknown as Window;
      window.client = window.createClient(api, { cookie });
    },
    { api, cookie },
  );
  return page;
}
