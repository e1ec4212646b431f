/** Makes operations of those that an application declares. */
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { BadRequestException, StreamableFile } from '@nestjs/common';
import { integer, isFunction, isMethodName, isObject, isObjectOf, isOneOf } from '../../options/option-table.js';
import { isUndefinedOr, optional, plainPath, readOptions, row } from '../../options/option-table.js';
import type { Accepts, Refuse } from '../../options/option-table.js';
import { schemaErrors, unknownKeyword } from '../../entities/schema-check.js';
import { expectJsonObject } from '../../http/json-body.js';
import { userOf } from '../../http/caller.js';
import type { CustomOperation, OperationContext, OperationInput, ServerResource } from '../declare/custom-operation.js';
import { envelope, type Envelope } from '../declare/envelope.js';
import { beginTask, type Task } from '../plan/plan.js';
import { parseSort } from '../query/list-query.js';
import { QueryParameters } from '../query/parameters.js';
import { QueryErrors } from '../query/query-errors.js';
import { allFields, hasRelations, selectedFields } from '../query/record-request.js';
import { assertChangeable, readId, targetOf } from '../read/records.js';
import { addRelations } from '../read/related-records.js';
import { run } from '../read/run-with-retries.js';
import { conditionOfWhere } from '../rows/where-condition.js';
import { and, ascending, type Condition, type SortKey } from '../sql/condition.js';
import { beginCall } from '../store/call.js';
import { create } from './create.js';
import type { Operation } from './operation.js';
import { standardOperations } from './standard-operations.js';
import { patch } from './update.js';

const STANDARD = standardOperations.map(({ name }) => name);

const isText: Accepts = (value) => typeof value === 'string' && value !== '';
/** `read` of the option `access` is all reads. */
const isName: Accepts = (value) => isMethodName(value) && value !== 'read';
const isRoute = isObjectOf({
  verb: isOneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  path: (path) => isText(path) && plainPath(String(path).replace(/^:id(?=\/)/, 'id')) !== undefined,
  status: isUndefinedOr(integer(200, 200, 299).accepts),
});
const isDescription = isObjectOf({
  summary: isText,
  text: isUndefinedOr(isText),
  parameters: isUndefinedOr((value) => isObject(value) && Object.values(value).every(isObject)),
  body: isUndefinedOr((body) => isObject(body) && isOneOf(undefined, 'object')(body['type'])),
  message: isUndefinedOr(isText),
  tool: isUndefinedOr((tool) => isText(tool) && /^[\w{}-]{1,64}$/.test(String(tool))),
  data: (data) => isOneOf('record', 'records')(data) || isObject(data),
});

const ADVICE = 'leave the keyword out, and check it in `run`';

const MEMBERS = {
  name: row('', 'a name such as "topSellers", and no hook, "then" or "read"', isName, 'begin it with a small letter'),
  route: row<unknown>(
    undefined,
    '{ verb, path, status } with GET, POST, PUT, PATCH or DELETE, "top-sellers" or ":id/publish", and 200 to 299',
    isRoute,
    'give for example { verb: "GET", path: "top-sellers" }',
  ),
  copyOf: optional<string>('the name of a generated operation', isOneOf(...STANDARD), 'give for example "findAll"'),
  description: row<unknown>(
    undefined,
    '{ summary, text, parameters, body, data, message, tool }, of which body describes an object',
    isDescription,
    'give for example { summary: "List the best-selling products", data: "records" }',
  ),
  run: row<unknown>(undefined, 'a function', isFunction, 'return the member `data` of the answer'),
};

