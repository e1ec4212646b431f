import { LevelTrie, type Level, type RouteShape } from '../routes/route.js';
import { restricts, type Rule } from './decide.js';
import { exactly, foldAscii, foldWidely, matchesFurtherLevels, relationTo, type Fold } from './pattern.js';

function trieOf(rules: readonly Rule[], fold: Fold): LevelTrie<Rule> {
  const trie = new LevelTrie<Rule>();
  for (const rule of rules) trie.add(rule.pattern.levels.map(fold), rule);
  return trie;
}

/** For concrete paths. The search ends at the deepest level that a rule names. */
export function compileMatching(rules: readonly Rule[], fold: Fold): (levels: readonly string[]) => Rule[] {
  const trie = trieOf(rules, fold);
  return (levels) => trie.along(levels).filter(({ pattern }) => matchesFurtherLevels(pattern, levels));
}

export interface OverlappingRule {
  readonly rule: Rule;
  /** Whether the rule matches every path of the route, or only a part of them. */
  readonly isWhole: boolean;
  /** Whether it does so in the router's own reading of case, as a permission must. */
  readonly isExact: boolean;
}

/** For the shapes of routes. Permissions are compared as the router compares. */
export function compileOverlaps(rules: readonly Rule[], isCaseSensitive: boolean) {
  const permissionFold = isCaseSensitive ? exactly : foldAscii;
  const trie = trieOf(rules, foldWidely);
  const foldLevel = (level: Level): Level => level && foldWidely(level);
  return (shapes: readonly RouteShape[]): OverlappingRule[] => {
    const found = new Set(shapes.flatMap(({ levels, open }) => trie.along(levels.map(foldLevel), open)));
    return rules.flatMap((rule) => {
      if (!found.has(rule)) return [];
      const relation = relationTo(rule.pattern, shapes, restricts(rule) ? foldWidely : permissionFold);
      if (relation === 'disjoint') return [];
      const isWhole = relation === 'covers';
      const isExact = isWhole && relationTo(rule.pattern, shapes, permissionFold) === 'covers';
      return [{ rule, isWhole, isExact }];
    });
  };
}
