import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessRow } from 'declarest';
import { runAccess } from '../../../lib/cli/commands.js';
import { formatTable } from '../../../lib/cli/access-output.js';
import { readSnapshot, writeSnapshot, type AccessTable } from '../../../lib/cli/access-snapshot.js';

const folder = mkdtempSync(join(tmpdir(), 'declarest-access-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rows: AccessRow[] = [
  { method: 'GET', path: '/a/*', template: '/a/*', access: 'any token', requirements: [], rules: [] },
  {
    method: 'POST',
    path: '/a',
    template: '/a',
    access: '"A|B"',
    requirements: [['"A|B"']],
    rules: ['S.requireAuth("/**")', 'S.requireRole("A|B", "/a")'],
  },
];

const everywhere = { nobody: 'none', USER: [['own (ownerId)', 'status = "a|b"']] } as const;
const table: AccessTable = {
  routes: rows,
  callers: ['nobody', 'USER'],
  resources: [
    {
      entity: 'Note',
      endpoint: '/a',
      rows: { 'GET /a': { nobody: 'all', USER: 'all' }, 'POST /a': everywhere },
      effects: { 'GET /a': 'read', 'POST /a': 'create' },
      fields: {
        id: { read: 'all', create: 'none', update: 'none' },
        cost: { read: ['USER'], create: 'none', update: 'none' },
      },
      deleted: ['USER'],
      related: {
        parent: {
          entity: 'Part',
          rows: everywhere,
          fields: { id: { read: ['USER'], filter: 'none' } },
          link: 'none',
        },
      },
    },
  ],
  code: { 'GET /a/*': '#3f9a1c02, guard Own', 'sessions accessTokenSeconds': '900' },
};

it('reads the snapshot that it wrote, with six names in each route', () => {
  const text = writeSnapshot({ ...table, routes: rows.map((row) => ({ ...row, more: 'data' })) });
  const file = join(folder, 'access.json');
  writeFileSync(file, text);
  expect([text.endsWith('}\n'), readSnapshot(file)]).toEqual([true, table]);
});

it('[3.5] formats a table, and Markdown in which patterns stay as they are', () => {
  expect(formatTable(table, 'table').split('\n')).toEqual([
    'METHOD  PATH  ACCESS     RULES',
    'GET     /a/*  any token  default',
    'POST    /a    "A|B"      S.requireAuth("/**"), S.requireRole("A|B", "/a")',
    '',
    'Note at /a',
    '  operation      nobody  USER',
    '  GET /a         all     all',
    '  POST /a        none    own (ownerId) and status = "a|b"',
    '  parent (Part)  none    own (ownerId) and status = "a|b"',
    '  field            read  create  update',
    '  cost             USER  none    none',
    '  deleted records  USER',
    '',
  ]);
  expect(formatTable(table, 'markdown').split('\n')).toEqual([
    '| method | path | access | rules |',
    '| --- | --- | --- | --- |',
    '| GET | `/a/*` | any token | default |',
    '| POST | `/a` | "A\\|B" | `S.requireAuth("/**")`, `S.requireRole("A\\|B", "/a")` |',
    '',
    '### Note at /a',
    '',
    '| operation | nobody | USER |',
    '| --- | --- | --- |',
    '| GET /a | all | all |',
    '| POST /a | none | own (ownerId) and status = "a\\|b" |',
    '| parent (Part) | none | own (ownerId) and status = "a\\|b" |',
    '',
    '| field | read | create | update |',
    '| --- | --- | --- | --- |',
    '| cost | USER | none | none |',
    '| deleted records | USER |  |  |',
    '',
  ]);
});

it.each<[what: string, content: string, reason: string]>([
  ['text', 'These are notes.', 'it is not an object of routes, callers, resources and code'],
  ['an array', JSON.stringify(rows), 'it is not an object of routes, callers, resources and code'],
  [
    'no code',
    JSON.stringify({ ...table, code: undefined }),
    'it is not an object of routes, callers, resources and code',
  ],
  [
    'a hole',
    JSON.stringify({ ...table, routes: [rows[0], null] }),
    'route 2 is not an object of method, path, template, access, requirements, rules',
  ],
  [
    'a resource without fields',
    JSON.stringify({ ...table, resources: [{ ...table.resources[0], fields: undefined }] }),
    'resource 1 is not an object of entity, endpoint, rows, effects, fields, deleted, related',
  ],
  ...Object.entries({
    deleted: { deleted: undefined },
    effects: { effects: 'all' },
    'rows by caller': { rows: { 'GET /a': 5 } },
    'conditions of rows': { rows: { 'GET /a': { USER: [5] } } },
    'callers of a field': { fields: { id: {} } },
    'callers of a related field': {
      related: { parent: { ...table.resources[0]?.related['parent'], fields: { id: {} } } },
    },
    'callers of links': { related: { parent: { ...table.resources[0]?.related['parent'], link: undefined } } },
  }).map(([what, change]): [string, string, string] => [
    `a resource with other ${what}`,
    JSON.stringify({ ...table, resources: [{ ...table.resources[0], ...change }] }),
    'resource 1 is not an object of entity, endpoint, rows, effects, fields, deleted, related',
  ]),
])('does not read or overwrite a file with %s', async (what, content, reason) => {
  const check = join(folder, `${what}.txt`);
  writeFileSync(check, content);
  const command = {
    name: 'access',
    module: 'none.js',
    platform: undefined,
    format: 'table',
    check,
    html: undefined,
  } as const;
  for (const update of [false, true])
    await expect(runAccess({ ...command, update })).rejects.toThrow(
      new RegExp(`^"[^"]+" is not an access snapshot: ${reason}\\. Give another file, [^\\n]+\\.$`),
    );
  expect(readFileSync(check, 'utf8')).toBe(content);
  await expect(runAccess({ ...command, check: 'none.json', update: false })).rejects.toThrow(
    'There is no snapshot "none.json". Write it with --update.',
  );
});
