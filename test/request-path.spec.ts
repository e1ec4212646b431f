/** Limits how many files of `lib` one request passes, counted by the inspector's coverage. */
import { Session } from 'node:inspector/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CrudController, CrudModule } from 'declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type AuthApp, PASSWORD, startAuth } from './auth/auth-app.js';
import { request } from './harness/client.js';

const LIB = fileURLToPath(new URL('../lib/', import.meta.url));

@Entity()
class Product {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

@Entity()
class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  buyerId!: number;

  @Column()
  note!: string;
}

class Products extends CrudController({ entity: Product, endpoint: '/products', access: { read: 'public' } }) {}

class Orders extends CrudController({
  entity: Order,
  endpoint: '/orders',
  scope: ({ user }) => ({ buyerId: user?.id ?? 0 }),
}) {}

/** How Vite writes an export: reading it runs a function of the file, which does not exist in `dist`. */
const EXPORT = /^\(\) => \{ try \{ return \w+ \} catch \{\} \}$/;

const bearer = () => ({ authorization: `Bearer ${token}` });

const USER = { email: 'ann@example.org', password: PASSWORD };

let app: AuthApp;
let token: string;
beforeAll(async () => {
  app = await startAuth('express', {
    auth: { sessions: {}, defaultAccess: 'authenticated' },
    imports: [CrudModule.forFeature(Products, Orders)],
  });
  const registered = await app.register({ email: USER.email });
  token = registered.token;
  for (let id = 1; id <= 7; id++) await app.post('/products', { name: `lamp ${id}` }, { headers: bearer() });
  await app.post('/orders', { buyerId: registered.user['id'], note: 'first' }, { headers: bearer() });
});
afterAll(() => app.close());

interface Visits {
  readonly files: readonly string[];
  /** Async functions of `lib/crud`. */
  readonly asyncFunctions: readonly string[];
}

/** What a request visits when it is sent for the second time: the first one compiles its statements. */
async function visitsOf(status: number, send: () => Promise<{ status: number; text: string }>): Promise<Visits> {
  await send();
  const session = new Session();
  session.connect();
  await session.post('Debugger.enable');
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await session.post('Profiler.takePreciseCoverage');
  const answer = await send();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  expect(answer, answer.text).toMatchObject({ status });
  const files = new Set<string>();
  const asyncFunctions: string[] = [];
  for (const { url, scriptId, functions } of result) {
    const file = [LIB, pathToFileURL(LIB).href].find((prefix) => url.startsWith(prefix));
    if (file === undefined) continue;
    const path = url.slice(file.length);
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    for (const { functionName, ranges } of functions) {
      const [range] = ranges;
      if (!range || range.count === 0) continue;
      const source = scriptSource.slice(range.startOffset, range.endOffset);
      if (EXPORT.test(source)) continue;
      files.add(path);
      if (/^\s*async\b/.test(source) && path.startsWith('crud/')) asyncFunctions.push(`${path} ${functionName}`);
    }
  }
  session.disconnect();
  return { files: [...files].toSorted(), asyncFunctions };
}

function expectAtMost(limit: number, visited: readonly string[]): void {
  expect(visited.length, `visited ${visited.length}:\n${visited.join('\n')}`).toBeLessThanOrEqual(limit);
}

it('a public record by its id visits at most 36 files, 15 of them of crud, and 6 async functions there', async () => {
  const { files, asyncFunctions } = await visitsOf(200, () => app.get('/products/7'));
  expectAtMost(36, files);
  expectAtMost(
    15,
    files.filter((path) => path.startsWith('crud/')),
  );
  expectAtMost(6, asyncFunctions);
});

it('a change of a record within the scope of a signed-in caller visits at most 58 files', async () => {
  const change = { json: { note: 'changed' }, headers: bearer() };
  const { files } = await visitsOf(200, () => request(app.url, 'PATCH', '/orders/1', change));
  expectAtMost(58, files);
});

it('a login that starts a session visits at most 48 files', async () => {
  const { files } = await visitsOf(200, () => app.post('/api/auth/login', USER));
  expectAtMost(48, files);
});
