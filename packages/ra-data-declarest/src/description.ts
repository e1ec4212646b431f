/** ra-data-declarest/description: what `AdminFor` shows of a service, read from its OpenAPI document. It runs on servers too. */
import { rolesOf } from './roles.js';

/**
 * `big integer` has 64 bits, which only texts hold exactly, as they do a `decimal`; `choice` has a fixed set of values; `references` are
 * the keys of records of another resource; `file` is a column of declarest-files; `json` is any value that no other kind describes.
 */
export type FieldKind =
  | 'text'
  | 'long text'
  | 'number'
  | 'decimal'
  | 'big integer'
  | 'boolean'
  | 'choice'
  | 'date'
  | 'date-time'
  | 'references'
  | 'file'
  | 'json';

export interface FieldDescription {
  /** With dots inside of embedded objects: `address.city`. */
  readonly name: string;
  readonly kind: FieldKind;
  readonly choices?: readonly (string | number)[];
  /** The name of the resource whose key it holds, or whose keys. */
  readonly reference?: string;
  /** The relation of the reference, if lists include it. */
  readonly relation?: string;
  readonly isRequired: boolean;
  readonly isNullable?: true;
  readonly isReadable: boolean;
  readonly isSortable: boolean;
  /** What sorts a list by the records that it refers to: `category.name`. */
  readonly sortBy?: string;
  /** Whether a body may have it: that of a new record, and that of a change. */
  readonly isCreatable: boolean;
  readonly isEditable: boolean;
  /** What a new record gets without a value. */
  readonly initial?: string | number | boolean;
  /** How lists are filtered by it: by a part of its text, by bounds, or by its value. */
  readonly filter?: 'part' | 'bounds' | 'value';
  /** What filters a list by one of several records that it refers to: `tags.id`. */
  readonly filterBy?: string;
  /** The roles that read or write it. Without them, everyone who may use the resource does. */
  readonly readers?: readonly string[];
  readonly writers?: readonly string[];
  /** Of a file. It is written below the record, and never with it. */
  readonly file?: FileDescription;
  /** Values to choose from, of a text that may have others. */
  readonly suggestions?: readonly string[];
  /** Of an amount, as ISO 4217 names it: `EUR`. */
  readonly currency?: string;
}

export interface FileDescription {
  /** The media types that it may have. */
  readonly types: readonly string[];
  /** Whether the server scales images down: `?width=200`. */
  readonly isScaled: boolean;
}

export interface ResourceDescription {
  /** The path below the base, as the data provider names resources: `products`, `products/:productId/reviews`. */
  readonly name: string;
  /** The primary key, unless it is `id`. */
  readonly key?: readonly string[];
  /** Of a resource whose path has the key of another one: the name of that one, and the parameter for its key. */
  readonly parent?: { readonly resource: string; readonly parameter: string };
  readonly fields: readonly FieldDescription[];
  /** The field that names a record for people: that of the hints, a text, or else `id`. */
  readonly title: string;
  /** How records are hidden that are deleted. */
  readonly deletion?: DeletionDescription;
  /** What the application itself does with a record, and without one. */
  readonly actions: readonly ActionDescription[];
  readonly listActions: readonly ActionDescription[];
  /** Of the users of `AuthModule`, as `administration` lists and changes them. */
  readonly accounts?: AccountsDescription;
  readonly hasSearch: boolean;
  readonly hasExport: boolean;
  readonly canShow: boolean;
  readonly canCreate: boolean;
  readonly canEdit: boolean;
}

export interface AccountsDescription {
  /** With `waysIn()`: the texts of which a revocation takes one, such as the password of the administrator. */
  readonly proofs?: readonly string[];
}

export interface DeletionDescription {
  /** The field that a deletion sets. */
  readonly field: string;
  readonly canRestore: boolean;
  /** The roles that list hidden records, and delete them for good. */
  readonly roles: readonly string[];
}

