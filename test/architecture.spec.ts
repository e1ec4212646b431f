/** The rules for the sources in lib/ and packages/, and for imports in specs: what may import what, which names and sizes files have, and what they leave alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import PACKAGE from '../package.json' with { type: 'json' };

const LIB = fileURLToPath(new URL('../lib', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../packages', import.meta.url));
const TEST = fileURLToPath(new URL('.', import.meta.url));
/** Files outside of test/internals that import internals. The list may only shrink. */
const IMPORTERS_OF_INTERNALS = [
  // Gives the random numbers of isolationProof() to all random suites.
  'access/random.ts',
  // Sends a mail at once, so that the model knows the order.
  'auth-proof/account-model.spec.ts',
  // Runs the commands of the pages in its own process, and reads the scripts of created applications.
  'docs.spec.ts',
  // Starts races below the endpoints, where requests would not meet.
  'engines/galera.spec.ts',
];
const MAX_LINES_PER_FILE = 250;
/** At most so many lines in each folder of lib/, without those of its own folders. A limit may only fall. */
const MAX_LINES: Readonly<Record<string, number>> = {
  '.': 81,
  access: 1_835,
  'access/identity': 481,
  auth: 206,
  'auth/accounts': 630,
  'auth/administration': 184,
  'auth/links': 403,
  'auth/options': 482,
  'auth/passwords': 233,
  'auth/plugins': 1_027,
  'auth/sessions': 812,
  'auth/signing-keys': 162,
  'auth/tables': 309,
  'auth/throttle': 468,
  'auth/tokens': 186,
  'auth/users': 688,
  cli: 1_131,
  cors: 219,
  crud: 309,
  'crud/declare': 1_399,
  'crud/document': 694,
  'crud/idempotency': 126,
  'crud/import': 408,
  'crud/nest': 1_414,
  'crud/operations': 893,
  'crud/plan': 887,
  'crud/query': 906,
  'crud/read': 431,
  'crud/rows': 278,
  'crud/sql': 995,
  'crud/store': 2_107,
  'crud/write': 1_083,
  database: 682,
  documents: 298,
  entities: 2_328,
  express: 63,
  files: 149,
  http: 719,
  indexes: 489,
  observe: 72,
  openapi: 269,
  options: 160,
  plugin: 146,
  'problem-details': 119,
  reach: 1_936,
  'request-ids': 51,
  'response-headers': 49,
  routes: 1_188,
  shutdown: 64,
  testing: 406,
  'testing/isolation': 1_002,
};

/** The same for packages/declarest-logins/src. */
const MAX_LINES_OF_LOGINS: Readonly<Record<string, number>> = {
  '.': 45,
  administration: 118,
  'api-keys': 349,
  jwks: 421,
  'login-steps': 156,
  oidc: 993,
  passkeys: 1_013,
  'second-factor': 549,
};

/** The folders of packages/declarest-logins/src import no other, but for the step of logins and the keys that they share. */
const IMPORTS_BETWEEN_LOGINS = [
  'administration imports api-keys',
  'passkeys imports login-steps',
  'second-factor imports login-steps',
];

/** The same for packages/declarest-files/src. */
const MAX_LINES_OF_FILES: Readonly<Record<string, number>> = { '.': 800, s3: 53 };

