/** The rules that speak of a route, found level by level: the boot compares no route with rules for elsewhere. */
import type { RouteShape } from '../routes/route-shape.js';
import type { RouterReading } from '../routes/router-reading.js';
import { exactly, foldAscii, foldWidely, relationTo } from './pattern.js';
import { restricts, type Rule } from './rules.js';

export interface Related {
  readonly rule: Rule;
  /** Whether the rule speaks of everything the route serves. */
  readonly whole: boolean;
  /** Whether it does so in the router's own letters, as a permission must. */
  readonly exact: boolean;
}

/**
 * A restriction is compared without regard to case; a permission as the router compares.
 *
 * @returns for the shapes of one route, in the order in which the rules are declared
 */
export function compileRelated(
  rules: readonly Rule[],
  reading: RouterReading,
): (shapes: readonly RouteShape[]) => Related[] {
  const permissionFold = reading.caseSensitive ? exactly : foldAscii;
  const root = treeOf(rules);
  return (shapes) => {
    const candidates = new Map(shapes.flatMap((shape) => along(root, shape)));
    const ordered = [...candidates].toSorted(([a], [b]) => a - b);
    return ordered.flatMap(([, rule]) => {
      const fold = restricts(rule) ? foldWidely : permissionFold;
      const relation = relationTo(rule.pattern, shapes, fold);
      if (relation === 'disjoint') return [];
      const whole = relation === 'covers';
      const exact = whole && (fold === permissionFold || relationTo(rule.pattern, shapes, permissionFold) === 'covers');
      return [{ rule, whole, exact }];
    });
  };
}

/** Rules by the literal levels of their patterns. */
interface Node {
  readonly below: Map<string, Node>;
  /** Those whose levels end here, with their places in the order of declaration. */
  readonly rules: (readonly [place: number, rule: Rule])[];
}

/** What any comparison takes for the same letters is the same here: the candidates are too many, never too few. */
const keyOf = foldWidely;

function treeOf(rules: readonly Rule[]): Node {
  const root: Node = { below: new Map(), rules: [] };
  for (const [place, rule] of rules.entries()) {
    let node = root;
    for (const level of rule.pattern.levels) {
      let child = node.below.get(keyOf(level));
      if (!child) node.below.set(keyOf(level), (child = { below: new Map(), rules: [] }));
      node = child;
    }
    node.rules.push([place, rule]);
  }
  return root;
}

/** The rules whose levels a shape does not exclude. */
function along({ below, rules }: Node, shape: RouteShape, depth = 0): Node['rules'] {
  const level = shape.levels[depth];
  const isAnything = depth < shape.levels.length ? level === undefined : shape.open;
  const children = isAnything ? [...below.values()] : level === undefined ? [] : [below.get(keyOf(level))];
  return [...rules, ...children.flatMap((child) => (child ? along(child, shape, depth + 1) : []))];
}
