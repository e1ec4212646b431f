/** What each kind of caller reaches of the records of generated resources: rows by operation, and fields. */
import type { INestApplication } from '@nestjs/common';
import { decide, type Access } from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { rolesOf as rolesInOptions } from '../crud/declare/resolve-options.js';
import type { OperationDeclaration } from '../crud/declare/operations.js';
import type { Operation } from '../crud/operations/operation.js';
import type { CallerViews } from '../crud/plan/caller-views.js';
import type { Plan } from '../crud/plan/plan.js';
import { relationPath } from '../crud/plan/list-parameters.js';
import type { ListParameters } from '../crud/query/list-query.js';
import { BASE_ROLE } from '../http/caller.js';
import { groupBy } from '../routes/route.js';
import { AND, byCaller, callersThat, isAmong, NOBODY, rolesRequired, viewsOf } from './callers.js';
import type { CallerName, Callers, Context, RowsByCaller } from './callers.js';
import { compileCode, type Code } from './code.js';
import { codeIn, generatedRoutes, withCode, type GeneratedRoute } from './generated-routes.js';
import { askForRoles, effectOf, recordRows, relatedRows, type MakeCall } from './record-rows.js';
import { allOf, anyOf, condition, type Rows } from './rows.js';
import { PROBES, symbolicCall, uuidClaims, type SymbolicOptions } from './symbolic-caller.js';

export interface FieldReach {
  readonly read: Callers;
  readonly create: Callers;
  readonly update: Callers;
}

export interface RelatedReach {
  readonly entity: string;
  readonly rows: RowsByCaller;
  /** Those that included records show, and those that requests filter by. */
  readonly fields: Readonly<Record<string, Readonly<Record<'read' | 'filter', Callers>>>>;
  /** Who may write which records are linked. */
  readonly link: Callers;
}

export interface ResourceReach {
  readonly entity: string;
  readonly endpoint: string;
  /** By operation: `GET /api/orders/:id`. */
  readonly rows: Readonly<Record<string, RowsByCaller>>;
  /** `read` answers records, `count` something else about them, and nobody can tell what `code` does. */
  readonly effects: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, FieldReach>>;
  /** Who may ask for deleted records too, and remove them for good. */
  readonly deleted: Callers;
  /** The records of relations that requests may include, filter by or link, by path. */
  readonly related: Readonly<Record<string, RelatedReach>>;
}

/** Those of operations, and of relations by a name such as `category (Category)`. */
export const namedRows = ({ rows, related }: ResourceReach): readonly (readonly [string, RowsByCaller])[] => [
  ...Object.entries(rows),
  ...Object.entries(related).map(([path, each]) => [`${path} (${each.entity})`, each.rows] as const),
];

export interface Reach {
  /**
   * `nobody`, `USER` for any user, every other role that a rule, an option, a scope or the hierarchy names, and the roles that
   * a route requires together.
   */
  readonly callers: readonly CallerName[];
  readonly resources: readonly ResourceReach[];
  readonly code: Code;
}

/** The resources in the order of their declaration. */
export async function compileReach(app: INestApplication, compiled: CompiledAccess): Promise<Reach> {
  const { all, plans } = generatedRoutes(app, compiled);
  const roles = [...[...(await namedRoles(plans, compiled))].map((role) => [role]), ...rolesRequired(all, compiled)];
  const granted = new Map<CallerName, readonly string[] | undefined>([
    [NOBODY, undefined],
    ...roles.map((each) => [each.join(AND), each] as const),
  ]);
  const callers = [...granted.keys()];
  const rolesOf = (caller: CallerName) => granted.get(caller);
  const makeCall = (caller: CallerName): MakeCall => makeSymbolicCalls(rolesOf(caller), compiled.roles.expand, plans);
  const context: Context = { compiled, plans, callers, rolesOf, makeCall };
  const byPlan = groupBy(all, ({ plan }) => plan);
  const resources = await Promise.all(plans.map((plan) => reachOf(plan, byPlan.get(plan) ?? [], context)));
  return { callers, resources, code: compileCode(app, compiled) };
}

/** `USER`, and every role that a rule, the hierarchy, an option of a resource or its scope names. */
export async function namedRoles(plans: readonly Plan[], compiled: CompiledAccess): Promise<ReadonlySet<string>> {
  const names = new Set([BASE_ROLE, ...compiled.roleNames, ...plans.flatMap(({ options }) => rolesInOptions(options))]);
  // Those that scopes add are visited too.
  for (const role of names)
    for (const plan of plans) {
      const makeCall = makeSymbolicCalls([role], compiled.roles.expand, plans, names);
      for (const each of plan.options.knownOperations) await askForRoles(plan, each.name, makeCall);
    }
  return names;
}

/** Calls of any user with these roles, or of a caller without a token. @param asked gets the roles that scopes name */
export function makeSymbolicCalls(
  granted: readonly string[] | undefined,
  expand: SymbolicOptions['expand'],
  plans: readonly Plan[],
  asked = new Set<string>(),
): MakeCall {
  const uuids = uuidClaims(plans.flatMap(({ owner }) => owner ?? []));
  return (probe, hasClaims) => symbolicCall(PROBES[probe] as number, { granted, expand, uuids, hasClaims, asked });
}