export interface ActionDescription {
  /** The last part of its path: `cancel` of `/orders/{id}/cancel`, `close-day` of `/orders/close-day`. */
  readonly name: string;
  readonly method: string;
  readonly title?: string;
  /** What its body may have. */
  readonly fields: readonly FieldDescription[];
}

/** Who may call an operation, as `addAccess` of the server writes it. */
interface OperationAccess {
  readonly 'x-access'?: { readonly access: string };
}

/** What a document does not tell of a resource. */
export interface ResourceHints {
  /** The field that names a record for people, also in references to it: `serial`. By default a text such as `name`. */
  readonly label?: string;
  /** The currencies of amounts, as ISO 4217 names them: `{ price: 'EUR' }`. */
  readonly currency?: Readonly<Record<string, string>>;
}

/** What `AdminFor` reads of a service. */
export interface ServiceDescription {
  readonly resources: readonly ResourceDescription[];
  /** Who may call the operations below the base, by path and method, as in the document. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationAccess>>>>;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly readOnly?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Part {
  readonly name?: string;
  readonly description?: string;
  readonly schema?: Schema;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation extends OperationAccess {
  readonly operationId?: string;
  readonly summary?: string;
  readonly parameters?: readonly Part[];
  readonly requestBody?: Part;
  readonly responses?: Readonly<Record<string, Part>>;
}

type PathItem = Readonly<Record<string, Operation | undefined>>;

interface Property extends Schema {
  readonly isRequired: boolean;
  readonly isNullable: boolean;
}

/** The properties by their names; those of embedded objects have dots. */
type Properties = ReadonlyMap<string, Property>;

/**
 * Describes a service for `AdminFor` in a few kilobytes: the server makes it once, and serves it beside its document.
 *
 * @param document OpenAPI 3.1, as `addAccess` of `declarest/openapi` makes it
 * @param base the path of the resources, without a slash at its end: `/api`, or an empty text
 * @param hints by the name of a resource
 *
 * @example
 * const hints = { products: { label: 'serial', currency: { price: 'EUR' } } };
 * serveDocuments(app, { '/admin/resources.json': () => describeService(document(), '/api', hints) });
 *
 * @throws Error for hints that name no resource or field of the document, or no currency
 */
export function describeService(
  document: object,
  base: string,
  hints: Readonly<Record<string, ResourceHints>> = {},
): ServiceDescription {
  const { paths = {} } = document as { readonly paths?: Readonly<Record<string, PathItem>> };
  const below = Object.entries(paths).filter(([path]) => path.startsWith(`${base}/`));
  const access = Object.fromEntries(below.map(([path, item]) => [path, accessOf(item)]));
  const described = describeResources(document, base);
  expectOneOf('hints', Object.keys(hints), described);
  const roles = rolesOf(described, access);
  const resources = described.map((each) => withHints(withRoles(each, roles), hints[each.name]));
  return { resources, paths: access };
}

function withRoles(resource: ResourceDescription, suggestions: readonly string[]): ResourceDescription {
  const fields = resource.fields.map((field) => (field.name === 'role' ? { ...field, suggestions } : field));
  return resource.accounts ? { ...resource, fields } : resource;
}

function withHints(resource: ResourceDescription, { label, currency = {} }: ResourceHints = {}): ResourceDescription {
  const { name, title, fields } = resource;
  expectOneOf(`hints.${name}.label`, label === undefined ? [] : [label], fields);
  expectOneOf(`hints.${name}.currency`, Object.keys(currency), fields);
  for (const code of Object.values(currency))
    if (!/^[A-Z]{3}$/.test(code))
      throw new Error(`hints.${name}.currency must have codes of ISO 4217 such as EUR, got ${code}.`);
  const inCurrency = (field: FieldDescription): FieldDescription => {
    const code = currency[field.name];
    return code === undefined ? field : { ...field, currency: code };
  };
  return { ...resource, title: label ?? title, fields: fields.map(inCurrency) };
}

function expectOneOf(option: string, given: readonly string[], known: readonly { readonly name: string }[]): void {
  const names = known.map(({ name }) => name);
  for (const each of given)
    if (!names.includes(each)) throw new Error(`${option} must name some of ${names.join(', ')}, got ${each}.`);
}

function accessOf(item: PathItem): Record<string, OperationAccess> {
  const operations = Object.entries(item).filter(([, operation]) => !Array.isArray(operation));
  return Object.fromEntries(
    operations.map(([method, operation]) => {
      const access = operation?.['x-access']?.access;
      return [method, access === undefined ? {} : { 'x-access': { access } }];
    }),
  );
}

/**
 * The resources with a list that is paginated, in the order of the document; those with longer paths come last.
 *
 * @param document OpenAPI 3.1, as `SwaggerModule.createDocument` makes it
 * @param base the path of the resources: `/api`
 */
export function describeResources(document: object, base: string): ResourceDescription[] {
  const { paths = {} } = document as { readonly paths?: Readonly<Record<string, PathItem>> };

  /** Follows a reference such as `#/components/schemas/Product`. */
  const resolve = <T extends object>(part: T | undefined): T | undefined => {
    const { $ref } = (part ?? {}) as { readonly $ref?: string };
    if ($ref === undefined) return part;
    const levels = $ref.replace('#/', '').split('/');
    return levels.reduce<unknown>((within, level) => (within as Record<string, unknown>)[level], document) as T;
  };

  const schemaOf = (part: Part | undefined): Schema | undefined =>
    resolve(resolve(part)?.content?.['application/json']?.schema);

  /** Without a reference and without `null`. An integer of 64 bits is a number or a text. */
  const valueOf = (schema: Schema): Schema => {
    const { anyOf = [], ...rest } = { ...schema, ...resolve(schema) };
    const alternatives = anyOf.filter(({ type }) => type !== 'null').map(valueOf);
    const types = alternatives.flatMap(({ type }) => type ?? []);
    return { ...rest, ...alternatives[0], ...(alternatives.length > 1 && { type: types }) };
  };

  const isNullable = (schema: Schema): boolean => {
    const { type = [], anyOf = [] } = { ...schema, ...resolve(schema) };
    return [type].flat().includes('null') || anyOf.some(isNullable);
  };

  /** The schema of the records that a property includes; `undefined` for a value. */
  const includedBy = (schema: Schema | undefined): string | undefined => {
    const [{ $ref }] = [schema?.items ?? schema?.anyOf?.find((each) => each.$ref !== undefined) ?? schema ?? {}];
    return $ref !== undefined && resolve<Schema>({ $ref })?.properties ? $ref : undefined;
  };

  const propertiesOf = (schema: Schema | undefined, prefix = ''): Properties =>
    new Map(
      Object.entries(schema?.properties ?? {}).flatMap(([name, property]): [string, Property][] => {
        if (includedBy(property) !== undefined) return [];
        if (property.properties) return [...propertiesOf(property, `${prefix}${name}.`)];
        const isRequired = schema?.required?.includes(name) ?? false;
        return [[`${prefix}${name}`, { ...valueOf(property), isRequired, isNullable: isNullable(property) }]];
      }),
    );

  const parametersOf = (operation: Operation | undefined): ReadonlyMap<string, Schema> =>
    new Map(
      (operation?.parameters ?? []).map((each) => {
        const { name = '', schema = {} } = resolve(each) ?? {};
        return [name, schema];
      }),
    );

  /** A paginated list, with the schema of its records. */
  const listOf = (
    path: string,
  ): { readonly record: string; readonly parameters: ReadonlyMap<string, Schema> } | undefined => {
    const operation = paths[path]?.['get'];
    const { $ref } = schemaOf(operation?.responses?.['200'])?.properties?.['data']?.items ?? {};
    const parameters = parametersOf(operation);
    return $ref !== undefined && parameters.has('size') ? { record: $ref, parameters } : undefined;
  };

  const lists = Object.keys(paths).flatMap((path) => {
    const isResource = path.startsWith(`${base}/`) && !path.endsWith('/search');
    const list = isResource ? listOf(path) : undefined;
    const name = path.slice(base.length + 1).replaceAll(/\{(\w+)\}/g, ':$1');
    return list ? [{ path, name, ...list }] : [];
  });
  const depthOf = ({ path }: (typeof lists)[number]): number => path.split('/').length;
  lists.sort((a, b) => depthOf(a) - depthOf(b));

  /** Relations that the document includes have a schema. Others are told by their name: `productId` of `Product`. */
  const referenceOf = (name: string, record: Schema | undefined): string | undefined => {
    const [, relation, isMany] = /^(\w+)Id(s?)$/.exec(name) ?? [];
    if (relation === undefined) return undefined;
    const named = isMany && lists.find((list) => list.name === relation)?.name;
    if (named) return named;
    const conventional = `#/components/schemas/${relation.charAt(0).toUpperCase()}${relation.slice(1)}`;
    const schema = includedBy(record?.properties?.[relation]) ?? conventional;
    return lists.find((list) => list.record === schema && !list.name.includes(':'))?.name;
  };

  return lists.flatMap(({ path, name, record: $ref, parameters }): ResourceDescription[] => {
    const ofRecord = `${path}/{id}`;
    const record = resolve<Schema>({ $ref });
    const read = propertiesOf(record);
    const creation = schemaOf(paths[path]?.['post']?.requestBody);
    const change = schemaOf(paths[ofRecord]?.['patch']?.requestBody);
    const key = read.has('id') ? undefined : keyOf(schemaOf(paths[`${path}/batch`]?.['patch']?.requestBody));
    const parent = parentOf(name);
    if (key?.length === 0 || parent === null) return [];
    const accounts = accountsOf(path);
    const filters = operatorsOf(parameters);
    const sorts = new Set(parameters.get('sort')?.items?.enum);
    const relations = new Set(parameters.get('include')?.items?.enum);
    const [created, changed] = [propertiesOf(creation), propertiesOf(change)];
    const fields = [...new Set([...read.keys(), ...created.keys(), ...changed.keys()])].map((field) => {
      const reference = referenceOf(field, record);
      const relation = field.replace(/Id$/, '');
      const described = describeField(read.get(field), created.get(field), changed.get(field));
      const isMany = reference !== undefined && described.kind === 'json';
      const sortBy = reference && [...sorts].map(String).find((each) => each.startsWith(`${relation}.`));
      const ofRelated = `${field.replace(/Ids$/, '')}.id`;
      const operators = described.isReadable ? filters.get(field) : undefined;
      const byValue = operators && ('value' as const);
      const filter = accounts ? byValue : filterOf(described.kind, reference, operators);
      return {
        name: field,
        ...described,
        ...(isMany && { kind: 'references' as const }),
        isSortable: sorts.has(field) || sortBy !== undefined,
        ...(sortBy !== undefined && { sortBy }),
        ...(reference !== undefined && { reference }),
        ...(reference !== undefined && relations.has(relation) && { relation }),
        ...(filter && { filter }),
        ...(isMany && filters.has(ofRelated) && { filterBy: ofRelated }),
        ...fileAt(`${ofRecord}/${field}`),
      };
    });
    return [
      {
        name,
        ...(key && { key }),
        ...(parent && { parent }),
        fields,
        title: titleOf(fields),
        ...deletionOf(path, read),
        // The answer to a new key is the only one that has it, and it is not shown.
        actions: actionsOf(ofRecord, ['restore']).filter((action) => !accounts || action.name !== 'keys'),
        listActions: actionsOf(path, ['batch', 'import']),
        ...(accounts && { accounts }),
        hasExport: paths[`${path}/export`]?.['get'] !== undefined,
        hasSearch: accounts !== undefined || parametersOf(paths[`${path}/search`]?.['get']).has('q'),
        canShow: paths[ofRecord]?.['get'] !== undefined,
        canCreate: creation !== undefined,
        canEdit: change !== undefined && (accounts !== undefined || paths[ofRecord]?.['get'] !== undefined),
      },
    ];
  });

  function deletionOf(path: string, read: Properties): Pick<ResourceDescription, 'deletion'> {
    const list = (paths[path]?.['get']?.parameters ?? []).map((each) => resolve(each));
    const { description = '' } = list.find((each) => each?.name === 'deleted') ?? {};
    const [, roles] = /Only for (.+)\./.exec(description) ?? [];
    // A record that is not hidden does not have it.
    const [field] = [...read].find(([, { format, isRequired }]) => format === 'date-time' && !isRequired) ?? [];
    if (roles === undefined || field === undefined) return {};
    const canRestore = paths[`${path}/{id}/restore`]?.['post'] !== undefined;
    return { deletion: { field, canRestore, roles: roles.split(' and ') } };
  }

  /** `FileCrudController` has a path below the record for each file. */
  function fileAt(path: string): Partial<FieldDescription> | undefined {
    const { get, put } = paths[path] ?? {};
    const content = Object.entries(resolve(get?.responses?.['200'])?.content ?? {});
    if (content.length === 0 || content.some(([, { schema }]) => schema?.format !== 'binary')) return undefined;
    const file = { types: content.map(([type]) => type), isScaled: parametersOf(get).has('width') };
    return { kind: 'file', file, isCreatable: false, isEditable: put !== undefined };
  }

  function accountsOf(path: string): AccountsDescription | undefined {
    if (paths[path]?.['get']?.operationId !== 'findUsers') return undefined;
    const revocation = paths[`${path}/{id}/ways-in/{kind}/{way}`]?.['delete'];
    const members = Object.entries(schemaOf(revocation?.requestBody)?.properties ?? {});
    const texts = members.filter(([, schema]) => valueOf(schema).type === 'string');
    return revocation ? { proofs: texts.map(([name]) => name) } : {};
  }

  /** Operations below a path that declarest does not generate. */
  function actionsOf(path: string, generated: readonly string[]): ActionDescription[] {
    return Object.entries(paths).flatMap(([each, item]) => {
      const name = each.startsWith(`${path}/`) ? each.slice(path.length + 1) : '';
      if (!/^[^/{}]+$/.test(name) || generated.includes(name) || listOf(each) || fileAt(each)) return [];
      return ['post', 'put', 'patch', 'delete'].flatMap((method) => {
        const operation = item[method];
        if (!operation) return [];
        const body = [...propertiesOf(schemaOf(operation.requestBody))];
        const fields = body.map(([field, property]) => ({
          name: field,
          ...describeField(undefined, property, undefined),
          isSortable: false,
        }));
        return [{ name, method, ...(operation.summary && { title: operation.summary }), fields }];
      });
    });
  }

  /** The items of a batch name their record by its key, and nothing else in them is required. */
  function keyOf(batch: Schema | undefined): readonly string[] {
    return resolve(batch?.properties?.['items']?.items)?.required ?? [];
  }
}

/** `null` for a path that no record of another list leads to. */
function parentOf(name: string): ResourceDescription['parent'] | null {
  if (!name.includes(':')) return undefined;
  const [, resource = '', parameter = ''] = /^([^:]+)\/:(\w+)\/[^:]+$/.exec(name) ?? [];
  return resource === '' ? null : { resource, parameter };
}

/** The operators of the filters of each field. A filter by equality has none in its name. */
function operatorsOf(parameters: ReadonlyMap<string, unknown>): ReadonlyMap<string, ReadonlySet<string>> {
  const operators = new Map<string, Set<string>>();
  for (const parameter of parameters.keys()) {
    const [, field, operator = 'eq'] = /^filter\[([^\]]+)\](?:\[(\w+)\])?$/.exec(parameter) ?? [];
    if (field !== undefined) operators.set(field, (operators.get(field) ?? new Set()).add(operator));
  }
  return operators;
}

