/** Makes random requests of the operations of a document, with values of the tables. */
import type { ParameterDocument } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { asSent } from '../client.js';
import type { ApplicationDocument, DocumentOperation } from './document-operations.js';
import type { Random } from './random.js';
import { nameOf, type Value } from './table-values.js';

export interface IsolationRequest {
  /** In the document: `GET /api/projects/{id}`. */
  readonly operation: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** The path with its query string. */
export function targetOf({ path, query }: IsolationRequest): string {
  const pairs = query.map(([name, value]) => {
    const readable = encodeURIComponent(name).replaceAll('%5B', '[').replaceAll('%5D', ']');
    return `${readable}=${encodeURIComponent(value)}`;
  });
  return pairs.length > 0 ? `${path}?${pairs.join('&')}` : path;
}

/** Those that a document does not list. Keys of idempotent requests repeat. */
const HEADER_VALUES = ['"1"', '"2"', '"3"', '*', 'key'];
const PLAIN_VALUES: readonly Value['value'][] = [0, 1, 2, 5, true, false, 'a', '2026-01-31', '2026-01-31T09:30:15Z'];
const MAX_DEPTH = 4;

export class RandomRequests {
  private waiting: DocumentOperation[] = [];
  /** Cursors of earlier answers. */
  private cursors: string[] = [];
  private readonly byName = new Map<string, Value['value'][]>();

  constructor(
    private readonly document: ApplicationDocument,
    values: readonly Value[],
    private readonly random: Random,
  ) {
    for (const { name, value } of values) this.byName.set(name, [...(this.byName.get(name) ?? []), value]);
  }

  /** Every operation takes part before one is repeated. */
  next(): IsolationRequest {
    if (this.waiting.length === 0) this.waiting = this.random.shuffled(this.document.operations);
    return this.request(this.waiting.pop() as DocumentOperation);
  }

  learn(json: unknown): void {
    const next: unknown = (json as { metadata?: { pagination?: { next?: unknown } } } | null)?.metadata?.pagination
      ?.next;
    if (typeof next === 'string') this.cursors = [...this.cursors.slice(-9), next];
  }

  private request({ name, method, path, parameters, body }: DocumentOperation): IsolationRequest {
    const of = (place: string) => parameters.filter((each) => each.in === place);
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
      const { schema = {} } = of('path').find((each) => each.name === parameter) ?? {};
      return asSent(encodeURIComponent(String(this.value(parameter, schema))));
    });
    const headers = of('header').filter(({ required }) => required || this.random.chance(30));
    return {
      operation: name,
      method,
      path: filled,
      query: this.sent(of('query')).flatMap((each) => this.pairs(each)),
      headers: Object.fromEntries(headers.map((each) => [each.name.toLowerCase(), this.random.of(HEADER_VALUES)])),
      ...(body && { json: this.value('', body) }),
    };
  }

  /** About one filter, however many there are. */
  private sent(parameters: readonly ParameterDocument[]): readonly ParameterDocument[] {
    const groups = [parameters.filter(isFilter), parameters.filter((each) => !isFilter(each))];
    return groups.flatMap((group) => {
      const percent = Math.max(Math.min(30, 300 / group.length), 100 / group.length);
      return group.filter(({ required }) => required || this.random.chance(percent));
    });
  }

  private pairs({ name, schema }: ParameterDocument): IsolationRequest['query'] {
    if (name === 'after') return this.cursors.length > 0 ? [[name, this.random.of(this.cursors)]] : [];
    // `filter[customer.name][gte]` takes values of `name`.
    const field = /^filter\[(?:.*\.)?([^\].]+)\]/.exec(name)?.[1] ?? name;
    return [this.value(field, schema)].flat().map((value) => [name, String(value)]);
  }

  private value(name: string, unresolved: JsonSchema, depth = 0): unknown {
    const { random } = this;
    const schema = this.document.resolve(unresolved);
    const { const: constant, enum: values, anyOf, oneOf, allOf, type, items = {} } = schema;
    if (constant !== undefined) return constant;
    if (Array.isArray(values)) return random.of(values as unknown[]);
    const choices = [anyOf ?? oneOf ?? (allOf as JsonSchema[] | undefined)?.slice(0, 1) ?? []].flat() as JsonSchema[];
    if (choices.length > 0) return this.value(name, random.of(choices), depth);
    const kind = random.of([type ?? 'string'].flat() as string[]);
    if (kind === 'null') return null;
    if (kind === 'object') return depth < MAX_DEPTH ? this.object(schema, depth) : {};
    if (kind !== 'array') return this.scalar(name, kind, schema);
    const length = depth < MAX_DEPTH ? 1 + random.below(2) : 0;
    const list = Array.from({ length }, () => this.value(name, items as JsonSchema, depth + 1));
    return schema['uniqueItems'] === true ? [...new Set(list)] : list;
  }

  private object({ properties, required = [] }: JsonSchema, depth: number): object {
    const { random, byName } = this;
    // Without a schema, values of any columns.
    const described = (properties ??
      Object.fromEntries(
        random
          .shuffled([...byName.keys()])
          .slice(0, 3)
          .map((name) => [name, {}]),
      )) as Readonly<Record<string, JsonSchema>>;
    const members = Object.entries(described).filter(
      ([name, { readOnly }]) => readOnly !== true && ((required as string[]).includes(name) || random.chance(40)),
    );
    return Object.fromEntries(members.map(([name, schema]) => [name, this.value(name, schema, depth + 1)]));
  }

  private scalar(name: string, kind: string, schema: JsonSchema): unknown {
    const { random, byName } = this;
    const key = nameOf(name);
    const ofIds = /ids?$/.test(key) ? byName.get('id') : undefined;
    const own = byName.get(key) ?? ofIds ?? [...byName.values()].flat();
    const fitting = (values: readonly Value['value'][]) => values.filter((value) => fits(value, kind, schema));
    const [known, plain] = [fitting(own), fitting(PLAIN_VALUES)];
    const value =
      known.length > 0 && !(plain.length > 0 && random.chance(10))
        ? random.of(known)
        : plain.length > 0
          ? random.of(plain)
          : '1';
    if (kind !== 'string') return value;
    const text = String(value);
    return random.chance(10) && text.length > 3 ? text.slice(0, 2) : text;
  }
}

const isFilter = ({ name }: ParameterDocument): boolean => name.includes('[');

function fits(value: Value['value'], kind: string, { pattern, maxLength = 100, format }: JsonSchema): boolean {
  if (kind === 'integer') return Number.isSafeInteger(value);
  if (kind !== 'string') return typeof value === kind;
  const text = String(value);
  if (typeof pattern === 'string') return new RegExp(pattern, 'u').test(text);
  return text.length > 0 && text.length <= Number(maxLength) && (format !== 'email' || text.includes('@'));
}