async function reachOf(plan: Plan, routes: readonly GeneratedRoute[], context: Context): Promise<ResourceReach> {
  const { options, schema } = plan;
  const compileRows = async (each: GeneratedRoute) =>
    [keyOf(each), await byCaller(context, (caller) => rowsOfOperation(each, caller, context))] as const;
  const rows = Object.fromEntries(await Promise.all(routes.map(compileRows)));
  const viewsByCaller = new Map(context.callers.map((caller) => [caller, viewsOf(plan, caller, context)]));
  const views = (caller: CallerName): CallerViews => viewsByCaller.get(caller) as CallerViews;
  const may = (check: (views: CallerViews) => boolean): Callers =>
    callersThat(context, (caller) => check(views(caller)));
  const fields = schema.fields.map((field): [string, FieldReach] => [
    field.name,
    {
      read: may((each) => each.with.list.readable.includes(field)),
      create: may(({ without: { permissions } }) => permissions.canInsert(field)),
      update: may(({ without: { permissions } }) => permissions.canUpdate(field)),
    },
  ]);
  return {
    entity: schema.name,
    endpoint: options.endpoint,
    rows,
    effects: Object.fromEntries(routes.map((each) => [keyOf(each), describeEffect(each)])),
    fields: Object.fromEntries(fields),
    deleted: may((each) => each.without.list.choosesDeleted),
    related: await relatedOf(plan, rows, views, context),
  };
}

const keyOf = ({ route }: GeneratedRoute): string => `${route.method} ${route.path}`;

function describeEffect({ controller, plan, operation }: GeneratedRoute): string {
  if (codeIn({ controller, plan, operation })) return 'code';
  if (effectOf(operation) !== 'read') return originalOf(operation, plan).name;
  const { data } = (operation as Operation).description;
  // Without data, the answer is a file of records.
  return typeof data !== 'object' && typeof data !== 'function' ? 'read' : 'count';
}

/** `update` of `patchMany`. */
function originalOf(operation: OperationDeclaration, plan: Plan): OperationDeclaration {
  const original = plan.options.knownOperations.find(({ name }) => name === operation.copyOf);
  return original ? originalOf(original, plan) : operation;
}

async function rowsOfOperation(
  { controller, plan, operation, entries }: GeneratedRoute,
  caller: CallerName,
  context: Context,
): Promise<Rows> {
  const { roles } = context.compiled;
  const named = context.rolesOf(caller);
  const granted = named && roles.expand(named);
  const allowed = entries.map((entry) => ({ entry, rows: rowsAllowed(entry.access, granted) }));
  const isSame = allowed.every(({ rows }) => JSON.stringify(rows) === JSON.stringify(allowed[0]?.rows));
  const byPath = allowed.map(({ entry, rows }) => (isSame ? rows : allOf(rows, condition(`path ${entry.path}`))));
  const access = anyOf(...byPath);
  if (access === 'none') return access;
  const records = await recordRows(plan, operation.name, effectOf(operation), context.makeCall(caller));
  return allOf(access, withCode({ controller, plan, operation }, records));
}

const rowsAllowed = (access: Access, granted: readonly string[] | undefined): Rows =>
  decide(access, granted)
    ? 'none'
    : allOf(
        ...access.requirements.map((each): Rows =>
          'policy' in each ? condition(`policy ${each.policy.name}`) : 'all',
        ),
      );

async function relatedOf(
  plan: Plan,
  rows: ResourceReach['rows'],
  views: (caller: CallerName) => CallerViews,
  context: Context,
): Promise<ResourceReach['related']> {
  const found: [string, RelatedReach][] = [];
  const operations = Object.entries(rows);
  const reaches = (caller: CallerName, isRead: boolean): boolean =>
    operations.some(([route, by]) => route.startsWith('GET ') === isRead && by[caller] !== 'none');
  for (const [path, related] of plan.relations) {
    const may = (check: (list: ListParameters) => boolean, isRead = true): Callers =>
      callersThat(context, (caller) => reaches(caller, isRead) && check(views(caller).without.list));
    const isLinked = ({ linkable }: ListParameters): boolean => linkable.some((each) => each.path === path);
    const filters = ({ filterable }: ListParameters) => [...filterable.values()];
    const followers = may(
      (list) =>
        list.includable.has(path) ||
        isLinked(list) ||
        filters(list).some(({ relations }) => `${relationPath(relations)}.`.startsWith(`${path}.`)),
    );
    const fields = related.schema.fields.map(({ name }) => {
      const isRead = ({ includable }: ListParameters): boolean =>
        includable.get(path)?.readable.some((field) => field.name === name) ?? false;
      const isFilter = (list: ListParameters): boolean =>
        filters(list).some(({ relations, field }) => field.name === name && relationPath(relations) === path);
      return [name, { read: may(isRead), filter: may((list) => isRead(list) || isFilter(list)) }] as const;
    });
    found.push([
      path,
      {
        entity: related.schema.name,
        rows: await byCaller(context, (caller) =>
          isAmong(followers, caller) ? relatedRows(related, context.makeCall(caller)) : 'none',
        ),
        fields: Object.fromEntries(fields.filter(([, { filter }]) => filter !== 'none')),
        link: may(isLinked, false),
      },
    ]);
  }
  return Object.fromEntries(found);
}