function filterOf(
  kind: FieldKind,
  reference: string | undefined,
  operators: ReadonlySet<string> = new Set(),
): FieldDescription['filter'] {
  if (reference !== undefined || kind === 'boolean' || kind === 'choice')
    return operators.has('in') ? 'value' : undefined;
  if (operators.has('icontains')) return 'part';
  if (operators.has('gte') && kind !== 'text') return 'bounds';
  return operators.has('in') ? 'value' : undefined;
}

/** A field by its schemas: of records, of new ones, and of changes. */
function describeField(read: Property | undefined, created: Property | undefined, changed: Property | undefined) {
  const schemas = [read, created, changed].filter((each) => each !== undefined);
  const choices = schemas.find((each) => each.enum)?.enum?.filter((each) => each !== null) as (string | number)[];
  const initial = created?.default as FieldDescription['initial'];
  const readers = rolesIn(schemas, /Only (.+) read it\./);
  const writers = rolesIn(schemas, /Only (.+) may write it\./);
  return {
    kind: kindOf(schemas),
    ...(choices && { choices }),
    isRequired: created?.isRequired ?? false,
    ...(schemas.some((each) => each.isNullable) && { isNullable: true as const }),
    isReadable: read !== undefined,
    isCreatable: created !== undefined && !created.readOnly,
    isEditable: changed !== undefined && !changed.readOnly,
    ...(initial !== undefined && { initial }),
    ...(readers && { readers }),
    ...(writers && { writers }),
  };
}

