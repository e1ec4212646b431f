import { readFileSync } from 'node:fs';
import { parseCommand, USAGE } from '../../../lib/cli/arguments.js';
import { REPOSITORY } from '../../compiled.js';

const app = { module: 'app.js', platform: undefined };
const access = { ...app, name: 'access', format: 'table', check: undefined, update: false, html: undefined };
const asked = { roles: undefined, claims: undefined, record: false };
const explain = { ...app, name: 'explain', method: 'GET', path: '/a', ...asked };

it.each<[typed: string, command: object]>([
  ['access app.js', access],
  ['access app.js --json', { ...access, format: 'json' }],
  ['access --markdown app.js', { ...access, format: 'markdown' }],
  ['access app.js --check=access.json --update', { ...access, check: 'access.json', update: true }],
  ['access app.js --platform fastify', { ...access, platform: 'fastify' }],
  ['explain app.js get /a', explain],
  ['explain app.js GET /a%20b?page=2', { ...explain, path: '/a%20b?page=2' }],
  ['explain --as=USER,ADMIN app.js GET /a', { ...explain, roles: ['USER', 'ADMIN'] }],
  ['explain app.js GET /a --as USER:5 --record', { ...explain, roles: ['USER:5'], record: true }],
  ['explain app.js GET /a --as USER --claims {"a":1}', { ...explain, roles: ['USER'], claims: { a: 1 } }],
  ['access app.js --html page.html', { ...access, format: 'html', html: 'page.html' }],
  ['access app.js --check a.json --format github', { ...access, check: 'a.json', format: 'github' }],
  ['schema app.js', { ...app, name: 'schema' }],
  ['openapi app.js', { ...app, name: 'openapi' }],
  ['openapi app.js --out api.json', { ...app, name: 'openapi', out: 'api.json' }],
  ['schema app.js --platform fastify', { ...app, name: 'schema', platform: 'fastify' }],
])('parses `declarest %s`', (typed, command) => {
  expect(parseCommand(typed.split(' '))).toEqual(command);
});

it.each<[typed: string, sentence: string]>([
  ['', 'A command is missing.'],
  // Every object of JavaScript has a property of this name.
  ['constructor', 'There is no command "constructor".'],
  ['access', 'The compiled app module is missing.'],
  ['access a.js b.js', 'Give one app module, got 2.'],
  ['schema', 'The compiled app module is missing.'],
  ['schema a.js b.js', 'Give one app module, got 2.'],
  ['access app.js --check', "Option '--check <value>' argument missing."],
  ['access app.js --json=yes', "Option '--json' does not take an argument."],
  ['access app.js --update', '--update needs --check <file>, which it writes.'],
  ['access app.js --json --markdown', 'Give one of --json, --markdown and --html, got 2.'],
  ['access app.js --check a.json --json', '--check prints changes, not a table. Remove --json.'],
  ['access app.js --platform koa', '--platform must be express or fastify, got "koa".'],
  ['explain app.js GET', 'Give a method and a path after the app module, such as GET /api/products/7.'],
  ['explain app.js GET /a /b', 'Give one method and one path, got also /b.'],
  ['explain app.js FETCH /a', '"FETCH" is not an HTTP method.'],
  [
    'explain app.js GET a',
    'The path must start with "/" and be printable ASCII with other characters escaped, got "a".',
  ],
  [
    'explain app.js GET /ä',
    'The path must start with "/" and be printable ASCII with other characters escaped, got "/ä".',
  ],
  ['explain app.js GET /a/%ff', 'The path must have no broken escape, got "/a/%ff".'],
  ['explain app.js GET /a --as USER,,ADMIN', '--as must be roles such as USER,ADMIN, or USER:5, got "USER,,ADMIN".'],
  ['explain app.js GET /a --as USER:', '--as must be roles such as USER,ADMIN, or USER:5, got "USER:".'],
  ['explain app.js GET /a --claims {}', '--claims needs --as.'],
  ['explain app.js GET /a --as USER --claims 3', '--claims must be a JSON object such as {"tenantId": 3}, got "3".'],
  ['access app.js --format github', '--format must be github, together with --check, got "github".'],
])('refuses `declarest %s` in one sentence', (typed, sentence) => {
  expect(() => parseCommand(typed === '' ? [] : typed.split(' '))).toThrow(
    expect.objectContaining({ name: 'CommandError', message: sentence }),
  );
});

it('refuses an unknown option', () => {
  expect(() => parseCommand(['access', 'app.js', '--jsn'])).toThrow(/^Unknown option '--jsn'/);
});

it('prints the version of the package', () => {
  const { version } = JSON.parse(readFileSync(`${REPOSITORY}/package.json`, 'utf8')) as { version: string };
  expect(parseCommand(['--version'])).toEqual({ name: 'print', text: version });
});

it.each(['--help', '-h', 'help', 'access --help', 'explain app.js -h'])('`declarest %s` prints the help', (typed) => {
  const { text } = parseCommand(typed.split(' ')) as { text: string };
  expect(text.startsWith(`${USAGE}\n`)).toBe(true);
  for (const name of [
    '--json',
    '--markdown',
    '--check <file>',
    '--update',
    '--as <ROLE>,...[:<id>]',
    '--platform <name>',
  ])
    expect(text).toContain(`\n  ${name} `);
});
