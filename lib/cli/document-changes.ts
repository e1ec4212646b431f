/** Compares two OpenAPI documents, and finds what breaks clients of the earlier one. */

export type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Content {
  readonly schema?: Schema;
}

interface Body {
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
}

/** As far as it is compared. */
export interface ApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface DocumentChange {
  readonly breaks: boolean;
  /** `GET /api/products, answer 200, data.price: …` */
  readonly text: string;
}

type Report = (breaks: boolean, text: string) => void;

export function compareDocuments(before: ApiDocument, after: ApiDocument): readonly DocumentChange[] {
  const changes = new Map<string, DocumentChange>();
  const compare = new SchemaComparison(before, after);
  const [old, now] = [operationsOf(before), operationsOf(after)];
  const reportAt =
    (place: string): Report =>
    (breaks, text) =>
      void changes.set(`${place}: ${text}`, { breaks, text: `${place}: ${text}` });
  for (const [name, operation] of old) {
    const later = now.get(name);
    if (later) compareOperations(operation, later, compare, (place) => reportAt(`${name}${place}`));
    else reportAt(name)(true, 'was removed');
  }
  for (const name of now.keys()) if (!old.has(name)) reportAt(name)(false, 'is new');
  return [...changes.values()].toSorted((a, b) => Number(b.breaks) - Number(a.breaks));
}

/** By method and path. The names of path parameters do not matter. */
const operationsOf = ({ paths }: ApiDocument): ReadonlyMap<string, Operation> =>
  new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
        operation,
      ]),
    ),
  );

function compareOperations(
  before: Operation,
  after: Operation,
  compare: SchemaComparison,
  reportAt: (place: string) => Report,
): void {
  const [old, now] = [before, after].map(
    ({ parameters = [] }) =>
      new Map(parameters.filter((each) => each.in !== 'path').map((each) => [`${each.in} ${each.name}`, each])),
  ) as [Map<string, Parameter>, Map<string, Parameter>];
  for (const [name, parameter] of old) {
    const later = now.get(name);
    const report = reportAt(`, ${name}`);
    if (!later) report(true, 'was removed');
    else if (later.required && !parameter.required) report(true, 'is required now');
    if (later) compare.sent(parameter.schema ?? {}, later.schema ?? {}, '', report);
  }
  for (const [name, { required }] of now)
    if (!old.has(name)) reportAt(`, ${name}`)(required === true, required ? 'is new and required' : 'is new');
  const body = reportAt(', body');
  if (before.requestBody)
    compareContents(before.requestBody, after.requestBody, body, (a, b) => compare.sent(a, b, '', body));
  else if (after.requestBody) body(after.requestBody.required === true, 'is new');
  for (const [status, answer] of Object.entries(before.responses ?? {})) {
    const later = after.responses?.[status];
    const report = reportAt(`, answer ${status}`);
    if (later) compareContents(answer, later, report, (a, b) => compare.answered(a, b, '', report));
    else report(isSuccess(status), 'was removed');
  }
  for (const status of Object.keys(after.responses ?? {}))
    if (!before.responses?.[status]) reportAt(`, answer ${status}`)(false, 'is new');
}

const isSuccess = (status: string): boolean => status.startsWith('2');

function compareContents(
  before: Body,
  after: Body | undefined,
  report: Report,
  compare: (a: Schema, b: Schema) => void,
): void {
  for (const [type, { schema = {} }] of Object.entries(before.content ?? {})) {
    const later = after?.content?.[type];
    if (later) compare(schema, later.schema ?? {});
    else report(true, `${type} was removed`);
  }
}

/** Limits of what may be sent, and whether a larger number allows less. */
const LIMITS: Readonly<Record<string, boolean>> = {
  minimum: true,
  exclusiveMinimum: true,
  minLength: true,
  minItems: true,
  maximum: false,
  exclusiveMaximum: false,
  maxLength: false,
  maxItems: false,
};

class SchemaComparison {
  /** The names of pairs of schemas, in one body. */
  private readonly compared = new Set<string>();

  constructor(
    private readonly before: ApiDocument,
    private readonly after: ApiDocument,
  ) {}

