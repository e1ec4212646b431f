/** How a tool is described to one caller. */
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server';
import { standardOperations } from 'declarest';
import type { CallerTool } from './caller-tools.js';
import { type JsonSchema, jsonSchemaOf, type OpenApiDocument, resolve } from './document.js';
import { received, sent, withDefinitions } from './schemas.js';
import type { Input, Tool } from './tools.js';

/** @param document with the schemas of the caller */
export function definitionOf(document: OpenApiDocument, tool: CallerTool): ToolDefinition {
  const output = outputOf(document, tool);
  return {
    name: tool.name,
    title: titleOf(tool),
    description: descriptionOf(document, tool),
    inputSchema: inputOf(document, tool.inputs) as ToolDefinition['inputSchema'],
    ...(output && { outputSchema: output as NonNullable<ToolDefinition['outputSchema']> }),
    annotations: annotationsOf(document, tool),
  };
}

export function inputOf(document: OpenApiDocument, inputs: ReadonlyMap<string, Input>): JsonSchema {
  const all = [...inputs];
  const required = all.filter(([, { isRequired }]) => isRequired).map(([argument]) => argument);
  const properties = Object.fromEntries(all.map(([argument, { schema }]) => [argument, schema]));
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
  return withDefinitions(document, schema, sent);
}

const STANDARD: ReadonlySet<string> = new Set(standardOperations.map(({ name }) => name));

/** Only of operations of the package: clients refuse every result of others whose document is wrong. */
function outputOf(document: OpenApiDocument, { generated, operation: { responses = {} } }: CallerTool) {
  const successes = Object.keys(responses).filter((status) => status.startsWith('2'));
  const [response] = successes.map((status) => resolve(document, responses[status] ?? {}));
  const schema = jsonSchemaOf(response?.content);
  // With several successes, the records of a batch or the results of its items.
  if (!generated || !STANDARD.has(generated.name) || !schema || successes.length > 1) return undefined;
  const { properties = {} } = resolve<{ readonly properties?: JsonSchema }>(document, schema);
  const { data, metadata } = properties;
  const shown = { data, ...(metadata !== undefined && { metadata }), etag: { type: 'string' } };
  return withDefinitions(document, { type: 'object', properties: shown }, received);
}

const isText = (text: string | undefined): text is string => text !== undefined && text !== '';

/** `ReportsController_dailyTotals` is "Daily totals". */
function titleOf({ name, operation: { summary } }: Tool): string {
  if (isText(summary)) return summary;
  const words = name
    .replace(/^.*_/, '')
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const isDescribed = ({ operation: { summary, description } }: Tool): boolean =>
  isText(summary) || isText(description);

export function descriptionOf(document: OpenApiDocument, tool: Tool): string {
  const { method, path, operation } = tool;
  const more = isDescribed(tool) ? withoutGroups(operation.description) : `${method} ${path}`;
  const texts = [titleOf(tool), more, fieldsOf(document, tool)].filter(isText);
  return texts.length === 1 ? titleOf(tool) : texts.map((text) => text.replace(/(?<![.!?])$/, '.')).join(' ');
}

/** Groups of filters have brackets in their names, and are no arguments. */
const withoutGroups = (description = ''): string =>
  description
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !sentence.includes('`filter[or]'))
    .join(' ');

/** The fields of the body. */
function fieldsOf(document: OpenApiDocument, { inputs }: Tool): string {
  const { schema } = inputs.get('body') ?? {};
  const { properties = {}, required = [] } = schema ? sent(resolve(document, schema)) : {};
  const names = Object.keys(properties as object);
  const needed = names.filter((name) => (required as readonly string[]).includes(name));
  const others = names.filter((name) => !needed.includes(name));
  return [
    needed.length > 0 && `Required fields: ${needed.join(', ')}`,
    others.length > 0 && `${needed.length > 0 ? 'Other fields' : 'Fields'}: ${others.join(', ')}`,
  ]
    .filter((each) => each !== false)
    .join('. ');
}

/** RFC 9110 §9.2: GET is safe, PUT and DELETE are idempotent. So is a JSON merge patch (RFC 7396). */
export function annotationsOf(
  document: OpenApiDocument,
  { method, operation }: Tool,
): NonNullable<ToolDefinition['annotations']> {
  if (method === 'GET') return { readOnlyHint: true, openWorldHint: false };
  const { requestBody, responses = {} } = operation;
  const types = requestBody ? Object.keys(resolve(document, requestBody).content) : [];
  // An answer with the path of a new record: nothing else has changed.
  const created = responses['201'] && resolve(document, responses['201']).headers;
  const isCreate = method === 'POST' && created !== undefined && 'Location' in created;
  const isIdempotent = method === 'PUT' || method === 'DELETE' || types.includes('application/merge-patch+json');
  return { readOnlyHint: false, destructiveHint: !isCreate, idempotentHint: isIdempotent, openWorldHint: false };
}
