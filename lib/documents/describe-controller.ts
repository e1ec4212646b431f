/** Gives the decorators of @nestjs/swagger to a controller: what SwaggerModule.createDocument reads. */
import { createRequire } from 'node:module';
import type { Type } from '@nestjs/common';
import { INTEGERS, MOMENT } from '../entities/json-schema.js';
import { isObject } from '../options/option-table.js';
import { exampleOf, type Schemas } from './examples.js';
import { AUTH_FAILURE, FAILURE, REFUSAL } from './failures.js';
import { PAGINATION, type ControllerDocument, type OperationDocument } from './operation-document.js';
import type { ParameterDocument, ResponseDocument } from './operation-document.js';

export type Swagger = typeof import('@nestjs/swagger');

/** `undefined` where it is not installed, or in an older version, which is warned about. */
export async function loadSwagger(warn: (sentence: string) => void, version = installedVersion()) {
  if (version === undefined) return undefined;
  if (Number.parseInt(version, 10) >= 12) return import('@nestjs/swagger').catch(() => undefined);
  const problem = `The OpenAPI document has the routes of declarest only: it needs @nestjs/swagger 12, got ${version}`;
  return void warn(`${problem}. Run npm install @nestjs/swagger@12.`);
}

function installedVersion(): string | undefined {
  try {
    return (createRequire(import.meta.url)('@nestjs/swagger/package.json') as { readonly version: string }).version;
  } catch {
    return undefined;
  }
}

export function describeController(
  swagger: Swagger,
  controller: Pick<Type, 'prototype'>,
  { tag, operations, schemas: known }: ControllerDocument,
): void {
  const text = JSON.stringify([...operations, ...known]);
  const all = [...SHARED.map(({ name, schema }) => [name, schema] as const), ...known];
  const schemas = new Map(all.filter(([name]) => text.includes(`schemas/${name}"`)));
  const models = [...schemas].map(([name, schema]) => {
    class Model {
      readonly document = name;
    }
    // Its types name two members only, but every member becomes one of the schema.
    swagger.ApiSchema({ type: undefined, properties: undefined, ...schema, name } as object)(Model);
    return Model;
  });
  decorate(controller, [swagger.ApiExtraModels(...models), swagger.ApiTags(tag)]);
  const methods = controller.prototype as Readonly<Record<string, object>>;
  for (const [name, operation] of operations)
    decorate(methods[name] as object, operationDecorators(swagger, operation, schemas));
}

const API_SCHEMA = 'swagger/apiSchema';

/**
 * Gives the class of an entity, by which an application may describe routes of its own, another name than the schema of
 * generated answers has.
 * @param taken the names of schemas, to which the new one is added
 */
export function nameSchemaOf(swagger: Swagger, entity: Type, taken: Set<string>): void {
  const own = (Reflect.getOwnMetadata(API_SCHEMA, entity) as readonly { readonly name?: string }[] | undefined)?.at(-1);
  let name = own?.name ?? entity.name;
  if (taken.has(name)) {
    while (taken.has(name)) name += 'Entity';
    swagger.ApiSchema({ ...own, name })(entity);
  }
  taken.add(name);
}

/** Says of an operation that a token changes its answer. */
export const DEPENDS_ON_USER = 'x-depends-on-user';

/** Schemas that several controllers refer to. */
export const SHARED = [FAILURE, AUTH_FAILURE, REFUSAL, PAGINATION, MOMENT, INTEGERS.signed, INTEGERS.unsigned];

function operationDecorators(
  swagger: Swagger,
  { dependsOnUser, parameters, body, isBodyOptional = false, consumes = [], responses, ...members }: OperationDocument,
  schemas: Schemas,
): MethodDecorator[] {
  const examples = { example: { value: body && exampleOf(body, schemas) } };
  return [
    swagger.ApiOperation(members),
    ...(dependsOnUser ? [swagger.ApiExtension(DEPENDS_ON_USER, true)] : []),
    ...parameters.map((each) => parameterDecorator(swagger, each)),
    ...(body ? [swagger.ApiBody({ schema: body, required: !isBodyOptional, examples })] : []),
    ...(consumes.length > 0 ? [swagger.ApiConsumes(...consumes)] : []),
    ...Object.entries(responses).map(([status, response]) =>
      swagger.ApiResponse({ status: Number(status), ...withExamples(response, schemas) }),
    ),
  ];
}

function withExamples({ content, ...response }: ResponseDocument, schemas: Schemas): object {
  const exampled = Object.entries(content ?? {}).map(([type, { schema, example = exampleOf(schema, schemas) }]) => {
    return [type, { schema, example }] as const;
  });
  return { ...response, ...(content && { content: Object.fromEntries(exampled) }) };
}

const PARAMETER_DECORATORS = { path: 'ApiParam', header: 'ApiHeader', query: 'ApiQuery' } as const;

function parameterDecorator(swagger: Swagger, { in: place, ...parameter }: ParameterDocument): MethodDecorator {
  const decorator = swagger[PARAMETER_DECORATORS[place]] as (options: object) => MethodDecorator;
  return decorator({ required: false, ...parameter });
}

const OWN = Symbol('declarest.ownDocument');

/** Adds what decorators say to a class or a method, whose own decorators win. */
function decorate(target: object, decorators: readonly MethodDecorator[]): void {
  const described = (): void => undefined;
  for (const each of decorators) each({}, '', { value: described });
  const keys = Reflect.getOwnMetadataKeys(described) as unknown[];
  // An application may be started several times in a process, as in tests.
  const known = Reflect.getOwnMetadata(OWN, target) as ReadonlyMap<unknown, unknown> | undefined;
  const own = known ?? new Map(keys.map((key) => [key, Reflect.getOwnMetadata(key, target) as unknown]));
  Reflect.defineMetadata(OWN, own, target);
  for (const key of keys)
    Reflect.defineMetadata(key, merge(Reflect.getOwnMetadata(key, described), own.get(key)), target);
}

/** Parameters are merged; tags and media types of the application replace those of the package. */
function merge(described: unknown, own: unknown): unknown {
  if (Array.isArray(described) && Array.isArray(own)) {
    if (own.some((each) => typeof each === 'string')) return own;
    const names = new Set(own.map(identityOf));
    return [...own, ...described.filter((each) => !names.has(identityOf(each)))];
  }
  if (!isObject(described) || !isObject(own)) return own ?? described;
  // `@ApiOperation()` without a summary has an empty one.
  const given = Object.entries(own).filter(([, value]) => value !== '' && value !== undefined);
  const members = given.map(([name, value]) => [name, isObject(value) ? merge(described[name], value) : value]);
  return { ...described, ...(Object.fromEntries(members) as object) };
}

const identityOf = (listed: object): unknown =>
  'in' in listed && 'name' in listed ? `${listed.in} ${listed.name}` : listed;
