import { readFileSync } from 'node:fs';
import { formatAccessRows, type AccessRow } from '../access/access-rows.js';
import { parseJson } from '../http/json-body.js';
import type { AccessChange } from './access-changes.js';
import type { CommandOf } from './arguments.js';
import { CommandError, reasonOf } from './command-error.js';

const HEADER = { method: 'METHOD', path: 'PATH', template: '', access: 'ACCESS', requirements: [], rules: ['RULES'] };

export function formatTable(rows: readonly AccessRow[], format: CommandOf<'access'>['format']): string {
  if (format === 'json') return writeSnapshot(rows);
  if (format === 'table') return `${formatAccessRows([HEADER, ...rows])}\n`;
  const lines = [['method', 'path', 'access', 'rules'], ['---', '---', '---', '---'], ...rows.map(markdownCells)];
  return [...new Set(lines.map((cells) => `| ${cells.join(' | ')} |\n`))].join('');
}

const markdownCells = ({ method, path, access, rules }: AccessRow): string[] =>
  [method, codeSpan(path), access, rules.map(codeSpan).join(', ') || 'default'].map((cell) =>
    cell.replaceAll('|', '\\|'),
  );

/** In a code span, `*` is not emphasis. The fence is longer than any backtick in the text. */
const codeSpan = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

const HEADINGS: Readonly<Record<AccessChange['kind'], string>> = {
  wider: 'Wider',
  narrower: 'Narrower',
  new: 'New',
  removed: 'Removed',
  rules: 'Other rules',
};

/** One line for each change: route, before, after. Wider access comes first. */
export const formatChanges = (changes: readonly AccessChange[]): string =>
  (Object.keys(HEADINGS) as AccessChange['kind'][])
    .flatMap((kind) => changes.filter((change) => change.kind === kind))
    .map((change) => `${HEADINGS[change.kind]}: ${describeChange(change)}\n`)
    .join('');

function describeChange({ route, before, after }: AccessChange): string {
  const describeRow = (row: AccessRow | undefined): string => {
    if (!row) return 'no such route';
    const access = `${row.access} (${row.rules.join(', ') || 'default'})`;
    return row.path === route.path && row.method === route.method ? access : `${access}, as ${row.method} ${row.path}`;
  };
  return `${route.method} ${route.path}: ${describeRow(before)} -> ${describeRow(after)}`;
}

const NAMES = ['method', 'path', 'template', 'access', 'requirements', 'rules'] as const;

export const writeSnapshot = (rows: readonly AccessRow[]): string => `${JSON.stringify(rows, [...NAMES], 2)}\n`;

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
  const wrong = Array.isArray(rows) ? rows.findIndex((row: Partial<AccessRow> | null) => !isRow(row)) : undefined;
  if (wrong === -1) return rows as AccessRow[];
  const reason =
    wrong === undefined ? 'it is not a JSON array' : `entry ${wrong + 1} is not an object of ${NAMES.join(', ')}`;
  throw new CommandError(
    `${name} is not an access snapshot: ${reason}. Give another file, or delete this one and write it with --update.`,
  );
}

const isRow = (row: Partial<AccessRow> | null): boolean =>
  NAMES.every((name) =>
    name === 'requirements' || name === 'rules' ? Array.isArray(row?.[name]) : typeof row?.[name] === 'string',
  );
