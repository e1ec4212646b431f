/** The parts of an OpenAPI 3.1 document that tools are made of. */

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody | Reference;
  readonly responses?: Readonly<Record<string, Response | Reference>>;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

interface Response {
  readonly headers?: object;
  readonly content?: Content;
}

interface RequestBody {
  readonly required?: boolean;
  readonly content: Content;
}

interface Reference {
  readonly $ref: string;
}

export interface OpenApiDocument {
  readonly info?: { readonly title?: string; readonly version?: string };
  readonly paths?: Readonly<Record<string, object>>;
  readonly components?: { readonly schemas?: object };
}

/** An operation with its place. */
export interface Described {
  /** In capital letters. */
  readonly method: string;
  /** As the document has it: `/api/products/{id}`. */
  readonly path: string;
  readonly operation: Operation;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export function operationsOf({ paths = {} }: OpenApiDocument): Described[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    const { parameters: shared = [], ...members } = item as Readonly<Record<string, unknown>> & Operation;
    return METHODS.filter((method) => method in members).map((method) => {
      const operation = (members as Readonly<Record<string, Operation>>)[method] as Operation;
      const parameters = [...(operation.parameters ?? []), ...shared];
      return { method: method.toUpperCase(), path, operation: { ...operation, parameters } };
    });
  });
}

/** Follows `$ref` to a part of the document. */
export function resolve<T extends object>(document: OpenApiDocument, part: T | Reference): T {
  if (!('$ref' in part)) return part;
  let found: unknown = document;
  for (const name of part.$ref.replace('#/', '').split('/')) found = (found as Record<string, unknown>)[unescape(name)];
  return resolve(document, found as T | Reference);
}

const unescape = (name: string): string => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');

/** The schema of JSON in a body. */
export function jsonSchemaOf(content: Content = {}): JsonSchema | undefined {
  const json = content['application/json'] ?? Object.entries(content).find(([type]) => type.endsWith('+json'))?.[1];
  return json && (json.schema ?? {});
}
