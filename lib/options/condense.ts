const SHOWN = 5;

/**
 * Warnings of one kind: one for each item, or above five items a single one with the first five and the number of the others.
 * @param problem of every item, a sentence without its subject; without it, the items are sentences
 */
export function condense(items: readonly string[], problem?: string): string[] {
  if (items.length <= SHOWN) return items.map((item) => (problem === undefined ? item : `${item} ${problem}`));
  const [shown, others] = [items.slice(0, SHOWN), items.length - SHOWN];
  if (problem === undefined) return [`${shown.join(' ')} The same is true of ${others} more.`];
  return [`${shown.join(', ')} and ${others} more: each ${problem}`];
}
