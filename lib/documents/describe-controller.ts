/** Gives the decorators of @nestjs/swagger to a controller: what SwaggerModule.createDocument reads. */
import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import { openApiResponse, type ControllerDocument, type NamedSchema } from './operation-document.js';
import type { OperationDocument, ParameterDocument } from './operation-document.js';

export type Swagger = typeof import('@nestjs/swagger');

const REQUIRED_VERSION = 12;

/** `undefined` where it is not installed, or in an older version, which is warned about. */
export async function loadSwagger(
  warn: (sentence: string) => void,
  version = installedVersion(),
): Promise<Swagger | undefined> {
  if (version === undefined) return undefined;
  if (Number.parseInt(version, 10) >= REQUIRED_VERSION) return import('@nestjs/swagger').catch(() => undefined);
  warn(
    `The OpenAPI document has the routes of declarest only: it needs @nestjs/swagger ${REQUIRED_VERSION}, got ${version}. ` +
      `Run npm install @nestjs/swagger@${REQUIRED_VERSION}.`,
  );
  return undefined;
}

function installedVersion(): string | undefined {
  try {
    return (createRequire(import.meta.url)('@nestjs/swagger/package.json') as { readonly version: string }).version;
  } catch {
    return undefined;
  }
}

/** @param methods those of the operations, by name: a name may belong to several controllers */
export function describeController(
  swagger: Swagger,
  controller: Type | object,
  methods: ReadonlyMap<string, object>,
  document: ControllerDocument,
): void {
  const models = document.schemas.map((each) => modelOf(swagger, each));
  class Described {
    readonly document = document.tag;
  }
  swagger.ApiExtraModels(...models)(Described);
  swagger.ApiTags(document.tag)(Described);
  addMetadata(controller, Described);
  for (const [name, operation] of document.operations) {
    const method = methods.get(name);
    if (method) addMetadata(method, decorated(swagger, operation));
  }
}

function modelOf({ ApiSchema }: Swagger, { name, schema }: NamedSchema): Type {
  class Model {
    readonly document = name;
  }
  // Its types name two members only, but every member becomes one of the schema.
  ApiSchema({ ...schema, name })(Model);
  return Model;
}

function decorated(swagger: Swagger, operation: OperationDocument): object {
  const { operationId, summary, description, parameters, body, responses } = operation;
  const method = (): void => undefined;
  const decorators: MethodDecorator[] = [
    swagger.ApiOperation({ operationId, summary, ...(description !== undefined && { description }) }),
    ...parameters.map((each) => parameterDecorator(swagger, each)),
  ];
  if (body) {
    decorators.push(swagger.ApiBody({ schema: body.schema, examples: { example: { value: body.example } } }));
    if (body.types) decorators.push(swagger.ApiConsumes(...body.types));
  }
  for (const [status, response] of Object.entries(responses))
    decorators.push(swagger.ApiResponse({ status: Number(status), ...openApiResponse(response) }));
  for (const decorate of decorators) decorate({}, 'operation', { value: method });
  return method;
}

function parameterDecorator(swagger: Swagger, parameter: ParameterDocument): MethodDecorator {
  const { in: place, name, schema, description = '', required = false, style } = parameter;
  const told = { name, schema, required, ...(description !== '' && { description }) };
  if (place === 'path') return swagger.ApiParam(told);
  if (place === 'header') return swagger.ApiHeader(told) as MethodDecorator;
  const isList = schema['type'] === 'array';
  return swagger.ApiQuery({
    ...told,
    ...(style && { style, explode: true }),
    ...(isList && { style: 'form', explode: false }),
  });
}

const OWN = Symbol('declarest.ownDocument');

/** Adds the metadata of one class or method to another one, whose own decorators win. */
function addMetadata(target: object, source: object): void {
  const keys = Reflect.getOwnMetadataKeys(source) as unknown[];
  // An application may be started several times in a process, as in tests.
  const known = Reflect.getOwnMetadata(OWN, target) as ReadonlyMap<unknown, unknown> | undefined;
  const own = known ?? new Map(keys.map((key) => [key, Reflect.getOwnMetadata(key, target) as unknown]));
  Reflect.defineMetadata(OWN, own, target);
  for (const key of keys)
    Reflect.defineMetadata(key, merged(Reflect.getOwnMetadata(key, source), own.get(key)), target);
}

function merged(described: unknown, own: unknown): unknown {
  if (own === undefined) return described;
  if (!Array.isArray(described) || !Array.isArray(own)) return mergedObject(described as object, own as object);
  // Tags and media types.
  if (own.some((each) => typeof each === 'string')) return own;
  const identity = (each: unknown): unknown => {
    const { in: place, name } = each as { readonly in?: string; readonly name?: string };
    return place === 'body' ? place : place === undefined ? each : `${place} ${name}`;
  };
  const owned = new Set(own.map(identity));
  return [...own, ...described.filter((each) => !owned.has(identity(each)))];
}

/** Of an operation, or of its answers by status. `@ApiOperation()` without a summary has an empty one. */
function mergedObject(described: object, own: object): object {
  const isObject = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const given = Object.entries(own).filter(([, value]) => value !== '' && value !== undefined);
  const members = given.map(([name, value]: [string, unknown]) => {
    const known = (described as Readonly<Record<string, unknown>>)[name];
    return [name, isObject(known) && isObject(value) ? mergedObject(known, value) : value];
  });
  return { ...described, ...(Object.fromEntries(members) as object) };
}
