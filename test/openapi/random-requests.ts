/** Random requests that a document allows, and such requests with one thing that it forbids. */
import * as fc from 'fast-check';
import type { DescribedApi, Described, Parameter, Schema } from './described.js';

export interface RandomRequest {
  readonly method: string;
  /** With the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Values {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

type Draw = fc.GeneratorValue;

const MAX_ATTEMPTS = 200;

/** What a document cannot say: rules between parameters. */
const GROUPS: readonly (readonly string[])[] = [
  ['page', 'count'],
  ['after', 'pagination'],
];

export class Requests {
  constructor(
    private readonly api: DescribedApi,
    /** Ids of records that exist, by the name of the path parameter and the first level of the path. */
    private readonly ids: (operation: Described, parameter: Parameter) => readonly unknown[],
    /** Whether some lists are joined with commas. A document has only one form: repeated parameters. */
    private readonly joinsLists: boolean,
  ) {}

  /** Requests that the document allows. */
  allowed(operation: Described): fc.Arbitrary<RandomRequest> {
    return fc.gen().map((draw) => this.request(operation, this.values(operation, draw), draw));
  }

  /** Requests that the document forbids, in one place. */
  forbidden(operation: Described): fc.Arbitrary<RandomRequest> | undefined {
    const ways: ((values: Values, draw: Draw) => Values)[] = [];
    // OpenAPI cannot forbid other parameters. Operations with a query string refuse unknown ones.
    if (operation.method === 'GET' && operation.parameters.some((each) => each.in === 'query'))
      ways.push((values) => ({ ...values, query: { ...values.query, zz_unknown: 'x' } }));
    for (const { in: place, schema, name } of operation.parameters) {
      // `fields[author]` is unknown without the relation.
      if (place !== 'query' || name.startsWith('fields[')) continue;
      const candidates = wrongTexts(this.resolved(schema), this.resolved((schema['items'] ?? {}) as Schema));
      const wrong = candidates.filter((value) => this.api.problems(schema, value).length > 0);
      if (wrong.length > 0)
        ways.push((values, draw) => {
          const others = Object.entries(values.query).filter(([other]) => !excludes(name, other));
          return { ...values, query: { ...Object.fromEntries(others), [name]: draw(fc.constantFrom, ...wrong) } };
        });
    }
    const schema = bodySchema(operation);
    if (schema)
      ways.push((values, draw) => ({
        ...values,
        body: draw(fc.constantFrom, ...this.wrongBodies(schema, values.body)),
      }));
    if (ways.length === 0) return undefined;
    return fc.gen().map((draw) => {
      const change = draw(fc.constantFrom, ...ways);
      return this.request(operation, change(this.values(operation, draw), draw), draw);
    });
  }

  private request(operation: Described, { path, query, body }: Values, draw: Draw): RandomRequest {
    const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
    const parts = Object.entries(query).flatMap(([name, value]) => {
      if (!Array.isArray(value)) return [[name, String(value)]];
      const texts = value.map(String);
      // A backslash before a comma says that it belongs to a value.
      const isJoined = this.joinsLists && texts.length > 0 && !texts.some((text) => text.endsWith('\\'));
      return isJoined && draw(fc.boolean) ? [[name, texts.join(',')]] : texts.map((text) => [name, text]);
    });
    const search = parts.map((pair) => pair.map((each) => encodeURIComponent(each ?? '')).join('=')).join('&');
    return { method: operation.method, path: search === '' ? filled : `${filled}?${search}`, headers: {}, body };
  }

  private values(operation: Described, draw: Draw): Values {
    const path = operation.parameters.filter((each) => each.in === 'path');
    const query = operation.parameters.filter((each) => each.in === 'query');
    const body = bodySchema(operation);
    return {
      path: Object.fromEntries(path.map((each) => [each.name, this.idOf(operation, each, draw)])),
      query: this.query(query, operation.operationId.startsWith('search'), draw),
      body: body && this.valid(body, draw),
    };
  }

  private resolved(schema: Schema): Schema {
    return typeof schema['$ref'] === 'string' ? this.api.named(schema['$ref']) : schema;
  }

  private idOf(operation: Described, parameter: Parameter, draw: Draw): unknown {
    const known = this.ids(operation, parameter);
    return draw(fc.integer, { min: 1, max: 4 }) === 1
      ? this.valid(parameter.schema, draw)
      : draw(fc.constantFrom, ...known);
  }

