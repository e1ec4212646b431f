/** The access table and its changes as text. */
import { formatAccessRows, type AccessRow } from '../access/access-rows.js';
import type { AccessChange } from './access-changes.js';
import { writeSnapshot } from './access-snapshot.js';
import type { Format } from './arguments.js';

const HEADER: AccessRow = {
  method: 'METHOD',
  path: 'PATH',
  template: '',
  access: 'ACCESS',
  requirements: [],
  rules: ['RULES'],
};

export function formatTable(rows: readonly AccessRow[], format: Format): string {
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