/** Which other folders each folder may import, from the bottom to the top. `index.ts` may import all of them. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  options: [],
  http: ['options'],
  'response-headers': ['http'],
  'request-ids': ['http'],
  'problem-details': ['http', 'request-ids'],
  entities: ['options', 'http'],
  database: ['options', 'http', 'entities'],
  documents: ['options', 'entities'],
  routes: ['options', 'http', 'problem-details'],
  shutdown: [],
  access: ['options', 'http', 'request-ids', 'problem-details', 'routes', 'shutdown'],
  auth: [
    'options',
    'http',
    'response-headers',
    'problem-details',
    'entities',
    'database',
    'documents',
    'routes',
    'access',
  ],
  crud: ['options', 'http', 'response-headers', 'entities', 'database', 'documents', 'routes', 'shutdown'],
  plugin: ['options', 'http', 'entities', 'database', 'documents', 'access', 'auth'],
  cors: ['options', 'http', 'routes'],
  express: [],
  files: ['options', 'http'],
  observe: ['request-ids', 'entities'],
  openapi: ['options', 'http', 'documents', 'routes', 'access', 'files'],
  reach: ['options', 'http', 'entities', 'documents', 'routes', 'access', 'auth', 'crud'],
  indexes: ['http', 'entities', 'database', 'routes', 'crud', 'reach'],
  cli: ['options', 'http', 'documents', 'routes', 'access', 'auth', 'crud', 'openapi', 'reach', 'indexes'],
  testing: ['options', 'http', 'entities', 'database', 'documents', 'routes', 'access', 'auth', 'crud', 'reach'],
};

/** The folders of a folder from the bottom to the top: each may import those before it. Only the module imports all. */
const INNER_LAYERS: Readonly<Record<string, readonly string[]>> = {
  access: [
    'pattern',
    'role-hierarchy',
    'identity',
    'auth-events',
    'refusal-events',
    'decide',
    'access-options',
    'access-decorators',
    'other-contexts',
    'security-config',
    'path-interpretations',
    'matching-rules',
    'route-access',
    'access-rows',
    'compiled-access',
    'rule-warnings',
    'access-rules',
    'security-rules.guard',
    'access-middleware',
    'access.module',
  ],
  auth: [
    'tables',
    'users',
    'tokens',
    'throttle',
    'passwords',
    'plugins',
    'options',
    'accounts',
    'signing-keys',
    'sessions',
    'links',
    'administration',
  ],
  crud: [
    'sql',
    'declare',
    'query',
    'store',
    'idempotency',
    'rows',
    'plan',
    'read',
    'write',
    'document',
    'import',
    'operations',
    'nest',
    'inspect',
  ],
};

/** What tools may import of access/, auth/ and crud/. Each list may only shrink. */
const READ_BY_TOOLS: Readonly<Record<string, readonly string[]>> = {
  reach: [
    'access/access-options',
    'access/access-rows',
    'access/access-rules',
    'access/compiled-access',
    'access/decide',
    'access/identity/source-reader',
    'access/route-access',
    'auth/plugins/document-parts',
    'auth/plugins/plugin',
    'auth/users/options-token',
    'crud/inspect',
  ],
  indexes: ['crud/inspect'],
  cli: [
    'access/access-rows',
    'access/access-rules',
    'access/compiled-access',
    'access/decide',
    'access/pattern',
    'access/route-access',
    'auth/accounts/user-accounts',
    'auth/links/mailed-links',
    'auth/options/resolve-options',
    'auth/plugins/auth-plugins',
    'auth/users/auth-user',
    'auth/users/options-token',
    'auth/users/user-checks',
    'auth/users/user.repository',
    'crud/inspect',
  ],
  testing: [
    'access/access-rules',
    'access/compiled-access',
    'access/decide',
    'access/identity/authenticator',
    'access/pattern',
    'access/route-access',
    'access/security-rules.guard',
    'auth/plugins/account-credentials',
    'auth/tokens/access-tokens',
    'auth/users/auth-user',
    'crud/crud.module',
    'crud/declare/declared-options',
    'crud/idempotency/idempotency-keys',
    'crud/inspect',
  ],
};

/** The only files that may read undocumented members of a platform, and never change them. */
const PLATFORM_READERS = ['routes/express-routes.ts', 'routes/fastify-routes.ts'];

interface Source {
  /** Relative to the folder that was read, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  /** The specifiers of every import and re-export, of types too, and of `import(…)`. */
  readonly imports: readonly string[];
}

interface Import {
  readonly path: string;
  readonly specifier: string;
  readonly target: string;
}