  private query(parameters: readonly Parameter[], isSearch: boolean, draw: Draw): Values['query'] {
    const terms = parameters.filter(({ schema }) => schema['maxLength'] === 100 && schema['type'] === 'string');
    const sent: Record<string, unknown> = {};
    for (const { name, schema, required } of parameters) {
      const isNeeded = required || (isSearch && terms[0]?.name === name);
      // A cursor is a text that an answer had.
      const oneOf = name.startsWith('filter[') ? 12 : 3;
      if (name !== 'after' && (isNeeded || draw(fc.integer, { min: 1, max: oneOf }) === 1))
        sent[name] = this.valid(schema, draw);
    }
    const include = (sent['include'] ?? []) as readonly string[];
    const isKept = (name: string): boolean => {
      const relation = /^fields\[(.+)\]$/.exec(name)?.[1];
      if (relation !== undefined) return include.some((each) => `${each}.`.startsWith(`${relation}.`));
      return !('pagination' in sent && GROUPS[0]?.includes(name));
    };
    return Object.fromEntries(Object.entries(sent).filter(([name]) => isKept(name)));
  }

  /** A value of the schema. */
  private valid(schema: Schema, draw: Draw): unknown {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const value = this.make(schema, draw);
      if (this.api.problems(schema, value).length === 0) return value;
    }
    throw new Error(
      `No random value is valid for ${JSON.stringify(schema)}, such as ${JSON.stringify(this.make(schema, draw))}`,
    );
  }

  private make(schema: Schema, draw: Draw): unknown {
    const { $ref, const: constant, enum: values, anyOf, type } = schema;
    if (typeof $ref === 'string') return this.make(this.api.named($ref), draw);
    if (constant !== undefined) return constant;
    if (Array.isArray(values)) return draw(fc.constantFrom, ...(values as unknown[]));
    if (Array.isArray(anyOf)) {
      const alternatives = anyOf as Schema[];
      const pattern = alternatives.find((each) => 'pattern' in each)?.['pattern'];
      return this.make({ pattern, ...draw(fc.constantFrom, ...alternatives) }, draw);
    }
    if (type === undefined) return draw(anyJson);
    const name = draw(fc.constantFrom<string[]>, ...([type].flat() as string[]));
    const plain = PLAIN[name];
    return plain ? plain(schema, draw) : this.composed(name, schema, draw);
  }

  private composed(type: string, schema: Schema, draw: Draw): unknown {
    if (type === 'array') {
      const {
        minItems = 0,
        maxItems = 5,
        uniqueItems,
        items = {},
      } = schema as { minItems?: number; maxItems?: number; uniqueItems?: boolean; items?: Schema };
      const length = draw(fc.integer, { min: minItems, max: Math.min(maxItems, 4) });
      const values = Array.from({ length }, () => this.valid(items, draw));
      // A batch may name a record once. -0 is the same number in JSON.
      if (values.every(isIdentified)) return onePer(({ id }) => String(id), values);
      // Of `name` and `-name` only one may be sent.
      return uniqueItems ? onePer((each) => String(each).replace(/^-/, ''), values) : values;
    }
    const { properties = {}, required = [] } = schema as {
      properties?: Readonly<Record<string, Schema>>;
      required?: readonly string[];
    };
    const members = Object.entries(properties).filter(
      ([name, each]) => each['readOnly'] !== true && (required.includes(name) || draw(fc.boolean)),
    );
    return Object.fromEntries(members.map(([name, each]) => [name, this.valid(each, draw)]));
  }

  private wrongBodies(schema: Schema, body: unknown): unknown[] {
    const { properties = {}, required = [] } = this.resolved(schema) as {
      readonly properties?: Readonly<Record<string, Schema>>;
      readonly required?: readonly string[];
    };
    const valid = body as Readonly<Record<string, unknown>>;
    const candidates = [
      { ...valid, zzUnknown: 1 },
      ...required.map((name) => Object.fromEntries(Object.entries(valid).filter(([each]) => each !== name))),
      ...Object.entries(properties)
        .filter(([, each]) => each['readOnly'] !== true)
        .flatMap(([name]) => WRONG_VALUES.map((value) => ({ ...valid, [name]: value }))),
      [],
      null,
    ];
    return candidates.filter((each) => this.api.problems(schema, each).length > 0);
  }
}

const onePer = <V>(keyOf: (value: V) => string, values: readonly V[]): V[] => [
  ...new Map(values.map((each) => [keyOf(each), each])).values(),
];

const isIdentified = (value: unknown): value is { readonly id: unknown } =>
  typeof value === 'object' && value !== null && 'id' in value;

const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  99_999_999_999,
  'zz',
  '',
  'x'.repeat(300),
  [],
  [{}],
  { a: 1 },
];

const bodySchema = ({ requestBody }: Described): Schema | undefined => requestBody?.content['application/json']?.schema;

