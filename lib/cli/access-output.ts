/** The access table, and what changed in it, as text. */
import { accessTable, type AccessRow } from '../access/access-rows.js';
import type { AccessChange } from './access-changes.js';
import { writeSnapshot } from './access-snapshot.js';
import type { Format } from './arguments.js';

export const formatRows = (rows: readonly AccessRow[], format: Format): string => FORMATS[format](rows);

const FORMATS: Readonly<Record<Format, (rows: readonly AccessRow[]) => string>> = {
  json: writeSnapshot,
  table: (rows) => `${accessTable([{ method: 'METHOD', path: 'PATH', access: 'ACCESS', rule: 'RULE' }, ...rows])}\n`,
  markdown: (rows) =>
    [['method', 'path', 'access', 'rule'], ['---', '---', '---', '---'], ...rows.map(markdownCells)]
      .map((cells) => `| ${cells.join(' | ')} |\n`)
      .join(''),
};

const markdownCells = ({ method, path, access, rule }: AccessRow): string[] =>
  [method, verbatim(path), access, verbatim(rule)].map((cell) => cell.replaceAll('|', '\\|'));

/** A star is no emphasis in a code span; whose fence is longer than any within. */
const verbatim = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

const HEADINGS: Readonly<Record<AccessChange['kind'], string>> = {
  wider: 'Wider',
  narrower: 'Narrower',
  new: 'New',
  removed: 'Removed',
  rule: 'Another rule decides',
};

/** One line each: route, before, after. What got wider comes first. */
export const formatChanges = (changes: readonly AccessChange[]): string =>
  (Object.keys(HEADINGS) as AccessChange['kind'][])
    .flatMap((kind) => changes.filter((change) => change.kind === kind))
    .map((change) => `${HEADINGS[change.kind]}: ${describeChange(change)}\n`)
    .join('');

function describeChange({ route, before, after }: AccessChange): string {
  const side = (row: AccessRow | undefined): string => {
    if (!row) return 'no such route';
    const decided = `${row.access} (${row.rule})`;
    return row.path === route.path && row.method === route.method
      ? decided
      : `${decided}, as ${row.method} ${row.path}`;
  };
  return `${route.method} ${route.path}: ${side(before)} -> ${side(after)}`;
}