/** Of the database; any other pattern is that of a short text. */
const ANY_TEXT = String.raw`^[^\u0000]*$`;
const LONG = 255;

function kindOf(schemas: readonly Property[]): FieldKind {
  const formats = schemas.map(({ format }) => format);
  const types = new Set([schemas[0]?.type ?? []].flat().filter((type) => type !== 'null'));
  const isDecimal = schemas.some(({ type = [] }) => type.includes('number') && type.includes('string'));
  if (schemas.some((each) => each.enum)) return 'choice';
  if (formats.includes('date-time')) return 'date-time';
  if (formats.includes('date')) return 'date';
  if (types.has('boolean')) return 'boolean';
  if (types.has('integer') && types.has('string')) return 'big integer';
  if (isDecimal) return 'decimal';
  if (types.has('integer') || types.has('number')) return 'number';
  if (!types.has('string')) return 'json';
  // A value that is only read has no limit in the document.
  if (schemas.length === 1) return 'text';
  const isShort = schemas.some(
    ({ format, pattern = ANY_TEXT, maxLength = LONG + 1 }) => format || pattern !== ANY_TEXT || maxLength <= LONG,
  );
  return isShort ? 'text' : 'long text';
}

function rolesIn(schemas: readonly Property[], sentence: RegExp): readonly string[] | undefined {
  return schemas.flatMap(({ description = '' }) => sentence.exec(description)?.[1] ?? [])[0]?.split(' and ');
}

const TITLES = ['name', 'title', 'label', 'email', 'username'];

function titleOf(fields: readonly FieldDescription[]): string {
  const texts = fields.filter(
    ({ name, kind, isReadable, readers, reference }) =>
      kind === 'text' && isReadable && !readers && !reference && name !== 'id',
  );
  const filled = texts.filter(({ isNullable }) => !isNullable);
  const usualIn = (some: readonly FieldDescription[]) => TITLES.find((name) => some.some((each) => each.name === name));
  return usualIn(filled) ?? usualIn(texts) ?? filled[0]?.name ?? 'id';
}
