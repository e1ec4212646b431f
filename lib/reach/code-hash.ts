/** A hash of code that stays the same where only its comments, its layout, the names of locals or class fields differ. */
import { createHash } from 'node:crypto';

/**
 * `3f9a1c02`: the first digits of the SHA-256 of a normal form. Of a class, with the classes that it extends. Code that has no
 * source, such as that of a bound function, has the same hash everywhere.
 */
export function hashOf(...code: readonly unknown[]): string {
  const texts = code.flatMap((each) => (typeof each === 'function' ? chainOf(each).map(normalForm) : String(each)));
  return createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 8);
}

const chainOf = (code: object | null): string[] =>
  typeof code !== 'function' || code === Function.prototype
    ? []
    : [String(code), ...chainOf(Object.getPrototypeOf(code) as object)];

/** Whether an override does nothing but call the method that it overrides. */
export const isForwarding = (method: object): boolean =>
  /^(async )?(\w+) \( ([\w$ ,.]*)\) \{ return (await )?super \. \2 \( \3\) ;? ?\}$/.test(normalForm(String(method)));

const SKIPPED = /(?:\s+|\/\/.*|\/\*[^]*?\*\/)+/y;
const TOKENS = [
  /'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*"/y,
  /[\p{ID_Start}$_#][\p{ID_Continue}$]*/uy,
  /\.?\d[\w.]*/y,
  /=>|\?\.(?!\d)|\.{3}|[^]/uy,
];
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\]|\\.)*\])+\/\w*/y;
const TEMPLATE = /(?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y;
const isOpening = (token: string): boolean => /^[([{]$/.test(token);
const isClosing = (token: string): boolean => /^[)\]}]$/.test(token);
/** Before a regular expression, and never before a division. */
const BEFORE_VALUE = /^(?:[^\w$)\]}'"`]|=>|return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/;

