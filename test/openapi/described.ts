/** A document of an application, and whether requests and answers are as it says. */
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly in: 'query' | 'path' | 'header';
  readonly name: string;
  readonly schema: Schema;
  readonly required?: boolean;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

/** An operation with its place. */
export interface Described extends Operation {
  readonly method: string;
  readonly path: string;
}

const CONFIG = new DocumentBuilder().setTitle('Test').setVersion('1').setOpenAPIVersion('3.1.0').build();

export const documentOf = (app: INestApplication): OpenAPIObject => SwaggerModule.createDocument(app, CONFIG);

export class DescribedApi {
  readonly operations: readonly Described[];
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  private partialApi: DescribedApi | undefined;
  private readonly compiled = new Map<object, ValidateFunction>();

  constructor(readonly document: OpenAPIObject) {
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.ajv);
    this.ajv.addSchema({ $id: 'api', components: document.components });
    this.operations = Object.entries(document.paths).flatMap(([path, item]) => {
      const { parameters: ofPath = [], ...operations } = item as object as Partial<Operation>;
      return Object.entries(operations as Readonly<Record<string, Operation>>).map(([method, operation]) => ({
        ...operation,
        parameters: [...ofPath, ...(operation.parameters ?? [])].map((each) => this.resolved(each)),
        ...(operation.requestBody && { requestBody: this.resolved(operation.requestBody) }),
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, each]) => [status, this.resolved(each)]),
        ),
        method: method.toUpperCase(),
        path,
      }));
    });
  }

  /** The same without required properties. */
  private get partial(): DescribedApi {
    const text = JSON.stringify(this.document.components, (key, value: unknown) =>
      key === 'required' && Array.isArray(value) ? undefined : value,
    );
    return (this.partialApi ??= new DescribedApi({
      ...this.document,
      components: JSON.parse(text) as OpenAPIObject['components'],
    } as OpenAPIObject));
  }

  operation(id: string): Described {
    const found = this.operations.find(({ operationId }) => operationId === id);
    if (!found)
      throw new Error(
        `There is no operation ${id} among ${this.operations.map((each) => each.operationId).join(', ')}`,
      );
    return found;
  }

  /** A parameter, a body or an answer, which may stand in the components. */
  private resolved<P extends object>(part: P): P {
    const [, kind = '', name = ''] = /components\/(\w+)\/(\w+)$/.exec('$ref' in part ? String(part.$ref) : '') ?? [];
    const shared = this.document.components as Readonly<Record<string, Readonly<Record<string, P>>>> | undefined;
    return shared?.[kind]?.[name] ?? part;
  }

  /** The schema of a name, or of a reference. */
  named(reference: string): Schema {
    return (this.document.components?.schemas?.[reference.slice(reference.lastIndexOf('/') + 1)] ?? {}) as Schema;
  }

  /** What is wrong with a value; nothing where it is valid. */
  problems(schema: Schema, value: unknown): readonly ErrorObject[] {
    const validate = this.compiled.get(schema) ?? this.ajv.compile(absolute(schema) as object);
    this.compiled.set(schema, validate);
    return validate(value) ? [] : (validate.errors ?? []);
  }

  /** The operation that serves a request; `undefined` where the document has none. */
  find(method: string, url: string): Described | undefined {
    const { pathname } = new URL(url, 'http://localhost');
    const verb = method === 'HEAD' ? 'GET' : method;
    const fitting = this.operations.filter((each) => each.method === verb && patternOf(each.path).test(pathname));
    // A fixed path comes before one with a parameter.
    return fitting.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0];
  }

  /** @returns a sentence for each way in which an answer is not as the document says */
  wrongWith(
    operation: Described,
    answer: { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly text: string },
    options: { readonly isPartial?: boolean } = {},
  ): string[] {
    const described = operation.responses[String(answer.status)];
    const place = `${operation.operationId} ${answer.status}`;
    if (!described) return [`${place} is not described: ${answer.text.slice(0, 200)}`];
    const wrong: string[] = [];
    for (const name of ['etag', 'location', 'retry-after', 'idempotency-replayed', 'x-total-count'])
      // Express adds a weak ETag to every answer.
      if (
        name in answer.headers &&
        !String(answer.headers[name]).startsWith('W/') &&
        !Object.keys(described.headers ?? {}).some((each) => each.toLowerCase() === name)
      )
        wrong.push(`${place} has the header ${name}, which is not described`);
    const schema = described.content?.['application/json']?.schema;
    if (!schema || answer.text === '') return wrong;
    // `fields` makes records partial, and `count=none` pages, which a document cannot say.
    const api = options.isPartial ? this.partial : this;
    const problems = api.problems(schema, JSON.parse(answer.text));
    for (const { instancePath, message } of problems)
      wrong.push(`${place}: ${instancePath} ${message ?? ''} in ${answer.text.slice(0, 300)}`);
    return wrong;
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.+*?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i');

/** References by the id under which ajv knows the components. */
const absolute = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/')) as unknown;

/** Whether a request asks for less than the schema of the answer. */
export const isPartialAnswer = (path: string): boolean => /[?&](fields|count=none)/.test(path);

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly json: unknown;
}

/** Throws where an answer is not as the document says, or where a request was accepted that the document forbids. */
export function checkOf(app: INestApplication): (sent: Sent, answer: Parameters<DescribedApi['wrongWith']>[1]) => void {
  const api = new DescribedApi(documentOf(app));
  return ({ method, path, json }, answer) => {
    const operation = api.find(method, path);
    if (!operation || !('FailureEnvelope' in (api.document.components?.schemas ?? {}))) return;
    // Fastify answers a parameter that is too long by itself.
    if (answer.status === 414) return;
    if (!Object.values(operation.responses).some(({ content }) => content)) return;
    const isPartial = isPartialAnswer(path);
    const wrong = method === 'HEAD' ? [] : api.wrongWith(operation, answer, { isPartial });
    const schema = operation.requestBody?.content['application/json']?.schema;
    if (schema && json !== undefined && answer.status < 207)
      for (const { instancePath, message, params } of api.problems(schema, json))
        wrong.push(
          `${operation.operationId} accepts a body that is not described: ${instancePath} ${message ?? ''} ${JSON.stringify(params)} in ${JSON.stringify(json).slice(0, 300)}`,
        );
    if (wrong.length > 0) throw new Error(`${method} ${path}\n${wrong.join('\n')}`);
  };
}
