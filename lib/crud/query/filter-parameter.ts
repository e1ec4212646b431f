/** Reads `filter[…]` parameters. The work is linear in the length of what is sent. */
import type { Reading } from '../../entities/value-types.js';
import type { FilterableField } from './field-path.js';
import { and, compare, or, type Condition } from '../sql/condition.js';
import type { QueryErrors } from './query-errors.js';

const MAX_CONDITIONS = 50;
const MAX_DEPTH = 3;
export const MAX_VALUES = 100;
const MAX_RELATED = 5;
/** Limits, in code points, of each text that `contains` and its like look for, and of all together. */
export const MAX_TEXT = 100;
const MAX_TEXTS = 500;

const PREFIX = 'filter';
const GROUPS: readonly string[] = ['and', 'or', 'not'];
/** Names of fields that a filter cannot have: they begin a group. */
export const isGroupName = (name: string): boolean => GROUPS.includes(name);
export const isFilter = (parameter: string): boolean => parameter === PREFIX || parameter.startsWith(`${PREFIX}[`);

interface Group {
  readonly conditions: Condition[];
  readonly members: Map<string, Group>;
}

const newGroup = (): Group => ({ conditions: [], members: new Map() });

export class FilterReader {
  private readonly root = newGroup();
  private conditions = 0;
  private related = 0;
  private characters = 0;

  /** @param filterable the fields by the names that a filter may use */
  constructor(
    private readonly filterable: ReadonlyMap<string, FilterableField>,
    private readonly errors: QueryErrors,
  ) {}

  get condition(): Condition {
    return conditionOf(this.root);
  }

  /** @param sent the values of the parameter, which may be repeated for an operator that takes several */
  add(parameter: string, sent: readonly string[]): void {
    const names = namesIn(parameter);
    if (!names) return this.errors.add(parameter, 'must have the form filter[field] or filter[field][operator]');
    const place = this.groupOf(parameter, names);
    if (!place) return;
    const { group, rest } = place;
    const [name = '', operator = 'eq', ...more] = rest;
    const path = this.filterable.get(name);
    if (!path) return this.errors.addUnknown(parameter, 'field', [...this.filterable.keys()]);
    if (more.length > 0) return this.errors.add(parameter, 'has names after the operator');
    if (++this.conditions > MAX_CONDITIONS)
      return this.conditions === MAX_CONDITIONS + 1
        ? this.errors.add(PREFIX, `must have at most ${MAX_CONDITIONS} conditions`)
        : undefined;
    if (path.relations.length > 0 && ++this.related > MAX_RELATED)
      return this.errors.add(parameter, `must be one of at most ${MAX_RELATED} conditions on related records`);
    const condition = this.compared(parameter, path, operator, sent);
    if (condition) group.conditions.push(condition);
  }

  /** Follows `[or][0]`, `[and][0]` and `[not]`. */
  private groupOf(parameter: string, names: readonly string[]): { group: Group; rest: readonly string[] } | undefined {
    let group = this.root;
    let rest = names;
    for (let depth = 0; isGroupName(rest[0] ?? ''); depth += 1) {
      if (depth === MAX_DEPTH)
        return this.errors.add(parameter, `must have at most ${MAX_DEPTH} groups inside each other`);
      const [kind = '', index = ''] = rest;
      const isIndexed = kind !== 'not';
      if (isIndexed && !/^\d{1,3}$/.test(index))
        return this.errors.add(parameter, `must have a number after [${kind}], such as filter[${kind}][0][field]`);
      const key = isIndexed ? `${kind} ${Number(index)}` : kind;
      const member = group.members.get(key) ?? newGroup();
      group.members.set(key, member);
      group = member;
      rest = rest.slice(isIndexed ? 2 : 1);
    }
    return { group, rest };
  }

  private compared(parameter: string, path: FilterableField, name: string, sent: readonly string[]) {
    const { field, operators } = path;
    const operator = operators.get(name);
    if (!operator) return this.errors.addUnknown(parameter, 'operator', [...operators.keys()]);
    const { arity, bind, custom } = operator;
    const [text = '', ...others] = sent;
    const takesOne = custom !== undefined || arity === 'none' || arity === 'one';
    if (takesOne && others.length > 0) return this.errors.addRepeated(parameter);
    if (custom) {
      const values = 'value' in readFilterText(text) ? custom.read(text) : undefined;
      if (!values) return this.errors.add(parameter, `must be ${custom.expected}`);
      return through(path, compare(field, operator, ...values));
    }
    if (arity === 'none') {
      if (text !== 'true' && text !== 'false') return this.errors.add(parameter, 'must be true or false');
      return through(path, compare(field, text === 'true' ? 'isNull' : 'isNotNull'));
    }
    const texts = takesOne ? [text] : sent.flatMap(splitList);
    if (arity === 'two' && texts.length !== 2)
      return this.errors.add(parameter, 'must be two values separated by a comma');
    if (texts.length > MAX_VALUES) return this.errors.add(parameter, `must have at most ${MAX_VALUES} values`);
    if (bind) {
      if (text === '') return this.errors.add(parameter, 'must be a text to look for, got an empty one');
      const { length } = [...text];
      if (length > MAX_TEXT) return this.errors.add(parameter, `must have at most ${MAX_TEXT} characters`);
      this.characters += length;
      if (this.characters > MAX_TEXTS)
        return this.errors.add(parameter, `must have at most ${MAX_TEXTS} characters with the other texts to look for`);
    }
    // A text that is too long for its column is a value as any other: it matches nothing.
    const isText = bind !== undefined || field.type.comparison === 'text';
    const values: unknown[] = [];
    for (const each of texts) {
      const reading = isText ? readFilterText(each) : field.type.readText(each);
      if ('expected' in reading) return this.errors.add(parameter, `must be ${reading.expected}`);
      values.push(reading.value);
    }
    return through(path, compare(field, operator, ...values));
  }
}

/** `filter[price][gte]` → `['price', 'gte']` */
function namesIn(parameter: string): string[] | undefined {
  const inside = parameter.slice(PREFIX.length);
  if (!inside.endsWith(']')) return undefined;
  const names = inside.slice(1, -1).split('][');
  return names.some((name) => /[[\]]/.test(name)) ? undefined : names;
}

/** Members of `or` are alternatives; everything else narrows. */
function conditionOf({ conditions, members }: Group): Condition {
  const parts = [...conditions];
  const alternatives: Condition[] = [];
  for (const [key, member] of members) {
    const condition = conditionOf(member);
    if (key === 'not') parts.push({ kind: 'unless', part: condition });
    else if (key.startsWith('or ')) alternatives.push(condition);
    else parts.push(condition);
  }
  return and(...parts, ...(alternatives.length > 0 ? [or(...alternatives)] : []));
}

/** Splits at commas; `\,` is a comma inside a value. */
export function splitList(text: string): string[] {
  const parts: string[] = [''];
  for (let index = 0; index < text.length; index += 1) {
    const isEscaped = text[index] === '\\' && text[index + 1] === ',';
    if (isEscaped) index += 1;
    if (text[index] === ',' && !isEscaped) parts.push('');
    else parts[parts.length - 1] += text[index] ?? '';
  }
  return parts;
}

const readFilterText = (text: string): Reading =>
  text.includes('\0') || !text.isWellFormed() ? { expected: 'text without the character NUL' } : { value: text };

const through = ({ relations }: FilterableField, condition: Condition): Condition =>
  relations.reduceRight<Condition>((part, relation) => ({ kind: 'related', relation, part }), condition);
