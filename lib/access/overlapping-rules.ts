/** The rules whose patterns overlap with a route. */
import { LevelTrie } from '../routes/level-trie.js';
import type { RouteShape } from '../routes/route-shape.js';
import type { RouterReading } from '../routes/router-reading.js';
import { exactly, foldAscii, foldWidely, relationTo } from './pattern.js';
import { restricts, type Rule } from './rule.js';

export interface OverlappingRule {
  readonly rule: Rule;
  /** Whether the rule matches every path of the route, or only a part of them. */
  readonly isWhole: boolean;
  /** Whether it does so in the router's own reading of case, as a permission must. */
  readonly isExact: boolean;
}

/**
 * A restriction is compared without regard to case. A permission is compared as the router compares.
 *
 * @returns for the shapes of one route: its rules in the order of their declaration
 */
export function compileOverlaps(
  rules: readonly Rule[],
  reading: RouterReading,
): (shapes: readonly RouteShape[]) => OverlappingRule[] {
  const permissionFold = reading.caseSensitive ? exactly : foldAscii;
  const places = new Map(rules.map((rule, place) => [rule, place]));
  const trie = new LevelTrie<Rule>();
  for (const rule of rules) trie.add(rule.pattern.levels.map(foldWidely), rule);
  return (shapes) => {
    const candidates = shapes.flatMap(({ levels, open }) =>
      trie.along(
        levels.map((level) => level && foldWidely(level)),
        open,
      ),
    );
    const inOrder = [...new Set(candidates)].toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
    return inOrder.flatMap((rule) => {
      const fold = restricts(rule) ? foldWidely : permissionFold;
      const relation = relationTo(rule.pattern, shapes, fold);
      if (relation === 'disjoint') return [];
      const isWhole = relation === 'covers';
      const isExact = isWhole && relationTo(rule.pattern, shapes, permissionFold) === 'covers';
      return [{ rule, isWhole, isExact }];
    });
  };
}
