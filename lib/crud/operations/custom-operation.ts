/** Makes operations of those that an application declares. */
import { isFunction, isObject, isObjectOf, isOneOf, isUndefinedOr } from '../../options/option-table.js';
import { optional, plainPath, readOptions, row, type Accepts, type Refuse } from '../../options/option-table.js';
import { expectJsonObject } from '../../http/json-body.js';
import { userOf } from '../../http/principal.js';
import type { CustomOperation, OperationContext } from '../declare/custom-operation.js';
import { envelope } from '../declare/envelope.js';
import type { GeneratedController } from '../declare/generated-controller.js';
import { beginTask, type Task } from '../plan/plan.js';
import { parseSort } from '../query/list-query.js';
import { QueryParameters } from '../query/parameters.js';
import { QueryErrors } from '../query/query-errors.js';
import { allFields, hasRelations, selectedFields } from '../query/record-request.js';
import { addRelations } from '../read/related-records.js';
import { run } from '../read/statements.js';
import { conditionOfWhere } from '../rows/where-condition.js';
import { and, ascending, type Condition, type SortKey } from '../sql/condition.js';
import type { Operation } from './operation.js';
import { standardOperations } from './standard-operations.js';

const STANDARD = standardOperations.map(({ name }) => name);

const isText: Accepts = (value) => typeof value === 'string' && value !== '';
/** Nest and the package call methods such as `onModuleInit` and `beforeCreate` themselves. */
const isName: Accepts = (value) => /^(?!(on|before|after)[A-Z])[a-z]\w*$/.test(String(value)) && !(String(value) in {});
const isRoute = isObjectOf({
  verb: isOneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  path: (path) => plainPath(String(path).replace(/^:id(?=\/)/, 'id')) !== undefined,
  status: isUndefinedOr(Number.isInteger),
});
const isDescription = isObjectOf({
  summary: isText,
  text: isUndefinedOr(isText),
  parameters: isUndefinedOr((value) => isObject(value) && Object.values(value).every(isObject)),
  body: isUndefinedOr(isObject),
  data: (data) => isOneOf('record', 'records')(data) || isObject(data),
});

const MEMBERS = {
  name: row('', 'a name such as "topSellers", and not that of a hook', isName, 'begin it with a small letter'),
  route: row<unknown>(
    undefined,
    '{ verb, path, status } with a path such as "top-sellers" or ":id/publish"',
    isRoute,
    'give for example { verb: "GET", path: "top-sellers" }',
  ),
  copyOf: optional<string>('the name of a generated operation', isOneOf(...STANDARD), 'give for example "findAll"'),
  description: row<unknown>(
    undefined,
    '{ summary, text, parameters, body, data }',
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
  readOptions(MEMBERS, given, (member, ...reason) => refuse(`${path}.${member}`, ...reason));
  const { parameters = {}, ...texts } = description;
  const takesId = route.path.startsWith(':');
  const taken = [takesId && 'id', 'query', texts.body && 'body'] as const;
  return {
    ...given,
    route: { ...route, takes: taken.filter((each) => typeof each === 'string') },
    needsRequest: 'always',
    description: {
      ...texts,
      id: `${name}{${takesId ? 'one' : 'many'}}`,
      parameters: () => Object.entries(parameters).map(([each, schema]) => ({ in: 'query', name: each, schema })),
    },
    async run(tools, { id, query, body }) {
      const task = await beginTask(tools, name);
      new QueryParameters(query, Object.keys(parameters)).throwIfAny();
      const sent = texts.body ? expectJsonObject(body) : {};
      return envelope(`${task.plan.schema.name} ${name}`, await given.run(contextOf(task), { id, query, body: sent }));
    },
  };
}

/** A custom operation reaches records only through the condition of its task. */
function contextOf({ plan, call, hooks, view }: Task): OperationContext<object> {
  const { schema, metadata, database, store } = plan;
  const visible = (where: unknown): Condition => and(view.visible, conditionOfWhere(where, metadata, database));
  return {
    user: userOf(call.request),
    resource: hooks as GeneratedController<object>,
    count: (where = true) => run(plan, call, (within) => store.reader.count(within, visible(where))),
    async find({ where = true, sort, limit = 100 } = {}) {
      const request = allFields(view.list);
      const range = { limit, offset: 0 };
      const fields = selectedFields(request, schema.key);
      const selection = { condition: visible(where), sort: sortOf(sort), fields, range };
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