const sources = sourcesBelow(LIB);
const relativeImports = relativeImportsOf(sources);
const logins = sourcesBelow(join(PACKAGES, 'declarest-logins', 'src'));
const files = sourcesBelow(join(PACKAGES, 'declarest-files', 'src'));

function sourcesBelow(folder: string, pattern = /\.ts$/): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => pattern.test(path))
    .map((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
      return { path: path.split(sep).join('/'), text, tree, imports: importsOf(tree) };
    })
    .toSorted((a, b) => a.path.localeCompare(b.path));
}

function relativeImportsOf(sources: readonly Source[]): readonly Import[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({
        path,
        specifier,
        target: targetOf(path, specifier),
      })),
  );
}

/** The file that a relative specifier names. */
function targetOf(path: string, specifier: string): string {
  return join(dirname(path), specifier).split(sep).join('/').replace(/\.js$/, '.ts');
}

interface NameFromFile {
  /** Relative to lib/. */
  readonly file: string;
  /** As the file declares it. */
  readonly name: string;
  /** As the entry exports it. */
  readonly exportedAs: string;
  readonly isType: boolean;
}

/** The names that a file imports from other files of lib/, or exports from them. */
function namesOf({ path, tree }: Source): NameFromFile[] {
  const statements = tree.statements.filter((each) => ts.isImportDeclaration(each) || ts.isExportDeclaration(each));
  return statements.flatMap((statement) => {
    const { moduleSpecifier } = statement;
    const isImport = ts.isImportDeclaration(statement);
    const clause = isImport ? statement.importClause?.namedBindings : statement.exportClause;
    if (!clause || !('elements' in clause) || !moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) return [];
    if (!moduleSpecifier.text.startsWith('.')) return [];
    const ofTypes = isImport ? statement.importClause?.phaseModifier !== undefined : statement.isTypeOnly;
    return clause.elements.map(({ name, propertyName, isTypeOnly }) => ({
      file: targetOf(path, moduleSpecifier.text),
      name: (propertyName ?? name).text,
      exportedAs: name.text,
      isType: ofTypes || isTypeOnly,
    }));
  });
}

const linesOf = ({ text }: Source): number => text.trimEnd().split('\n').length;

const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '');

function importsOf(tree: ts.SourceFile): string[] {
  const found: string[] = [];
  visit(tree, (node) => {
    const specifier =
      ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)
          ? node.argument.literal
          : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
            ? node.arguments[0]
            : undefined;
    if (specifier && ts.isStringLiteralLike(specifier)) found.push(specifier.text);
  });
  return found;
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

/** What each entry of package.json exports, from which file. */
const entries = Object.entries(PACKAGE.exports).flatMap(([entry, target]) => {
  if (typeof target === 'string') return [];
  const file = target.default.replace('./dist/', '').replace(/\.js$/, '.ts');
  const source = sources.find(({ path }) => path === file);
  return [{ entry: entry.replace('.', 'declarest'), names: source ? namesOf(source) : [] }];
});

/** `folder/file.ts:12 the code`, for every node of lib/ and of declarest-logins that a rule forbids. */
function violations(isForbidden: (node: ts.Node, path: string) => boolean): string[] {
  return [...sources, ...logins].flatMap(({ path, tree }) => {
    const found: string[] = [];
    visit(tree, (node) => {
      if (!isForbidden(node, path)) return;
      const line = tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      found.push(`${path}:${line} ${node.getText().split('\n')[0]}`);
    });
    return found;
  });
}

/** The groups of files that import each other, directly or through others. */
function importCycles(sources: readonly Source[]): string[][] {
  const targets = new Map(sources.map(({ path }) => [path, new Set<string>()]));
  for (const { path, target } of relativeImportsOf(sources)) targets.get(path)?.add(target);
  const reach = (from: string): Set<string> => {
    const reached = new Set<string>();
    const queue = [from];
    for (let path = queue.pop(); path !== undefined; path = queue.pop())
      for (const target of targets.get(path) ?? []) if (!reached.has(target)) queue.push((reached.add(target), target));
    return reached;
  };
  const reachable = new Map([...targets.keys()].map((path) => [path, reach(path)]));
  const cycles = new Set<string>();
  for (const [path, reached] of reachable)
    if (reached.has(path))
      cycles.add(
        [...reached]
          .filter((other) => reachable.get(other)?.has(path))
          .toSorted()
          .join(' '),
      );
  return [...cycles].map((cycle) => cycle.split(' '));
}

