/** `find`, `get`, `count`, `write` and `describe` for all generated resources: each call is that of one operation. */
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server';
import type { CallerTool } from './caller-tools.js';
import type { JsonSchema, OpenApiDocument } from './document.js';
import { annotationsOf, descriptionOf, inputOf } from './tool-definition.js';
import { InvalidArguments } from './tool-request.js';

type Arguments = Readonly<Record<string, unknown>>;

/** The operations of a resource by their names: `findAll`, `create`. */
type Operations = ReadonlyMap<string, CallerTool>;
/** What the caller may use, by the name of the resource: `Products`. */
export type Resources = ReadonlyMap<string, Operations>;

export function resourcesOf(tools: readonly CallerTool[]): Resources {
  const resources = new Map<string, Map<string, CallerTool>>();
  for (const tool of tools) {
    if (!tool.generated) continue;
    const { resource, name } = tool.generated;
    resources.set(resource, (resources.get(resource) ?? new Map<string, CallerTool>()).set(name, tool));
  }
  return resources;
}

const FIND: Readonly<Record<string, 'find' | 'count'>> = { findAll: 'find', search: 'find', count: 'count' };

/** The compact tool that calls an operation. */
const callerOf = (operation: string, { method }: CallerTool): CompactName =>
  FIND[operation] ?? (method === 'GET' ? 'get' : 'write');

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
export const isCompactName = (name: string): name is CompactName => name in TOOLS && Object.hasOwn(TOOLS, name);

/** The operation of `get` that needs no name. */
const BY_ID = 'findById';

/** Without those tools that the caller cannot use for any resource. */
export function compactDefinitions(document: OpenApiDocument, resources: Resources): ToolDefinition[] {
  return COMPACT_NAMES.flatMap((name) => {
    const used = operationsOf(name, resources);
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
const operationsOf = (name: CompactName, resources: Resources) =>
  [...resources].flatMap(([resource, operations]) =>
    [...operations]
      .filter(([operation, tool]) => name === 'describe' || callerOf(operation, tool) === name)
      .map(([operation, tool]) => ({ resource, operation, tool })),
  );

/** @throws InvalidArguments, which names nothing that the caller may not use */
export function operationCall(
  name: CompactName,
  { resource, operation, filter: conditions, search, etag, parameters: more, ...others }: Arguments,
  resources: Resources,
): { readonly tool: CallerTool; readonly sent: Arguments } {
  const used = operationsOf(name, resources).filter((each) => each.resource === resource);
  if (used.length === 0)
    refuse(
      'resource',
      operationsOf(name, resources).map((each) => each.resource),
    );
  const standard = { find: search === undefined ? 'findAll' : 'search', count: 'count', get: BY_ID }[name as string];
  const chosen = operation ?? standard;
  const found = used.find((each) => each.operation === chosen);
  if (!found)
    return refuse(
      `operation of ${String(resource)}`,
      used.map((each) => each.operation),
    );
  const filters = Object.entries(objectOf('filter', conditions)).map(([key, value]) => [`filter.${key}`, value]);
  const named = { ...others, ...(Object.fromEntries(filters) as Arguments), q: search, 'If-Match': etag };
  const sent = Object.entries({ ...objectOf('parameters', more), ...named }).filter(([, value]) => value !== undefined);
  const unknown = sent.filter(([argument]) => !found.tool.inputs.has(argument)).map(([argument]) => argument);
  if (unknown.length > 0)
    throw new InvalidArguments(`Unknown: ${unknown.join(', ')}. It takes ${takenBy(found.tool).join(', ')}`);
  return { tool: found.tool, sent: Object.fromEntries(sent) };
}

function refuse(what: string, names: readonly string[]): never {
  throw new InvalidArguments(`${what} must be one of: ${[...new Set(names)].join(', ')}`);
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
export function describeResource(document: OpenApiDocument, { resource }: Arguments, resources: Resources): Arguments {
  const operations = typeof resource === 'string' ? resources.get(resource) : undefined;
  if (!operations) return refuse('resource', [...resources.keys()]);
  const all = [...operations.values()].flatMap(({ inputs }) => [...inputs]);
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
    operations: [...operations].map(([operation, tool]) => {
      const call = callerOf(operation, tool);
      const others = [...tool.inputs].filter(
        ([argument, { name }]) =>
          !FILTER.test(name) && !(argument !== 'id' && argument !== 'body' && argument in TOOLS[call].properties),
      );
      return { operation, call, description: descriptionOf(document, tool), input: inputOf(document, new Map(others)) };
    }),
  };
}

interface EnumList extends JsonSchema {
  readonly items?: { readonly enum?: readonly string[] };
}
