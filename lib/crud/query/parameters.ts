/** Sorts the parameters of a query string into known and unknown ones. */
import type { ListQuery } from '../declare/envelope.js';
import { EVERYTHING, type Condition } from '../sql/condition.js';
import type { FilterableField } from './field-path.js';
import { FilterReader, isFilter } from './filter-parameter.js';
import { QueryErrors } from './query-errors.js';

type Names = readonly string[];
/** The parameters of reads that may be repeated, which is the same as commas between their values. */
export const READ_LISTS: Names = ['sort', 'fields', 'include'];
const RELATION_FIELDS = /^fields\[(.*)\]$/;

/** The relation of `fields[author]`; `undefined` for another parameter. */
export const relationOf = (parameter: string): string | undefined => RELATION_FIELDS.exec(parameter)?.[1];

/** Which records an operation sees: those that are not deleted, all of them, or the deleted ones. */
export type Deleted = 'without' | 'with' | 'only';

export const isDeletedChoice = (text: unknown): text is Deleted => text === 'with' || text === 'only';

/** The known parameters of one query string, and what is wrong with it. */
export class QueryParameters extends QueryErrors {
  private readonly texts = new Map<string, string>();
  private readonly filter: FilterReader | undefined;

  /** @param lists the known names that may be repeated @param filterable what `filter` may name, where it is known */
  constructor(query: ListQuery, known: Names, lists: Names = [], filterable?: ReadonlyMap<string, FilterableField>) {
    super();
    this.filter = filterable && new FilterReader(filterable, this);
    for (const [name, value] of Object.entries(query ?? {})) {
      const isKnownFilter = known.includes('filter') && isFilter(name);
      const isOfRelation = known.includes('include') && relationOf(name) !== undefined;
      const values: readonly unknown[] = [value].flat();
      if (!isKnownFilter && !isOfRelation && !known.includes(name)) this.addUnknown(name, 'parameter', known);
      else if (!values.every((each) => typeof each === 'string')) this.add(name, 'must be a string');
      else if (isKnownFilter) this.filter?.add(name, values);
      else if (values.length > 1 && !isOfRelation && !lists.includes(name)) this.addRepeated(name);
      else this.texts.set(name, values.join(','));
    }
  }

  get names(): Iterable<string> {
    return this.texts.keys();
  }

  get(name: string): string | undefined {
    return this.texts.get(name);
  }

  get condition(): Condition {
    return this.filter?.condition ?? EVERYTHING;
  }

  flag(name: string, fallback: boolean): boolean {
    const text = this.get(name) ?? String(fallback);
    if (text !== 'true' && text !== 'false') this.add(name, 'must be true or false');
    return text === 'true';
  }

  checkDeleted(): void {
    const text = this.get('deleted');
    if (text !== undefined && !isDeletedChoice(text)) this.add('deleted', 'must be with or only');
  }
}
