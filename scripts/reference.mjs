// Fills the parts of docs/reference/*.md that are between `<!-- reference: … -->` and `<!-- end of reference -->` from the doc
// comments of the sources: options, exports, and messages of failures.
//
//     node scripts/reference.mjs           writes the pages
//     node scripts/reference.mjs --check   exits 1 where a page is not what the sources say
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as nest from '@nestjs/common';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = 'docs/reference';
const LOGINS = 'packages/declarest-logins/src';
const PART = /(<!-- reference: (\w+) (.+?) -->\n)[^]*?(?=<!-- end of reference -->)/g;

const sources = ['lib', LOGINS].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(ROOT, folder, file)),
);
const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.test.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
const program = ts.createProgram(sources, { ...options, noEmit: true });
const checker = program.getTypeChecker();

const NEST = new Map(Object.entries(nest));

const GENERATORS = { options: optionRows, exports: exportRows, messages: messageRows };

let isStale = false;
for (const file of readdirSync(join(ROOT, PAGES)).filter((name) => name.endsWith('.md'))) {
  const path = join(ROOT, PAGES, file);
  const written = readFileSync(path, 'utf8');
  const filled = written.replaceAll(PART, (_, head, kind, subject) => `${head}\n${GENERATORS[kind](subject)}\n\n`);
  const text = await format(filled, { ...(await resolveConfig(path)), filepath: path });
  if (text === written) continue;
  if (process.argv.includes('--check')) {
    console.error(`${PAGES}/${file} is not what the doc comments say. Run node scripts/reference.mjs.`);
    isStale = true;
  } else writeFileSync(path, text);
}
process.exitCode = isStale ? 1 : 0;

/** The members of an interface, with those that it inherits. */
function optionRows(name) {
  const type = checker.getDeclaredTypeOfSymbol(interfaceNamed(name));
  const rows = checker.getPropertiesOfType(type).map((member) => {
    const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0;
    const given = defaultOf(member) ?? (isOptional ? undefined : 'required');
    return `- \`${member.name}\`${given === undefined ? '' : ` (${given})`}: ${summaryOf(member)}`;
  });
  return rows.join('\n');
}

/** What an entry point exports: values with their meaning, then the names of types. */
function exportRows(entry) {
  const { values, types } = exportsOf(entry);
  const rows = values.map(({ name, target }) => `- \`${name}\`: ${summaryOf(target)}`).join('\n');
  return types.length > 0 ? `${rows}\n\nTypes: ${listOf(types)}` : rows;
}

function exportsOf(entry) {
  const module = checker.getSymbolAtLocation(program.getSourceFile(join(ROOT, entry)));
  const exported = checker.getExportsOfModule(module).map((symbol) => {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return { name: symbol.name, target: isAlias ? checker.getAliasedSymbol(symbol) : symbol };
  });
  const isValue = ({ target }) => (target.flags & ts.SymbolFlags.Value) !== 0;
  return { values: exported.filter(isValue), types: exported.filter((each) => !isValue(each)) };
}

/** The messages that are passed to exceptions of Nest in the sources of a folder. */
function messageRows(folder) {
  const found = new Map();
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.startsWith(join(ROOT, folder))) continue;
    visit(file, (node) => {
      if (!ts.isNewExpression(node) || !/^\w+Exception$/.test(node.expression.getText())) return;
      const status = statusOf(node);
      const message = status && messageOf(node.arguments?.[0]);
      if (message && !/^…?$/.test(message)) found.set(message, status);
    });
  }
  const sorted = [...found].toSorted(([a, first], [b, second]) => first - second || a.localeCompare(b));
  return sorted.map(([text, status]) => `- ${status} \`${text}\``).join('\n');
}

function interfaceNamed(name) {
  for (const file of program.getSourceFiles())
    for (const statement of file.statements)
      if (ts.isInterfaceDeclaration(statement) && statement.name.text === name && sources.includes(file.fileName))
        return checker.getSymbolAtLocation(statement.name);
  throw new Error(`No interface is named ${name}.`);
}

/** The first sentence of a doc comment. */
function summaryOf(symbol) {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s+/g, ' ').trim();
  return (/^.*?[^.]\.(?= [A-Z`]|$)/.exec(text)?.[0] ?? text).replace(/\.$/, '');
}

/** What follows `@default`: a value as code, or the first part of a sentence. */
function defaultOf(symbol) {
  const tag = symbol.getJsDocTags(checker).find(({ name }) => name === 'default');
  const text = tag && ts.displayPartsToString(tag.text).replaceAll(/\s+/g, ' ').trim();
  return text && /^('.*'|\d+|true|false|\[\]|\{\}|\w+\.\w+)$/.test(text) ? `\`${text}\`` : text?.split(/[;:] /)[0];
}

function statusOf({ expression, arguments: given = [] }) {
  const name = expression.getText();
  if (name === 'HttpException') return nest.HttpStatus[given[1]?.getText().replace('HttpStatus.', '')];
  const Exception = NEST.get(name);
  return Exception && new Exception().getStatus();
}

/** The text of a literal, a template, a constant of the file, or the member `message` of an object. */
function messageOf(node) {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  if (ts.isIdentifier(node)) {
    const declaration = checker.getSymbolAtLocation(node)?.valueDeclaration;
    return declaration && ts.isVariableDeclaration(declaration) ? messageOf(declaration.initializer) : undefined;
  }
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  const member = node.properties.find((each) => ts.isPropertyAssignment(each) && each.name.getText() === 'message');
  return messageOf(member?.initializer);
}

function listOf(names) {
  return names.map(({ name }) => `\`${name}\``).join(', ');
}

function visit(node, use) {
  use(node);
  ts.forEachChild(node, (child) => visit(child, use));
}
