/** Runs the examples of docs/tasks/custom-operations.md. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Compiled, compile, REPOSITORY } from '../compiled.js';
import { blocksOf } from '../docs-blocks.js';
import { request } from '../harness/client.js';
import { createDatabase, DATABASES } from '../harness/databases.js';
import { PLATFORMS, startApp } from '../harness/platforms.js';

const path = 'docs/tasks/custom-operations.md';
const text = await readFile(join(REPOSITORY, path), 'utf8');
const blocks = blocksOf({ path, text }).filter(({ language }) => language === 'ts');

let compiled: Compiled;
beforeAll(async () => {
  compiled = await compile([], Object.fromEntries(blocks.map((block) => [block.file, block.text])));
});
afterAll(() => compiled.remove());

it('[issue 12] have at most 40 lines each', () => {
  expect(blocks.filter((block) => block.text.trimEnd().split('\n').length > 40)).toEqual([]);
});

it.each(PLATFORMS)('an operation that lists the best-selling products runs on %s', async (platform) => {
  const [block] = blocks;
  const example = (await import(join(compiled.directory, block!.file.replace(/\.ts$/, '.js')))) as {
    readonly ProductsModule: Type;
    readonly Product: Type;
  };
  const database = await createDatabase();
  const imports = [TypeOrmModule.forRoot(database.options), example.ProductsModule];
  const running = await startApp(platform, { imports }, { onClose: database.drop });
  const products = running.app.get(DataSource).getRepository(example.Product);
  const sold = [5, 9, 7, 1, 50].map((each, index) => ({ name: `P${index}`, sold: each, published: each !== 50 }));
  await products.save(sold);
  const answer = await request(running.url, 'GET', '/api/products/top-sellers');
  expect(answer.json).toMatchObject({ success: true, message: 'Product topSellers' });
  expect((answer.json.data as { sold: number }[]).map((each) => each.sold)).toEqual([9, 7, 5]);
  expect((await request(running.url, 'GET', '/api/products')).json.data).toHaveLength(4);
  await running.close();
});

it.each(DATABASES)('an operator that finds near numbers runs on %s', async (name) => {
  const block = blocks.find(({ text }) => text.includes('FilterOperator'));
  const example = (await import(join(compiled.directory, block!.file.replace(/\.ts$/, '.js')))) as {
    readonly OffersModule: Type;
    readonly Offer: Type;
  };
  const database = await createDatabase(name);
  const options = { ...database.options, autoLoadEntities: false, entities: [example.Offer] };
  const imports = [TypeOrmModule.forRoot(options), example.OffersModule];
  const running = await startApp('express', { imports }, { onClose: database.drop });
  const offers = running.app.get(DataSource).getRepository(example.Offer);
  await offers.save([94, 95, 105, 106].map((price) => ({ name: `At ${price}`, price })));
  const answer = await request(running.url, 'GET', '/api/offers?filter[price][near]=100,5');
  expect((answer.json.data as { price: number }[]).map(({ price }) => price)).toEqual([95, 105]);
  const wrong = await request(running.url, 'GET', '/api/offers/count?filter[price][near]=100');
  expect([wrong.status, wrong.json.errors]).toEqual([
    400,
    [{ field: 'filter[price][near]', message: 'must be a number and a distance, such as "100,5"' }],
  ]);
  await running.close();
});
