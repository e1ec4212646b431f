/** Reads `filter[…]` parameters. The work is linear in the length of what is sent. */
import type { FieldPath } from './field-path.js';
import { OPERATORS, type OperatorName } from '../sql/operators.js';
import { and, compare, or, type Condition } from '../sql/condition.js';
import type { QueryErrors } from './query-errors.js';

const MAX_CONDITIONS = 50;
const MAX_DEPTH = 3;
const MAX_VALUES = 100;

const PREFIX = 'filter';
const GROUPS: readonly string[] = ['and', 'or', 'not'];
/** Names of fields that a filter cannot have: they begin a group. */
export const isGroupName = (name: string): boolean => GROUPS.includes(name);
export const isFilter = (parameter: string): boolean => parameter === PREFIX || parameter.startsWith(`${PREFIX}[`);

/** The conditions below one group, which all hold. */
interface Group {
  readonly conditions: Condition[];
  readonly members: Map<string, Group>;
}

const newGroup = (): Group => ({ conditions: [], members: new Map() });

export class FilterReader {
  private readonly root = newGroup();
  private conditions = 0;

  /** @param filterable the fields by the names that a filter may use */
  constructor(
    private readonly filterable: ReadonlyMap<string, FieldPath>,
    private readonly errors: QueryErrors,
  ) {}

  get condition(): Condition {
    return conditionOf(this.root);
  }

  add(parameter: string, text: string): void {
    const names = namesIn(parameter);
    if (!names) return this.refuse(parameter, 'must have the form filter[field] or filter[field][operator]');
    const place = this.groupOf(parameter, names);
    if (!place) return;
    const { group, rest } = place;
    const [name = '', operator = 'eq', ...more] = rest;
    const path = this.filterable.get(name);
    if (!path) return this.errors.addUnknown(parameter, 'field', [...this.filterable.keys()]);
    if (more.length > 0) return this.refuse(parameter, 'has names after the operator');
    if (++this.conditions > MAX_CONDITIONS)
      return this.conditions === MAX_CONDITIONS + 1
        ? this.refuse(PREFIX, `must have at most ${MAX_CONDITIONS} conditions`)
        : undefined;
    const condition = this.compared(parameter, path, operator, text);
    if (condition) group.conditions.push(condition);
  }

  /** Follows `[or][0]`, `[and][0]` and `[not]`. */
  private groupOf(parameter: string, names: readonly string[]): { group: Group; rest: readonly string[] } | undefined {
    let group = this.root;
    let rest = names;
    for (let depth = 0; isGroupName(rest[0] ?? ''); depth += 1) {
      if (depth === MAX_DEPTH) {
        this.refuse(parameter, `must have at most ${MAX_DEPTH} groups inside each other`);
        return undefined;
      }
      const [kind = '', index = ''] = rest;
      const isIndexed = kind !== 'not';
      if (isIndexed && !/^\d{1,3}$/.test(index)) {
        this.refuse(parameter, `must have a number after [${kind}], such as filter[${kind}][0][field]`);
        return undefined;
      }
      const key = isIndexed ? `${kind} ${Number(index)}` : kind;
      const member = group.members.get(key) ?? newGroup();
      group.members.set(key, member);
      group = member;
      rest = rest.slice(isIndexed ? 2 : 1);
    }
    return { group, rest };
  }

  private compared(parameter: string, path: FieldPath, name: string, text: string): Condition | undefined {
    const { field } = path;
    const allowed = Object.entries(OPERATORS).filter(
      ([, { takes, internal }]) => !internal && field.type.comparison && takes.includes(field.type.comparison),
    );
    if (!allowed.some(([each]) => each === name)) {
      this.errors.addUnknown(
        parameter,
        'operator',
        allowed.map(([each]) => each),
      );
      return undefined;
    }
    const operator = name as OperatorName;
    const { arity, bind } = OPERATORS[operator];
    if (arity === 'none') return this.nullity(parameter, path, text);
    const texts = arity === 'one' ? [text] : splitList(text);
    if (arity === 'two' && texts.length !== 2) return this.refuse(parameter, 'must be two values separated by a comma');
    if (texts.length > MAX_VALUES) return this.refuse(parameter, `must have at most ${MAX_VALUES} values`);
    if (bind && text === '') return this.refuse(parameter, 'must be a text to look for, got an empty one');
    const values = texts.map((each) => (bind ? readFilterText(each) : readFilterValue(path, each)));
    const wrong = values.find((each) => 'expected' in each);
    if (wrong) return this.refuse(parameter, `must be ${wrong.expected}`);
    return through(path, compare(field, operator, ...values.map((each) => ('value' in each ? each.value : undefined))));
  }

  private nullity(parameter: string, path: FieldPath, text: string): Condition | undefined {
    if (text === 'true') return through(path, compare(path.field, 'isNull'));
    if (text === 'false') return through(path, compare(path.field, 'isNotNull'));
    return this.refuse(parameter, 'must be true or false');
  }

  private refuse(parameter: string, message: string): undefined {
    this.errors.add(parameter, message);
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

/** Separated by commas; `\,` is a comma inside a value. */
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

type Read = { readonly value: unknown } | { readonly expected: string };

const readFilterText = (text: string): Read =>
  text.includes('\0') || !text.isWellFormed() ? { expected: 'text without the character NUL' } : { value: text };

/** A text that is too long for its column is a value as any other: it matches nothing. */
const readFilterValue = ({ field }: FieldPath, text: string): Read =>
  field.type.comparison === 'text' ? readFilterText(text) : field.type.readText(text);

/** Of a related record, where the path leads to one. */
const through = ({ relations }: FieldPath, condition: Condition): Condition =>
  relations.reduceRight<Condition>((part, relation) => ({ kind: 'related', relation, part }), condition);
