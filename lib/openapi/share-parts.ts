/** Moves the parts that operations of an OpenAPI document repeat to its components. */
import { HttpStatus } from '@nestjs/common';
import { groupBy } from '../routes/route.js';

/** A parameter, a header, a response, a body or a schema. */
export interface Part {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  required?: unknown;
  readonly headers?: Parts;
  readonly content?: Readonly<Record<string, { readonly schema?: Part }>>;
  readonly properties?: Parts;
}

export type Parts = Record<string, Part>;

export interface Operation {
  readonly tags?: readonly string[];
  parameters?: Part[];
  readonly requestBody?: Part;
  readonly responses?: Parts;
  readonly [member: string]: unknown;
}

/** A member that may become a reference. */
interface Place {
  readonly parts: Parts;
  readonly key: string;
  readonly part: Part;
  readonly tag: string;
}

const placesIn = (parts: object = {}, { tags: [tag = ''] = [] }: Operation = {}): Place[] =>
  Object.entries(parts as Parts).map(([key, part]) => ({ parts: parts as Parts, key, part, tag }));

/** Where an operation has parts, by the kind of components. What others contain comes first. */
const KINDS: Readonly<Record<string, (operation: Operation) => readonly Place[]>> = {
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

/** Parts with another key have another meaning. */
const NAMED_BY_KEY: ReadonlySet<string> = new Set(['schemas', 'headers']);

/** @returns the components with the repeated parts, which are references afterwards */
export function shareParts(operations: readonly Operation[], components: object = {}): Record<string, Parts> {
  const shared = { ...components } as Record<string, Parts>;
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
function addComponent(kind: string, same: readonly Place[], known: Parts): void {
  const [first] = same as [Place];
  const tag = same.every((each) => each.tag === first.tag) ? first.tag : '';
  const words = `${tag} ${wordOf(first)}`.split(/[^A-Za-z0-9]+/);
  const base = words.map((each) => each.charAt(0).toUpperCase() + each.slice(1)).join('');
  let name = base;
  for (let number = 2; name in known; number += 1) name = `${base}${number}`;
  known[name] = first.part;
  for (const { parts, key } of same) parts[key] = { $ref: `#/components/${kind}/${name}` };
}
