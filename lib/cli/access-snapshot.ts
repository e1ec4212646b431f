/** The access table as JSON: the output of `--json`, and the file that `--check` compares with. */
import type { AccessRow } from '../access/access-rows.js';
import { CommandError } from './command-error.js';

export const writeSnapshot = (rows: readonly AccessRow[]): string =>
  `${JSON.stringify(
    rows.map(({ method, path, access, rules }) => ({ method, path, access, rules })),
    undefined,
    2,
  )}\n`;

/**
 * @param file the name of the file, for the message
 * @throws CommandError
 */
export function readSnapshot(text: string, file: string): AccessRow[] {
  const refuse = (reason: string): never => {
    throw new CommandError(
      `${JSON.stringify(file)} is not an access snapshot: ${reason}. Give another file, or delete this one and write it with --update.`,
    );
  };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return refuse('it is not JSON');
  }
  if (!Array.isArray(content)) return refuse('it is not an array');
  const wrong = content.findIndex((row) => !isRow(row as AccessRow));
  if (wrong >= 0) return refuse(`entry ${wrong + 1} is not an object of method, path, access, rules`);
  return content as AccessRow[];
}

const isRow = (row: Partial<AccessRow> | null): boolean =>
  [row?.method, row?.path, row?.access].every((value) => typeof value === 'string') && Array.isArray(row?.rules);
