/** Makes tools of the operations of an OpenAPI document. */
import { type AccessRow, InvalidOptionError } from 'declarest';
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server';
import { operationsOf, resolve, withDefinitions } from './document.js';
import type { Described, JsonSchema, OpenApiDocument, Operation, Parameter } from './document.js';
import type { OptionalTools, ResolvedOptions } from './options.js';

export interface Tool {
  readonly definition: ToolDefinition;
  readonly method: string;
  readonly path: string;
  /** By the name of the argument. */
  readonly inputs: ReadonlyMap<string, Input>;
  readonly rows: readonly AccessRow[];
}

export interface Input {
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
}

export interface Tools {
  readonly byName: ReadonlyMap<string, Tool>;
  /** Operations that cannot be tools, with the reason. */
  readonly leftOut: readonly string[];
}

interface Rules extends Pick<ResolvedOptions, 'include' | 'only' | 'readOnly'> {
  readonly rowsOf: (described: Described) => readonly AccessRow[];
}

/** What model providers accept as the name of an argument. */
const ARGUMENT = /^[\w.-]{1,64}$/;
/** A tool returns bodies, and no 304. The other two are those of the caller (OpenAPI 3.1 §4.8.12.2). */
const IGNORED_HEADERS = ['if-none-match', 'accept', 'authorization', 'content-type'];

/** @throws InvalidOptionError for two operations of one name, and for a name of `only` that no tool has */
export function compileTools(document: OpenApiDocument, { include, only, readOnly, rowsOf }: Rules): Tools {
  const byName = new Map<string, Tool>();
  const leftOut: string[] = [];
  for (const described of operationsOf(document)) {
    if (isOptional(described).some((each) => !include.has(each))) continue;
    const name = nameOf(described);
    if ((readOnly && described.method !== 'GET') || only?.includes(name) === false) continue;
    const inputs = inputsOf(document, described, include);
    if (typeof inputs === 'string') {
      leftOut.push(`${name} (${inputs})`);
      continue;
    }
    if (byName.has(name))
      throw new InvalidOptionError('operationId', 'unique', `${name} twice`, 'Set it with @ApiOperation()');
    byName.set(
      name,
      Object.freeze({
        definition: Object.freeze(definitionOf(document, described, name, inputs)),
        method: described.method,
        path: described.path,
        inputs,
        rows: rowsOf(described),
      }),
    );
  }
  const unknown = only?.find((name) => !byName.has(name));
  if (unknown !== undefined)
    throw new InvalidOptionError('The option only of McpModule', 'names of tools', unknown, 'Correct or remove it');
  return { byName, leftOut };
}

function isOptional({ method, path, operation: { tags = [] } }: Described): OptionalTools[] {
  const kinds: Readonly<Record<string, boolean>> = {
    accounts: tags.includes('Auth'),
    batches: method !== 'GET' && path.endsWith('/batch'),
    exports: method === 'GET' && path.endsWith('/export'),
  };
  return (Object.keys(kinds) as OptionalTools[]).filter((kind) => kinds[kind]);
}

const nameOf = ({ method, path, operation: { operationId } }: Described): string =>
  (operationId ?? `${method.toLowerCase()}${path}`).replaceAll(/[^\w-]/g, '_').slice(0, 64);

/** @returns why the operation cannot be a tool */
function inputsOf(
  document: OpenApiDocument,
  { operation }: Described,
  include: Rules['include'],
): ReadonlyMap<string, Input> | string {
  const inputs = new Map<string, Input>();
  for (const each of operation.parameters ?? []) {
    const parameter = resolve<Parameter>(document, each);
    const { in: place, name, required = place === 'path', schema = {}, description } = parameter;
    if (place === 'cookie' || (place === 'header' && IGNORED_HEADERS.includes(name.toLowerCase()))) continue;
    if (name === 'purge' && !include.has('purge')) continue;
    const argument = argumentOf(name);
    if (!ARGUMENT.test(argument) && !required) continue;
    if (!ARGUMENT.test(argument)) return `the name of ${name} is too long`;
    if (inputs.has(argument)) return `two parameters ${argument}`;
    const described = { ...schema, ...(description !== undefined && { description }) };
    inputs.set(argument, { in: place as Input['in'], name, isRequired: required, schema: described });
  }
  if (!operation.requestBody) return inputs;
  const { content, required = false } = resolve(document, operation.requestBody);
  const body = content['application/json'] ?? Object.entries(content).find(([type]) => type.endsWith('+json'))?.[1];
  if (!body) return `its body is ${Object.keys(content).join(' or ')}`;
  if (inputs.has('body')) return 'a parameter is called body';
  return inputs.set('body', { in: 'body', name: 'body', isRequired: required, schema: body.schema ?? {} });
}

/** `filter[price][gte]` is `filter.price.gte`. */
const argumentOf = (name: string): string =>
  name
    .replaceAll(/\]?\[/g, '.')
    .replaceAll(']', '')
    .replaceAll(/[^\w.-]/g, '_');

/** Groups of filters have brackets in their names, and are no arguments. */
const withoutGroups = (description = ''): string =>
  description
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !sentence.includes('`filter[or]'))
    .join(' ');

function definitionOf(
  document: OpenApiDocument,
  { method, path, operation }: Described,
  name: string,
  inputs: ReadonlyMap<string, Input>,
): ToolDefinition {
  const { summary = `${method} ${path}`, description } = operation;
  const all = [...inputs];
  const required = all.filter(([, { isRequired }]) => isRequired).map(([argument]) => argument);
  const properties = Object.fromEntries(all.map(([argument, { schema }]) => [argument, schema]));
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
  return {
    name,
    title: summary,
    description: [summary, withoutGroups(description)].filter((each) => each !== '').join('. '),
    inputSchema: withDefinitions(document, schema) as ToolDefinition['inputSchema'],
    annotations: annotationsOf(document, method, operation),
  };
}

/** RFC 9110 §9.2: GET is safe, PUT and DELETE are idempotent. So is a JSON merge patch (RFC 7396). */
function annotationsOf(document: OpenApiDocument, method: string, operation: Operation): ToolDefinition['annotations'] {
  if (method === 'GET') return { readOnlyHint: true, openWorldHint: false };
  const { requestBody, responses = {} } = operation;
  const types = requestBody ? Object.keys(resolve(document, requestBody).content) : [];
  // An answer with the path of a new record: nothing else has changed.
  const created = responses['201'] && resolve(document, responses['201']).headers;
  const isCreate = method === 'POST' && created !== undefined && 'Location' in created;
  const isIdempotent = method === 'PUT' || method === 'DELETE' || types.includes('application/merge-patch+json');
  return { readOnlyHint: false, destructiveHint: !isCreate, idempotentHint: isIdempotent, openWorldHint: false };
}