  /** A client that sends what the earlier schema allows must not be refused. */
  sent(one: Schema, other: Schema, path: string, report: Report): void {
    const pair = this.resolved(one, other, path);
    if (!pair) return;
    const [old, now] = pair;
    const at = describePlace(path);
    const lost = typesOf(old).filter((type) => !accepts(typesOf(now), type));
    if (lost.length > 0) return report(true, `${at}${lost.join(' or ')} is not accepted any more`);
    const missing = enumOf(now) && (enumOf(old) ?? []).filter((value) => !enumOf(now)?.includes(value));
    if (enumOf(now) && !enumOf(old)) report(true, `${at}accepts only ${list(enumOf(now))} now`);
    else if (missing && missing.length > 0) report(true, `${at}${list(missing)} is not accepted any more`);
    for (const [limit, isLower] of Object.entries(LIMITS)) {
      const [was, is] = [old[limit], now[limit]];
      if (typeof is !== 'number' || was === is) continue;
      const isNarrower = typeof was !== 'number' || (isLower ? is > was : is < was);
      report(isNarrower, `${at}${limit} is ${is}, was ${String(was ?? 'none')}`);
    }
    if (old['pattern'] !== now['pattern'] && now['pattern'] !== undefined)
      report(old['pattern'] === undefined, `${at}has another pattern`);
    const properties = propertiesOf(now);
    for (const [name, schema] of Object.entries(propertiesOf(old))) {
      const later = properties[name];
      if (later) this.sent(schema, later, join(path, name), report);
      else if (now['additionalProperties'] === false) report(true, `${join(path, name)} is not accepted any more`);
    }
    const required = requiredOf(old);
    for (const name of requiredOf(now))
      if (!required.includes(name)) report(true, `${join(path, name)} is required now`);
    for (const name of Object.keys(properties))
      if (!(name in propertiesOf(old)) && !requiredOf(now).includes(name)) report(false, `${join(path, name)} is new`);
    if (isSchema(old['items']) && isSchema(now['items'])) this.sent(old['items'], now['items'], `${path}[]`, report);
  }

  /** A client that reads what the earlier schema promises must find it. */
  answered(one: Schema, other: Schema, path: string, report: Report): void {
    const pair = this.resolved(one, other, path);
    if (!pair) return;
    const [old, now] = pair;
    const at = describePlace(path);
    const added = typesOf(now).filter((type) => !accepts(typesOf(old), type));
    if (added.length > 0) return report(true, `${at}may be ${added.join(' or ')} now`);
    const more = (enumOf(now) ?? []).filter((value) => enumOf(old) && !enumOf(old)?.includes(value));
    if (more.length > 0) report(false, `${at}may be ${list(more)} now`);
    const gone = (enumOf(old) ?? []).filter((value) => enumOf(now) && !enumOf(now)?.includes(value));
    if (gone.length > 0) report(true, `${at}is never ${list(gone)} any more`);
    const properties = propertiesOf(now);
    for (const [name, schema] of Object.entries(propertiesOf(old))) {
      const later = properties[name];
      if (!later) report(true, `${join(path, name)} was removed`);
      else {
        if (requiredOf(old).includes(name) && !requiredOf(now).includes(name))
          report(true, `${join(path, name)} may be missing now`);
        this.answered(schema, later, join(path, name), report);
      }
    }
    for (const name of Object.keys(properties))
      if (!(name in propertiesOf(old))) report(false, `${join(path, name)} is new`);
    if (isSchema(old['items']) && isSchema(now['items']))
      this.answered(old['items'], now['items'], `${path}[]`, report);
  }

  /** `undefined` where a pair of named schemas has been compared: records may include each other. */
  private resolved(one: Schema, other: Schema, path: string): readonly [Schema, Schema] | undefined {
    if (path === '') this.compared.clear();
    const names = `${String(one['$ref'])} ${String(other['$ref'])}`;
    if (typeof one['$ref'] === 'string' && this.compared.has(names)) return undefined;
    this.compared.add(names);
    return [resolve(one, this.before), resolve(other, this.after)];
  }
}

function resolve(schema: Schema, { components }: ApiDocument): Schema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (components?.schemas?.[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}) : schema;
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null;
const ANY = 'any value';

/** Of alternatives, all types. A reference is an object. */
function typesOf({ type, anyOf, $ref, const: constant, enum: values }: Schema): string[] {
  if (Array.isArray(anyOf)) return [...new Set((anyOf as Schema[]).flatMap(typesOf))];
  if (typeof $ref === 'string') return ['object'];
  if (type !== undefined) return [type].flat() as string[];
  const known = constant === undefined ? (values as unknown[] | undefined) : [constant];
  return known ? [...new Set(known.map((value) => (value === null ? 'null' : typeof value)))] : [ANY];
}

const accepts = (types: readonly string[], type: string): boolean =>
  types.includes(type) || types.includes(ANY) || (type === 'integer' && types.includes('number'));

const enumOf = ({ enum: values }: Schema): readonly unknown[] | undefined =>
  Array.isArray(values) ? (values as unknown[]) : undefined;
const propertiesOf = ({ properties }: Schema): Readonly<Record<string, Schema>> =>
  (properties ?? {}) as Record<string, Schema>;
const requiredOf = ({ required }: Schema): readonly string[] => (required ?? []) as string[];
const list = (values: readonly unknown[] | undefined): string =>
  (values ?? []).map((value) => JSON.stringify(value)).join(', ');
const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const describePlace = (path: string): string => (path === '' ? '' : `${path} `);