describe('imports', () => {
  it('form no cycle between files, also not by type-only imports', () => {
    expect(importCycles(sources)).toEqual([]);
  });

  it('in packages/ form no cycle either, and come from other packages by their names', () => {
    const ofPackages = sourcesBelow(PACKAGES, /^[\w-]+[\\/]src[\\/].*\.ts$/);
    expect(ofPackages.length).toBeGreaterThan(30);
    expect(importCycles(ofPackages)).toEqual([]);
    const foreign = relativeImportsOf(ofPackages).filter(({ path, target }) => folderOf(path) !== folderOf(target));
    expect(foreign).toEqual([]);
  });

  it('stay within the folders that the table of layers names', () => {
    expect(
      sources.map(({ path }) => path).filter((path) => path !== 'index.ts' && !(folderOf(path) in LAYERS)),
    ).toEqual([]);
  });

  it.each(Object.entries(LAYERS))('of %s come from no other folder but: %o', (folder, allowed) => {
    const foreign = relativeImports
      .filter(({ path, target }) => folderOf(path) === folder && ![folder, ...allowed].includes(folderOf(target)))
      .map(({ path, target }) => `${path} imports ${target}`);
    expect(foreign).toEqual([]);
  });

  it.each(Object.entries(INNER_LAYERS))('of each folder of %s/ come from folders below it', (name, layers) => {
    const isInside = (path: string): boolean => folderOf(path) === name;
    const layerOf = (path: string): number => layers.indexOf(path.split('/')[1]?.replace(/\.ts$/, '') ?? '');
    const upward = relativeImports
      .filter(({ path, target }) => isInside(path) && isInside(target) && layerOf(path) >= 0)
      .filter(({ path, target }) => layerOf(target) < 0 || layerOf(target) > layerOf(path))
      .map(({ path, target }) => `${path} imports ${target}`);
    expect(upward).toEqual([]);
    const others = sources.map(({ path }) => path).filter((path) => isInside(path) && layerOf(path) < 0);
    expect(others.filter((path) => path !== `${name}/${name}.module.ts`)).toEqual([]);
  });

  it.each(Object.entries(READ_BY_TOOLS))(
    'of %s come from a few files of the folders that decide',
    (folder, allowed) => {
      const deciding = /^(access|auth|crud)\//;
      const imported = relativeImports
        .filter(({ path, target }) => folderOf(path) === folder && deciding.test(target))
        .map(({ target }) => target.replace(/\.ts$/, ''));
      expect([...new Set(imported)].toSorted()).toEqual(allowed);
    },
  );

  it('never leave lib/, and never name the package itself', () => {
    expect(relativeImports.filter(({ target }) => target.startsWith('..'))).toEqual([]);
    expect(sources.filter(({ imports }) => imports.includes('declarest'))).toEqual([]);
  });

  it('carry their extension when relative', () => {
    const all = [...relativeImports, ...relativeImportsOf(logins)];
    expect(all.filter(({ specifier }) => !specifier.endsWith('.js'))).toEqual([]);
  });

  it('name other packages by their main entry, never by a file inside, such as @nestjs/core/router/…', () => {
    const publicEntry = /^(node:[\w/]+|@[\w-]+\/[\w-]+|[\w-]+)$/;
    const deep = sources.flatMap(({ path, imports }) =>
      imports
        .filter((specifier) => !specifier.startsWith('.') && !publicEntry.test(specifier))
        .map((specifier) => `${path} imports ${specifier}`),
    );
    expect(deep).toEqual([]);
  });
});

