// Renders every file of the new application in memory.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Choices } from './arguments.js';
import { MIGRATIONS } from './initial-migrations.js';
import { chooseLogins, type ChosenLogins, list } from './login-texts.js';
import { packageJson } from './package-json.js';
import { DATABASES, PLATFORMS } from './variants.js';

const TEMPLATE = fileURLToPath(new URL('../template', import.meta.url));
/** What `declarest access` writes for the template, by platform: their routers name the routes of Swagger UI differently. */
const ACCESS = fileURLToPath(new URL('../access', import.meta.url));

const INITIAL = '1767225600000-Initial.ts';

/** Contents by path. Paths are relative to the application, with slashes. */
export type Files = ReadonlyMap<string, string>;

type Texts = Readonly<Record<string, string>>;

export function applicationFiles(choices: Choices, nodeMajor: number, version: string): Files {
  const { name, platform, database } = choices;
  const logins = chooseLogins(choices.logins);
  const compiles = database === 'sqlite' && nodeMajor < 22;
  const required = [
    'JWT_SECRET',
    ...(logins.usesOrigin ? ['FRONT_END_ORIGIN'] : []),
    ...logins.variables,
    // SQLite alone has a file by default.
    ...(database === 'sqlite' ? [] : ['DATABASE_URL']),
  ];
  const texts: Texts = {
    NAME: name,
    JWT_SECRET: randomBytes(48).toString('base64url'),
    NODE: String(nodeMajor),
    REQUIRED: list(
      'const required = [',
      required.map((name) => `'${name}'`),
      '];',
    ),
    // Packages include their binaries, except better-sqlite3 12, for which the larger image has a compiler.
    BUILD_IMAGE: compiles ? `node:${nodeMajor}` : `node:${nodeMajor}-slim`,
    INSTALL_OPTIONS: compiles ? '' : ' --ignore-scripts',
    ...PLATFORMS[platform].texts(),
    ...DATABASES[database].texts(name),
    ...logins.texts,
  };
  const files = new Map([
    ['package.json', packageJson(choices, logins, nodeMajor, version)],
    ['access.json', withRoutes(readFileSync(join(ACCESS, `${platform}.json`), 'utf8'), logins)],
  ]);
  for (const entry of readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    if (entry.name === 'logins.ts' && !logins.hasPlugins) continue;
    if (entry.name === 'generate-migrations.ts' && database !== 'sqlite+postgres') continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, 'utf8');
    if (entry.name === INITIAL) {
      for (const [folder, statements] of Object.entries(MIGRATIONS[database]))
        files.set(`src/migrations/${folder}${INITIAL}`, fill(text, { ...texts, ...statements(logins.tables) }));
      continue;
    }
    const target = path
      .slice(TEMPLATE.length + 1)
      .split(sep)
      .join('/');
    files.set(target.replace(/^_/, '.'), fill(text, texts));
  }
  return files;
}

interface Route {
  readonly method: string;
  readonly path: string;
  readonly template: string;
  readonly access: string;
  readonly requirements: readonly unknown[];
  readonly rules: readonly string[];
}

const insertAfter = (routes: Route[], isBefore: (route: Route) => boolean, added: readonly Route[]): void =>
  void routes.splice(routes.findLastIndex(isBefore) + 1, 0, ...added);

/** Adds routes below `/api/auth` and `/admin` behind the others there, and options in the order of their names. */
function withRoutes(access: string, { routes, adminPages, code }: ChosenLogins): string {
  const table = JSON.parse(access) as { routes: Route[]; code: object };
  const added = routes.map((route) => {
    const [method = '', name = '', marker = 'any token'] = route.split(' ');
    const path = `/api/auth/${name}`;
    const rules = ['Security.requireAuth("/api/**")', `declarest("${path}")`];
    return { method, path, template: path, access: marker, requirements: [], rules };
  });
  insertAfter(table.routes, ({ path }) => path.startsWith('/api/auth/'), added);
  // A folder has one template on Express, and two on Fastify.
  const isFolder = ({ path, template }: Route): boolean => path === template && /^\/admin(?!.*json)/.test(path);
  const folder = table.routes.filter(isFolder);
  const below = (page: string) => (route: Route) => {
    const path = route.path.replace('/admin', page);
    return { ...route, path, template: path };
  };
  insertAfter(
    table.routes,
    ({ path }) => path.startsWith('/admin'),
    adminPages.flatMap((page) => folder.map(below(page))),
  );
  const all = Object.entries({ ...table.code, ...code }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify({ ...table, code: Object.fromEntries(all) }, undefined, 2)}\n`;
}

const COMMENT = /^( *)(.*?) ?(?:\/\/|(?<= )#) \{\{([A-Z_]+)\}\}\n/gm;

/**
 * Fills a template. A line that ends with the comment `// {{NAME}}`, or with `# {{NAME}}` behind a space, is replaced by
 * the text of that name, and without one keeps what is before the comment. Elsewhere, `{{NAME}}` is replaced, and a line
 * of its own with an empty text is left out.
 */
export function fill(template: string, texts: Texts): string {
  return template
    .replace(COMMENT, (_, indent: string, code: string, name: string) => {
      const text = texts[name] ?? code;
      return text === '' ? '' : `${text.replace(/^/gm, indent)}\n`;
    })
    .replace(/^\{\{([A-Z_]+)\}\}\n/gm, (line, name: string) => (texts[name] === '' ? '' : line))
    .replace(/\{\{([A-Z_]+)\}\}/g, (_, name: string) => {
      const text = texts[name];
      if (text === undefined) throw new Error(`The template names an unknown placeholder ${name}.`);
      return text;
    });
}
