/** Makes tools of the operations of an OpenAPI document. */
import { type AccessRow, InvalidOptionError } from 'declarest';
import { jsonSchemaOf, operationsOf, resolve } from './document.js';
import type { Described, JsonSchema, OpenApiDocument, Parameter } from './document.js';
import type { OptionalTools, ResolvedOptions } from './options.js';

export interface Tool extends Described {
  readonly name: string;
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
    byName.set(name, Object.freeze({ ...described, name, inputs, rows: rowsOf(described) }));
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
  const schema = jsonSchemaOf(content);
  if (!schema) return `its body is ${Object.keys(content).join(' or ')}`;
  if (inputs.has('body')) return 'a parameter is called body';
  return inputs.set('body', { in: 'body', name: 'body', isRequired: required, schema });
}

/** `filter[price][gte]` is `filter.price.gte`. */
const argumentOf = (name: string): string =>
  name
    .replaceAll(/\]?\[/g, '.')
    .replaceAll(']', '')
    .replaceAll(/[^\w.-]/g, '_');
