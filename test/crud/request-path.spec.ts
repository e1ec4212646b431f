/** How much of `lib/crud` one request passes, counted by the inspector's coverage. */
import { Session } from 'node:inspector/promises';
import { CrudController } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud, type CrudService } from './service.js';

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

class Products extends CrudController({ entity: Product, endpoint: '/products' }) {}

let service: CrudService;
beforeAll(async () => {
  service = await startCrud('express', { entities: [Product], resources: [Products], path: 'compiled' });
  await service.post('/products', { name: 'lamp' });
  // The first request compiles its statement.
  await service.get('/products/1');
});
afterAll(() => service.close());

/** The files of `lib/crud` that a request visits, and the async functions that it calls there. */
async function visitsOf(send: () => Promise<unknown>): Promise<{ files: string[]; asyncFunctions: string[] }> {
  const session = new Session();
  session.connect();
  await session.post('Debugger.enable');
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await session.post('Profiler.takePreciseCoverage');
  await send();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = new Set<string>();
  const asyncFunctions: string[] = [];
  for (const { url, scriptId, functions } of result.filter((script) => script.url.includes('/lib/crud/'))) {
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    for (const { functionName, ranges } of functions) {
      const [range] = ranges;
      if (!range || range.count === 0) continue;
      const file = url.slice(url.indexOf('/lib/crud/') + '/lib/crud/'.length);
      files.add(file);
      const isAsync = /^(async\b|\s*async )/.test(scriptSource.slice(range.startOffset, range.startOffset + 10));
      if (isAsync) asyncFunctions.push(`${file} ${functionName}`);
    }
  }
  session.disconnect();
  return { files: [...files].toSorted(), asyncFunctions };
}

it('a record by its id visits at most 20 files and 6 async functions', async () => {
  const { files, asyncFunctions } = await visitsOf(() => service.get('/products/1'));
  expect(files.length).toBeLessThanOrEqual(20);
  expect(asyncFunctions.length).toBeLessThanOrEqual(6);
});
