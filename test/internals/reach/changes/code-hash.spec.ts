/** Which differences of code change its hash. */
import ts from 'typescript';
import { hashOf, isForwarding, normalForm } from '../../../../lib/reach/code-hash.js';

/** The value that the compiled text of a declaration `subject` has. */
function compiled(source: string, options: ts.CompilerOptions = {}): object {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, ...options };
  const { outputText } = ts.transpileModule(`${IMPORTS}\n${source}`, { compilerOptions });
  const text = outputText.replaceAll(/^(import|export|Object\.define|const \w+_1 = require).*$/gm, '');
  return new Function(`${GLOBALS}\n${text}\nreturn subject;`)() as object;
}

const IMPORTS = `import { isOwner, LIMIT } from './rules.js';`;
const GLOBALS = 'const Base = class {}, isOwner = 0, LIMIT = 0, OTHER = 0, rules_js_1 = {}, exports = {};';
const hash = (source: string, options?: ts.CompilerOptions): string => hashOf(compiled(source, options));

const CLASS = `class subject extends Base {
  private readonly allowed = ['ADMIN', "it's"];
  private count: number;
  constructor(private readonly users: object, other: string) { super(); this.count = other.length / 2; }
  // Only owners.
  async canActivate(context: { user: { id: number } }): Promise<boolean> {
    const { user } = context; /* the caller */
    if (user.id / 2 > LIMIT && /["'/]/.test(\`\${user.id} of \${this.count}\`)) return this.allowed.length > 1_000;
    return isOwner(user);
  }
}`;
const FUNCTION = `const subject = ({ user }, limit = LIMIT) => {
  // Anonymous callers see nothing.
  const found = user && { ownerId: user.id, limit };
  for (const each of user.roles) if (each === 'ADMIN') return true;
  return found ?? isOwner(user);
};`;

describe('the hash of code stays the same', () => {
  it.each<[string, ts.CompilerOptions]>([
    ['other fields of classes', { useDefineForClassFields: false }],
    ['no comments', { removeComments: true }],
    ['a newer target', { target: ts.ScriptTarget.ESNext }],
    ['an older target', { target: ts.ScriptTarget.ES2021 }],
    ['CommonJS', { module: ts.ModuleKind.CommonJS }],
  ])('compiled with %s', (_name, options) => {
    expect([hash(CLASS, options), hash(FUNCTION, options)]).toEqual([hash(CLASS), hash(FUNCTION)]);
  });

  it.each<[string, string, string]>([
    ['a comment', 'Anonymous callers see', 'Strangers get'],
    ['a local', 'found', 'own'],
    ['a variable of a loop', 'each', 'role'],
  ])('with another %s', (_name, from, to) => {
    expect(hash(FUNCTION.replaceAll(from, to))).toBe(hash(FUNCTION));
  });

  it.each([
    [
      '(scope) => { const { user } = scope; return user.id; }',
      '(context) => { const { user } = context; return user.id; }',
    ],
    ['({ user }) => user.id', '({ user: caller }) => caller.id'],
    ['(tenantId) => ({ tenantId })', '(tenant) => ({ tenantId: tenant })'],
    [
      'function (a, b) { try { a(b); } catch (error) { b(error); } }',
      'function (x, y) { try { x(y); } catch (e) { y(e); } }',
    ],
    ['(a) => [a, 1]', 'a => [a, 1,]'],
    ['() => LIMIT(OTHER)', '() => (0, rules_js_1.LIMIT)(rules_js_1.OTHER)'],
    ['() => LIMIT(OTHER)', '() => (0, exports.LIMIT)(exports.OTHER)'],
    ['() => \'a "word"\'', '() => "a \\"word\\""'],
  ])('where %s becomes %s', (one, other) => {
    expect(hash(`const subject = ${one};`)).toBe(hash(`const subject = ${other};`));
  });
});

