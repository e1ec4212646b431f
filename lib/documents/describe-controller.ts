/** Gives the decorators of @nestjs/swagger to a controller: what SwaggerModule.createDocument reads. */
import type { Logger, Type } from '@nestjs/common';
import { INTEGERS, MOMENT } from '../entities/json-schema.js';
import { requireOptional } from '../entities/optional-package.js';
import { isObject } from '../options/option-table.js';
import { exampleOf, type Schemas } from './examples.js';
import { AUTH_FAILURE, FAILURE, REFUSAL } from './failures.js';
import { PAGINATION, type ControllerDocument, type OperationDocument } from './operation-document.js';
import type { ResponseDocument } from './operation-document.js';

/** For a document. @throws what `refuse` makes of a sentence, where the library is missing or older */
export async function loadSwagger(refuse: (sentence: string) => Error) {
  let problem = '@nestjs/swagger is missing. Run npm install @nestjs/swagger.';
  if (isReadable((sentence) => (problem = sentence))) return import('@nestjs/swagger');
  throw refuse(problem);
}

/** Whether the @nestjs/swagger that is installed, if any, reads these descriptions. */
export function isReadable(warn: (sentence: string) => void, version = installedVersion()): boolean {
  const isOld = version !== undefined && Number.parseInt(version, 10) < 12;
  const problem = `The OpenAPI document has the routes of declarest only: it needs @nestjs/swagger 12, got ${version}`;
  if (isOld) warn(`${problem}. Run npm install @nestjs/swagger@12.`);
  return version !== undefined && !isOld;
}

const installedVersion = (): string | undefined =>
  requireOptional<{ readonly version: string }>('@nestjs/swagger/package.json')?.version;

/** The key of the metadata of a decorator of @nestjs/swagger, whose import takes 0.2 s, also where nobody reads a document. */
const keyOf = (name: string): string => `swagger/${name}`;
export const SCHEMA = keyOf('apiSchema');
const EXCLUDED = keyOf('apiExcludeController');

/** Describes the controllers of an application when a document asks whether any of them is excluded, which it asks first. */
export class Descriptions {
  private readonly waiting: (() => void)[] = [];

  /** The metadata of `@ApiExcludeController()` is an array. */
  get 0(): boolean {
    for (const each of this.waiting.splice(0)) each();
    return false;
  }

  add(logger: Logger, controllers: readonly object[], describe: () => void): void {
    if (!isReadable((sentence) => logger.warn(sentence))) return;
    this.waiting.push(describe);
    const isExcluded = (each: object): boolean => [Reflect.getMetadata(EXCLUDED, each) as unknown].flat()[0] === true;
    for (const each of controllers) if (!isExcluded(each)) Reflect.defineMetadata(EXCLUDED, this, each);
  }
}

export function describeController(
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
    Reflect.defineMetadata(SCHEMA, [{ type: undefined, properties: undefined, ...schema, name }], Model);
    return Model;
  });
  describe(controller, { apiExtraModels: models, apiUseTags: [tag] });
  const methods = controller.prototype as Readonly<Record<string, object>>;
  for (const [name, operation] of operations) describe(methods[name] as object, metadataOf(operation, schemas));
}

/** Says of an operation that a token changes its answer. */
export const DEPENDS_ON_USER = 'x-depends-on-user';

/** Schemas that several controllers refer to. */
export const SHARED = [FAILURE, AUTH_FAILURE, REFUSAL, PAGINATION, MOMENT, INTEGERS.signed, INTEGERS.unsigned];

function metadataOf(
  { dependsOnUser, parameters, body, isBodyOptional = false, consumes = [], responses, ...members }: OperationDocument,
  schemas: Schemas,
): Readonly<Record<string, unknown>> {
  const examples = body && { example: { value: exampleOf(body, schemas) } };
  return {
    apiOperation: members,
    ...(dependsOnUser && { apiExtension: { [DEPENDS_ON_USER]: true } }),
    apiParameters: [
      ...parameters.map(({ name, required = false, ...parameter }) => ({ name, required, ...parameter })),
      ...(body ? [{ in: 'body', type: String, required: !isBodyOptional, schema: body, examples }] : []),
    ],
    ...(consumes.length > 0 && { apiConsumes: consumes }),
    apiResponse: mapValues(responses, (response) => withExamples(response, schemas)),
  };
}

const withExamples = ({ content, ...response }: ResponseDocument, schemas: Schemas): object => ({
  ...response,
  content: content && mapValues(content, ({ schema, example = exampleOf(schema, schemas) }) => ({ schema, example })),
});

export const mapValues = <V>(values: Readonly<Record<string, V>>, change: (value: V) => unknown): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

const OWN = Symbol('declarest.ownDocument');

/** Adds metadata to a class or a method, whose own decorators win. */
function describe(target: object, described: Readonly<Record<string, unknown>>): void {
  // An application may be started several times in a process, as in tests.
  const known = Reflect.getOwnMetadata(OWN, target) as ReadonlyMap<unknown, unknown> | undefined;
  const own =
    known ??
    new Map(Object.keys(described).map((name) => [name, Reflect.getOwnMetadata(keyOf(name), target) as unknown]));
  Reflect.defineMetadata(OWN, own, target);
  for (const [name, value] of Object.entries(described))
    Reflect.defineMetadata(keyOf(name), merge(value, own.get(name)), target);
}

/** Parameters are merged; tags, media types and contents of the application replace those of the package. */
function merge(described: unknown, own: unknown): unknown {
  if (Array.isArray(described) && Array.isArray(own)) {
    if (own.some((each) => typeof each === 'string')) return own;
    const names = new Set(own.map(identityOf));
    return [...own, ...described.filter((each) => !names.has(identityOf(each)))];
  }
  if (!isObject(described) || !isObject(own)) return own ?? described;
  // `@ApiOperation()` without a summary has an empty one.
  const given = Object.entries(own).filter(([, value]) => value !== '' && value !== undefined);
  const members = given.map(([name, value]) => [name, merge(name === 'content' ? undefined : described[name], value)]);
  return { ...described, ...(Object.fromEntries(members) as object) };
}

const identityOf = (listed: object): unknown =>
  'in' in listed && 'name' in listed ? `${listed.in} ${listed.name}` : listed;
