import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessRow } from 'declarest';
import { runAccess } from '../../lib/cli/commands.js';
import { formatTable } from '../../lib/cli/access-output.js';
import { readSnapshot, writeSnapshot } from '../../lib/cli/access-output.js';

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

it('reads the snapshot that it wrote, with six names in each row', () => {
  const text = writeSnapshot(rows.map((row) => ({ ...row, more: 'data' })));
  const file = join(folder, 'access.json');
  writeFileSync(file, text);
  expect([text.endsWith(']\n'), readSnapshot(file)]).toEqual([true, rows]);
});

it('[3.5] formats a table, and Markdown in which patterns stay as they are', () => {
  expect(formatTable(rows, 'table').split('\n')).toEqual([
    'METHOD  PATH  ACCESS     RULES',
    'GET     /a/*  any token  default',
    'POST    /a    "A|B"      S.requireAuth("/**"), S.requireRole("A|B", "/a")',
    '',
  ]);
  expect(formatTable(rows, 'markdown').split('\n')).toEqual([
    '| method | path | access | rules |',
    '| --- | --- | --- | --- |',
    '| GET | `/a/*` | any token | default |',
    '| POST | `/a` | "A\\|B" | `S.requireAuth("/**")`, `S.requireRole("A\\|B", "/a")` |',
    '',
  ]);
});

it.each<[what: string, content: string, reason: string]>([
  ['text', 'These are notes.', 'it is not a JSON array'],
  ['an object', JSON.stringify(rows[0]), 'it is not a JSON array'],
  [
    'a hole',
    JSON.stringify([rows[0], null]),
    'entry 2 is not an object of method, path, template, access, requirements, rules',
  ],
  [
    'a snapshot of an older version',
    '[{"method":"GET","path":"/","access":"public","rules":[]}]',
    'entry 1 is not an .*',
  ],
])('does not read or overwrite a file with %s', async (what, content, reason) => {
  const check = join(folder, `${what}.txt`);
  writeFileSync(check, content);
  const command = { name: 'access', module: 'none.js', platform: undefined, format: 'table', check } as const;
  for (const update of [false, true])
    await expect(runAccess({ ...command, update })).rejects.toThrow(
      new RegExp(`^"[^"]+" is not an access snapshot: ${reason}\\. Give another file, [^\\n]+\\.$`),
    );
  expect(readFileSync(check, 'utf8')).toBe(content);
  await expect(runAccess({ ...command, check: 'none.json', update: false })).rejects.toThrow(
    'There is no snapshot "none.json". Write it with --update.',
  );
});
