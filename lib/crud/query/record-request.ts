/** Reads `fields`, `include` and `fields[author]`: what a request wants of each record. */
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import type { Relation } from '../sql/condition.js';
import { QueryParameters, READ_LISTS, relationOf } from './parameters.js';
import type { ListQuery } from '../declare/envelope.js';

export interface Includable {
  readonly path: string;
  readonly relation: Relation;
  readonly readable: readonly Field[];
}

/** A many-to-many relation that records have as an array of ids. */
export interface LinkedIds {
  readonly name: string;
  readonly path: string;
  readonly relation: Relation;
}

export interface RecordRequest {
  readonly fields: readonly Field[];
  readonly linked: readonly LinkedIds[];
  readonly includes: readonly IncludeRequest[];
}

export interface IncludeRequest extends RecordRequest {
  readonly includable: Includable;
}

export interface RecordParameters {
  readonly readable: readonly Field[];
  /** Relations by path; each path comes after those that it begins with. */
  readonly includable: ReadonlyMap<string, Includable>;
  readonly linkable: readonly LinkedIds[];
}

export const MAX_RELATIONS = 10;

export const allFields = ({ readable, linkable }: RecordParameters): RecordRequest => ({
  fields: readable,
  linked: linkable,
  includes: [],
});

/** With the key, which finds the related records. */
export const selectedFields = (request: RecordRequest, key: EntityKey<Field>): readonly Field[] =>
  hasRelations(request) ? withKey(request.fields, key) : request.fields;

/** The fields themselves where they have the key. */
export function withKey(fields: readonly Field[], key: EntityKey<Field>): readonly Field[] {
  const others = key.fields.filter((field) => !fields.includes(field));
  return others.length === 0 ? fields : [...others, ...fields];
}

/** Whether a request wants more of its records than their own columns. */
export const hasRelations = ({ linked, includes }: RecordRequest): boolean => linked.length > 0 || includes.length > 0;

export const recordParameterNames = ({ includable }: Pick<RecordParameters, 'includable'>): string[] => [
  'fields',
  ...(includable.size > 0 ? ['include'] : []),
];

/** Reads the query string of a request for a single record. @throws 400 */
export function parseRecordQuery(query: ListQuery, list: RecordParameters): RecordRequest {
  if (Object.keys(query).length === 0) return allFields(list);
  const parameters = new QueryParameters(query, recordParameterNames(list), READ_LISTS);
  const request = readRecordRequest(parameters, list);
  parameters.throwIfAny();
  return request;
}

export function readRecordRequest(parameters: QueryParameters, list: RecordParameters): RecordRequest {
  const includes = readIncludes(parameters, list);
  return { ...readFields('fields', list, parameters), includes };
}

/** A name also stands for the fields of an embedded object: `address` for `address.city`. */
export function readFields(
  parameter: string,
  { readable, linkable }: Pick<RecordParameters, 'readable' | 'linkable'>,
  parameters: QueryParameters,
): Pick<RecordRequest, 'fields' | 'linked'> {
  const text = parameters.get(parameter);
  if (text === undefined) return { fields: readable, linked: linkable };
  const names = new Set(parameters.namesIn(parameter, text));
  const fields = readable.filter((field) => namesOf(field).some((name) => names.has(name)));
  const linked = linkable.filter(({ name }) => names.has(name));
  const known = new Set([...fields.flatMap(namesOf), ...linked.map(({ name }) => name)]);
  const allowed = (): string[] => [...readable, ...linkable].map((each) => each.name);
  for (const name of names) if (!known.has(name)) parameters.addUnknown(parameter, 'field', allowed(), name);
  return { fields, linked };
}

/** `address` and `address.city` for a field of an embedded object. */
export const namesOf = ({ path }: Field): string[] => path.map((_, depth) => path.slice(0, depth + 1).join('.'));

function readIncludes(parameters: QueryParameters, { includable }: RecordParameters): readonly IncludeRequest[] {
  const included = readIncludedPaths(parameters, includable);
  const requests = new Map<string, IncludeRequest & { readonly includes: IncludeRequest[] }>();
  const roots: IncludeRequest[] = [];
  for (const each of includable.values()) {
    const { path, readable } = each;
    if (!included.has(path)) continue;
    const fields = readFields(`fields[${path}]`, { readable, linkable: [] }, parameters);
    const request = { includable: each, ...fields, includes: [] };
    requests.set(path, request);
    const parent = requests.get(prefixesOf(path, includable).at(-1) ?? '');
    (parent?.includes ?? roots).push(request);
  }
  for (const parameter of parameters.names) {
    const path = relationOf(parameter);
    if (path !== undefined && !included.has(path)) parameters.addUnknown(parameter, 'included relation', [...included]);
  }
  return roots;
}

/** `comments.author` includes `comments` too. */
function readIncludedPaths(parameters: QueryParameters, includable: RecordParameters['includable']) {
  const text = parameters.get('include');
  const paths = new Set<string>();
  const names = text === undefined ? [] : parameters.namesIn('include', text, 'relation');
  for (const name of new Set(names)) {
    if (!includable.has(name)) parameters.addUnknown('include', 'relation', [...includable.keys()], name);
    else for (const path of [...prefixesOf(name, includable), name]) paths.add(path);
  }
  if (paths.size > MAX_RELATIONS)
    parameters.add('include', `must name at most ${MAX_RELATIONS} relations, got ${paths.size}`);
  return paths;
}

/** The paths that a path begins with, the shortest first. */
const prefixesOf = (path: string, includable: ReadonlyMap<string, unknown>): string[] =>
  [...includable.keys()].filter((each) => path.startsWith(`${each}.`)).toSorted((a, b) => a.length - b.length);
