/** The endpoint that tells callers what they may do with generated resources, and with one record. */
import { BadRequestException, NotFoundException } from '@nestjs/common';
import { AccessRules } from '../access/access-rules.js';
import { decide } from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import type { RouteHandler } from '../access/route-access.js';
import { authFailure } from '../documents/failures.js';
import { jsonResponse, openObject, refTo, TEXT, type NamedSchema } from '../documents/operation-document.js';
import { BOOLEAN, INVALID, MESSAGE } from '../auth/plugins/document-parts.js';
import { accountEndpoint, type AuthPlugin } from '../auth/plugins/plugin.js';
import { beginTask, type Plan } from '../crud/plan/plan.js';
import { run } from '../crud/read/statements.js';
import { and, keyIs } from '../crud/sql/condition.js';
import { userOf } from '../http/caller.js';
import { queryOf, type HttpRequest } from '../http/http-request.js';
import { groupBy, joinPaths, levelsOf } from '../routes/route.js';
import { deletedFor, generatedRoutes, type GeneratedRoute, type GeneratedRoutes } from './generated-routes.js';
import { effectOf, recordLimits, type RecordLimits } from './record-rows.js';
import { callAs } from './symbolic-caller.js';

interface Permitted {
  readonly operations: readonly string[];
  readonly read: readonly string[];
  readonly create: readonly string[];
  readonly update: readonly string[];
}

interface PermittedResource extends Permitted, RecordLimits {
  /** With the parameters of its endpoint: `/api/products/:productId/reviews`. */
  readonly path: string;
  readonly filter: readonly string[];
  readonly sort: readonly string[];
  readonly include: readonly string[];
  /** The field that must hold the id of the user for a change. */
  readonly owner?: string;
}

const LIST: NamedSchema = { name: 'AuthAccessNames', schema: { type: 'array', items: TEXT } };
const NAMES = refTo(LIST.name);
const PERMITTED = { operations: NAMES, read: NAMES, create: NAMES, update: NAMES };
const ALWAYS = { path: TEXT, ...PERMITTED, filter: NAMES, sort: NAMES, include: NAMES, own: NAMES, some: NAMES };
const RESOURCE: NamedSchema = {
  name: 'AuthAccess',
  schema: openObject({ ...ALWAYS, owner: TEXT }, Object.keys(ALWAYS)),
};
const DATA = openObject(
  {
    authenticated: BOOLEAN,
    resources: { type: 'array', items: refTo(RESOURCE.name) },
    record: openObject(PERMITTED),
  },
  ['authenticated'],
);
const ANSWER = openObject({ ...MESSAGE, data: DATA });

const ENDPOINT = accountEndpoint({
  name: 'access',
  route: 'GET access',
  access: 'public',
  limit: false,
  summary: 'Say what the caller may do',
  description:
    'By generated resource: the operations that the access rules allow, and the fields that the caller reads, writes, filters and sorts by. ' +
    'Those in `own` are for records of the caller, and those in `some` for some records. With `record`, for one record. ' +
    'Policies are asked when an operation is called.',
  operationId: 'getAccess',
  parameters: () => [
    { in: 'query', name: 'record', schema: TEXT, description: 'The path of a record, such as `/api/orders/7`.' },
  ],
  answers: {
    200: jsonResponse('What the caller may do', ANSWER),
    ...INVALID,
    404: authFailure('The caller sees no such record.', 'No record at /api/orders/7'),
  },
  async run({ get }, { request }) {
    const compiled = get(AccessRules).compiled as CompiledAccess;
    const record = recordIn(request);
    const routes = generatedRoutes({ get }, compiled);
    const data =
      record === undefined
        ? { resources: await resourcesFor(request, compiled, routes) }
        : { record: await permittedOn(record, request, compiled, routes) };
    // A token that is not accepted is ignored: the answer then is that for everybody.
    return { success: true, message: 'Access', data: { authenticated: userOf(request) !== undefined, ...data } };
  },
});

/**
 * Adds `GET {base}/access` to accounts: what the caller may do, from the rules and options that decide on requests.
 * @example plugins: [accessEndpoint()]
 */
export const accessEndpoint = (): AuthPlugin => ({
  name: 'accessEndpoint',
  decidesBy: {},
  endpoints: [ENDPOINT],
  describe: () => ({ schemas: [RESOURCE, LIST] }),
});

/** @throws 400 */
function recordIn(request: HttpRequest): string | undefined {
  const query = [...new URLSearchParams(queryOf(request))];
  const [[name, record] = []] = query;
  if (name === undefined) return undefined;
  if (query.length > 1 || name !== 'record')
    throw new BadRequestException('The only parameter is record, the path of a record such as /api/orders/7');
  return record;
}

type Granted = readonly string[] | undefined;

/** The roles of the caller, and those that they include; `undefined` without a token. */
function grantedTo(request: HttpRequest, { roles }: CompiledAccess): Granted {
  const user = userOf(request);
  return user && roles.expand(user.roles);
}

