/** `find`, `get`, `count`, `write` and `describe` for all generated resources: each call is that of one operation. */
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server';
import type { CallerTool } from './caller-tools.js';
import type { JsonSchema, OpenApiDocument } from './document.js';
import { annotationsOf, descriptionOf, inputOf } from './tool-definition.js';
import { InvalidArguments } from './tool-request.js';

type Arguments = Readonly<Record<string, unknown>>;

/** An operation that the caller may use. */
export interface Usable {
  /** `Products` */
  readonly resource: string;
  /** `findAll` */
  readonly operation: string;
  readonly tool: CallerTool;
}

/** One of each name, where several versions of an API have it. */
export function usableOperations(tools: readonly CallerTool[]): Usable[] {
  const byName = tools.flatMap((tool): [string, Usable][] => {
    if (!tool.generated) return [];
    const { resource, name: operation } = tool.generated;
    return [[`${resource} ${operation}`, { resource, operation, tool }]];
  });
  return [...new Map(byName).values()];
}

/** The operations that a compact tool calls without their names. */
const [LIST, SEARCH, COUNT, BY_ID] = ['findAll', 'search', 'count', 'findById'] as const;
const NAMELESS: ReadonlyMap<string, CompactName> = new Map([
  [LIST, 'find'],
  [SEARCH, 'find'],
  [COUNT, 'count'],
]);

/** The compact tool that calls an operation. */
const compactNameOf = (operation: string, { method }: CallerTool): CompactName =>
  NAMELESS.get(operation) ?? (method === 'GET' ? 'get' : 'write');

const TEXT = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };
const NUMBER = { type: 'integer', minimum: 1 };
const CONDITIONS = 'By field, or by field and operator: {"price": 5, "price.gte": 2, "id.in": [1, 2]}.';
const filter = { type: 'object', description: CONDITIONS };
const fields = { ...TEXTS, description: 'Only these fields.' };
const include = { ...TEXTS, description: 'Related records to answer too.' };
const id = { anyOf: [TEXT, { type: 'integer' }] };
const parameters = { type: 'object', description: 'Other parameters that describe names, also those of the path.' };

