/** Makes random requests of the operations of a document, with values of the tables. */
import type { ParameterDocument } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import type { Compared } from './comparison.js';
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

/** Values that a document does not list. Keys of idempotent requests repeat. */
const HEADER_VALUES = ['"1"', '"2"', '"3"', '*', 'key'];
const PLAIN_VALUES = [0, 1, 2, 5, true, false, 'a', '2026-01-31', '2026-01-31T09:30:15Z'].map((value) => ({ value }));
const MAX_DEPTH = 4;

export class RandomRequests {
  private waiting: DocumentOperation[] = [];
  /** A refused query is sent again without a parameter that the answer names. */
  private repeated: IsolationRequest | undefined;
  /** Cursors of earlier answers. */
  private readonly cursors: string[] = [];
  /** Paths of records in earlier answers, by the path of the document without names. */
  private readonly seen = new Map<string, string[]>();

  /** @param values of several kinds: each is sent equally often */
  constructor(
    private readonly document: ApplicationDocument,
    private readonly values: readonly (readonly Value[])[],
    private readonly random: Random,
  ) {}

  /** Every operation takes part before one is repeated. */
  next(): IsolationRequest {
    if (this.repeated) return this.repeated;
    if (this.waiting.length === 0) this.waiting = this.random.shuffled(this.document.operations);
    return this.request(this.waiting.pop() as DocumentOperation);
  }

  learn(request: IsolationRequest, { answers: [{ status, json, text }], texts }: Compared): void {
    const { operation, query, path } = request;
    const named = query.findIndex(([name]) => text.includes(name));
    this.repeated = status === 400 && named >= 0 ? { ...request, query: query.toSpliced(named, 1) } : undefined;
    // A cursor with a generated time is no text here.
    const [, cursor] = /"next":"([\w-]+)"/.exec(texts[0]) ?? [];
    if (cursor !== undefined) this.cursors.push(cursor);
    const records: unknown = Array.isArray(json) ? json : json?.data;
    if (!operation.startsWith('GET') || !Array.isArray(records)) return;
    const ids = (records as ({ id?: unknown } | null)[]).flatMap((each) => each?.id ?? []);
    const template = templateOf(`${operation.slice('GET '.length)}/{id}`);
    const paths = ids.map((id) => `${path}/${encodeURIComponent(String(id))}`);
    this.seen.set(template, [...new Set([...(this.seen.get(template) ?? []), ...paths])]);
  }

  private request({ name, method, path, parameters, body }: DocumentOperation): IsolationRequest {
    const of = (place: string) => parameters.filter((each) => each.in === place);
    const headers = of('header').filter(({ required }) => required || this.random.chance(30));
    return {
      operation: name,
      method,
      path: this.path(path, of('path')),
      query: this.sent(of('query')).flatMap((each) => this.pairs(each)),
      headers: Object.fromEntries(headers.map((each) => [each.name.toLowerCase(), this.random.of(HEADER_VALUES)])),
      ...(body && { json: this.value('', body) }),
    };
  }

  /** Half of the records are those of earlier answers. */
  private path(path: string, parameters: readonly ParameterDocument[]): string {
    const [start] = /^.*\}/.exec(path) ?? [''];
    const seen = this.seen.get(templateOf(start)) ?? [];
    if (seen.length > 0 && this.random.chance(50)) return this.random.of(seen) + path.slice(start.length);
    return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
      const { schema = {} } = parameters.find((each) => each.name === name) ?? {};
      return encodeURIComponent(String(this.value(name, schema)));
    });
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
    // Without a schema, some columns.
    const columns = this.random.shuffled(this.values[0] ?? []).slice(0, 3);
    const described = properties ?? Object.fromEntries(columns.map(({ name }) => [name, {}]));
    const members = Object.entries(described as Readonly<Record<string, JsonSchema>>).filter(
      ([name, { readOnly }]) => readOnly !== true && ((required as string[]).includes(name) || this.random.chance(40)),
    );
    return Object.fromEntries(members.map(([name, schema]) => [name, this.value(name, schema, depth + 1)]));
  }

  /** A value of the column, else any id for an id, else any value. */
  private scalar(name: string, kind: string, schema: JsonSchema): unknown {
    const { random } = this;
    const key = nameOf(name);
    const fitting = random.shuffled(this.values).map((each) => each.filter(({ value }) => fits(value, kind, schema)));
    const named = (each: string) => fitting.map((values) => values.filter((value) => value.name === each));
    const ofIds = /ids?$/.test(key) ? named('id') : [];
    const plain = PLAIN_VALUES.filter(({ value }) => fits(value, kind, schema));
    const known = random.chance(10) ? [plain] : [...named(key), ...ofIds, ...fitting, plain];
    const { value } = random.of(known.find(({ length }) => length > 0) ?? PLAIN_VALUES);
    if (kind !== 'string') return value;
    const variant = random.of([String(value).slice(0, 2), `${value}${random.below(100)}`]);
    return random.chance(20) && fits(variant, kind, schema) ? variant : String(value);
  }
}

const templateOf = (path: string): string => path.replaceAll(/\{[^}]+\}/g, '{}');

const isFilter = ({ name }: ParameterDocument): boolean => name.includes('[');

function fits(value: Value['value'], kind: string, schema: JsonSchema): boolean {
  const { pattern, format, minLength = 1, maxLength = 100, minimum = -Infinity, maximum = Infinity } = schema;
  if (kind !== 'string') {
    const isOfKind = kind === 'integer' ? Number.isSafeInteger(value) : typeof value === kind;
    return isOfKind && Number(value) >= Number(minimum) && Number(value) <= Number(maximum);
  }
  const text = String(value);
  if (typeof pattern === 'string') return new RegExp(pattern).test(text);
  const isLongEnough = text.length >= Number(minLength) && text.length <= Number(maxLength);
  return isLongEnough && (format !== 'email' || text.includes('@'));
}
