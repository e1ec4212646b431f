/** How the package describes one operation for an OpenAPI 3.1 document, without a library for such documents. */
import type { JsonSchema } from '../entities/json-schema.js';

export const TEXT = { type: 'string' };

export interface NamedSchema {
  readonly name: string;
  readonly schema: JsonSchema;
}

export interface ParameterDocument {
  readonly in: 'query' | 'path' | 'header';
  readonly name: string;
  readonly schema: JsonSchema;
  readonly description?: string;
  readonly required?: boolean;
  /** `deepObject`: `filter[price][gte]=10`. Otherwise values of an array are separated by commas. */
  readonly style?: 'deepObject';
}

export interface ContentDocument {
  /** `application/json` where it is left out. */
  readonly type?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface ResponseDocument {
  readonly description: string;
  readonly content?: readonly ContentDocument[];
  /** Their schemas are texts. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response as OpenAPI writes it. */
export function openApiResponse({ description, content, headers = {} }: ResponseDocument): object {
  const mediaTypes = content?.map(({ type = 'application/json', schema, example }) => [
    type,
    { schema, ...(example !== undefined && { example }) },
  ]);
  const texts = Object.entries(headers).map(([name, text]) => [name, { description: text, schema: TEXT }]);
  return {
    description,
    ...(mediaTypes && { content: Object.fromEntries(mediaTypes) as object }),
    ...(texts.length > 0 && { headers: Object.fromEntries(texts) as object }),
  };
}

export interface OperationDocument {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly ParameterDocument[];
  readonly body?: { readonly schema: JsonSchema; readonly example: unknown; readonly types?: readonly string[] };
  readonly responses: Readonly<Record<number, ResponseDocument>>;
}

export interface ControllerDocument {
  readonly tag: string;
  readonly operations: ReadonlyMap<string, OperationDocument>;
  readonly schemas: readonly NamedSchema[];
}

export const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** An object with no other properties than these. */
export const closedObject = (...object: Parameters<typeof openObject>): JsonSchema => ({
  ...openObject(...object),
  additionalProperties: false,
});

/** An object that may get more properties. */
export const openObject = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({ type: 'object', properties, ...(required.length > 0 && { required }) });

/** `description` beside what a schema already says. */
export const described = (schema: JsonSchema, ...sentences: readonly (string | undefined | false)[]): JsonSchema => {
  const description = [schema['description'], ...sentences].filter(Boolean).join(' ');
  return description === '' ? schema : { ...schema, description };
};
