/** Reads `sort=-price,name`. */
import type { Field } from '../../entities/entity-schema.js';
import type { SortKey } from '../sql/condition.js';
import type { QueryErrors } from './query-errors.js';

const MAX_KEYS = 8;

interface Sortable {
  readonly id: Field;
  readonly sortable: ReadonlyMap<string, Field>;
  readonly defaultSort: readonly SortKey[];
  readonly readable: readonly Field[];
}

/** The primary key comes last, so that the order is the same for each request. */
export function readSort(
  text: string | undefined,
  { id, sortable, defaultSort, readable }: Sortable,
  errors: QueryErrors,
): readonly SortKey[] {
  // The order, and cursors, would tell a column that the caller may not read.
  const known = defaultSort.filter(({ field }) => readable.includes(field));
  const keys = text === undefined ? known : parseSort(text, sortable, errors);
  return keys.some(({ field }) => field === id) ? keys : [...keys, { field: id, descending: false }];
}

export function parseSort(text: string, sortable: ReadonlyMap<string, Field>, errors: QueryErrors): SortKey[] {
  const names = text === '' ? [] : text.split(',');
  if (names.length === 0) errors.add('sort', 'must name at least one field');
  if (names.length > MAX_KEYS) errors.add('sort', `must name at most ${MAX_KEYS} fields, got ${names.length}`);
  const keys: SortKey[] = [];
  for (const signed of names.slice(0, MAX_KEYS)) {
    const name = signed.replace(/^-/, '');
    const field = sortable.get(name);
    if (!field) errors.addUnknown('sort', 'field', [...sortable.keys()], name);
    else if (keys.some((key) => key.field === field)) errors.add('sort', `must name ${name} once`);
    else keys.push({ field, descending: signed.startsWith('-') });
  }
  return keys;
}
