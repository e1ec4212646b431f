import { compileMatching } from '../../../lib/access/matching-rules.js';
import { exactly } from '../../../lib/access/pattern.js';
import { PUBLIC, rule } from './declared.js';
import { cleanLevels, interpretationsOf } from '../../../lib/access/path-interpretations.js';

describe('clean paths', () => {
  it.each<[path: string, levels: string[]]>([
    ['/', []],
    ['/a', ['a']],
    ['/a/b/c', ['a', 'b', 'c']],
    ['/.a/a./..a/...', ['.a', 'a.', '..a', '...']],
    ["/aZ09._~!$&'()+,=:@-", ["aZ09._~!$&'()+,=:@-"]],
  ])('[3.5] %s has the levels %j', (path, levels) => {
    expect(cleanLevels(path)).toEqual(levels);
  });

  it.each([
    '',
    'a',
    'a/b',
    '/a/',
    '//',
    '//a',
    '/a//b',
    '/.',
    '/..',
    '/./a',
    '/a/..',
    '/a/../b',
    '/a/./b',
    '/a ',
    ' /a',
    '/%41',
    '/a;b',
    '/a\\b',
    '/a*',
    '/a?b',
    '/a#b',
    '/\u00e4',
    '/a\n',
    '/a/ ',
    'x/',
    '/x /',
    '/a/\u0000',
  ])('[3.5] %j is not clean', (path) => {
    expect(cleanLevels(path)).toBeUndefined();
  });
});

/** Levels stand between bars, because a level may hold a slash. */
const read = (template: string, path: string, params: Record<string, unknown> = {}): string[] =>
  interpretationsOf(template)({ path, params }).map((levels) => levels.map((level) => `${level}|`).join(''));

