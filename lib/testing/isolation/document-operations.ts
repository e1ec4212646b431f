/** Reads the operations of an application from its OpenAPI document. */
import type { INestApplication } from '@nestjs/common';
import { loadSwagger } from '../../documents/describe-controller.js';
import type { ParameterDocument } from '../../documents/operation-document.js';
import type { JsonSchema } from '../../entities/json-schema.js';
import { InvalidOptionError } from '../../options/invalid-option.js';

export interface DocumentOperation {
  /** `GET /api/projects/{id}` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly ParameterDocument[];
  readonly body?: JsonSchema | undefined;
}

export interface ApplicationDocument {
  readonly operations: readonly DocumentOperation[];
  /** The schema that `$ref` names, or the schema itself. */
  resolve(schema: JsonSchema): JsonSchema;
}

interface Operation {
  readonly parameters?: readonly ParameterDocument[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/** @throws InvalidOptionError without @nestjs/swagger */
export async function readDocument(app: INestApplication): Promise<ApplicationDocument> {
  const swagger = await loadSwagger((sentence) => InvalidOptionError.withMessage(sentence));
  const { paths, components } = swagger.SwaggerModule.createDocument(app, new swagger.DocumentBuilder().build());
  const schemas = (components?.schemas ?? {}) as Readonly<Record<string, JsonSchema>>;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((verb) => {
      const operation = (item as Readonly<Record<string, Operation>>)[verb];
      if (!operation) return [];
      const method = verb.toUpperCase();
      const body = operation.requestBody?.content?.['application/json']?.schema;
      return [{ name: `${method} ${path}`, method, path, parameters: operation.parameters ?? [], body }];
    }),
  );
  const resolve = (schema: JsonSchema): JsonSchema => {
    const { $ref } = schema;
    return typeof $ref === 'string' ? (schemas[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}) : schema;
  };
  return { operations, resolve };
}
