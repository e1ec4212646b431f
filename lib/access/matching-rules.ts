/** Finds the rules that match a concrete path. The walk ends at the deepest level that a rule names. */
import { LevelTrie } from '../routes/level-trie.js';
import { matchesFurtherLevels, type Fold } from './pattern.js';
import type { Rule } from './rule.js';

export function compileMatching(rules: readonly Rule[], fold: Fold): (levels: readonly string[]) => Rule[] {
  const trie = new LevelTrie<Rule>();
  for (const rule of rules) trie.add(rule.pattern.levels.map(fold), rule);
  return (levels) => trie.along(levels).filter(({ pattern }) => matchesFurtherLevels(pattern, levels));
}