const excludes = (name: string, other: string): boolean =>
  GROUPS.some((group) => group.includes(name)) && GROUPS.some((group) => group.includes(other));

const PLAIN: Readonly<Record<string, (schema: Schema, draw: Draw) => unknown>> = {
  null: () => null,
  boolean: (_, draw) => draw(fc.boolean),
  integer: ({ minimum, maximum }, draw) =>
    draw(fc.boolean)
      ? draw(fc.integer, {
          min: Math.max(Number(minimum ?? -1000), -1000),
          max: Math.min(Number(maximum ?? 1000), 1000),
        })
      : draw(fc.maxSafeInteger),
  // A decimal is a number, or a text with the pattern of its digits, which the number has too.
  number: (schema, draw) =>
    typeof schema['pattern'] === 'string'
      ? Number(textOf(schema, draw))
      : draw(fc.boolean)
        ? draw(fc.integer, { min: -1000, max: 1000 })
        : draw(fc.double, { noNaN: true, noDefaultInfinity: true }),
  string: textOf,
};

/** JSON.stringify writes integers up to 1e21 with all digits. A service refuses those beyond 53 bits, which would be rounded. */
const anyJson = (): fc.Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth: 2 }).filter((value) => {
    let isExact = true;
    JSON.stringify(value, (_, each: unknown) => {
      const isLong = typeof each === 'number' && Number.isInteger(each) && Math.abs(each) < 1e21;
      if (isLong && !Number.isSafeInteger(each)) isExact = false;
      return each;
    });
    return isExact;
  });

/** `fc.gen` takes two regular expressions for the same. */
const matching = (source: string): fc.Arbitrary<string> =>
  fc.stringMatching(new RegExp(source, 'u')).filter((text) => isInRange(source, text));

/** The largest integer of a signed column, by the digits of it that follow the first one. */
const LARGEST: Readonly<Record<string, bigint>> = { 9: 2n ** 31n - 1n, 18: 2n ** 63n - 1n };

/** A pattern does not say how large an integer is, nor how many days a month has: such texts may be refused. */
function isInRange(pattern: string, text: string): boolean {
  const largest = LARGEST[/\[1-9\]\\d\{\d+,(\d+)\}/.exec(pattern)?.[1] ?? ''];
  if (largest !== undefined)
    return text
      .split(',')
      .map((digits) => BigInt(digits.replace('-', '')))
      .every((size) => size <= largest && (!pattern.includes('{15,') || size > Number.MAX_SAFE_INTEGER));
  const days = pattern.includes('\\d{4}-') ? (text.match(/\d{4}-\d\d-\d\d/g) ?? []) : [];
  return days.every((day) => !day.startsWith('0000') && new Date(day).toJSON()?.startsWith(day));
}

/** Lookarounds are left out: what is made is checked against the pattern afterwards. */
function textOf({ format, pattern, minLength = 0, maxLength = 20, examples = [] }: Schema, draw: Draw): unknown {
  const known = examples as unknown[];
  if (format === 'email') return draw(fc.constantFrom, 'ann@shop.example', 'bob@shop.example');
  if (known.length > 0 && draw(fc.boolean)) return draw(fc.constantFrom, ...known);
  const [least, most] = [minLength as number, Math.max(minLength as number, Math.min(maxLength as number, 30))];
  if (typeof pattern !== 'string' || pattern.includes('u0000]*$'))
    return draw(fc.string, {
      minLength: least,
      maxLength: most,
      unit: draw(fc.constantFrom, 'grapheme', 'grapheme-ascii', 'binary'),
    });
  const simple = pattern.replaceAll(/\(\?<?!.*?\)/g, '').replaceAll(/\{(?:0|1),\d{2,3}\}/g, '{1,3}');
  return draw(matching, simple);
}

function wrongTexts(schema: Schema, items: Schema): unknown[] {
  const candidates = ['', 'zz unknown', '-', '0.5.1', '1e', 'a,b,c', '-5', 'x'.repeat(101), '\0'];
  if (schema['type'] === 'array') {
    const texts = candidates.filter((text) => !text.includes(',')).map((text) => valueOfText(text, items));
    return [...texts.map((text) => [text]), [texts[0], texts[0]], [texts[6], texts[6], texts[6]]];
  }
  const isText = schema['type'] === 'string';
  return (isText ? candidates : candidates.slice(1)).map((text) => valueOfText(text, schema));
}

/** What a server that knows the schema would read. */
function valueOfText(text: string, { type, anyOf = [] }: Schema): unknown {
  const types = [type, ...(anyOf as Schema[]).map((each) => each['type'])].flat();
  if (types.includes('boolean')) return text === 'true' ? true : text === 'false' ? false : text;
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
