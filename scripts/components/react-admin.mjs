// What a user does with the components of react-admin.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

/** @param driver of `driver.mjs` */
export async function useReactAdmin(driver) {
  const { page, step, open, answers, rows, rowOf, answered, lastList, request, stored, statusOf } = driver;

  /** Waits for a list of so many records, which the page shows then. */
  async function listed(total) {
    await driver.listed(total);
    if (total > 0) await page.getByText(new RegExp(`\\d+-\\d+ of ${total}$`)).waitFor();
  }

  /** Changes a record of a list that has been read, as the modes change it too. */
  async function changeIn(mode) {
    await open(mode, 'articles');
    await rowOf('Article 001').click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Changed');
    await save();
  }

  /** The button of a line appears under the pointer. */
  async function removeFirst() {
    await page.locator('.RaSimpleFormIterator-line').first().hover();
    await page.locator('.button-remove').first().click();
  }

  /** Inputs of dates pass on an empty value when they lose the focus. */
  async function clearField() {
    await field().fill('');
    await field().blur();
  }

  function field() {
    return page.getByLabel('Filter').or(page.getByLabel('Field')).first();
  }

  async function save() {
    await page.getByRole('button', { name: 'Save' }).click();
  }

  async function select(...titles) {
    for (const title of titles) await rowOf(title).getByRole('checkbox').check();
  }

  /** @param option its text; an empty one clears the input */
  async function choose(option) {
    await page.getByRole('combobox').first().click();
    const options = page.getByRole('option');
    await (option === '' ? options.first() : options.filter({ hasText: option })).click();
  }

  async function chooseAll(...names) {
    await page.getByRole('combobox').first().click();
    for (const name of names) await page.getByRole('option', { name }).click();
    await page.keyboard.press('Escape');
  }

  async function complete(typed, option) {
    await page.getByRole('combobox').first().fill(typed);
    await page.getByRole('option', { name: option }).click();
  }

  await step('Datagrid', async () => {
    await open('Datagrid', 'articles');
    await listed(130);
    assert.equal(await rows().count(), 10);
    await page.getByRole('button', { name: 'Title' }).click();
    await answered('sort=title');
    await page.getByRole('button', { name: 'Title' }).click();
    await answered('sort=-title');
    await rowOf('Article 130').waitFor();
    await page.getByRole('button', { name: 'Go to page 2' }).click();
    await answered('page=2');
    await rowOf('Article 120').waitFor();
  });
  await step('DataTable', async () => {
    await open('DataTable', 'articles');
    await listed(130);
    await page.getByRole('button', { name: 'Price' }).click();
    await answered('sort=price');
    await page.getByRole('button', { name: 'Price' }).click();
    await answered('sort=-price');
    await page.getByText('130.25').waitFor();
  });
  await step('SimpleList', async () => {
    await open('SimpleList', 'articles');
    await listed(130);
    await page.getByText('Article 001').waitFor();
  });
  await step('InfiniteList by cursor', async () => {
    await open('InfiniteList', 'entries');
    for (let tries = 0; tries < 40 && (await rows().count()) < 60; tries += 1) {
      await page.mouse.wheel(0, 5_000);
      await setTimeout(100);
    }
    const names = await page.locator('.column-name').allTextContents();
    assert.deepEqual(
      names.filter((name) => name !== 'Name'),
      Array.from({ length: 60 }, (_, index) => `Entry ${index + 1}`),
    );
    const pages = answers.filter(({ status, path }) => status === 200 && path.startsWith('/entries?'));
    assert.equal(pages.filter(({ path }) => path.includes('after=')).length, 5);
  });
  await step('BulkUpdateButton, BulkDeleteButton', async () => {
    await open('BulkActions', 'articles');
    await select('Article 001', 'Article 003');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await answered('/articles/batch', 'PATCH');
    assert.deepEqual([(await stored(1)).status, (await stored(3)).status], ['published', 'published']);
    await select('Article 002', 'Article 004');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await answered('/articles/batch?ids=2,4', 'DELETE');
    assert.deepEqual([await statusOf(2), await statusOf(3), await statusOf(4)], [404, 200, 404]);
    await rowOf('Article 002').waitFor({ state: 'detached' });
  });
  await step('ExportButton', async () => {
    await open('Datagrid', 'articles');
    await listed(130);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    const titles = text.split('\n').filter((line) => line.includes('Article '));
    assert.equal(titles.length, 130);
    assert.equal(download.suggestedFilename(), 'articles.csv');
    assert.equal(answers.filter(({ path }) => path.includes('size=100')).length, 2);
  });
  await step('FilterList, FilterLiveSearch', async () => {
    await open('FilterList', 'articles');
    await page.getByText('Published', { exact: true }).click();
    await listed(43);
    await page.getByText('Many', { exact: true }).click();
    await listed(10);
    assert.match(lastList().path, /filter\[status\]\[eq\]=published/);
    assert.match(lastList().path, /filter\[views\]\[gte\]=1000/);
    await page.getByText('Few', { exact: true }).click();
    await listed(33);
    await page.getByLabel('Search').fill('Article 01');
    await answered('/articles/search?q=Article+01');
    await listed(3);
  });
  await step('SavedQueries', async () => {
    await open('SavedQueries', 'articles');
    await page.getByRole('textbox', { name: 'Title' }).fill('00');
    await listed(10);
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('Save current query').click();
    await page.getByRole('dialog').getByLabel('Query name').fill('Round');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Title' }).fill('');
    await listed(130);
    await page.reload();
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('Round').click();
    await listed(10);
    assert.match(lastList().path, /filter\[title\]\[icontains\]=00/);
  });
  await step('ListGuesser, EditGuesser, ShowGuesser', async () => {
    await open('Guessers', 'articles');
    await listed(130);
    await page.getByText('Article 001').waitFor();
    await open('Guessers', 'articles/1/show');
    await page.getByText('Article 001').first().waitFor();
    await open('Guessers', 'articles/1');
    await page.getByRole('textbox', { name: 'Title' }).fill('Guessed');
    await save();
    await answered('/articles/1', 'PATCH');
    assert.equal((await stored(1)).title, 'Guessed');
  });

  /** The steps of a filter: what a user does, and how many articles the list has then. */
  const FILTERS = {
    SearchInput: [[() => page.getByPlaceholder('Search').fill('article 01'), 10]],
    TextInput: [
      [() => field().fill('00'), 10],
      [() => field().fill(''), 130],
    ],
    NumberInput: [[() => field().fill('121'), 10]],
    BooleanInput: [
      [() => page.getByRole('switch').click(), 43],
      [() => page.getByRole('switch').click(), 44],
    ],
    NullableBooleanInput: [
      [() => choose('Yes'), 43],
      [() => choose('No'), 44],
      [() => choose(''), 130],
    ],
    SelectInput: [
      [() => choose('Review'), 44],
      [() => choose(''), 130],
    ],
    RadioButtonGroupInput: [[() => page.getByLabel('Review').check(), 44]],
    AutocompleteInput: [
      [() => complete('rev', 'Review'), 44],
      [() => page.getByRole('button', { name: 'Clear value' }).click(), 130],
    ],
    SelectArrayInput: [[() => chooseAll('Draft', 'Review'), 87]],
    CheckboxGroupInput: [
      [() => page.getByLabel('Draft').check(), 43],
      [() => page.getByLabel('Review').check(), 87],
      [() => page.getByLabel('Draft').uncheck(), 44],
      [() => page.getByLabel('Review').uncheck(), 130],
    ],
    AutocompleteArrayInput: [
      [() => complete('dra', 'Draft'), 43],
      [() => complete('rev', 'Review'), 87],
    ],
    DateInput: [
      [() => field().fill('2026-05-01'), 10],
      [clearField, 130],
    ],
    DateTimeInput: [
      [() => field().fill('2026-05-01T11:00'), 10],
      [() => field().fill('2026-05-01T12:00'), 9],
    ],
    TimeInput: [
      [() => field().fill('00:11'), 0],
      [() => field().fill('00:10'), 130],
    ],
    ReferenceInput: [
      [() => complete('coo', 'Cooking'), 33],
      [() => page.getByRole('button', { name: 'Clear value' }).click(), 130],
    ],
    ReferenceArrayInput: [
      [() => complete('gre', 'green'), 43],
      [() => complete('blu', 'blue'), 87],
    ],
  };
  for (const [name, actions] of Object.entries(FILTERS))
    await step(`filter ${name}`, async () => {
      await open(`filter ${name}`, 'articles');
      await listed(130);
      for (const [act, total] of actions) {
        await act();
        await listed(total);
      }
    });

  /** The steps of an input: what a user does before saving, and what the service has then. */
  const INPUTS = {
    TextInput: [[() => field().fill('Changed'), { title: 'Changed' }]],
    NumberInput: [
      [() => field().fill('12.5'), { price: '12.50' }],
      [() => field().fill(''), { price: null }],
    ],
    BooleanInput: [
      [() => page.getByRole('switch').click(), { featured: true }],
      [() => page.getByRole('switch').click(), { featured: false }],
    ],
    NullableBooleanInput: [
      [() => choose('Yes'), { featured: true }],
      [() => choose(''), { featured: null }],
      [() => choose('No'), { featured: false }],
    ],
    SelectInput: [[() => choose('Published'), { status: 'published' }]],
    RadioButtonGroupInput: [[() => page.getByLabel('Published').check(), { status: 'published' }]],
    AutocompleteInput: [[() => complete('pub', 'Published'), { status: 'published' }]],
    SelectArrayInput: [[() => chooseAll('blue', 'new'), { keywords: ['old', 'blue', 'new'] }]],
    CheckboxGroupInput: [
      [() => page.getByLabel('blue').check(), { keywords: ['old', 'blue'] }],
      [() => page.getByLabel('old').uncheck(), { keywords: ['blue'] }],
    ],
    AutocompleteArrayInput: [
      [() => complete('bl', 'blue'), { keywords: ['old', 'blue'] }],
      [() => page.getByRole('button', { name: 'blue' }).press('Backspace'), { keywords: ['old'] }],
    ],
    TextArrayInput: [
      [
        async () => {
          await field().fill('typed');
          await field().press('Enter');
        },
        { keywords: ['old', 'typed'] },
      ],
    ],
    DateInput: [
      [() => field().fill('2026-07-14'), { publishedOn: '2026-07-14' }],
      [clearField, { publishedOn: null }],
    ],
    DateTimeInput: [
      [() => field().fill('2026-07-14T10:30'), { reviewedAt: '2026-07-14T08:30:00.000Z' }],
      [clearField, { reviewedAt: null }],
    ],
    TimeInput: [[() => field().fill('08:15'), { readingTime: '08:15' }]],
    ArrayInput: [
      [
        async () => {
          await page.getByRole('button', { name: 'Add' }).click();
          await page.locator('input[name="links.1.label"]').fill('Shop');
          await page.locator('input[name="links.1.url"]').fill('https://b.example');
        },
        {
          links: [
            { label: 'Home', url: 'https://a.example' },
            { label: 'Shop', url: 'https://b.example' },
          ],
        },
      ],
      [
        () => page.locator('input[name="links.0.url"]').fill(''),
        {
          links: [
            { label: 'Home', url: null },
            { label: 'Shop', url: 'https://b.example' },
          ],
        },
      ],
      [removeFirst, { links: [{ label: 'Shop', url: 'https://b.example' }] }],
      [removeFirst, { links: [] }],
    ],
    RichTextInput: [
      [
        async () => {
          await page.locator('.ProseMirror').click();
          await page.keyboard.press('ControlOrMeta+a');
          await page.getByRole('button', { name: 'Bold' }).click();
          await page.keyboard.type('Rich');
        },
        { body: '<p><strong>Rich</strong></p>' },
      ],
    ],
  };
  for (const [name, actions] of Object.entries(INPUTS))
    await step(name, async () => {
      await open(name, 'articles/1');
      for (const [act, expected] of actions) {
        await act();
        answers.length = 0;
        await save();
        await answered('/articles/1', 'PATCH');
        const record = await stored(1);
        for (const [field, value] of Object.entries(expected)) assert.deepEqual(record[field], value);
        // The form takes the answer as its new record.
        await page.getByRole('button', { name: 'Save', disabled: true }).waitFor();
      }
    });
  await step('TimeInput alone is refused', async () => {
    await open('TimeInput alone', 'articles/1');
    await field().fill('08:15');
    await save();
    const { status, body } = await answered('/articles/1', 'PATCH');
    assert.deepEqual([status, Object.keys(body.fields)], [400, ['readingTime']]);
  });
  await step('RichTextField', async () => {
    await open('RichTextInput', 'articles/1/show');
    await page.locator('p').getByText('Text 1', { exact: true }).waitFor();
  });
  await step('Create', async () => {
    await open('Create', 'articles/create');
    await page.getByRole('textbox', { name: 'Title' }).fill('New');
    await save();
    const { body, status } = await answered('/articles', 'POST');
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal((await stored(131)).title, 'New');
  });
  await step('ReferenceField, ReferenceArrayField', async () => {
    await open('ReferenceField', 'articles');
    await rowOf('Article 001').getByText('Books').waitFor();
    await rowOf('Article 002').getByText('green').waitFor();
    assert.equal(answers.filter(({ path }) => path.startsWith('/categories')).length, 1);
    assert.equal(answers.filter(({ path }) => path.startsWith('/tags')).length, 1);
  });
  await step('ReferenceManyField, ReferenceManyCount', async () => {
    await open('ReferenceManyField', 'articles/1/show');
    await rowOf('Comment 3').waitFor();
    assert.equal(await rows().count(), 3);
    await page.getByText('3', { exact: true }).waitFor();
  });
  await step('ReferenceInput', async () => {
    await open('ReferenceInput', 'articles/1');
    await page.waitForFunction(() => document.querySelector('[role=combobox]')?.value === 'Books');
    await page.getByRole('combobox').first().fill('coo');
    await answered('/categories/search?q=coo');
    await page.getByRole('option', { name: 'Cooking' }).click();
    await save();
    await answered('/articles/1', 'PATCH');
    assert.equal((await stored(1)).categoryId, 3);
  });
  await step('ReferenceArrayInput of many-to-many ids', async () => {
    await open('ReferenceArrayInput', 'articles/2');
    await page.getByRole('button', { name: 'green' }).waitFor();
    await complete('yel', 'yellow');
    await save();
    await answered('/articles/2', 'PATCH');
    assert.deepEqual((await stored(2)).tagsIds, [1, 2, 5]);
  });

  await step('undoable mode', async () => {
    await changeIn('undoable');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await rowOf('Changed').waitFor();
    assert.equal((await stored(1)).title, 'Article 001');
    await page.getByRole('button', { name: 'Undo' }).click();
    await rowOf('Article 001').waitFor();
    await rowOf('Article 001').click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Again');
    // The time to undo may end before a slow machine looks.
    const release = await driver.hold('PATCH', '/articles/1');
    await save();
    await rowOf('Again').waitFor();
    assert.equal((await stored(1)).title, 'Article 001');
    await release();
    await answered('/articles/1', 'PATCH');
    assert.equal((await stored(1)).title, 'Again');
    assert.equal(answers.filter(({ method }) => method === 'PATCH').length, 1);
  });
  await step('undoable mode with a change of somebody else', async () => {
    await changeIn('undoable');
    await rowOf('Changed').waitFor();
    await request('PATCH', '/articles/1', { title: 'Of somebody else' });
    const { status } = await answered('/articles/1', 'PATCH');
    assert.equal(status, 412);
    await page.getByText('was changed by somebody else').waitFor();
    await rowOf('Of somebody else').waitFor();
  });
  await step('undoable deletion', async () => {
    await open('undoable', 'articles/1');
    await page.getByRole('button', { name: 'Delete' }).click();
    await rowOf('Article 001').waitFor({ state: 'detached' });
    assert.equal(await statusOf(1), 200);
    await answered('/articles/1', 'DELETE');
    assert.equal(await statusOf(1), 404);
  });
  await step('optimistic mode', async () => {
    const release = await driver.hold('PATCH', '/articles/1');
    await changeIn('optimistic');
    await rowOf('Changed').waitFor();
    assert.equal((await stored(1)).title, 'Article 001');
    await release();
    await answered('/articles/1', 'PATCH');
    assert.equal((await stored(1)).title, 'Changed');
  });
  await step('pessimistic mode', async () => {
    await changeIn('pessimistic');
    await rowOf('Changed').waitFor();
    assert.equal((await stored(1)).title, 'Changed');
  });
}