describe('the hash of code changes', () => {
  it.each([
    ['a function', FUNCTION],
    ['a class', CLASS],
  ])('with each token of %s, but its comments', (_name, source) => {
    // A field without a value says nothing.
    const text = String(compiled(source, { useDefineForClassFields: false }));
    const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, ts.LanguageVariant.Standard, text);
    const kept: string[] = [];
    for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
      if (kind === ts.SyntaxKind.SlashToken) scanner.reScanSlashToken();
      const token = scanner.getTokenText();
      const other = /^\w/.test(token) ? `${token}9` : /^['"`]/.test(token) ? token.replace(/^./, '$&x') : `${token} 9`;
      const changed = text.slice(0, scanner.getTokenStart()) + other + text.slice(scanner.getTokenEnd());
      if (normalForm(changed) === normalForm(text)) kept.push(`${token} at ${scanner.getTokenStart()}`);
    }
    expect(kept.filter((each) => !/^[{}]/.test(each))).toEqual([]);
  });

  it.each([
    ['({ user }) => ({ ownerId: user.id })', '({ user }) => ({ authorId: user.id })'],
    ['({ tenantId }) => ({ tenantId })', '({ ownerId }) => ({ ownerId })'],
    ['(user) => ({ tenantId: user.tenantId })', '(user) => ({ tenantId: user.ownerId })'],
    ['(a, b) => a.id === b.ownerId', '(b, a) => a.id === b.ownerId'],
    ['(user) => isOwner(user)', '(user) => LIMIT(user)'],
    ['(user, limit = LIMIT) => limit', '(user, limit = OTHER) => limit'],
    ['(user) => user ? 1 : 2', '(user) => user ? 2 : 1'],
    ["(user) => user === 'a//b'", "(user) => user === 'a//c'"],
    ['(user) => `${user.id} // b`', '(user) => `${user.id} // c`'],
    ['(user) => /[/]* a/.test(user)', '(user) => /[/]* b/.test(user)'],
    ['class { allowed = ["ADMIN"]; }', 'class { allowed = ["USER"]; }'],
    ['class { constructor(a, b) { this.a = a; } }', 'class { constructor(b, a) { this.a = a; } }'],
    [
      'class { m(user = {}) { return 1; } n() { return 1; } }',
      'class { m(user = {}) { return 1; } n() { return 2; } }',
    ],
    ['class { read(read) { return 1; } }', 'class { write(write) { return 1; } }'],
    ['class extends Base { m() { return super.m(); } }', 'class { m() { return super.m(); } }'],
    ['(rule_1, rule_2) => rule_1.ok', '(rule_1, rule_2) => rule_2.ok'],
    ['(user) => { const a = 1; return user - a; }', '(user) => { const a = 1; return a - user; }'],
  ])('where %s becomes %s', (one, other) => {
    expect(hash(`const subject = ${one};`)).not.toBe(hash(`const subject = ${other};`));
  });

  it('with a class that it extends', () => {
    const [open, closed] = [
      class {
        allows() {
          return true;
        }
      },
      class {
        allows() {
          return false;
        }
      },
    ];
    const extended = (Parent: new () => object): object => class Guard extends Parent {};
    expect(hashOf(extended(open))).not.toBe(hashOf(extended(closed)));
  });
});

it.each<[string, boolean]>([
  ['async findAll(query) { return super.findAll(query); }', true],
  ['async findAll(query) { /* as it is */ return await super.findAll(query); }', true],
  ['findAll() { return super.findAll(); }', true],
  ['findAll(query) { return super.findAll({ ...query, open: true }); }', false],
  ['findAll(query) { return super.count(query); }', false],
  ['findAll({ sort }) { return super.findAll({ sort }); }', false],
  ['findAll(query, more) { return super.findAll(more, query); }', false],
  ['findAll(query) { this.check(); return super.findAll(query); }', false],
])('%s only calls the method that it overrides: %s', (method, expected) => {
  const prototype = compiled(`const subject = class extends Base { ${method} }.prototype;`) as { findAll: object };
  expect(isForwarding(prototype.findAll)).toBe(expected);
});
