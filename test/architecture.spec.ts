import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LIB = join(ROOT, 'lib');
const MAX_LINES = 250;

/** The features, and which other features each may import. What several need stands in a folder of its own beside them. */
const FEATURES: Record<string, string[]> = {
  auth: ['access'],
  access: [],
  crud: [],
  cors: [],
  express: [],
  testing: ['auth', 'access'],
  cli: ['access'],
};

interface Source {
  /** Relative to lib/, with slashes. */
  path: string;
  text: string;
  /** The specifiers after `from` and in `import(…)` or `import '…'`. */
  imports: string[];
}

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const onlyExports = (text: string): boolean =>
  /^\s*(export (type )?(\*|\{[^}]*\}) from '[^']+';\s*)+$/.test(withoutComments(text));

const sources: Source[] = readdirSync(LIB, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(LIB, path), 'utf8');
    const code = withoutComments(text);
    const imports = [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1]!);
    return { path: path.split(sep).join('/'), text, imports };
  });

const relativeImports = sources.flatMap(({ path, imports }) =>
  imports
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => ({ path, specifier, target: join(dirname(path), specifier).split(sep).join('/') })),
);

const folderOf = (path: string): string => path.split('/')[0] ?? '';

describe('the architecture of lib/', () => {
  it('has the features', () => {
    const folders = [...new Set(sources.map(({ path }) => folderOf(path)))];
    expect(folders).toEqual(expect.arrayContaining(Object.keys(FEATURES)));
  });

  it.each(Object.entries(FEATURES))('%s imports no other feature but: %p', (feature, allowed) => {
    const foreign = relativeImports.filter(
      ({ path, target }) =>
        folderOf(path) === feature && folderOf(target) in FEATURES && ![feature, ...allowed].includes(folderOf(target)),
    );
    expect(foreign).toEqual([]);
  });

  it('keeps what features share free of the features', () => {
    const upward = relativeImports.filter(
      ({ path, target }) => path.includes('/') && !(folderOf(path) in FEATURES) && folderOf(target) in FEATURES,
    );
    expect(upward).toEqual([]);
  });

  it('never imports from outside of lib/', () => {
    expect(relativeImports.filter(({ target }) => target.startsWith('..'))).toEqual([]);
    expect(sources.filter(({ imports }) => imports.includes('declarest'))).toEqual([]);
  });

  it('writes relative imports with their extension', () => {
    expect(relativeImports.filter(({ specifier }) => !specifier.endsWith('.js'))).toEqual([]);
  });

  it('names files after what they hold', () => {
    const vague = /^(utils?|helpers?|common|misc|shared)\b/;
    expect(sources.map(({ path }) => path).filter((path) => vague.test(basename(path)))).toEqual([]);
  });

  it('has an entry for applications, one for their adapter, one for their tests, and no inner barrels', () => {
    const barrels = sources.filter((source) => basename(source.path) === 'index.ts' || onlyExports(source.text));
    expect(barrels.map(({ path }) => path).toSorted()).toEqual(['express/index.ts', 'index.ts', 'testing/index.ts']);
  });

  it(`has no file of more than ${MAX_LINES} lines`, () => {
    const long = sources.map(({ path, text }) => `${path}: ${text.trimEnd().split('\n').length}`);
    expect(long.filter((line) => Number(line.split(': ')[1]) > MAX_LINES)).toEqual([]);
  });
});
