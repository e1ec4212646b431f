import { shapesOf } from '../../../lib/routes/route.js';
import { exactly, foldAscii, foldWidely, parsePattern, relationTo } from '../../../lib/access/pattern.js';
import { compileOverlaps } from '../../../lib/access/matching-rules.js';
import type { Rule } from '../../../lib/access/decide.js';

const LEVELS = ['api', 'API', 'a', 'ä', 'Ä', 'ΑΣ', 'ας', 'İ', 'K', 'k'];
const paths = (...tails: string[]): string[] => {
  const literal = LEVELS.flatMap((first) => [`/${first}`, ...LEVELS.map((second) => `/${first}/${second}`)]);
  return ['', ...literal].flatMap((path) => tails.map((tail) => `${path}${tail}` || '/'));
};
const rules = paths('', '/*', '/**').flatMap((text): Rule[] =>
  (['public', 'authenticated'] as const).map((kind) => ({
    pattern: parsePattern(text, 'test'),
    effect: { kind },
    declaredBy: 'test',
  })),
);
const templates = [
  ...paths('', '/:id', '/*rest', '{/:id}'),
  '/:first',
  '/:first/api',
  '/:first/:second/k',
  '/api/:id/a',
];

describe.each([true, false])('rules that overlap with a route, case-sensitive: %s', (caseSensitive) => {
  it('[3.3] are those that a comparison of every rule finds, in the order of declaration', () => {
    const overlapsOf = compileOverlaps(rules, caseSensitive);
    const permissionFold = caseSensitive ? exactly : foldAscii;
    for (const template of templates) {
      const shapes = shapesOf(template);
      const expected = rules.filter(
        ({ pattern, effect }) =>
          relationTo(pattern, shapes, effect.kind === 'public' ? permissionFold : foldWidely) !== 'disjoint',
      );
      const found = overlapsOf(shapes).map(({ rule }) => rule);
      expect([template, found.map(({ pattern }) => pattern.text)]).toEqual([
        template,
        expected.map(({ pattern }) => pattern.text),
      ]);
      expect(found.every((rule, index) => rule === expected[index])).toBe(true);
    }
  });
});
