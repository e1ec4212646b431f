import type { Level } from './route-shape.js';

interface Node<T> {
  readonly values: T[];
  readonly children: Map<Level, Node<T>>;
}

const newNode = <T>(): Node<T> => ({ values: [], children: new Map() });

/** Values stored under the levels of a path. A level is a literal, or `undefined` for any text. */
export class LevelTrie<T> {
  private readonly root = newNode<T>();

  add(levels: readonly Level[], value: T): void {
    let node = this.root;
    for (const level of levels) {
      let child = node.children.get(level);
      if (!child) node.children.set(level, (child = newNode()));
      node = child;
    }
    node.values.push(value);
  }

  /** Every value whose levels are the beginning of these levels. @param isOpen whether further levels may follow these */
  along(levels: readonly Level[], isOpen = false): T[] {
    const found: T[] = [];
    const visit = (node: Node<T>, depth: number): void => {
      found.push(...node.values);
      const level = levels[depth];
      if (depth >= levels.length) {
        if (isOpen) for (const child of node.children.values()) visit(child, depth + 1);
      } else if (level === undefined) {
        for (const child of node.children.values()) visit(child, depth + 1);
      } else {
        for (const child of [node.children.get(level), node.children.get(undefined)])
          if (child) visit(child, depth + 1);
      }
    };
    visit(this.root, 0);
    return found;
  }
}