/** @throws InvalidOptionError */
export function customOperation(given: CustomOperation, refuse: Refuse): Operation {
  const { name, route, description } = given;
  const path = `operations.${String(name)}`;
  const wrong = Object.keys(given).find((member) => !(member in MEMBERS));
  const expected = `an object with ${Object.keys(MEMBERS).join(', ')}`;
  if (wrong !== undefined) refuse(path, expected, `"${wrong}"`, 'correct or remove it');
  readOptions(MEMBERS, given, (member, wanted, got, advice) => {
    const value: unknown = given[member as keyof CustomOperation];
    const shown = isObject(value) ? inspect(value, { breakLength: Infinity }) : got;
    return refuse(`${path}.${member}`, wanted, shown, advice);
  });
  const { parameters = {}, message, tool, body: schema, ...texts } = description;
  const unknown = schema && unknownKeyword(schema);
  if (unknown !== undefined)
    refuse(`${path}.description.body`, 'a JSON Schema of keywords that are checked', `"${unknown}"`, ADVICE);
  const bodySchema = schema && { ...('properties' in schema && { additionalProperties: false }), ...schema };
  const takesId = route.path.startsWith(':');
  const id = tool ?? `${name}{${takesId ? 'one' : 'many'}}`;
  const same = (standardOperations as readonly Operation[]).find((each) => each.description.id === id)?.name ?? name;
  if (same !== name)
    refuse(`${path}.name`, 'free in the OpenAPI document', `"${tool ?? name}" of ${same}`, 'rename it');
  const taken = [takesId && 'id', 'query', schema && 'body'] as const;
  return {
    ...given,
    route: { ...route, takes: taken.filter((each) => typeof each === 'string') },
    needsRequest: 'always',
    parameterNames: Object.keys(parameters),
    // For the OpenAPI document. The operation of the resource that `run` calls compares the header.
    ...(takesId && !['GET', 'POST'].includes(route.verb) && { ifMatch: 'version' }),
    description: {
      ...texts,
      ...(bodySchema && { body: bodySchema }),
      id,
      parameters: () => Object.entries(parameters).map(([each, schema]) => ({ in: 'query', name: each, schema })),
    },
    async run(plan, call, { id, query, body }) {
      const task = await beginTask(plan, call, name);
      new QueryParameters(query, Object.keys(parameters)).throwIfAny();
      const sent = bodySchema ? expectJsonObject(body) : {};
      const errors = bodySchema ? schemaErrors(bodySchema, sent) : [];
      if (errors.length > 0) throw new BadRequestException({ message: 'The body is not valid', errors });
      const data = await given.run(contextOf(task), { id, query, body: sent });
      // As JSON, it would be the state of the stream, such as the path of its file.
      if (data instanceof Readable || data instanceof StreamableFile) throw new TypeError(`${name} must return JSON`);
      return envelope(message ?? `${plan.schema.name} ${name}`, data);
    },
  };
}

/** A custom operation reaches records only through the condition of its task. */
function contextOf(task: Task): OperationContext<object> {
  const { plan, call, view } = task;
  const { schema, metadata, database, store } = plan;
  const visible = (where: unknown): Condition => and(view.visible, conditionOfWhere(where, metadata, database));
  return {
    user: userOf(call.request),
    resource: serverResource(task),
    insert: async (values) => ((await writeAsServer(create, task, { body: values })) as Envelope<object>).data,
    count: (where = true) => run(plan, call, (within) => store.reader.count(within, visible(where))),
    assertChangeable: (id) => assertChangeable(task, targetOf(task, { key: readId(plan, id, patch), id }, patch)),
    mayWrite: (name) => schema.fields.some((each) => each.name === name && view.permissions.canUpdate(each)),
    async find({ where = true, sort, limit = 100 } = {}) {
      if (!(Number.isSafeInteger(limit) && limit >= 0))
        throw new TypeError(`limit must be an integer from 0, got ${limit}`);
      const request = allFields(view.list);
      const fields = selectedFields(request, schema.key);
      const selection = { condition: visible(where), sort: sortOf(sort), fields, range: { limit, offset: 0 } };
      const records = await run(plan, call, (within) => store.reader.find(within, selection));
      if (hasRelations(request)) await addRelations(plan, call, records, request);
      return records;
    },
  };
  function sortOf(sort: string | undefined): SortKey[] {
    const errors = new QueryErrors();
    const fields = new Map(schema.fields.map((field) => [field.name, field]));
    const keys = sort === undefined ? [] : parseSort(sort, fields, errors);
    if (!errors.isEmpty) throw new TypeError(`${schema.name} cannot be sorted by "${sort}". Name columns.`);
    return [...keys, ...ascending(schema.key.fields.filter((key) => !keys.some(({ field }) => field === key)))];
  }
}

const writeAsServer = (operation: Operation, { plan, call }: Task, input: Partial<OperationInput>): Promise<unknown> =>
  operation.run(plan, beginCall(true, { ...call, source: 'server' }), { id: '', query: {}, body: {}, ...input });

type Method = (...given: unknown[]) => unknown;

/** The operations of a controller, of which two may be called as the server. */
function serverResource(task: Task): ServerResource<object> {
  const controller = task.call.controller as Readonly<Record<string, Method>>;
  const isServer = (options: unknown): boolean => (options as { readonly as?: string } | undefined)?.as === 'server';
  const methods = task.plan.options.knownOperations.map(({ name }): [string, Method] => [
    name,
    (...given) => controller[name]?.(...given),
  ]);
  const { create: createOne, patch: patchOne, ...others } = Object.fromEntries(methods);
  const resource: Record<string, Method | undefined> = {
    ...others,
    create: (body, options, ...more) =>
      isServer(options) ? writeAsServer(create, task, { body } as never) : createOne?.(body, options, ...more),
    patch: (id, body, options, ...more) =>
      isServer(options) ? writeAsServer(patch, task, { id, body } as never) : patchOne?.(id, body, options, ...more),
  };
  return Object.create(controller, Object.getOwnPropertyDescriptors(resource)) as ServerResource<object>;
}
