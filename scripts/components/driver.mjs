// Chromium on the pages of the components.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { chromium } from 'playwright-core';

import { watchConsole } from '../pages.mjs';

const TIMEOUT_MS = 30_000;

/**
 * @param service of `service/service.ts`
 * @param options `executable`: of Chromium; `chosen`: a part of the names of the steps to run; `screenshots`: a folder for
 *   pictures of failures
 */
export async function openDriver(service, { executable, chosen = '', screenshots }) {
  const browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox', '--disable-gpu'] });
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, timezoneId: 'Europe/Berlin' });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const devtools = await context.newCDPSession(page);

  /** What the pages write to the console. */
  const messages = [];
  /** What the service has answered to the page, oldest first. `body` is `undefined` until it is read. */
  const answers = [];
  /** The URLs of other hosts. */
  const others = [];
  let passed = 0;
  let failed = 0;

  watchConsole(page, messages);
  page.on('request', (request) => {
    if (!request.url().startsWith(service.url) && !/^(data|blob):/.test(request.url())) others.push(request.url());
  });
  page.on('response', async (response) => {
    const { pathname, search } = new URL(response.url());
    if (!pathname.startsWith('/api/')) return;
    const path = `${pathname.slice('/api'.length)}${decodeURIComponent(search)}`;
    const answer = { method: response.request().method(), path, status: response.status() };
    answers.push(answer);
    answer.body = await response.json().catch(() => null);
  });

  /** Starts with the rows of a start, and an empty store of the page. */
  const step = async (title, work) => {
    if (!title.includes(chosen)) return;
    await service.reset();
    await page.goto('about:blank');
    await devtools.send('Storage.clearDataForOrigin', { origin: service.url, storageTypes: 'local_storage' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const list of [messages, answers, others]) list.length = 0;
    try {
      await work();
      assert.deepEqual({ messages, others }, { messages: [], others: [] });
      passed += 1;
      console.log(`ok   ${title}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${title}\n${error.stack}`);
      if (screenshots) await page.screenshot({ path: join(screenshots, `${title}.png`) });
    }
  };

  const until = async (find, describe) => {
    for (const end = Date.now() + TIMEOUT_MS; Date.now() < end;) {
      const found = await find();
      if (found) return found;
      await setTimeout(50);
    }
    throw new Error(`Expected ${describe()}`);
  };

  const rows = () => page.locator('tbody tr');
  const lastList = () => answers.findLast(({ body }) => body?.metadata?.pagination);
  const request = (method, path, json) =>
    fetch(`${service.url}/api${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(json && { body: JSON.stringify(json) }),
    });

  return {
    page,
    step,
    answers,
    until,
    rows,
    rowOf: (text) => rows().filter({ has: page.getByText(text, { exact: true }) }),
    lastList,
    request,

    /** Loads a page anew. @param path of the router */
    open: async (name, path) => {
      await page.goto('about:blank');
      await page.goto(`${service.url}/?page=${encodeURIComponent(name)}#/${path}`);
    },

    /** Holds back the requests of a method until the returned function is called. */
    hold: async (method, path) => {
      const url = `**/api${path}`;
      let release;
      const held = new Promise((resolve) => (release = resolve));
      await page.route(url, async (route) => {
        if (route.request().method() === method) await held;
        await route.continue();
      });
      return async () => {
        release();
        await page.unroute(url, { behavior: 'wait' });
      };
    },

    /** Waits until the last list of articles has so many records. */
    listed: (total) =>
      until(
        () => answers.findLast(({ path }) => path.startsWith('/articles'))?.body?.metadata?.pagination?.total === total,
        () => `a list of ${total} records, got ${JSON.stringify(answers.at(-1))?.slice(0, 300)}`,
      ),

    /** Waits for an answer whose path contains the text. */
    answered: (text, method = 'GET') =>
      until(
        () => answers.find((each) => each.method === method && each.path.includes(text) && each.body !== undefined),
        () => `${method} ${text}, got ${answers.map(({ method, path }) => `${method} ${path}`).join(', ')}`,
      ),

    /** The article as the service has it. */
    stored: async (id) => (await (await request('GET', `/articles/${id}`)).json()).data,
    statusOf: async (id) => (await request('GET', `/articles/${id}`)).status,

    close: async () => {
      await browser.close();
      return { passed, failed };
    },
  };
}