describe('the interpretations of a path', () => {
  it.each<[what: string, template: string, params: Record<string, unknown>, served: string]>([
    ['the root', '/', {}, ''],
    ['a literal', '/a/B', {}, 'a|b|'],
    ['a parameter', '/a/:id', { id: 'X' }, 'a|x|'],
    ['a parameter with a slash in it', '/a/:id', { id: 'x/y' }, 'a|x/y|'],
    ['several parameters in one level', '/:from-:to', { from: 'A', to: 'b' }, 'a-b|'],
    ['a parameter with a form', '/a/:id(\\d+)', { id: '7' }, 'a|7|'],
    ['a parameter with a form and a text behind it', '/:id(\\d+)x', { id: '7' }, '7x|'],
    ['an optional parameter', '/a/:id?', { id: '7' }, 'a|7|'],
    ['an optional parameter with a form', '/a/:id(\\d)?', { id: '7' }, 'a|7|'],
    ['an optional parameter that was left out', '/a/:id?', {}, 'a|'],
    ['an optional group', '/a{/:id}', { id: '7' }, 'a|7|'],
    ['an optional group that was left out', '/a{/:id}', {}, 'a|'],
    ['a parameter that is no text', '/a/:id', { id: 7 }, 'a|'],
    ['a wildcard with a name', '/a/*rest', { rest: ['B', 'c'] }, 'a|b|c|'],
    ['a wildcard with a name, as one text', '/a/*rest', { rest: 'b/c' }, 'a|b|c|'],
    ['a wildcard with a name of several letters and no other', '/a/*rest', { r: 'x', rest: ['b'] }, 'a|b|'],
    ['a wildcard without a name', '/a/*', { '*': 'b/c' }, 'a|b|c|'],
    ['a wildcard that the router calls *', '/a/*rest', { '*': 'b' }, 'a|b|'],
    ['a wildcard whose levels are no texts', '/a/*rest', { rest: [1, 'b'] }, 'a|1|b|'],
    ['a wildcard that is no text', '/a/*rest', { rest: 1 }, 'a||'],
    ['a wildcard of nothing', '/a/*rest', { rest: '' }, 'a||'],
    ['a wildcard that was left out', '/a{/*rest}', {}, 'a|'],
    ['a star within a level, which is no wildcard', '/a/b*', { '*': 'x' }, 'a|b*|'],
  ])('[3.5] the first is what the router served: %s', (_, template, params, served) => {
    expect(read(template, '/sent', params)[0]).toBe(served);
  });

  it.each<[what: string, path: string, interpretations: string[]]>([
    ['a clean path has one', '/a/B', ['a|b|', 'a|b|', 'a|b|']],
    ['the root', '/', ['', '', '']],
    ['a slash at the end', '/a/', ['a|', 'a|', 'a|']],
    ['backslashes', '/a\\b', ['a\\b|', 'a|b|', 'a\\b|', 'a|b|', 'a|b|']],
    ['several backslashes', '/a\\b\\c', ['a\\b\\c|', 'a|b|c|', 'a\\b\\c|', 'a|b|c|', 'a|b|c|']],
    ['doubled slashes', '/a//b', ['a||b|', 'a|b|', 'a||b|', 'a|b|', 'a|b|']],
    ['many slashes', '/a///b', ['a|||b|', 'a|b|', 'a|||b|', 'a|b|', 'a|b|']],
    ['path parameters', '/a;x=1', ['a;x=1|', 'a|', 'a;x=1|', 'a|', 'a|']],
    ['a line break behind them', '/a;x\ny', ['a;x\ny|', 'a|', 'a;x\ny|', 'a|', 'a|']],
    ['escapes', '/%41/b', ['%41|b|', 'a|b|', 'a|b|']],
    ['an escaped slash', '/a%2Fb', ['a%2fb|', 'a/b|', 'a|b|']],
    ['an escape of an escape', '/%2541', ['%2541|', '%41|', '%41|']],
    ['a broken escape', '/%/a', ['%|a|', '%|a|', '%|a|']],
    ['dot segments', '/a/./b/../c', ['a|.|b|..|c|', 'a|.|b|..|c|', 'a|c|']],
    ['dot segments above the root', '/../a', ['..|a|', '..|a|', 'a|']],
    ['escaped dot segments', '/a/%2e%2e/b', ['a|%2e%2e|b|', 'a|..|b|', 'b|']],
    ['escaped path parameters', '/a%3Bx/b', ['a%3bx|b|', 'a;x|b|', 'a|b|']],
    ['an escaped line break behind them', '/a%3Bx%0Ay', ['a%3bx%0ay|', 'a;x\ny|', 'a|']],
    ['an escaped query', '/a%3Fx', ['a%3fx|', 'a?x|', 'a|']],
    ['an escaped fragment', '/a%23x', ['a%23x|', 'a#x|', 'a|']],
    ['blanks around a level', '/%20a%20/b', ['%20a%20|b|', ' a |b|', 'a|b|']],
    ['an escaped backslash', '/a%5Cb', ['a%5cb|', 'a\\b|', 'a|b|']],
    [
      'all of it at once',
      '/a\\//b;c',
      [
        'a\\||b;c|',
        'a|||b;c|',
        'a\\|b;c|',
        'a\\||b|',
        'a|b|',
        'a\\||b;c|',
        'a|||b;c|',
        'a\\|b;c|',
        'a\\||b|',
        'a|b|',
        'a|b|',
      ],
    ],
  ])('[3.5] behind what was served: %s', (_, path, interpretations) => {
    expect(read('/served', path).slice(2)).toEqual(interpretations);
  });

  it.each<[id: string, levels: string]>([
    ['x', 'a|x|'],
    ['x/Y', 'a|x|y|'],
    ['/x//y/', 'a|x|y|'],
    ['/', 'a|'],
  ])('[3.5] the second splits the slashes that a parameter holds: %j', (id, levels) => {
    expect(read('/a/:id', '/sent', { id })[1]).toBe(levels);
  });
});

describe('rules that match a concrete path', () => {
  const RULES = ['/**', '/a', '/a/*', '/a/**', '/a/b', '/b'].map((text) => rule(text, PUBLIC));
  it.each([
    ['', ['/**']],
    ['a', ['/**', '/a', '/a/**']],
    ['a/b', ['/**', '/a/*', '/a/**', '/a/b']],
    ['a/b/c', ['/**', '/a/**']],
    ['c', ['/**']],
  ])('[3.1] of %j', (path, texts) => {
    const levels = path.split('/').filter((level) => level !== '');
    const matching = compileMatching(RULES, exactly)(levels);
    expect(matching.map(({ pattern }) => pattern.text).toSorted()).toEqual(texts.toSorted());
  });
});
