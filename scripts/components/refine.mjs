// What a user does with the components of refine on Ant Design.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

/** @param driver of `driver.mjs` */
export async function useRefine(driver) {
  const { page, open, answers, rows, rowOf, answered, lastList, listed, request, stored, statusOf } = driver;
  const step = (title, work) => driver.step(`refine: ${title}`, work);
  const field = () => page.getByLabel('Field');
  const save = () => page.getByRole('button', { name: 'Save' }).click();

  async function choose(label, ...options) {
    await page
      .locator('.ant-select')
      .filter({ has: page.getByLabel(label) })
      .click();
    for (const option of options)
      await page.locator('.ant-select-item-option').getByText(option, { exact: true }).click();
  }

  /** Opens the filter of a column, fills it, and applies it. */
  async function filter(column, fill) {
    await page.getByRole('columnheader', { name: column }).locator('.ant-table-filter-trigger').click();
    await fill();
    const dropdown = page.locator('.ant-table-filter-dropdown:visible');
    await dropdown.getByRole('button').filter({ hasText: 'Filter' }).click();
    await dropdown.waitFor({ state: 'hidden' });
  }

  async function pick(text) {
    await field().fill(text);
    await field().press('Enter');
  }

  async function changeIn(mode) {
    await open(mode, 'articles');
    await edit('Article 001', 'Changed');
  }

  /** Changes the title of a row. */
  async function edit(title, changed) {
    await rowOf(title).getByRole('link').click();
    await page.locator(`input[value="${title}"]`).waitFor();
    await page.getByLabel('Title').fill(changed);
    await save();
  }

  async function remove(title) {
    await rowOf(title).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('tooltip').getByRole('button', { name: 'Delete' }).click();
  }

  await step('useTable, Table', async () => {
    await open('Table', 'articles');
    await listed(130);
    await page.getByRole('columnheader', { name: 'Title' }).click();
    await answered('sort=title');
    await page.getByRole('columnheader', { name: 'Title' }).click();
    await answered('sort=-title');
    await rowOf('Article 130').waitFor();
    await page.getByTitle('2', { exact: true }).click();
    await answered('page=2');
    await rowOf('Article 120').waitFor();
    await remove('Article 120');
    await answered('/articles/120', 'DELETE');
    assert.equal(await statusOf(120), 404);
    await rowOf('Article 120').waitFor({ state: 'detached' });
  });
  await step('FilterDropdown', async () => {
    await open('FilterDropdown', 'articles');
    await listed(130);
    await filter('Status', async () => {
      await page.getByLabel('Draft').check();
      await page.getByLabel('Review').check();
    });
    await listed(87);
    await filter('Featured', () => page.getByLabel('No', { exact: true }).check());
    await listed(44);
    await filter('Category', async () => {
      await choose('Category filter', 'Cooking');
      // Closes the options, which cover the button.
      await page.locator('.ant-table-filter-dropdown:visible').click({ position: { x: 2, y: 2 } });
    });
    await listed(11);
    await filter('Title', () => page.getByLabel('Title filter').fill('Article 022'));
    await listed(1);
  });
  await step('useTable, search form', async () => {
    await open('SearchForm', 'articles');
    await listed(130);
    const search = async (total) => {
      await page.getByRole('button', { name: 'Search' }).click();
      await listed(total);
    };
    await page.getByLabel('Title').fill('00');
    await search(10);
    await page.getByLabel('Title').fill('');
    await page.getByLabel('Price from').fill('121');
    await search(10);
    await choose('Status', 'Review');
    await search(4);
    await page.getByLabel('Price from').fill('');
    await page.getByLabel('Reviewed from').fill('2026-05-01 12:00:00');
    await page.getByLabel('Reviewed from').press('Enter');
    await search(3);
  });
  await step('useMany, TagField', async () => {
    await open('References', 'articles');
    await rowOf('Article 001').getByText('Books').waitFor();
    await rowOf('Article 002').getByText('green').waitFor();
    assert.equal(answers.filter(({ path, status }) => path.startsWith('/categories') && status === 200).length, 1);
  });
  await step('useTable of a record', async () => {
    await open('ManyReference', 'articles/show/1');
    await rowOf('Comment 3').waitFor();
    assert.equal(answers.findLast(({ path }) => path.startsWith('/comments')).body.data.length, 3);
  });
  await step('useInfiniteList by cursor', async () => {
    await open('InfiniteList', 'entries');
    const more = page.getByRole('button', { name: 'More' });
    for (let count = 20; count <= 60; count += 10) {
      await more.click();
      await page.getByText(`Entry ${count}`, { exact: true }).waitFor();
    }
    await more.waitFor({ state: 'detached' });
    assert.equal(
      await page
        .getByRole('listitem')
        .filter({ hasText: /^Entry \d+$/ })
        .count(),
      60,
    );
    assert.equal(answers.filter(({ path }) => path.includes('after=')).length, 5);
  });
  await step('ExportButton', async () => {
    await open('ExportImport', 'articles');
    await listed(130);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    assert.equal(text.split('\n').filter((line) => line.includes('Article ')).length, 130);
  });
  await step('ImportButton', async () => {
    await open('ExportImport', 'articles');
    await listed(130);
    const buffer = Buffer.from('title,body\nFirst,One\nSecond,Two\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'articles.csv', mimeType: 'text/csv', buffer });
    await answered('/articles/batch', 'POST');
    assert.deepEqual([(await stored(131)).title, (await stored(132)).body], ['First', 'Two']);
  });

  /** What a user does before saving, and what the service has then. */
  const INPUTS = {
    Input: [[() => field().fill('Changed'), { title: 'Changed' }]],
    TextArea: [[() => field().fill('One\nTwo'), { body: 'One\nTwo' }]],
    InputNumber: [
      [() => field().fill('12.5'), { price: '12.50' }],
      [() => field().fill(''), { price: null }],
    ],
    Switch: [
      [() => field().click(), { featured: true }],
      [() => field().click(), { featured: false }],
    ],
    Checkbox: [[() => field().check(), { featured: true }]],
    Select: [[() => choose('Field', 'Published'), { status: 'published' }]],
    'Radio.Group': [[() => page.getByLabel('Published').check(), { status: 'published' }]],
    'Select of several texts': [[() => pick('typed'), { keywords: ['old', 'typed'] }]],
    'DatePicker of a date and time': [[() => pick('2026-07-14 10:30:00'), { reviewedAt: '2026-07-14T08:30:00.000Z' }]],
    'DatePicker of a date': [[() => pick('2026-07-14'), { publishedOn: '2026-07-14' }]],
    'Form.List': [
      [
        async () => {
          await page.getByRole('button', { name: 'Add' }).click();
          await page.locator('#links_1_label').fill('Shop');
        },
        { links: [{ label: 'Home', url: 'https://a.example' }, { label: 'Shop' }] },
      ],
      [() => page.getByRole('button', { name: 'Remove' }).first().click(), { links: [{ label: 'Shop' }] }],
    ],
  };
  for (const [name, actions] of Object.entries(INPUTS))
    await step(name, async () => {
      await open(name, 'articles/edit/1');
      await answered('/articles/1');
      // The form takes the record after it is shown.
      await page.locator('.ant-spin-spinning').waitFor({ state: 'detached' });
      for (const [act, expected] of actions) {
        await act();
        answers.length = 0;
        await save();
        await answered('/articles/1', 'PATCH');
        const record = await stored(1);
        for (const [field, value] of Object.entries(expected)) assert.deepEqual(record[field], value);
      }
    });
  await step('DatePicker of a date alone is refused', async () => {
    await open('DatePicker of a date alone', 'articles/edit/1');
    await answered('/articles/1');
    await page.locator('.ant-spin-spinning').waitFor({ state: 'detached' });
    await pick('2026-07-14');
    await save();
    const { status, body } = await answered('/articles/1', 'PATCH');
    assert.deepEqual([status, Object.keys(body.fields)], [400, ['publishedOn']]);
    await page.locator('.ant-form-item-explain-error').waitFor();
  });
  await step('Create', async () => {
    await open('Create', 'articles/create');
    await page.getByLabel('Title').fill('New');
    await save();
    const { status } = await answered('/articles', 'POST');
    assert.deepEqual([status, (await stored(131)).title], [201, 'New']);
  });
  await step('useSelect', async () => {
    await open('useSelect', 'articles/edit/2');
    await page.getByText('green').waitFor();
    await page.getByLabel('Category').fill('des');
    await answered('/categories?filter[name][icontains]=des');
    await page.locator('.ant-select-item-option').getByText('Design').click();
    await choose('Tags', 'yellow');
    await page.keyboard.press('Escape');
    await save();
    await answered('/articles/2', 'PATCH');
    const { categoryId, tagsIds } = await stored(2);
    assert.deepEqual([categoryId, tagsIds], [4, [1, 2, 5]]);
  });
  await step('undoable mode', async () => {
    await changeIn('undoable');
    await page.getByText('seconds to undo').waitFor();
    assert.equal((await stored(1)).title, 'Article 001');
    await page.locator('.ant-notification-notice').getByRole('button').first().click();
    await edit('Article 001', 'Again');
    await page.getByText('seconds to undo').waitFor();
    assert.equal((await stored(1)).title, 'Article 001');
    await answered('/articles/1', 'PATCH');
    await rowOf('Again').waitFor();
    assert.equal((await stored(1)).title, 'Again');
    assert.equal(answers.filter(({ method }) => method === 'PATCH').length, 1);
  });
  await step('undoable mode with a change of somebody else', async () => {
    await changeIn('undoable');
    await page.getByText('seconds to undo').waitFor();
    await request('PATCH', '/articles/1', { title: 'Of somebody else' });
    const { status } = await answered('/articles/1', 'PATCH');
    assert.equal(status, 412);
    await page.getByText('status code: 412').waitFor();
    await rowOf('Of somebody else').waitFor();
  });
  await step('undoable deletion', async () => {
    await open('undoable', 'articles');
    await remove('Article 001');
    await rowOf('Article 001').waitFor({ state: 'detached' });
    assert.equal(await statusOf(1), 200);
    await answered('/articles/1', 'DELETE');
    assert.equal(await statusOf(1), 404);
  });
  await step('optimistic mode', async () => {
    const release = await driver.hold('PATCH', '/articles/1');
    await changeIn('optimistic');
    await rowOf('Article 002').waitFor();
    assert.equal((await stored(1)).title, 'Article 001');
    await release();
    await rowOf('Changed').waitFor();
    assert.equal((await stored(1)).title, 'Changed');
  });
  await step('optimistic deletion', async () => {
    const release = await driver.hold('DELETE', '/articles/1');
    await open('optimistic', 'articles');
    await remove('Article 001');
    await rowOf('Article 001').waitFor({ state: 'detached' });
    assert.equal(await statusOf(1), 200);
    await release();
    await answered('/articles/1', 'DELETE');
    assert.equal(await statusOf(1), 404);
  });
  await step('pessimistic mode', async () => {
    await changeIn('pessimistic');
    await rowOf('Changed').waitFor();
    assert.equal((await stored(1)).title, 'Changed');
  });
  await step('Inferencer: list, show, edit, create', async () => {
    await open('Inferencer', 'articles');
    await rows().getByText('Article 001').waitFor();
    assert.equal(lastList().status, 200);
    await open('Inferencer', 'articles/show/1');
    await page.getByText('Article 001').first().waitFor();
    await open('Inferencer', 'articles/create');
    await page.getByLabel('Title').waitFor();
    await open('Inferencer', 'articles/edit/1');
    await page.locator('input[value="Article 001"]').waitFor();
    await page.getByLabel('Title').fill('Inferred');
    await save();
    const { status, body } = await answered('/articles/1', 'PATCH');
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal((await stored(1)).title, 'Inferred');
  });
}