interface CompactTool {
  readonly title: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** `describe` says what the others take. */
const TOOLS = {
  describe: {
    title: 'Describe a resource',
    description:
      'Operations of a resource, and the fields that you may read, write, filter and sort by. Call it first.',
    properties: {},
  },
  find: {
    title: 'Find records',
    description: 'A page of records. `search` looks for a text in the searched fields.',
    properties: {
      filter,
      search: TEXT,
      sort: { ...TEXTS, description: '`-` before a field sorts descending.' },
      size: { ...NUMBER, description: 'Records on a page.' },
      page: NUMBER,
      after: { ...TEXT, description: '`metadata.pagination.next` of the page before.' },
      fields,
      include,
      parameters,
    },
  },
  get: {
    title: 'Get a record',
    description: 'A record by its id, or what another reading operation answers.',
    properties: { id, fields, include, parameters },
  },
  count: {
    title: 'Count records',
    description: 'The number of records that meet the conditions.',
    properties: { filter, parameters },
  },
  write: {
    title: 'Write records',
    description: 'Creates, changes or deletes a record, as the operation does.',
    properties: {
      id,
      body: { type: 'object' },
      etag: { ...TEXT, description: 'Of the record as it was read: a record that has changed since is not written.' },
      parameters,
    },
  },
} satisfies Readonly<Record<string, CompactTool>>;

export type CompactName = keyof typeof TOOLS;
export const COMPACT_NAMES = Object.keys(TOOLS) as readonly CompactName[];
export const isCompactName = (name: string): name is CompactName => Object.hasOwn(TOOLS, name);

/** Without those tools that the caller cannot use for any resource. */
export function compactDefinitions(document: OpenApiDocument, operations: readonly Usable[]): ToolDefinition[] {
  return COMPACT_NAMES.flatMap((name) => {
    const used = operationsOf(name, operations);
    if (used.length === 0) return [];
    const names = [...new Set(used.map(({ operation }) => operation))];
    const chosen = name === 'write' || (name === 'get' && names.some((each) => each !== BY_ID));
    const { title, description, properties } = TOOLS[name];
    const required = name === 'write' ? ['resource', 'operation'] : ['resource'];
    const own = {
      resource: oneOf(used.map(({ resource }) => resource)),
      ...(chosen && { operation: { ...oneOf(names), ...(name === 'get' && { default: BY_ID }) } }),
      ...properties,
    };
    const destructiveHint = used.some(({ tool }) => annotationsOf(document, tool).destructiveHint);
    const isWrite = name === 'write';
    const annotations = {
      readOnlyHint: !isWrite,
      ...(isWrite && { destructiveHint, idempotentHint: false }),
      openWorldHint: false,
    };
    const inputSchema = { type: 'object' as const, properties: own, required, additionalProperties: false };
    return [{ name, title, description, inputSchema, annotations }];
  });
}

const oneOf = (values: readonly string[]) => ({ type: 'string', enum: [...new Set(values)] });

/** `describe` is for all of them. */
const operationsOf = (name: CompactName, usable: readonly Usable[]): readonly Usable[] =>
  usable.filter(({ operation, tool }) => name === 'describe' || compactNameOf(operation, tool) === name);

/** @throws InvalidArguments, which names nothing that the caller may not use */
export function operationCall(
  name: CompactName,
  { resource, operation, filter: conditions, search, etag, parameters: more, ...others }: Arguments,
  operations: readonly Usable[],
): { readonly tool: CallerTool; readonly sent: Arguments } {
  const usable = operationsOf(name, operations);
  const used = usable.filter((each) => each.resource === resource);
  if (used.length === 0) refuse('resource', usable, 'resource');
  const standard = { describe: '', find: search === undefined ? LIST : SEARCH, get: BY_ID, count: COUNT, write: '' };
  const found = used.find((each) => each.operation === (operation ?? standard[name]));
  if (!found) return refuse(`operation of ${String(resource)}`, used, 'operation');
  const filters = Object.entries(objectOf('filter', conditions)).map(([key, value]) => [`filter.${key}`, value]);
  const named = { ...others, ...(Object.fromEntries(filters) as Arguments), q: search, 'If-Match': etag };
  const sent = Object.entries({ ...objectOf('parameters', more), ...named }).filter(([, value]) => value !== undefined);
  const unknown = sent.filter(([argument]) => !found.tool.inputs.has(argument)).map(([argument]) => argument);
  if (unknown.length > 0)
    throw new InvalidArguments(
      `Unknown arguments: ${unknown.join(', ')}. ${found.operation} of ${found.resource} takes ${takenBy(found.tool).join(', ')}`,
    );
  return { tool: found.tool, sent: Object.fromEntries(sent) };
}

function refuse(what: string, usable: readonly Usable[], member: 'resource' | 'operation'): never {
  const names = new Set(usable.map((each) => each[member]));
  throw new InvalidArguments(`${what} must be one of: ${[...names].join(', ')}`);
}

function objectOf(argument: string, value: unknown = {}): Arguments {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Arguments;
  throw new InvalidArguments(`${argument} must be an object`);
}

/** `filter[price][gte]`: the field and the operator. */
const FILTER = /^filter\[([^\]]+)\](?:\[([^\]]+)\])?$/;

/** The names of arguments, with one for each field of filters. */
function takenBy({ inputs }: CallerTool): string[] {
  const names = [...inputs].map(([argument, { name }]) => {
    const [, field] = FILTER.exec(name) ?? [];
    return field === undefined ? argument : `filter.${field}`;
  });
  return [...new Set(names)];
}

/** What the caller may do with a resource. @throws InvalidArguments */
export function describeResource(
  document: OpenApiDocument,
  { resource }: Arguments,
  usable: readonly Usable[],
): Arguments {
  const used = usable.filter((each) => each.resource === resource);
  if (used.length === 0) refuse('resource', usable, 'resource');
  const all = used.flatMap(({ tool }) => [...tool.inputs]);
  const listed = (argument: string): string[] => {
    const schemas = all.filter(([each]) => each === argument).map(([, { schema }]) => schema as EnumList);
    return [...new Set(schemas.flatMap(({ items }) => items?.enum ?? []))];
  };
  const filters: Record<string, string[]> = {};
  for (const [, { name }] of all) {
    const [matches, field = '', operator = 'eq'] = FILTER.exec(name) ?? [];
    if (matches !== undefined) filters[field] = [...new Set([...(filters[field] ?? []), operator])];
  }
  return {
    resource,
    read: listed('fields'),
    filter: filters,
    sort: listed('sort').filter((each) => !each.startsWith('-')),
    include: listed('include'),
    operations: used.map(({ operation, tool }) => {
      const call = compactNameOf(operation, tool);
      // What the schema of the compact tool does not say.
      const isShown = (argument: string) =>
        OF_RECORDS.includes(argument) || !Object.hasOwn(TOOLS[call].properties, argument);
      const others = [...tool.inputs].filter(([argument, { name }]) => !FILTER.test(name) && isShown(argument));
      return { operation, call, description: descriptionOf(document, tool), input: inputOf(document, new Map(others)) };
    }),
  };
}

const OF_RECORDS = ['id', 'body'];

interface EnumList extends JsonSchema {
  readonly items?: { readonly enum?: readonly string[] };
}
