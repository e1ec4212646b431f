/** How the package describes operations for an OpenAPI 3.1 document, without a library for such documents. */
import type { JsonSchema, NamedSchema } from '../entities/json-schema.js';

export { refTo, type NamedSchema } from '../entities/json-schema.js';

export const TEXT = { type: 'string' };
export const COUNT = { type: 'integer', minimum: 0 };

export interface ParameterDocument {
  readonly in: 'query' | 'path' | 'header';
  readonly name: string;
  readonly schema: JsonSchema;
  readonly description?: string | undefined;
  readonly required?: boolean;
}

/** A response as OpenAPI writes it. JSON without an example gets one that fits its schema. */
export interface ResponseDocument {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;
  readonly headers?: HeaderDocuments;
}

export type HeaderDocuments = Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;

export interface OperationDocument {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Whether a token changes the answer, also where the operation is public. */
  readonly dependsOnUser?: boolean;
  readonly parameters: readonly ParameterDocument[];
  readonly body?: JsonSchema;
  readonly isBodyOptional?: boolean;
  /** The media types of the body, unless it is JSON only. */
  readonly consumes?: readonly string[];
  readonly responses: Readonly<Record<number, ResponseDocument>>;
}

export interface ControllerDocument {
  readonly tag: string;
  /** Operations by the name of their method. */
  readonly operations: ReadonlyMap<string, OperationDocument>;
  readonly schemas: ReadonlyMap<string, JsonSchema>;
}

export const jsonResponse = (description: string, schema: JsonSchema, example?: unknown): ResponseDocument => ({
  description,
  content: { 'application/json': { schema, example } },
});

export const textHeader = (name: string, description: string): HeaderDocuments => {
  return { [name]: { description, schema: TEXT } };
};

/** An object with no other properties than these. */
export const closedObject = (...object: Parameters<typeof openObject>): JsonSchema => {
  return { ...openObject(...object), additionalProperties: false };
};

/** An object that may get more properties. */
export const openObject = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({ type: 'object', properties, ...(required.length > 0 && { required }) });

export const TRUE = { type: 'boolean', const: true };
const numbers = { page: COUNT, size: COUNT, total: COUNT, totalPages: COUNT };
const numbered = openObject({ ...numbers, estimated: TRUE, capped: TRUE }, Object.keys(numbers));
const WITHOUT_TOTAL = 'With `count=none`, there is no `total` and no `totalPages`.';
export const PAGINATION: NamedSchema = { name: 'Pagination', schema: { ...numbered, description: WITHOUT_TOTAL } };