/** A scanner, and no parser: what it cannot tell apart is in docs/reference/command-line.md. */
function tokensOf(source: string): string[] {
  const tokens: string[] = [];
  const templates: number[] = [];
  let [at, depth] = [0, 0];
  const read = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0] ?? '';
    at += text.length;
    return text;
  };
  const readTemplate = (start: string): void => {
    const text = read(TEMPLATE);
    tokens.push(start + text);
    if (text.endsWith('${')) templates.push(depth);
  };
  while (at < source.length) {
    if (read(SKIPPED) !== '') continue;
    const isRegex = source[at] === '/' && BEFORE_VALUE.test(tokens.at(-1) ?? '(');
    const token = (isRegex && read(REGEX)) || TOKENS.reduce((found, pattern) => found || read(pattern), '');
    if (token === '}' && templates.at(-1) === depth) {
      templates.pop();
      readTemplate('}');
      continue;
    }
    if (token === '`') readTemplate(token);
    else if (/^['"]/.test(token)) tokens.push(`'${token.slice(1, -1).replace(/\\?(['"])/g, '\\$1')}'`);
    else tokens.push(/^\.?\d/.test(token) ? token.replaceAll('_', '') : token);
    if (isClosing(token)) depth -= 1;
    else if (isOpening(token)) depth += 1;
  }
  return tokens;
}

/** The index of the other bracket, and of the bracket around each token. */
function bracketsOf(tokens: readonly string[]) {
  const [other, around, open] = [[] as number[], [] as (number | undefined)[], [] as number[]];
  for (const [index, token] of tokens.entries()) {
    if (isClosing(token)) {
      const start = open.pop() ?? 0;
      [other[index], other[start]] = [start, index];
    }
    around.push(open.at(-1));
    if (isOpening(token)) open.push(index);
  }
  return { other, around };
}

const isName = (token = ''): boolean => /^[\p{ID_Start}$_]/u.test(token);
const NO_FUNCTION = ['if', 'for', 'while', 'switch', 'with', 'await'];

export function normalForm(source: string): string {
  const tokens = inOneForm(withFieldsInOrder(tokensOf(source)));
  const { other, around } = bracketsOf(tokens);
  const locals = new Map<string, string>();
  const declare = (from: number, to: number): void => {
    let [depth, inDefault] = [0, Infinity];
    for (let index = from; index < to; index += 1) {
      const token = tokens[index] as string;
      if (isOpening(token)) depth += 1;
      if (isClosing(token)) depth -= 1;
      if (depth < inDefault || (token === ',' && depth === inDefault)) inDefault = Infinity;
      if (token === '=') inDefault = Math.min(depth, inDefault);
      if (inDefault === Infinity && isName(token) && tokens[index + 1] !== ':') locals.set(token, '');
    }
  };
  for (const [index, token] of tokens.entries()) {
    const [before, next = ''] = [tokens[index - 1], tokens[index + 1]];
    const start = other[index - 1] ?? 0;
    if (/^(const|let|var)$/.test(token)) declare(index + 1, isName(next) ? index + 2 : (other[index + 1] ?? index));
    if (token === 'function' && isName(next)) locals.set(next, '');
    if (token === '=>') declare(before === ')' ? start : index - 1, index);
    const isCall = [tokens[start - 2], tokens[start - 3]].some((each) => each === 'extends' || each === '.');
    if (token === '{' && before === ')' && !isCall && !NO_FUNCTION.includes(tokens[start - 1] ?? ''))
      declare(start, index);
  }
  let count = 0;
  return tokens
    .map((token, index) => {
      const [before = '', next = ''] = [tokens[index - 1], tokens[index + 1]];
      const isFirst = before === '{' || before === ',';
      const isMethod = next === '(' && tokens[(other[index + 1] ?? 0) + 1] === '{' && before !== 'function';
      if (!locals.has(token) || /^\??\.$/.test(before) || (isFirst && next === ':') || isMethod) return token;
      if (locals.get(token) === '') locals.set(token, `$${(count += 1)}`);
      const isShort = isFirst && /^[,}=]$/.test(next) && tokens[around[index] ?? -1] === '{';
      return `${isShort ? `${token} : ` : ''}${locals.get(token)}`;
    })
    .join(' ');
}

/** `(0, rules_1.isOwner)(user)` of CommonJS, and of Vite, is `isOwner(user)`. */
function inOneForm(tokens: readonly string[]): string[] {
  const isModule = (name: string): boolean =>
    /^exports$|_\d+_*$/.test(name) && tokens.every((token, index) => token !== name || tokens[index + 1] === '.');
  return (
    tokens
      .join('\0')
      .replaceAll(/\(\0(?:0\0,\0)((?:exports|\w+_\d+_*)\0\.\0\w+)\0\)/g, '$1')
      .replaceAll(/(^|[^.]\0)(\w+)\0\.\0/g, (text, before: string, name: string) => (isModule(name) ? before : text))
      // Compilers write a single parameter, and the last comma of a list, in either way.
      .replaceAll(/\(\0([\w$]+)\0\)\0=>/g, '$1\0=>')
      .replaceAll(/([^,[]\0),\0(?=[)\]}])/g, '$1')
      .split('\0')
  );
}

/** `useDefineForClassFields` moves fields into the constructor: they become sorted assignments behind the class. */
function withFieldsInOrder(tokens: readonly string[]): readonly string[] {
  if (tokens[0] !== 'class') return tokens;
  const { other } = bracketsOf(tokens);
  const start = tokens.findIndex((token, index) => token === '{' && other[index] === tokens.length - 1);
  const [members, fields]: [string[], string[]] = [[], []];
  const readStatement = (from: number, to: number): [string[], end: number, hasBody: boolean] => {
    let isAssigned = false;
    for (let index = from; index < to; index += 1) {
      const token = tokens[index];
      if (token === ';') return [tokens.slice(from, index), index + 1, false];
      index = Math.max(index, other[index] ?? index);
      if (token === '{' && !isAssigned) return [tokens.slice(from, index + 1), index + 1, true];
      isAssigned ||= token === '=';
    }
    return [tokens.slice(from, to), to, false];
  };
  for (let at = start + 1; at < tokens.length - 1;) {
    const [statement, end, hasBody] = readStatement(at, tokens.length - 1);
    if (statement[0] === 'constructor' && hasBody) {
      const others: string[] = [];
      for (let inner = (other[at + 1] ?? at) + 2; inner < end - 1;) {
        const [assigned, after, isBlock] = readStatement(inner, end - 1);
        const isField = assigned[0] === 'this' && assigned[1] === '.' && assigned[3] === '=';
        if (isField) fields.push(assigned.join('\0'));
        else if (assigned.join('') !== 'super(...arguments)') others.push(...assigned, ...(isBlock ? [] : [';']));
        inner = after;
      }
      if (others.length > 0 || tokens[at + 2] !== ')')
        members.push(...tokens.slice(at, (other[at + 1] ?? at) + 1), '{', ...others, '}');
    } else if (hasBody) members.push(...statement);
    else if (statement[0] === 'static') members.push(...statement, ';');
    else if (statement.includes('=')) fields.push(['this', '.', ...statement].join('\0'));
    at = end;
  }
  return [...tokens.slice(0, start + 1), ...members, '}', ...fields.toSorted().flatMap((each) => each.split('\0'))];
}