/** By the rules for each part of its paths. */
const answersOf = ({ entries }: GeneratedRoute, granted: Granted): boolean[] =>
  entries.map(({ access }) => !decide(access, granted));

async function resourcesFor(
  request: HttpRequest,
  compiled: CompiledAccess,
  { all }: GeneratedRoutes,
): Promise<PermittedResource[]> {
  const granted = grantedTo(request, compiled);
  const permitted = groupBy(
    all.filter((each) => answersOf(each, granted).includes(true)),
    baseOf,
  );
  const call = callAs(userOf(request), compiled.roles.expand);
  const resources: PermittedResource[] = [];
  // One at a time: a scope may query, and a request must not take a connection for each resource.
  for (const [path, routes] of permitted) {
    const { plan } = routes[0] as GeneratedRoute;
    const operations = [...new Set(routes.map(({ operation }) => operation))];
    const { own, some } = await recordLimits(plan, call, operations);
    const partly = routes.filter((each) => answersOf(each, granted).includes(false));
    resources.push({
      path,
      operations: operations.map(({ name }) => name),
      ...fieldsFor(plan, request),
      own,
      some: [...new Set([...some, ...partly.map(({ operation }) => operation.name)])],
    });
  }
  return resources;
}

/** `/api/orders/:id` → `/api/orders` */
function baseOf({ route: { path }, operation }: GeneratedRoute): string {
  const below = joinPaths(operation.route.path);
  return below !== '/' && path.endsWith(below) ? path.slice(0, -below.length) : path;
}

function fieldsFor(
  plan: Plan,
  request: HttpRequest,
): Omit<PermittedResource, 'path' | 'operations' | keyof RecordLimits> {
  const { list, permissions, isOwnerBound } = plan.viewsFor(request).without;
  const links = list.linkable.map(({ name }) => name);
  const names = (may: (field: Plan['schema']['fields'][number]) => boolean): string[] => [
    ...plan.schema.fields.filter(may).map(({ name }) => name),
    ...links,
  ];
  return {
    read: names((field) => list.readable.includes(field)),
    create: names((field) => permissions.canInsert(field)),
    update: names((field) => permissions.canUpdate(field)),
    filter: [...list.filterable.keys()],
    sort: [...list.sortable.keys()],
    include: [...list.includable.keys()],
    ...(isOwnerBound && plan.owner?.claim === 'id' && { owner: plan.owner.field.name }),
  };
}

/** @throws 400 for a path that leads to no generated resource, 404 for a record that the caller does not see */
async function permittedOn(
  path: string,
  request: HttpRequest,
  compiled: CompiledAccess,
  routes: GeneratedRoutes,
): Promise<Permitted> {
  const served = routes.serving('GET', path);
  const id = served?.params['id'];
  if (!served || typeof id !== 'string')
    throw new BadRequestException('record must be the path of a record of a generated resource, such as /api/orders/7');
  const { controller, plan, params, route } = served;
  const call = callAs(userOf(request), compiled.roles.expand, params);
  const granted = grantedTo(request, compiled);
  const key = plan.schema.key.readText(id);
  const views = plan.viewsFor(request);
  // The levels as they were sent: another spelling may have other rules.
  const sent = levelsOf(path.replace(/[?#].*$/s, ''));
  const levels = new Map(levelsOf(route.path).map((level, index) => [level, sent[index]]));
  const pathOf = (template: string): string =>
    joinPaths(...levelsOf(template).map((level) => levels.get(level) ?? level));
  const operations: string[] = [];
  for (const each of routes.all) {
    const { operation } = each;
    if (each.controller !== controller || !operation.route.takes.includes('id') || !('value' in key)) continue;
    const handler = { getClass: () => controller, getHandler: () => each.route.handler } as RouteHandler;
    const concrete = { path: pathOf(each.route.path), params };
    if (decide(compiled.ofRoute(each.route.path, each.route.method, concrete, handler), granted)) continue;
    const { name } = operation;
    const { view } = await beginTask(plan, call, name, deletedFor(operation, views));
    const written = effectOf(operation) === 'change' ? view.preconditions.map(({ condition }) => condition) : [];
    const meeting = and(keyIs(plan.schema.key, key.value), view.visible, ...written);
    if ((await run(plan, call, (within) => plan.store.reader.count(within, meeting))) > 0) operations.push(name);
  }
  if (operations.length === 0) throw new NotFoundException(`No record at ${path}`);
  const { read, create, update } = fieldsFor(plan, request);
  const isUpdated = operations.some((name) => name === 'update' || name === 'patch');
  const creations = routes.all.filter(
    (each) => each.controller === controller && effectOf(each.operation) === 'create',
  );
  const isCreated = creations.some((each) => answersOf(each, granted).includes(true));
  return { operations, read, create: isCreated ? create : [], update: isUpdated ? update : [] };
}
