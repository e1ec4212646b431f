/** The access table as JSON: what `--json` prints, and what an application commits. */
import type { AccessRow } from '../access/access-rows.js';
import { CommandError } from './command-error.js';

const NAMES = ['method', 'path', 'access', 'rule'] as const satisfies (keyof AccessRow)[];

export const writeSnapshot = (rows: readonly AccessRow[]): string =>
  `${JSON.stringify(
    rows.map(({ method, path, access, rule }) => ({ method, path, access, rule })),
    undefined,
    2,
  )}\n`;

/**
 * @param file for the message
 * @throws CommandError
 */
export function readSnapshot(text: string, file: string): AccessRow[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw noSnapshot(file, 'it is no JSON');
  }
  if (!Array.isArray(content)) throw noSnapshot(file, 'it holds no array');
  const wrong = content.findIndex((row) => !isRow(row));
  if (wrong >= 0) throw noSnapshot(file, `entry ${wrong + 1} is no object of ${NAMES.join(', ')}`);
  return content as AccessRow[];
}

const isRow = (row: unknown): row is AccessRow =>
  typeof row === 'object' &&
  row !== null &&
  Object.keys(row).length === NAMES.length &&
  NAMES.every((name) => name in row && typeof (row as AccessRow)[name] === 'string');

const noSnapshot = (file: string, reason: string): CommandError =>
  new CommandError(
    `${JSON.stringify(file)} is no access snapshot: ${reason}; name another file, or remove this one and write it with --update.`,
  );
