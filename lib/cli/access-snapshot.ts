/** The access table as JSON: the output of `--json`, and the file that `--check` compares with. */
import { readFileSync } from 'node:fs';
import type { AccessRow } from '../access/access-rows.js';
import { parseJson } from '../http/parse-json.js';
import { CommandError, reasonOf } from './command-error.js';

export function writeSnapshot(rows: readonly AccessRow[]): string {
  const named = rows.map(({ method, path, access, requirements, rules }) => ({
    method,
    path,
    access,
    requirements,
    rules,
  }));
  return `${JSON.stringify(named, undefined, 2)}\n`;
}

/**
 * @returns `undefined` if the file does not exist
 * @throws CommandError for a file with other content, so that `--update` never overwrites one
 */
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
  const wrong = rows.findIndex(
    (row) =>
      [row?.method, row?.path, row?.access].some((value) => typeof value !== 'string') ||
      ![row?.rules, row?.requirements].every(Array.isArray),
  );
  return wrong < 0 ? undefined : `entry ${wrong + 1} is not an object of method, path, access, requirements, rules`;
}
