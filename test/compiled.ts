import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';
import { SQLITE_PACKAGE } from './harness/sqlite.js';
import { SWC_OPTIONS } from './harness/swc.js';

export const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));

const ENTRIES = ['express', 'observe', 'openapi', 'plugin', 'testing'];
const LIB_ENTRIES = ['lib/index.ts', ...ENTRIES.map((name) => `lib/${name}/index.ts`)];

const LOGINS = 'packages/declarest-logins';
const LOGINS_ENTRIES = ['api-keys', 'jwks', 'oidc', 'passkeys', 'second-factor'].map(
  (name) => `${LOGINS}/src/${name}/index.ts`,
);

const FILES = 'packages/declarest-files';
const INTERFACE = 'packages/ra-data-declarest';

/** Sources in memory, by the path that they would have in the repository. */
export type Sources = Readonly<Record<string, string>>;

/** Compiled programs, in a folder where `declarest`, `declarest-files`, `declarest-logins` and `ra-data-declarest` are packages. */
export interface Compiled {
  readonly directory: string;
  remove(): Promise<void>;
}

/**
 * Compiles files of the repository, or sources in memory, together with every file that they import, without checking
 * their types. The output is below `node_modules`, so that the programs find every other package.
 */
export async function compile(paths: readonly string[], sources: Sources = {}): Promise<Compiled> {
  const cache = join(REPOSITORY, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'declarest-'));
  const queue = [
    ...LIB_ENTRIES,
    ...LOGINS_ENTRIES,
    `${FILES}/src/index.ts`,
    `${INTERFACE}/src/description.ts`,
    ...paths,
    ...Object.keys(sources),
  ];
  const compiled = new Set<string>();
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (compiled.has(path)) continue;
    compiled.add(path);
    const source = sources[path] ?? (await readFile(join(REPOSITORY, path), 'utf8'));
    const { code } = await transform(withDriver(source), SWC_OPTIONS);
    const target = join(directory, path.replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, code);
    for (const [, specifier = ''] of code.matchAll(/(?:\bfrom|\bimport|\bnew URL)\s*\(?\s*['"](\.[^'"]+)\.js['"]/g))
      queue.push(`${join(dirname(path), specifier)}.ts`);
  }
  await writePackage(directory, 'declarest', {
    '.': './lib/index.js',
    ...Object.fromEntries(ENTRIES.map((name) => [`./${name}`, `./lib/${name}/index.js`])),
  });
  await writePackage(join(directory, LOGINS), 'declarest-logins', { './*': './src/*/index.js' });
  await writePackage(join(directory, FILES), 'declarest-files', { '.': './src/index.js' });
  const ofInterface = { './description': './src/description.js', './static/*': './static/*' };
  await writePackage(join(directory, INTERFACE), 'ra-data-declarest', ofInterface);
  await mkdir(join(directory, INTERFACE, 'static'));
  await writeFile(join(directory, INTERFACE, 'static/index.html'), '<title>Administration</title>');
  await mkdir(join(directory, 'node_modules'));
  await symlink('..', join(directory, 'node_modules/declarest'));
  for (const path of [FILES, LOGINS, INTERFACE])
    await symlink(join('..', path), join(directory, 'node_modules', path.replace('packages/', '')));
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}

const writePackage = (directory: string, name: string, exports: Readonly<Record<string, string>>): Promise<void> =>
  writeFile(join(directory, 'package.json'), JSON.stringify({ name, type: 'module', exports }));

/** Applications on Node 22 and later name no driver, as in the documentation; on Node 20 they need one. */
function withDriver(source: string): string {
  if (SQLITE_PACKAGE === 'better-sqlite3') return source;
  const driver = `process.getBuiltinModule('node:module').createRequire(import.meta.url)('${SQLITE_PACKAGE}')`;
  return source.replaceAll(`type: 'better-sqlite3'`, `type: 'better-sqlite3', driver: ${driver}`);
}

/**
 * The type errors of sources in memory, checked with the options of `tsconfig.test.json`, where `declarest` is the source
 * in `lib/`.
 *
 * @returns `path:line message` of each; empty when there is none
 */
export async function typeErrors(sources: Sources): Promise<string[]> {
  const { default: ts } = await import('typescript');
  const config = join(REPOSITORY, 'tsconfig.test.json');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(config, ts.sys.readFile).config,
    ts.sys,
    REPOSITORY,
  );
  const inMemory = new Map(Object.entries(sources).map(([path, text]) => [resolve(REPOSITORY, path), text]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile: readSource } = host;
  host.fileExists = (path) => inMemory.has(path) || fileExists(path);
  // The compiler looks for a file only in folders that exist.
  const folders = new Set([...inMemory.keys()].map(dirname));
  host.directoryExists = (path) => folders.has(resolve(path)) || ts.sys.directoryExists(path);
  host.readFile = (path) => inMemory.get(path) ?? readSource(path);
  const program = ts.createProgram([...inMemory.keys()], options, host);
  // `npm run typecheck` checks the files that they import.
  const diagnostics = [
    ...program.getOptionsDiagnostics(),
    ...[...inMemory.keys()].flatMap((path) => {
      const file = program.getSourceFile(path);
      return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    }),
  ];
  return diagnostics.map(({ file, start = 0, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    if (!file) return text;
    const { line } = file.getLineAndCharacterOfPosition(start);
    return `${relative(REPOSITORY, file.fileName)}:${line + 1} ${text}`;
  });
}
