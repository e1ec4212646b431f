// Writes the package.json of the new application.
import type { Choices } from './arguments.js';
import type { ChosenLogins } from './login-texts.js';
import { DATABASES, PLATFORMS } from './variants.js';

type Versions = Readonly<Record<string, string>>;

const DEPENDENCIES: Versions = {
  '@nestjs/common': '^12.5.1',
  '@nestjs/core': '^12.5.1',
  '@nestjs/swagger': '^12.0.2',
  '@nestjs/terminus': '^12.1.0',
  '@nestjs/typeorm': '^12.0.2',
  '@zxcvbn-ts/language-common': '^4.1.3',
  'reflect-metadata': '^0.2.2',
  rxjs: '^7.8.2',
  typeorm: '^1.1.1',
};

const DEV_DEPENDENCIES: Versions = {
  '@nestjs/cli': '^12.0.8',
  '@nestjs/testing': '^12.1.1',
  typescript: '~6.0.3',
};

export const SCRIPTS = {
  build: 'nest build',
  start: 'nest start',
  'start:dev': 'nest start --watch',
  'start:prod': 'node dist/main.js',
  test: 'nest build --path tsconfig.json && node --test dist/*.test.js',
  'access:check': 'nest build && declarest access dist/app.module.js --check access.json',
  'access:update': 'npm run access:check -- --update',
  'openapi:check':
    'npm run openapi:update && git add --intent-to-add openapi.json && git diff --exit-code openapi.json',
  'openapi:update': 'nest build && declarest openapi dist/app.module.js --out openapi.json',
  'migration:run': 'nest build && typeorm migration:run --dataSource dist/data-source.js',
  'migration:generate': 'npm run migration:run && typeorm migration:generate --dataSource dist/data-source.js',
  seed: 'nest build && node dist/seed.js',
};

const GENERATE_BOTH = 'nest build && node dist/generate-migrations.js';

/** better-sqlite3 13 crashes on Node 20, and 12 aborts on Node 24.19 and later. */
const versionsFor = (nodeMajor: number) =>
  nodeMajor < 22
    ? { engines: '>=20.19', types: '^20.19.43', sqlite: '^12.11.1' }
    : { engines: '>=22.12', types: '^22.20.5', sqlite: '^13.2.0' };

/** @param version of declarest, declarest-logins and ra-data-declarest, which have the same number as this package */
export function packageJson(
  { name, platform, database }: Choices,
  logins: ChosenLogins,
  nodeMajor: number,
  version: string,
): string {
  const { engines, types, sqlite } = versionsFor(nodeMajor);
  const driver = database !== 'postgres' && { 'better-sqlite3': sqlite };
  const hasBoth = database === 'sqlite+postgres';
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: engines },
    scripts: hasBoth ? { ...SCRIPTS, 'migration:generate': GENERATE_BOTH } : SCRIPTS,
    dependencies: sorted({
      ...DEPENDENCIES,
      ...PLATFORMS[platform].dependencies,
      ...DATABASES[database].dependencies,
      ...(!hasBoth && driver),
      declarest: `^${version}`,
      ...(logins.hasPlugins && { 'declarest-logins': `^${version}` }),
      'ra-data-declarest': `^${version}`,
    }),
    devDependencies: sorted({ ...DEV_DEPENDENCIES, '@types/node': types, ...(hasBoth && driver) }),
    // The peer range of TypeORM ends at better-sqlite3 12.
    ...(driver && { overrides: { typeorm: { 'better-sqlite3': '$better-sqlite3' } } }),
    // better-sqlite3 13 includes its binaries, but `npm ci` would compile it.
    allowScripts: { '@scarf/scarf': false, bcrypt: true, ...(driver && { 'better-sqlite3': nodeMajor < 22 }) },
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

const sorted = (versions: Versions): Versions =>
  Object.fromEntries(Object.entries(versions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
