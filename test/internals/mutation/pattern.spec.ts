import { shapesOf } from '../../../lib/routes/route.js';
import {
  byBreadth,
  exactly,
  type Fold,
  foldAscii,
  foldWidely,
  covers,
  matchesFurtherLevels,
  parsePattern,
  type Coverage,
  relationTo,
} from '../../../lib/access/pattern.js';
import { refusalOf } from './declared.js';

const parsed = (text: unknown) => parsePattern(text, 'Shop.requireAuth');

const EMPTY_LEVEL = 'Remove the empty level between two slashes';
const BEGIN = 'Begin the path with "/", after upper-case methods and one space, if any';
const DOTS = 'Remove the dot segments';
const STARS = 'Use * or ** only as the whole last level';
const plainText = (level: string): string =>
  `Replace ${JSON.stringify(level)} by plain text, or end the pattern there with * or **: it has no parameters, queries or escapes`;
const noMethod = (method: string): string =>
  `${JSON.stringify(method)} is not an HTTP method: write methods in upper case, separated by commas`;

describe('the pattern language, form by form', () => {
  it.each<[text: string, methods: string[], levels: string[], tail: string]>([
    ['/', [], [], ''],
    ['/*', [], [], '*'],
    ['/**', [], [], '**'],
    ['/a', [], ['a'], ''],
    ['/a/', [], ['a'], ''],
    ['/a/**/', [], ['a'], '**'],
    ['/a/b/c', [], ['a', 'b', 'c'], ''],
    ['/a/b/*', [], ['a', 'b'], '*'],
    ['/.a/b..', [], ['.a', 'b..'], ''],
    ['POST /a', ['POST'], ['a'], ''],
    ['GET,POST,GET /a/**', ['GET', 'POST'], ['a'], '**'],
    ['M-SEARCH /', ['M-SEARCH'], [], ''],
  ])('[3.1] %s is read as methods %j, levels %j and tail %j', (text, methods, levels, tail) => {
    expect(parsed(text)).toEqual({ text, methods, levels, tail });
    expect(Object.isFrozen(parsed(text))).toBe(true);
  });

  it.each<[text: unknown, got: string, advice: string]>([
    [7, '7', 'Write it as one string'],
    [undefined, 'undefined', 'Write it as one string'],
    ['', 'an empty string', BEGIN],
    ['a', '"a"', BEGIN],
    ['x GET /a', '"x GET /a"', BEGIN],
    ['GET  /a', '"GET  /a"', BEGIN],
    ['/a b', '"/a b"', BEGIN],
    ['//', '"//"', EMPTY_LEVEL],
    ['/a//b', '"/a//b"', EMPTY_LEVEL],
    ['/a/./b', '"/a/./b"', DOTS],
    ['/a/..', '"/a/.."', DOTS],
    ['/*/b', '"/*/b"', STARS],
    ['/a*', '"/a*"', STARS],
    ['/***', '"/***"', STARS],
    ...[
      ':b',
      'a:b',
      '?',
      'a?',
      '#',
      '%41',
      ';',
      'a;b',
      '\\',
      '{',
      '}',
      '(',
      ')',
      '[',
      ']',
      '"',
      '<',
      '>',
      '|',
      '^',
      '`',
    ].map((level): [string, string, string] => [`/${level}`, JSON.stringify(`/${level}`), plainText(level)]),
    ['HEAD /a', '"HEAD /a"', 'Write GET, which includes HEAD'],
    ['get /a', '"get /a"', noMethod('get')],
    ['GET,,POST /a', '"GET,,POST /a"', noMethod('')],
    ['GET,FETCH /a', '"GET,FETCH /a"', noMethod('FETCH')],
  ])('[3.1] %j is refused with advice', (text, got, advice) => {
    expect(refusalOf(() => parsed(text))).toBe(
      `The pattern of Shop.requireAuth must be a path such as "/api/products/**" or "GET /api/products/*", got ${got}. ${advice}.`,
    );
  });
});

