/** Swagger UI of the sample shop, in a real browser. Runs where TEST_CHROMIUM is the path of a Chromium. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { type Child, startChild } from '../child-process.js';
import { type Compiled, compile } from '../compiled.js';
import { browserPath } from '../harness/browser.js';
import { request } from '../harness/client.js';

const ADMIN = { ADMIN_EMAIL: 'boss@shop.example', ADMIN_PASSWORD: 'the boss of the shop' };

let shop: Compiled;
let folder: string;
let child: Child;
let url: string;
let browser: Browser;
let page: Page;
/** Hosts other than the shop's that the page asked. */
const others: string[] = [];

beforeAll(async () => {
  shop = await compile(['sample-app/main.ts']);
  folder = await mkdtemp(join(tmpdir(), 'declarest-swagger-'));
  child = startChild(process.execPath, [join(shop.directory, 'sample-app', 'main.js')], {
    cwd: folder,
    env: { PORT: '0', ...ADMIN },
  });
  [, url = ''] = await child.says(/The shop is up at (\S+)[\s\S]*\n$/);
  browser = await chromium.launch({ executablePath: browserPath as string, args: ['--headless', '--no-sandbox'] });
  page = await browser.newPage({ viewport: { width: 1200, height: 1400 } });
  page.on('request', (sent) => {
    const { protocol, host } = new URL(sent.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) others.push(sent.url());
  });
});

afterAll(async () => {
  await browser?.close();
  child?.signal('SIGINT');
  await child?.ended;
  await shop.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Opens an operation, and makes it ready to be sent. */
async function open(id: string, tag = 'Products'): Promise<Locator> {
  const block = page.locator(`#operations-${tag}-${id}`);
  await block.locator('.opblock-summary-control').click();
  await block.locator('.try-out__btn').click();
  return block;
}

/** Sends the operation. @returns the status and the text of the answer, never those of an earlier one */
async function execute(block: Locator): Promise<{ status: string; text: string }> {
  const clear = block.locator('button.btn-clear');
  if (await clear.isVisible()) {
    await clear.click();
    await block.locator('.live-responses-table').waitFor({ state: 'detached' });
  }
  await block.locator('button.execute').click();
  const row = block.locator('.live-responses-table .response').first();
  const status = await row.locator('.response-col_status').innerText();
  return { status: status.trim().slice(0, 3), text: await row.locator('.response-col_description').innerText() };
}

/** With TEST_SCREENSHOTS, the folder for what the browser shows. */
async function show(name: string): Promise<void> {
  const target = process.env['TEST_SCREENSHOTS'];
  if (target !== undefined) await page.screenshot({ path: join(target, `${name}.png`) });
}

describe('Swagger UI in Chromium', () => {
  it('lists, authorizes, creates, and shows a 400 with its fields', async () => {
    await page.goto(`${url}/docs`);
    await page.locator('#operations-Products-listProducts').waitFor();
    await show('operations');
    const ids = await page
      .locator('#operations-tag-Products ~ div .opblock')
      .evaluateAll((blocks) =>
        (blocks as unknown as { id: string }[]).map(({ id }) => id.replace('operations-Products-', '')),
      );
    expect(ids.filter((id) => /^(list|get|create|replace|update|delete)Product$|^listProducts$/.test(id))).toEqual([
      'listProducts',
      'getProduct',
      'createProduct',
      'replaceProduct',
      'updateProduct',
      'deleteProduct',
    ]);
    const list = await open('listProducts');
    const listed = await execute(list);
    expect([listed.status, listed.text.includes('"Product list"')]).toEqual(['200', true]);
    await show('list');
    await list.locator('.opblock-summary-control').click();

    const create = await open('createProduct');
    expect((await execute(create)).status).toBe('401');
    const login = await request(url, 'POST', '/api/auth/login', {
      json: { email: ADMIN.ADMIN_EMAIL, password: ADMIN.ADMIN_PASSWORD },
    });
    await page.locator('.auth-wrapper button.authorize').click();
    await page.locator('.modal-ux input').fill((login.json as { data: { token: string } }).data.token);
    await page.locator('.modal-ux button.authorize').click();
    await page.locator('.modal-ux button.btn-done').click();

    await create.locator('textarea').fill(JSON.stringify({ name: 'Milk jug', price: 12.5, stock: 3, categoryId: 1 }));
    const created = await execute(create);
    expect([created.status, created.text.includes('"Product created"')]).toEqual(['201', true]);
    await show('created');
    await create.locator('textarea').fill(JSON.stringify({ name: 'Cup', price: 'cheap', stock: 3, categoryId: 1 }));
    const refused = await execute(create);
    expect([refused.status, refused.text.includes('"fields"'), refused.text.includes('must be a number')]).toEqual([
      '400',
      true,
      true,
    ]);
    await show('refused');
    await create.locator('.opblock-summary-control').click();

    const patch = await open('updateProduct');
    await patch.locator('tr[data-param-name="id"] input').fill('1');
    const patched = await execute(patch);
    expect([patched.status, patched.text.includes('"Product updated"')]).toEqual(['200', true]);
  });

  it('registers a user and logs in with the examples', async () => {
    for (const [id, status] of [
      ['register', '201'],
      ['login', '200'],
    ] as const)
      expect([id, (await execute(await open(id, 'Auth'))).status]).toEqual([id, status]);
  });

  it('asks no other host', () => {
    expect(others).toEqual([]);
  });
});
