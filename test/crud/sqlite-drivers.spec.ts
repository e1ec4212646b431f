/** Drivers that bring SQLite's errors and values in other forms than better-sqlite3. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { REPOSITORY } from '../compiled.js';
import { blocksOf } from '../docs-blocks.js';
import { DATABASES } from '../harness/databases.js';
import { type Driver, sqliteCases, type Variant } from './sqlite-cases.js';

const require = createRequire(import.meta.url);

const toArrayBuffers = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Uint8Array.from(value).buffer : value,
    ]),
  );

/** As sql.js, the error has SQLite's message only; as libsql, bytes are an `ArrayBuffer`. */
class BareDriver implements Driver {
  private readonly database: Driver;

  constructor(file: string, options: object) {
    this.database = new (require('better-sqlite3') as new (file: string, options: object) => Driver)(file, options);
  }

  prepare(sql: string) {
    const statement = bare(() => this.database.prepare(sql));
    return {
      reader: statement.reader,
      all: (...values: unknown[]) => bare(() => statement.all(...values).map(toArrayBuffers)),
      run: (...values: unknown[]) => bare(() => statement.run(...values)),
    };
  }
  pragma(sql: string): unknown {
    return this.database.pragma(sql);
  }
  close(): void {
    this.database.close();
  }
}

function bare<R>(work: () => R): R {
  try {
    return work();
  } catch (cause) {
    throw new Error((cause as Error).message, { cause });
  }
}

/** The recipe of docs/tasks/databases.md. */
async function nodeDriver(): Promise<unknown> {
  const path = 'docs/tasks/databases.md';
  const text = await readFile(join(REPOSITORY, path), 'utf8');
  const recipe = blocksOf({ path, text }).find(({ language }) => language === 'js');
  const module = { exports: undefined };
  new Function('require', 'module', recipe!.text)(require, module);
  return module.exports;
}

const variantOf = (driver: unknown): Variant => ({
  options: { driver, prepareDatabase: undefined },
  open: driver as typeof BareDriver,
});

describe.skipIf(!DATABASES.includes('sqlite'))('drivers of SQLite', () => {
  sqliteCases('one without codes', () => variantOf(BareDriver));
  // The recipe needs an option of Node 24.
  if (Number.parseInt(process.versions.node, 10) >= 24)
    sqliteCases('node:sqlite', async () => variantOf(await nodeDriver()));
});
