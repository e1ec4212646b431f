/** The names of resources in a document: of their schemas, operations and tags. Each resource has names of its own. */
import { SHARED } from '../../documents/describe-controller.js';
import type { Resource } from '../plan/resource.js';

export interface ResourceNames {
  /** `Product`: of its schemas, and in `createProduct`. */
  readonly one: string;
  /** `Products`: in `listProducts`. Where both are the same word, `ManyNews`. */
  readonly many: string;
  readonly tag: string;
}

const OTHERS = ['AuthProfile', 'Credentials', 'CursorPagination', 'Registration'];

/**
 * The resource with the shortest endpoint is named by its entity and the last level of its endpoint. Another one with the
 * same names gets a level of its endpoint before them: `/api/admin/products` is `AdminProduct` and `AdminProducts`.
 * @param others entities without a resource, whose records are in relations
 */
export function nameResources<R extends Resource>(resources: readonly R[], others: readonly R[]) {
  const names = new Map<R, ResourceNames>();
  const taken = new Set([...OTHERS, ...SHARED.map(({ name }) => name)]);
  const tags = new Set<string>();
  const levelsOf = ({ options }: R): string[] =>
    options.endpoint.split('/').filter((level) => level !== '' && !level.startsWith(':'));
  const inOrder = resources.toSorted(
    (a, b) => levelsOf(a).length - levelsOf(b).length || (a.options.endpoint < b.options.endpoint ? -1 : 1),
  );
  for (const resource of [...inOrder, ...others]) {
    const entity = pascalCase(resource.schema.name);
    const levels = levelsOf(resource).map(pascalCase);
    const plural = levels.at(-1) ?? entity;
    // The last level says how two resources of an entity differ, unless it is the same.
    const isAlias = !entity.toLowerCase().startsWith(plural.toLowerCase().slice(0, 3));
    const outer = [...levels.slice(0, -1).toReversed(), ...NUMBERED];
    const one = claimName(entity, ['', ...(isAlias ? [plural] : []), ...outer], taken);
    const tag = claimName(plural, ['', ...outer], tags);
    names.set(resource, { one, many: tag === one ? `Many${tag}` : tag, tag });
  }
  return names;
}

function claimName(word: string, prefixes: readonly string[], taken: Set<string>): string {
  const name = prefixes.map((prefix) => prefix + word).find((each) => !taken.has(each)) ?? word;
  taken.add(name);
  return name;
}

const NUMBERED = Array.from({ length: 99 }, (_, index) => `Other${index === 0 ? '' : index + 1}`);

export const pascalCase = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .replace(/^(?=\d)|^$/, '_');
