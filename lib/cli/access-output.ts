/** The access table for people, and its changes. */
import { formatAccessRows, type AccessRow } from '../access/access-rows.js';
import { groupBy } from '../routes/route.js';
import type { Callers } from '../reach/callers.js';
import { namedRows, type FieldReach, type ResourceReach } from '../reach/reach.js';
import { compareCode } from '../reach/code-changes.js';
import { compareReach, type Change } from '../reach/reach-changes.js';
import { describeRows } from '../reach/rows.js';
import { compareAccess, type AccessChange, type RowAccess } from './access-changes.js';
import { writeSnapshot, type AccessTable } from './access-snapshot.js';
import type { CommandOf } from './arguments.js';

const HEADER = { method: 'METHOD', path: 'PATH', template: '', access: 'ACCESS', requirements: [], rules: ['RULES'] };

export function formatTable(table: AccessTable, format: CommandOf<'access'>['format']): string {
  const { routes, resources, callers } = table;
  if (format === 'json') return writeSnapshot(table);
  const parts = resources.map((resource) => sectionsOf(resource, callers));
  if (format === 'table') {
    const sections = parts.map(([title, ...tables]) => [title, ...tables.map(alignedTable)].join('\n'));
    return [`${formatAccessRows([HEADER, ...routes])}\n`, ...sections.map((text) => `${text}\n`)].join('\n');
  }
  const sections = parts.map(([title, ...tables]) => [`\n### ${title}\n`, ...tables.map(markdownTable)].join('\n'));
  return [markdownTable([['method', 'path', 'access', 'rules'], ...routes.map(markdownCells)]), ...sections].join('');
}

type Table = readonly (readonly string[])[];

/** The rows of each operation and relation by caller, and the fields that not every caller reads or writes. */
function sectionsOf(resource: ResourceReach, callers: readonly string[]): [title: string, ...Table[]] {
  const { entity, endpoint, fields, deleted } = resource;
  const rows = namedRows(resource).map(([name, each]) => [
    name,
    ...callers.map((caller) => describeRows(each[caller] ?? 'none')),
  ]);
  const restricted = Object.entries(fields).filter(([, each]) => isRestricted(each));
  const describe = (of: Callers): string => (typeof of === 'string' ? of : of.join(', '));
  const named = restricted.map(([name, { read, create, update }]) => [name, ...[read, create, update].map(describe)]);
  const records = deleted === 'none' ? [] : [['deleted records', describe(deleted), '', '']];
  const tables: Table[] = [[['operation', ...callers], ...rows]];
  if (named.length + records.length > 0) tables.push([['field', 'read', 'create', 'update'], ...named, ...records]);
  return [`${entity} at ${endpoint}`, ...tables];
}

/** Whether some callers read or write it and others do not, or nobody reads it. */
const isRestricted = (reach: FieldReach): boolean =>
  reach.read !== 'all' || [reach.create, reach.update].some((callers) => typeof callers !== 'string');

function alignedTable(table: Table): string {
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return table
    .map((line) => `  ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

function markdownTable([header = [], ...lines]: Table): string {
  const escaped = [header, header.map(() => '---'), ...lines].map((cells) =>
    cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | '),
  );
  return [...new Set(escaped.map((line) => `| ${line} |\n`))].join('');
}

const markdownCells = ({ method, path, access, rules }: AccessRow): string[] => [
  method,
  codeSpan(path),
  access,
  rules.map(codeSpan).join(', ') || 'default',
];

/** In a code span, `*` is not emphasis. The fence is longer than any backtick in the text. */
const codeSpan = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

const HEADINGS = {
  wider: 'Wider',
  look: 'Changed, look at it',
  narrower: 'Narrower',
  new: 'New',
  removed: 'Removed',
  rules: 'Other rules',
} as const;

export type TableChange = Pick<Change<keyof typeof HEADINGS>, 'kind' | 'sentence'>;

/** One line for one cause: what a change in the same direction says already is left out. */
export function tableChanges(before: AccessTable, after: AccessTable, defaultAccess: RowAccess): TableChange[] {
  const generated = new Set(after.resources.flatMap(({ rows }) => Object.keys(rows)));
  const routes = compareAccess(before.routes, after.routes, defaultAccess, generated);
  const reach = compareReach(before, after);
  const reached = new Set(reach.flatMap(({ place, isNew }) => (isNew ? [place] : [])));
  const code = compareCode(before, after);
  const changed = new Set(code.map(({ place }) => place));
  // The records of a new operation say more than its route, and so does code that nobody can see through.
  const ofRoutes = routes.filter(
    ({ kind, route, before: was }) =>
      was !== undefined || (!reached.has(nameOf(route)) && !(kind === 'new' && changed.has(nameOf(route)))),
  );
  const said = new Set(ofRoutes.map(({ kind, route }) => `${kind} ${nameOf(route)}`));
  const ofReach = reach.filter(({ kind, operation }) => !said.has(`${kind} ${operation}`));
  const wider = new Set([...said, ...ofReach.map(({ kind, place }) => `${kind} ${place}`)]);
  const all: Change<keyof typeof HEADINGS>[] = [
    ...ofRoutes.map(describeRouteChange),
    ...ofReach,
    ...code.filter(({ place }) => !wider.has(`wider ${place}`)),
  ];
  const byCause = groupBy(all, ({ kind, cause }) => `${kind} ${cause}`);
  const merged = [...byCause.values()].map((same) => {
    const [{ kind, sentence }] = same.toSorted((a, b) => a.place.length - b.place.length) as [(typeof all)[number]];
    return { kind, sentence: `${sentence}${same.length > 1 ? `, in ${same.length} places` : ''}` };
  });
  return (Object.keys(HEADINGS) as TableChange['kind'][]).flatMap((kind) =>
    merged.filter((each) => each.kind === kind),
  );
}

/** One line for each change. Wider access comes first. @param format `github`: annotations of a workflow */
export const formatChanges = (changes: readonly TableChange[], format: 'text' | 'github'): string =>
  changes
    .map(({ kind, sentence }) => {
      const text = `${HEADINGS[kind]}: ${sentence}`;
      if (format === 'text') return `${text}\n`;
      const escaped = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
      return `::${TITLES[kind] ?? 'notice title=Access changed'}::${escaped}\n`;
    })
    .join('');

const TITLES: Readonly<Partial<Record<TableChange['kind'], string>>> = {
  wider: 'error title=Access became wider',
  look: 'error title=Code that decides on access changed',
};

const nameOf = ({ method, path }: AccessChange['route']): string => `${method} ${path}`;

/** The cause are the access before and after, and the rules that only one of the tables has. */
function describeRouteChange({ kind, route, before, after }: AccessChange): Change<AccessChange['kind']> {
  const others = (all: AccessRow | undefined, than: AccessRow | undefined): string[] | undefined =>
    all?.rules.filter((rule) => !than?.rules.includes(rule));
  const accesses = kind === 'rules' ? [] : [before?.access, after?.access];
  const describeRow = (row: AccessRow | undefined): string => {
    if (!row) return 'no such route';
    const access = `${row.access} (${row.rules.join(', ') || 'default'})`;
    return row.path === route.path && row.method === route.method ? access : `${access}, as ${row.method} ${row.path}`;
  };
  return {
    kind,
    place: route.path,
    cause: JSON.stringify([accesses, others(before, after), others(after, before)]),
    sentence: `${nameOf(route)}: ${describeRow(before)} -> ${describeRow(after)}`,
  };
}