describe('comparing patterns and paths', () => {
  it.each<[pattern: string, levels: string[], matches: boolean]>([
    ['/a', ['a'], true],
    ['/a', ['a', 'b'], false],
    ['/a/*', ['a'], false],
    ['/a/*', ['a', 'b'], true],
    ['/a/*', ['a', 'b', 'c'], false],
    ['/a/**', ['a'], true],
    ['/a/**', ['a', 'b', 'c'], true],
  ])('[3.5] %s matches the levels %j behind its own: %s', (pattern, levels, matches) => {
    expect(matchesFurtherLevels(parsed(pattern), levels)).toBe(matches);
  });

  it.each<[outer: string, inner: string, is: boolean, fold?: Fold]>([
    ['/a/**', '/a', true],
    ['/a/**', '/a/*', true],
    ['/a/**', '/a/b/**', true],
    ['/a/**', '/', false],
    ['/a/**', '/b/**', false],
    ['/a/**', '/A/b', false],
    ['/a/**', '/A/b', true, foldWidely],
    ['/a/*', '/a/*', true],
    ['/a/*', '/a/b', true],
    ['/a/*', '/a/b/*', false],
    ['/a/*', '/a/**', false],
    ['/a/*', '/a', false],
    ['/a', '/a', true],
    ['/a', '/a/*', false],
    ['/a', '/a/b', false],
  ])('[3.5] %s covers %s: %s', (outer, inner, is, fold = exactly) => {
    expect(covers(parsed(outer), parsed(inner), fold)).toBe(is);
  });

  it.each<[name: string, fold: Fold, text: string, folded: string]>([
    ['as a case-insensitive router does', foldAscii, 'AbCÄ\u212a-Z', 'abcÄ\u212a-z'],
    ['every letter', foldWidely, 'AbCÄ\u212a-Z', 'abcäk-z'],
    ['not at all', exactly, 'AbCÄ\u212a-Z', 'AbCÄ\u212a-Z'],
  ])('[3.5] case is folded %s', (_, fold, text, folded) => {
    expect(fold(text)).toBe(folded);
  });
});

describe('the relation of patterns to routes', () => {
  it.each<[template: string, pattern: string, relation: Coverage, fold?: Fold]>([
    ['/a', '/a', 'covers'],
    ['/a', '/b', 'disjoint'],
    ['/a', '/A', 'disjoint'],
    ['/a', '/A', 'covers', foldAscii],
    ['/A', '/a', 'covers', foldAscii],
    ['/a', '/', 'disjoint'],
    ['/a', '/*', 'covers'],
    ['/a', '/**', 'covers'],
    ['/a', '/a/*', 'disjoint'],
    ['/a', '/a/**', 'covers'],
    ['/a', '/a/b', 'disjoint'],
    ['/a', '/a/b/**', 'disjoint'],
    ['/', '/', 'covers'],
    ['/', '/*', 'disjoint'],
    ['/', '/**', 'covers'],
    ['/a/:b', '/a', 'disjoint'],
    ['/a/:b', '/a/*', 'covers'],
    ['/a/:b', '/a/b', 'partial'],
    ['/a/:b', '/b/b', 'disjoint'],
    ['/a/:b', '/a/b/**', 'partial'],
    ['/a/:b', '/a/b/c/**', 'disjoint'],
    ['/a/:b', '/*', 'disjoint'],
    ['/:a/b', '/a/c', 'disjoint'],
    ['/:a/b', '/a/b', 'partial'],
    ['/a/*rest', '/a', 'partial'],
    ['/a/*rest', '/a/*', 'partial'],
    ['/a/*rest', '/a/**', 'covers'],
    ['/a/*rest', '/a/b', 'partial'],
    ['/a/*rest', '/a/b/**', 'partial'],
    ['/a/*rest', '/a/b/c/**', 'partial'],
    ['/a/*rest', '/a/b/c', 'partial'],
    ['/a/*rest', '/b/**', 'disjoint'],
    ['/a/*rest', '/', 'disjoint'],
    ['/a/b/*rest', '/*', 'disjoint'],
    ['/a{/:b}', '/a', 'partial'],
    ['/a{/:b}', '/b', 'disjoint'],
    ['/a{/:b}', '/a/**', 'covers'],
    ['/a{/:b}', '/a/b', 'partial'],
  ])('[3.5] of what %s serves, %s %s', (template, pattern, relation, fold = exactly) => {
    expect(relationTo(parsed(pattern), shapesOf(template), fold)).toBe(relation);
  });

  it('[3.5] a pattern matches a part of an unknown route', () => {
    expect(relationTo(parsed('/a'), [], exactly)).toBe('partial');
  });

  it.each([
    ['/**', 'GET /**'],
    ['GET /**', '/*'],
    ['GET /*', '/'],
    ['GET /', '/a/**'],
    ['/a/**', '/a/*'],
    ['GET /a/*', '/a'],
    ['/a', 'GET /a'],
    ['GET /a', '/a/b/**'],
  ])('[3.3] %s is broader than %s', (broad, narrow) => {
    expect(byBreadth(parsed(broad), parsed(narrow))).toBeLessThan(0);
    expect(byBreadth(parsed(narrow), parsed(broad))).toBeGreaterThan(0);
  });

  it.each([
    ['/a', '/b'],
    ['GET /a', 'POST,PUT /b'],
  ])('[3.3] %s is as broad as %s', (one, other) => {
    expect(byBreadth(parsed(one), parsed(other))).toBe(0);
  });
});
