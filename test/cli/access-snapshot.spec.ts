import type { AccessRow } from 'declarest';
import { readSnapshot, writeSnapshot } from '../../lib/cli/access-snapshot.js';

const row: AccessRow = { method: 'GET', path: '/a', access: 'public', rule: 'default' };

it('reads what it wrote, which ends with a line and holds four names and no more', () => {
  const text = writeSnapshot([{ ...row, more: 'of it' } as AccessRow]);
  expect([text.endsWith(']\n'), readSnapshot(text, 'access.json')]).toEqual([true, [row]]);
  expect(readSnapshot(writeSnapshot([]), 'access.json')).toEqual([]);
});

it.each<[what: string, content: string, reason: string]>([
  ['text', 'These are notes.', 'it is no JSON'],
  ['nothing', '', 'it is no JSON'],
  ['an object', JSON.stringify(row), 'it holds no array'],
  ['null', 'null', 'it holds no array'],
  ['an array of text', '["GET /a"]', 'entry 1 is no object of method, path, access, rule'],
  ['an array with a hole', JSON.stringify([row, null]), 'entry 2 is no object of method, path, access, rule'],
  ['a row that lacks a name', JSON.stringify([{ ...row, rule: undefined }]), 'entry 1 is no object of .*'],
  ['a row with another name', JSON.stringify([{ ...row, role: 'x' }]), 'entry 1 is no object of .*'],
  ['a row that has a name of another', JSON.stringify([{ ...row, rule: undefined, role: 'x' }]), 'entry 1 is no .*'],
  ['a row that holds a number', JSON.stringify([{ ...row, access: 1 }]), 'entry 1 is no object of .*'],
])('a snapshot that is none: %s', (_what, content, reason) => {
  const sentence = new RegExp(`^"access\\.json" is no access snapshot: ${reason}; name another file, [^\n]+\\.$`);
  expect(() => readSnapshot(content, 'access.json')).toThrow(
    expect.objectContaining({ name: 'CommandError', message: expect.stringMatching(sentence) }),
  );
});