describe('tests', () => {
  it('import internals only below test/internals', () => {
    const entry = /^(lib(\/(express|openapi|plugin|testing))?|packages\/[\w-]+\/src(\/[\w-]+)?)\/index\.ts$/;
    const importers = relativeImportsOf(sourcesBelow(TEST, /^(?!internals[\\/]).*\.[jt]s$/))
      .filter(
        ({ target }) => /^(\.\.\/(lib|packages)|internals)\//.test(target) && !entry.test(target.slice('../'.length)),
      )
      .map(({ path }) => path);
    expect([...new Set(importers)]).toEqual(IMPORTERS_OF_INTERNALS);
  });

  it('mutate only files that exist: Stryker ignores the name of a file that was renamed', async () => {
    const config = (await import(new URL('../stryker.config.mjs', import.meta.url).href)) as {
      readonly default: { readonly mutate: readonly string[] };
    };
    const paths = sources.map(({ path }) => `lib/${path}`);
    expect(config.default.mutate.filter((path) => !paths.includes(path))).toEqual([]);
  });
});

describe('files', () => {
  it('are named after what they hold, by a word that a stranger understands', () => {
    const vague = 'common core helper helpers misc shared stuff util utils';
    const riddles =
      'alone answers ask asked at-once data-path doubts edge front gate governance heard held kept kinds known later ' +
      'nests noted readings rehearsal surroundings told twins unread written';
    const forbidden = new RegExp(`(^|[/.-])(${`${vague} ${riddles}`.replaceAll(' ', '|')})(?=[/.-])`);
    expect([...sources, ...logins].map(({ path }) => path).filter((path) => forbidden.test(path))).toEqual([]);
  });

  it('re-export only as the six entries: for applications, their Express adapter, telemetry, document, plugins and tests', () => {
    const isReExport = (node: ts.Statement): boolean =>
      ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined;
    const barrels = sources.filter(
      ({ path, tree }) => basename(path) === 'index.ts' || tree.statements.every((statement) => isReExport(statement)),
    );
    expect(barrels.map(({ path }) => path)).toEqual([
      'express/index.ts',
      'index.ts',
      'observe/index.ts',
      'openapi/index.ts',
      'plugin/index.ts',
      'testing/index.ts',
    ]);
  });

  it('export as entries what test/exports.txt lists; after an intended change, `vitest -u` writes it', async () => {
    const lists = entries.map(({ entry, names }) => {
      const types = names.filter(({ isType }) => isType);
      const lines = names.map(({ exportedAs, isType }) => `  ${isType ? 'type' : 'value'} ${exportedAs}`);
      const count = `${names.length - types.length} values, ${types.length} types`;
      return [`${entry}: ${count}`, ...lines.toSorted(), ''].join('\n');
    });
    await expect(lists.join('\n')).toMatchFileSnapshot('exports.txt');
  });

  it('show each option of a resource by an @example', () => {
    const options = sources
      .filter(({ path }) => /^crud\/declare\/(crud|list)-options\.ts$/.test(path))
      .flatMap(({ tree }) => tree.statements.filter(ts.isInterfaceDeclaration))
      .filter(({ name }) => /^(Crud|List)Options$/.test(name.text))
      .flatMap(({ members }) => [...members]);
    const hasExample = (option: ts.Node): boolean =>
      ts.getJSDocTags(option).some(({ tagName }) => tagName.text === 'example');
    expect(options.length).toBeGreaterThan(25);
    expect(options.filter((each) => !hasExample(each)).map(({ name }) => name?.getText())).toEqual([]);
  });

  it(`have at most ${MAX_LINES_PER_FILE} lines each`, () => {
    const long = [...sources, ...logins].filter((source) => linesOf(source) > MAX_LINES_PER_FILE);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it.each([
    ['lib', sources, MAX_LINES],
    ['packages/declarest-logins/src', logins, MAX_LINES_OF_LOGINS],
    ['packages/declarest-files/src', files, MAX_LINES_OF_FILES],
  ])('have at most so many lines in each folder of %s as its table of limits, which names every folder', (...row) => {
    const [, counted, limits] = row;
    const found: Record<string, number> = {};
    for (const source of counted) {
      const folder = dirname(source.path);
      found[folder] = (found[folder] ?? 0) + linesOf(source);
    }
    expect(Object.keys(found).toSorted()).toEqual(Object.keys(limits).toSorted());
    expect(Object.entries(found).filter(([folder, lines]) => lines > (limits[folder] ?? 0))).toEqual([]);
  });
});

const packages = { 'declarest-files': files, 'declarest-logins': logins };

describe('packages with entries of their own', () => {
  const readPackage = (path: string) =>
    JSON.parse(readFileSync(join(PACKAGES, path, 'package.json'), 'utf8')) as Record<
      'exports' | 'dependencies' | 'peerDependencies',
      Readonly<Record<string, unknown>>
    >;

  it.each(Object.entries(packages))('%s imports entries of declarest and of its dependencies, and Node', (...row) => {
    const [name, imported] = row;
    const { dependencies, peerDependencies } = readPackage(name);
    const entries = Object.keys(readPackage('..').exports).map((name) => name.replace(/^\./, 'declarest'));
    const allowed = new Set([...Object.keys({ ...dependencies, ...peerDependencies }), ...entries]);
    const foreign = imported.flatMap(({ path, imports }) =>
      imports
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:') && !allowed.has(name))
        .map((name) => `${path} imports ${name}`),
    );
    expect(foreign).toEqual([]);
  });

  it('declarest-logins has an entry for each folder, and folders that import each other only as the list says', () => {
    const folders = [...new Set(logins.map(({ path }) => folderOf(path)))].filter(Boolean);
    const entries = Object.keys(readPackage('declarest-logins').exports).filter((name) => name !== './package.json');
    const shared = 'login-steps';
    expect(folders.filter((name) => name !== shared).map((name) => `./${name}`)).toEqual(entries);
    const between = relativeImportsOf(logins)
      .filter(({ path, target }) => folderOf(target) !== folderOf(path) && folderOf(target) !== '')
      .map(({ path, target }) => `${folderOf(path) || path} imports ${folderOf(target)}`);
    expect([...new Set(between)].toSorted()).toEqual(IMPORTS_BETWEEN_LOGINS);
  });
});

/** Where a property is defined by a descriptor, and why that changes nothing of another package. */
const DEFINED_PROPERTIES: Readonly<Record<string, string>> = {
  'access/security-config.ts': 'a hook on an instance of our own class',
  'crud/nest/crud-controller.ts': 'names a class that we generate',
  'crud/store/entity-values.ts': 'writes values into records that we create',
};

/** Route options that Fastify documents for its `onRoute` hook to change. */
const ROUTE_OPTIONS = ['errorHandler', 'onRequest', 'preParsing', 'preValidation'];

describe('objects of other packages', () => {
  const isNamed = (node: ts.Node, ...names: string[]): boolean => ts.isIdentifier(node) && names.includes(node.text);

  const isCallOf = (node: ts.Node, pattern: RegExp): node is ts.CallExpression =>
    ts.isCallExpression(node) && pattern.test(node.expression.getText());

  const isAssignment = (node: ts.Node): node is ts.BinaryExpression =>
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;

  it('are not wrapped in a Proxy; a user of our own is one, which answers the claims that a scope reads', () => {
    const found = violations((node) => isNamed(node, 'Proxy'));
    expect(found.filter((line) => !line.startsWith('reach/symbolic-caller.ts'))).toEqual([]);
  });

  it('are not searched for private symbols', () => {
    expect(violations((node) => isNamed(node, 'getOwnPropertySymbols'))).toEqual([]);
  });

  it('get no other prototype; only lib/express derives constructors of messages', () => {
    const found = violations((node) => isNamed(node, 'setPrototypeOf', '__proto__'));
    expect(found.filter((line) => !line.startsWith('express/'))).toEqual([]);
  });

  it('get no other methods by an assignment to a prototype', () => {
    const found = violations((node) => isAssignment(node) && /\.prototype\b/.test(node.left.getText()));
    // There the constructors are functions that the file itself declares.
    const ownConstructors = /^(express\/|crud\/store\/row-projection\.ts)/;
    expect(found.filter((line) => !ownConstructors.test(line))).toEqual([]);
  });

  it('get no other methods by an assignment of a function', () => {
    const isFunction = (node: ts.Node): boolean => ts.isArrowFunction(node) || ts.isFunctionExpression(node);
    const found = violations(
      (node) =>
        isAssignment(node) &&
        ts.isPropertyAccessExpression(node.left) &&
        node.left.expression.kind !== ts.SyntaxKind.ThisKeyword &&
        !ROUTE_OPTIONS.includes(node.left.name.text) &&
        isFunction(node.right),
    );
    expect(found).toEqual([]);
  });

  it('get no properties by a descriptor: each file that defines one says why it may', () => {
    const found = violations(
      (node) =>
        isCallOf(node, /^(Object|Reflect)\.define(Property|Properties)$/) ||
        isCallOf(node, /^Reflect\.(set|deleteProperty)$/) ||
        (isCallOf(node, /^Object\.assign$/) && /^[\w.]+\.prototype$/.test(node.arguments[0]?.getText() ?? '')),
    );
    const files = found.map((line) => line.slice(0, line.indexOf(':')));
    expect(found.filter((_, index) => !((files[index] ?? '') in DEFINED_PROPERTIES))).toEqual([]);
    expect(Object.keys(DEFINED_PROPERTIES).filter((path) => !files.includes(path))).toEqual([]);
  });

  it('are not recognised by the source text of a function', () => {
    const found = violations(
      (node) =>
        (ts.isPropertyAccessExpression(node) && node.getText() === 'Function.prototype.toString') ||
        isCallOf(node, /\.toString\.call$/) ||
        (isCallOf(node, /^String$/) &&
          /(^|\.)(call(back)?|fn|func|function|guard|handle|handler|listener|middleware|use)$/i.test(
            node.arguments[0]?.getText() ?? '',
          )),
    );
    expect(found).toEqual([]);
  });

  it('are not recognised by the name of a function or class', () => {
    // The name of a command is a text that the user typed.
    const own = /^(command)\??\.name$/;
    const found = violations(
      (node) =>
        ts.isBinaryExpression(node) &&
        /^[!=]==?$/.test(node.operatorToken.getText()) &&
        ts.isStringLiteralLike(node.right) &&
        node.right.text !== '' &&
        node.left.getText().endsWith('.name') &&
        !own.test(node.left.getText()),
    );
    expect(found).toEqual([]);
  });

  it(`have undocumented members that only ${PLATFORM_READERS.join(' and ')} read`, () => {
    const undocumented =
      /\brouters?(\(\))?[?!]?\.stack\b|\b_router\b|\blayers?[?!]?\.(?!js')|\.handle\.stack\b|\[k[A-Z]\w*\]|\bSymbol\.for\(['"](fastify|nest|express)|\.childLoggerFactory\b|(?<!this\.)\bbuildMetadatas\b/;
    const found = [...sources, ...logins]
      .filter(({ path }) => !PLATFORM_READERS.includes(path))
      .flatMap(({ path, tree }) =>
        codeLines(tree).map(({ line, code }) => ({ at: `${path}:${line} ${code.trim()}`, code })),
      )
      .filter(({ code }) => undocumented.test(code));
    expect(found.map(({ at }) => at)).toEqual([]);
  });
});

/** The lines of a file without its comments. */
function codeLines(tree: ts.SourceFile): { line: number; code: string }[] {
  const code = tree.text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, (comment) =>
    comment.replaceAll(/[^\n]/g, ' '),
  );
  return code.split('\n').map((line, index) => ({ line: index + 1, code: line }));
}
