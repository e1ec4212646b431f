/** Resources whose records have another key than `id`: requests and answers between a front end's `id` and that key. */
import { type Fields, isObject } from './json.js';
import type { Answer, Request, Sender } from './requests.js';

/** The names of the key's fields by resource, in the order of the entity. */
export type Keys = Readonly<Record<string, string | readonly string[]>>;

export const keyNames = (keys: Keys, resource: string): readonly string[] => [keys[resource] ?? 'id'].flat();

/** A client whose requests and answers know `id`, as front ends do. */
export function withKeys<S extends Sender>(client: S, keys: Keys): S {
  const translated = (request: Request): Request => {
    const names = keyNames(keys, request.resource);
    if (isId(names)) return request;
    const { query, json } = request;
    return {
      ...request,
      ...(query && { query: queryOf(query, names) }),
      ...(isObject(json) && { json: bodyOf(json, names) }),
    };
  };
  return {
    ...client,
    open: (request) => client.open(translated(request)),
    send: async (request) => {
      const names = keyNames(keys, request.resource);
      const answer = await client.send(translated(request));
      return isId(names) ? answer : { ...answer, body: answerOf(answer, names) };
    },
  };
}

const isId = ([name, ...others]: readonly string[]): boolean => name === 'id' && others.length === 0;

/** As the path of a record has it; a single value stays as it is. */
function idOf(record: Fields, names: readonly string[]): unknown {
  const values = names.map((name) => record[name]);
  return values.length === 1 ? values[0] : values.map((value) => encodeURIComponent(String(value))).join(',');
}

function bodyOf({ id, items, ...fields }: Fields, names: readonly string[]): Fields {
  if (Array.isArray(items)) return { ...fields, items: items.map((item) => bodyOf(item as Fields, names)) };
  const [name = '', ...others] = names;
  // The items of a batch have their key as `id`.
  return id === undefined || others.length > 0 || name in fields ? fields : { ...fields, [name]: id };
}

function queryOf(query: URLSearchParams, names: readonly string[]): URLSearchParams {
  const [first = '', ...others] = names;
  const inList = (text: string): string =>
    text
      .split(',')
      .flatMap((each) => (/^-?id$/.test(each) ? names.map((name) => each.replace('id', name)) : [each]))
      .join(',');
  const translated = [...query].map(([name, value]): [string, string] => {
    if (name === 'sort' || name === 'fields') return [name, inList(value)];
    // Keys of several columns are separated by semicolons, and have commas of their own.
    if (name === 'ids' && others.length > 0)
      return [name, value.replaceAll(/\\?,/g, (text) => (text === ',' ? ';' : ','))];
    return [others.length > 0 ? name : name.replace(/^(filter.*)\[id\]/, `$1[${first}]`), value];
  });
  return new URLSearchParams(translated);
}

function answerOf({ body }: Answer, names: readonly string[]): unknown {
  if (!isObject(body)) return body;
  const { data, errors } = body;
  const withId = (record: unknown): unknown => (isObject(record) ? { ...record, id: idOf(record, names) } : record);
  const [first = ''] = names;
  const named = (error: unknown): unknown => {
    const { field } = error as { readonly field?: unknown };
    return { ...(error as object), field: String(field).replace(`[${first}]`, '[id]') };
  };
  return {
    ...body,
    ...(data !== undefined && { data: Array.isArray(data) ? data.map(withId) : withId(data) }),
    ...(Array.isArray(errors) && names.length === 1 && { errors: errors.map(named) }),
  };
}
