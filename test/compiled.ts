import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));

/** Sources that stand in no file, by the path at which they would. */
export type Sources = Readonly<Record<string, string>>;

/** The programs of an application, compiled beside a copy of the package that they find under its name. */
export interface Compiled {
  readonly directory: string;
  /** What the compiler says against them; empty when all is well. */
  readonly problems: readonly string[];
  remove(): Promise<void>;
}

/**
 * Compiles files of the repository, or sources that are only in memory, with the options of `tsconfig.test.json`, where
 * `declarest` and its further entries are sources below `lib/`. The output stands below `node_modules`, so that every
 * other package is found too.
 */
export async function compile(paths: readonly string[], sources: Sources = {}): Promise<Compiled> {
  const cache = join(REPOSITORY, 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'declarest-'));
  const program = programOf(paths, sources, directory);
  const problems = ts.getPreEmitDiagnostics(program).map(sentenceOf);
  program.emit();
  await writeFile(
    join(directory, 'package.json'),
    JSON.stringify({
      name: 'declarest',
      type: 'module',
      exports: { '.': './lib/index.js', './express': './lib/express/index.js', './testing': './lib/testing/index.js' },
    }),
  );
  return { directory, problems, remove: () => rm(directory, { recursive: true, force: true }) };
}

function programOf(paths: readonly string[], sources: Sources, outDir: string): ts.Program {
  const inMemory = new Map(Object.entries(sources).map(([path, text]) => [resolve(REPOSITORY, path), text]));
  const options: ts.CompilerOptions = { ...testOptions(), noEmit: false, rootDir: REPOSITORY, outDir };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => inMemory.has(path) || fileExists(path);
  // Without its folder the compiler does not look for a file.
  const folders = new Set([...inMemory.keys()].map(dirname));
  host.directoryExists = (path) => folders.has(resolve(path)) || ts.sys.directoryExists(path);
  host.readFile = (path) => inMemory.get(path) ?? readFile(path);
  const files = [
    join(REPOSITORY, 'lib', 'index.ts'),
    join(REPOSITORY, 'lib', 'express', 'index.ts'),
    join(REPOSITORY, 'lib', 'testing', 'index.ts'),
    ...paths.map((path) => resolve(REPOSITORY, path)),
    ...inMemory.keys(),
  ];
  return ts.createProgram(files, options, host);
}

function testOptions(): ts.CompilerOptions {
  const path = join(REPOSITORY, 'tsconfig.test.json');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path, ts.sys.readFile).config,
    ts.sys,
    dirname(path),
  );
  return options;
}

function sentenceOf({ file, start = 0, messageText }: ts.Diagnostic): string {
  const text = ts.flattenDiagnosticMessageText(messageText, ' ');
  if (!file) return text;
  const { line } = file.getLineAndCharacterOfPosition(start);
  return `${relative(REPOSITORY, file.fileName)}:${line + 1} ${text}`;
}
