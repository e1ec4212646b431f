/** The page of `declarest access --html` in a real browser. Runs where TEST_CHROMIUM is the path of a Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { accessPage } from '../../../lib/cli/access-page.js';
import { browserPath } from '../../harness/browser.js';
import { tableOf } from './shop.js';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

describe('the page of the access table', () => {
  const folder = mkdtempSync(join(tmpdir(), 'declarest-page-'));
  let browser: Browser;
  let page: Page;
  const requests: string[] = [];

  beforeAll(async () => {
    const file = join(folder, 'access.html');
    writeFileSync(file, accessPage(await tableOf('express')));
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(file).href);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const visible = (selector: string): Promise<string[]> => page.locator(`${selector}:visible`).allInnerTexts();

  it('shows the rows of each caller, and asks for no other file', async () => {
    const row = page.getByRole('row', { name: 'GET /api/orders none own (customerId) own (customerId) all' });
    expect(await row.count()).toBe(1);
    expect(requests).toHaveLength(1);
  });

  it('shows one caller and the rows that contain a text', async () => {
    await page.getByLabel('Caller').selectOption('ADMIN');
    await page.getByLabel('Filter').fill('delete /api/');
    const operations = ['Product', 'Product', 'Category', 'Order', 'Article'];
    expect(await visible('tbody th[scope=row]')).toHaveLength(2 * operations.length);
    expect(new Set(await visible('th[data-caller]'))).toEqual(new Set(['ADMIN']));
    await page.getByLabel('Filter').fill('no such text');
    expect(await visible('section')).toEqual([]);
    await page.getByLabel('Filter').fill('');
    await page.getByLabel('Caller').selectOption('');
    expect(await visible('h2')).toHaveLength(5);
  });

  it.each(['light', 'dark'] as const)(
    'has no serious violation that axe finds in the %s theme',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.addScriptTag({ path: AXE });
      const found = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        return (await axe.run()).violations;
      });
      expect(found).toEqual([]);
    },
  );
});
