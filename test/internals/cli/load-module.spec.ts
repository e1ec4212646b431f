import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadModule } from '../../../lib/cli/load-module.js';

const folder = mkdtempSync(join(tmpdir(), 'declarest-load-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let written = 0;
function fileOf(source: string): string {
  const file = join(folder, `app-${++written}.mjs`);
  writeFileSync(file, source);
  return file;
}

const MODULE = 'export const app = { module: class Root {} };\n';

it('loads the one module, also under two names, and the function `configure`', async () => {
  const { module, configure } = await loadModule(
    fileOf(`${MODULE}export { app as default };\nexport function configure() {}`),
  );
  expect(module).toMatchObject({ module: expect.any(Function) });
  expect(configure).toBeInstanceOf(Function);
  // A pattern is not the beginning of a comment.
  await expect(loadModule(fileOf(`const pattern = '/api/**';\n${MODULE}/* end */`))).resolves.toBeDefined();
});

it.each<[what: string, file: string, sentence: string]>([
  ['a missing file', 'none.js', '^There is no file "none.js". Give the compiled app module.$'],
  ['a folder', folder, '^There is no file "[^"]+". '],
  ['a broken file', fileOf(`throw new Error('Broken.\\nMore.'); export {}; ${MODULE}`), 'cannot be loaded: Broken.$'],
  [
    'no module',
    fileOf(`export class AppModule {}\nexport const answer = { module: 'none' };`),
    'exports no Nest module. ',
  ],
  [
    'two modules',
    fileOf(`${MODULE}export const b = { module: class B {} };`),
    String.raw`exports 2 Nest modules \(app, b\). `,
  ],
  [
    'another `configure`',
    fileOf(`${MODULE}export const configure = true;`),
    '^The export "configure" of .* must be a function.$',
  ],
])('refuses %s in one sentence', async (_what, file, sentence) => {
  await expect(loadModule(file)).rejects.toEqual(
    expect.objectContaining({ name: 'CommandError', message: expect.stringMatching(sentence) }),
  );
});

// Finding 19: such a file is the one that starts the application.
it.each([
  [
    'an ES module',
    `import 'node:fs';\n// This file has no export.\n/**\n * export\n */\nthrow new Error('loaded');\nexport {};\n`,
  ],
  ['a file with the word in a text', `const path = '/api/export';\nthrow new Error('loaded');\n`],
  [
    'CommonJS',
    `"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nthrow new Error('loaded');\n`,
  ],
])('does not load %s that exports nothing', async (_what, source) => {
  await expect(loadModule(fileOf(source))).rejects.toThrow(/ exports nothing and was not loaded, [^\n]+\.$/);
});
