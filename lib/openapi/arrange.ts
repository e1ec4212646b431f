/** Arranges an OpenAPI document: a sentence for each tag, and what operations repeat once, in its components. */
import { HttpStatus } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { groupBy } from '../routes/route.js';

/** Operations by their methods, and `parameters` of all of them. */
type PathItem = Record<string, DocumentOperation | Component[]>;

const operationsOf = (item: object): DocumentOperation[] =>
  Object.values(item as Readonly<Record<string, DocumentOperation>>);

export function arrange(document: OpenAPIObject): OpenAPIObject {
  const { paths, components, tags = [], ...others } = JSON.parse(JSON.stringify(document)) as OpenAPIObject;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    operationsOf(item).map((operation) => ({ operation, levels: path.split('/') })),
  );
  for (const { operation } of operations)
    for (const parameter of operation.parameters ?? []) if (parameter.required === false) delete parameter.required;
  const pathOperations = Object.values(paths).map((item) => moveToPath(item as PathItem));
  const shared = shareParts([...operations.map(({ operation }) => operation), ...pathOperations], components);
  const names = new Set([...tags.map(({ name }) => name), ...operations.flatMap((each) => each.operation.tags ?? [])]);
  const described = [...names].map((name) => {
    const own = operations.filter(({ operation }) => operation.tags?.includes(name));
    const base = own[0]?.levels.filter((level, depth) => own.every(({ levels }) => levels[depth] === level)).join('/');
    return { name, description: `Operations of \`${base}\`.`, ...tags.find((tag) => tag.name === name) };
  });
  return { ...others, tags: described, paths, components: shared as object };
}

/** Moves path parameters that all operations of a path describe in the same way. @returns them, with the tag of the path */
function moveToPath(item: PathItem): DocumentOperation {
  const operations = operationsOf(item);
  const described = operations.map(({ parameters = [] }) => new Set(parameters.map((each) => JSON.stringify(each))));
  const isOfPath = (each: Component): boolean =>
    each.in === 'path' && operations.length > 1 && described.every((texts) => texts.has(JSON.stringify(each)));
  const [{ tags = [], parameters = [] } = {}] = operations;
  const moved = parameters.filter(isOfPath);
  if (moved.length === 0) return {};
  for (const operation of operations) {
    const rest = operation.parameters?.filter((each) => !isOfPath(each)) ?? [];
    if (rest.length > 0) operation.parameters = rest;
    else delete operation.parameters;
  }
  item['parameters'] = moved;
  return { tags, parameters: moved };
}

/** A parameter, a header, a response, a body or a schema. */
export interface Component {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  required?: unknown;
  readonly headers?: Components;
  readonly content?: Readonly<Record<string, { readonly schema?: Component }>>;
  readonly properties?: Components;
}

type Components = Record<string, Component>;

export interface DocumentOperation {
  readonly tags?: readonly string[];
  parameters?: Component[];
  readonly requestBody?: Component;
  readonly responses?: Components;
  readonly [member: string]: unknown;
}

/** A member that may become a reference. */
interface Place {
  readonly parts: Components;
  readonly key: string;
  readonly part: Component;
  readonly tag: string;
}

const placesIn = (parts: object = {}, { tags: [tag = ''] = [] }: DocumentOperation = {}): Place[] =>
  Object.entries(parts as Components).map(([key, part]) => ({ parts: parts as Components, key, part, tag }));

/** Where an operation has parts, by the kind of components. What others contain comes first. */
const KINDS: Readonly<Record<string, (operation: DocumentOperation) => readonly Place[]>> = {
  schemas: (operation) =>
    [operation.requestBody ?? {}, ...Object.values(operation.responses ?? {})]
      .flatMap(({ content = {} }) => Object.values(content))
      .flatMap(({ schema }) => placesIn(schema?.properties, operation)),
  headers: (operation) =>
    Object.values(operation.responses ?? {}).flatMap(({ headers }) => placesIn(headers, operation)),
  responses: (operation) => placesIn(operation.responses, operation),
  requestBodies: (operation) => placesIn(operation, operation).filter(({ key }) => key === 'requestBody'),
  parameters: (operation) => placesIn(operation.parameters, operation),
};

/** Components with another key have another meaning. */
const NAMED_BY_KEY: ReadonlySet<string> = new Set(['schemas', 'headers']);

/** @returns the components with the repeated parts, which are references afterwards */
function shareParts(operations: readonly DocumentOperation[], components: object = {}): Record<string, Components> {
  const shared = { ...components } as Record<string, Components>;
  const properties = Object.values(shared['schemas'] ?? {}).flatMap((schema) => placesIn(schema.properties));
  for (const [kind, placesOf] of Object.entries(KINDS)) {
    const places = [...operations.flatMap(placesOf), ...(kind === 'schemas' ? properties : [])];
    const groups = groupBy(places, ({ key, part }) => `${NAMED_BY_KEY.has(kind) ? key : ''} ${JSON.stringify(part)}`);
    const known = { ...shared[kind] };
    for (const same of groups.values()) if (isShared(kind, same)) addComponent(kind, same, known);
    if (Object.keys(known).length > 0) shared[kind] = known;
  }
  return shared;
}

const wordOf = ({ key, part: { name } }: Place): string => name ?? HttpStatus[Number(key)]?.toLowerCase() ?? key;

/** A property is shared if that is shorter. Objects and references to records stay where readers look for them. */
function isShared(kind: string, same: readonly Place[]): boolean {
  const [{ key, part }] = same as [Place];
  if (part.$ref !== undefined || same.length < 2) return false;
  if (kind !== 'schemas') return true;
  const text = JSON.stringify(part);
  const isValue = !part.properties && !text.includes('"$ref"');
  const reference = `{"$ref":"#/components/schemas/${key}"}`;
  return isValue && same.length * (text.length - reference.length) > text.length;
}

/** It is named by its tag too where all of them have the same one. */
function addComponent(kind: string, same: readonly Place[], known: Components): void {
  const [first] = same as [Place];
  const tag = same.every((each) => each.tag === first.tag) ? first.tag : '';
  const words = `${tag} ${wordOf(first)}`.split(/[^A-Za-z0-9]+/);
  const base = words.map((each) => each.charAt(0).toUpperCase() + each.slice(1)).join('');
  let name = base;
  for (let number = 2; name in known; number += 1) name = `${base}${number}`;
  known[name] = first.part;
  for (const { parts, key } of same) parts[key] = { $ref: `#/components/${kind}/${name}` };
}
