/** Reads `fields`, `include` and `fields[author]`: what a request wants of each record. */
import type { Field } from '../../entities/entity-schema.js';
import type { Relation } from '../sql/condition.js';
import { readParameters, relationOf } from './parameters.js';
import { QueryErrors } from './query-errors.js';
import type { ListQuery } from '../declare/envelope.js';

/** A relation that clients may include. */
export interface Includable {
  /** Such as `comments.author`. */
  readonly path: string;
  readonly relation: Relation;
  /** What the caller may read of the related records. */
  readonly readable: readonly Field[];
}

/** A many-to-many relation that records have as an array of ids. */
export interface LinkedIds {
  /** `tagsIds` */
  readonly name: string;
  /** `tags` */
  readonly path: string;
  readonly relation: Relation;
}

/** What to read of records. */
export interface RecordRequest {
  /** In the order of the entity. */
  readonly fields: readonly Field[];
  readonly linked: readonly LinkedIds[];
  readonly includes: readonly IncludeRequest[];
}

export interface IncludeRequest extends RecordRequest {
  readonly includable: Includable;
}

/** What requests may name. */
export interface RecordParameters {
  readonly readable: readonly Field[];
  /** By path; each path comes after those that it begins with. */
  readonly includable: ReadonlyMap<string, Includable>;
  readonly linkable: readonly LinkedIds[];
}

const MAX_RELATIONS = 10;

export const everything = ({ readable, linkable }: RecordParameters): RecordRequest => ({
  fields: readable,
  linked: linkable,
  includes: [],
});

/** With the key, which finds the related records. */
export function selectedFields({ fields, linked, includes }: RecordRequest, id: Field): readonly Field[] {
  return (linked.length === 0 && includes.length === 0) || fields.includes(id) ? fields : [id, ...fields];
}

/** Whether a request wants more of its records than their own columns. */
export const hasRelations = ({ linked, includes }: RecordRequest): boolean => linked.length > 0 || includes.length > 0;

export const recordParameterNames = ({ includable }: Pick<RecordParameters, 'includable'>): string[] => [
  'fields',
  ...(includable.size > 0 ? ['include'] : []),
];

/** What a query string asks for of a single record. @throws 400 */
export function parseRecordQuery(query: ListQuery, list: RecordParameters): RecordRequest {
  if (Object.keys(query).length === 0) return everything(list);
  const errors = new QueryErrors();
  const parameters = readParameters(query, recordParameterNames(list), undefined, errors);
  const request = readRecordRequest(parameters, list, errors);
  errors.throwIfAny();
  return request;
}

export function readRecordRequest(
  parameters: ReadonlyMap<string, string>,
  list: RecordParameters,
  errors: QueryErrors,
): RecordRequest {
  const includes = readIncludes(parameters, list.includable, errors);
  return { ...readFields('fields', parameters.get('fields'), list, errors), includes };
}

/** A name also stands for the fields of an embedded object: `address` for `address.city`. */
export function readFields(
  parameter: string,
  text: string | undefined,
  { readable, linkable }: Pick<RecordParameters, 'readable' | 'linkable'>,
  errors: QueryErrors,
): Pick<RecordRequest, 'fields' | 'linked'> {
  if (text === undefined) return { fields: readable, linked: linkable };
  if (text === '') errors.add(parameter, 'must name at least one field');
  const names = new Set(text === '' ? [] : text.split(','));
  const isNamed = ({ path }: Field): boolean => path.some((_, depth) => names.has(path.slice(0, depth + 1).join('.')));
  const fields = readable.filter(isNamed);
  const linked = linkable.filter(({ name }) => names.has(name));
  const known = new Set([
    ...fields.flatMap(({ path }) => path.map((_, depth) => path.slice(0, depth + 1).join('.'))),
    ...linked.map(({ name }) => name),
  ]);
  const allowed = (): string[] => [...readable, ...linkable].map((each) => each.name);
  for (const name of names) if (!known.has(name)) errors.addUnknown(parameter, 'field', allowed(), name);
  return { fields, linked };
}

function readIncludes(
  parameters: ReadonlyMap<string, string>,
  includable: RecordParameters['includable'],
  errors: QueryErrors,
): readonly IncludeRequest[] {
  const included = readIncludedPaths(parameters.get('include'), includable, errors);
  const requests = new Map<string, IncludeRequest & { readonly includes: IncludeRequest[] }>();
  const roots: IncludeRequest[] = [];
  for (const each of includable.values()) {
    const { path, readable } = each;
    if (!included.has(path)) continue;
    const parameter = `fields[${path}]`;
    const fields = readFields(parameter, parameters.get(parameter), { readable, linkable: [] }, errors);
    const request = { includable: each, ...fields, includes: [] };
    requests.set(path, request);
    const parent = requests.get(prefixesOf(path, includable).at(-1) ?? '');
    (parent?.includes ?? roots).push(request);
  }
  for (const parameter of parameters.keys()) {
    const path = relationOf(parameter);
    if (path !== undefined && !included.has(path)) errors.addUnknown(parameter, 'included relation', [...included]);
  }
  return roots;
}

/** `comments.author` includes `comments` too. */
function readIncludedPaths(
  text: string | undefined,
  includable: RecordParameters['includable'],
  errors: QueryErrors,
): ReadonlySet<string> {
  if (text === '') errors.add('include', 'must name at least one relation');
  const paths = new Set<string>();
  for (const name of new Set(text ? text.split(',') : [])) {
    if (!includable.has(name)) errors.addUnknown('include', 'relation', [...includable.keys()], name);
    else for (const path of [...prefixesOf(name, includable), name]) paths.add(path);
  }
  if (paths.size > MAX_RELATIONS)
    errors.add('include', `must name at most ${MAX_RELATIONS} relations, got ${paths.size}`);
  return paths;
}

/** The paths that a path begins with, the shortest first. */
export const prefixesOf = (path: string, includable: ReadonlyMap<string, unknown>): string[] =>
  [...includable.keys()].filter((each) => path.startsWith(`${each}.`)).toSorted((a, b) => a.length - b.length);
