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
  readonly responses?: Readonly<Record<string, { readonly headers?: object } | Reference>>;
}

interface RequestBody {
  readonly required?: boolean;
  readonly content: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}

interface Reference {
  readonly $ref: string;
}

export interface OpenApiDocument {
  readonly info?: { readonly title?: string; readonly version?: string };
  readonly paths?: Readonly<Record<string, object>>;
  readonly components?: object;
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

const SCHEMAS = '#/components/schemas/';

/** Adds to a schema, as `$defs`, the schemas of the document that it refers to, directly or through others. */
export function withDefinitions(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const definitions: Record<string, unknown> = {};
  const pending: string[] = [];
  const localize = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(localize);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        if (key !== '$ref' || typeof member !== 'string' || !member.startsWith(SCHEMAS)) return [key, localize(member)];
        pending.push(member);
        return [key, `#/$defs/${member.slice(SCHEMAS.length)}`];
      }),
    );
  };
  const local = localize(schema) as JsonSchema;
  for (let $ref = pending.pop(); $ref !== undefined; $ref = pending.pop()) {
    const name = $ref.slice(SCHEMAS.length);
    if (name in definitions) continue;
    definitions[name] = {};
    definitions[name] = localize(resolve(document, { $ref }));
  }
  return Object.keys(definitions).length === 0 ? local : { ...local, $defs: definitions };
}
