/** The access table as JSON: the output of `--json`, and the file that `--check` compares with. */
import { readFileSync } from 'node:fs';
import type { AccessRow } from '../access/access-rows.js';
import { parseJson } from '../http/parse-json.js';
import { CommandError, reasonOf } from './command-error.js';

const NAMES = ['method', 'path', 'template', 'access', 'requirements', 'rules'] as const;

export function writeSnapshot(rows: readonly AccessRow[]): string {
  const named = rows.map((row) => Object.fromEntries(NAMES.map((name) => [name, row[name]])));
  return `${JSON.stringify(named, undefined, 2)}\n`;
}

/** `undefined` if there is no file. @throws CommandError for other content, so that `--update` never overwrites it */
export function readSnapshot(file: string): readonly AccessRow[] | undefined {
  const name = JSON.stringify(file);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`${name} cannot be read: ${reasonOf(cause)}.`, { cause });
  }
  const rows = parseJson(text);
  const reason = Array.isArray(rows) ? reasonNotRows(rows) : 'it is not a JSON array';
  if (reason === undefined) return rows as AccessRow[];
  throw new CommandError(
    `${name} is not an access snapshot: ${reason}. Give another file, or delete this one and write it with --update.`,
  );
}

function reasonNotRows(rows: readonly (Partial<AccessRow> | null)[]): string | undefined {
  const isList = (name: string): boolean => name === 'requirements' || name === 'rules';
  const isRow = (row: Partial<AccessRow> | null): boolean =>
    NAMES.every((name) => (isList(name) ? Array.isArray(row?.[name]) : typeof row?.[name] === 'string'));
  const wrong = rows.findIndex((row) => !isRow(row));
  return wrong < 0 ? undefined : `entry ${wrong + 1} is not an object of ${NAMES.join(', ')}`;
}
