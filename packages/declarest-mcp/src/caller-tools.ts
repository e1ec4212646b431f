/** The tools of one caller: those that the access rules allow, with the arguments that the caller may send. */
import type { CallerDocument, CallerOperation, Principal } from 'declarest';
import { keyOf, mayUse } from './access.js';
import type { OpenApiDocument } from './document.js';
import type { Input, Tool } from './tools.js';

export interface CallerTool extends Tool {
  /** `undefined` for an operation that the application has written. */
  readonly generated: CallerOperation | undefined;
}

/** @param tools of all callers */
export function toolsFor(
  tools: Iterable<Tool>,
  principal: Principal | undefined,
  { operations }: CallerDocument,
): CallerTool[] {
  const byRoute = new Map(operations.map((each) => [keyOf(each.method, each.path), each]));
  const usable = [...tools].filter(({ rows }) => mayUse(rows, principal));
  return usable.map((tool) => {
    const generated = byRoute.get(keyOf(tool.method, tool.path));
    return { ...tool, generated, inputs: generated ? inputsFor(tool, generated) : tool.inputs };
  });
}

function inputsFor({ inputs }: Tool, { parameters }: CallerOperation): ReadonlyMap<string, Input> {
  const own = [...inputs].map(([argument, input]): [string, Input] | undefined => {
    if (!parameters.has(input.name)) return [argument, input];
    const schema = parameters.get(input.name);
    const { description } = input.schema;
    return schema && [argument, { ...input, schema: { ...schema, ...(description !== undefined && { description }) } }];
  });
  return new Map(own.filter((each) => each !== undefined));
}

/** The document with the schemas of records and bodies as the caller reads and writes them. */
export function documentFor(document: OpenApiDocument, { schemas }: CallerDocument): OpenApiDocument {
  const { components } = document;
  return {
    ...document,
    components: { ...components, schemas: { ...components?.schemas, ...Object.fromEntries(schemas) } },
  };
}
