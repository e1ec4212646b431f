/** What each kind of caller reaches of the records of generated resources: rows by operation, and fields. */
import type { INestApplication } from '@nestjs/common';
import { decide, type Access } from '../access/access.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { overridesOf } from '../crud/nest/declaration-warnings.js';
import type { CrudControllerClass } from '../crud/nest/crud-application.js';
import { rolesOf as rolesInOptions } from '../crud/declare/resolve-options.js';
import type { CustomOperation } from '../crud/declare/custom-operation.js';
import type { OperationDeclaration } from '../crud/declare/operations.js';
import { standardOperations } from '../crud/operations/standard-operations.js';
import type { CallerViews } from '../crud/plan/caller-views.js';
import type { Plan } from '../crud/plan/plan.js';
import { pathOf } from '../crud/plan/relation-parameters.js';
import { BASE_ROLE } from '../http/principal.js';
import { groupBy } from '../routes/route.js';
import { AND, byCaller, callersThat, NOBODY, rolesRequired, viewsOf } from './callers.js';
import type { CallerName, Callers, Context, RowsByCaller } from './callers.js';
import { generatedRoutes, type GeneratedRoute } from './generated-routes.js';
import { codeOf, recordRows, relatedRows, type Effect, type MakeCall } from './record-rows.js';
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
  /** Those of an entity without a resource. Others have the fields of their resource. */
  readonly fields?: readonly string[];
}

export interface ResourceReach {
  readonly entity: string;
  readonly endpoint: string;
  /** By operation: `GET /api/orders/:id`. */
  readonly rows: Readonly<Record<string, RowsByCaller>>;
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
  /** `nobody`, `USER` for any user, and every other role that a rule, an option, a scope or the hierarchy names, or several that a rule requires. */
  readonly callers: readonly CallerName[];
  readonly resources: readonly ResourceReach[];
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
  return { callers, resources };
}

/** `USER`, and every role that a rule, the hierarchy, an option of a resource or its scope names. */
export async function namedRoles(plans: readonly Plan[], compiled: CompiledAccess): Promise<ReadonlySet<string>> {
  const names = new Set([BASE_ROLE, ...compiled.roleNames, ...plans.flatMap(({ options }) => rolesInOptions(options))]);
  // Those that scopes add are visited too.
  for (const role of names)
    for (const plan of plans) {
      const makeCall = makeSymbolicCalls([role], compiled.roles.expand, plans, names);
      await relatedRows(plan, makeCall);
      for (const each of plan.options.knownOperations) await recordRows(plan, each.name, effectOf(each), makeCall);
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
  const rows: Record<string, RowsByCaller> = {};
  for (const each of routes)
    rows[`${each.route.method} ${each.route.path}`] = await byCaller(context, (caller) =>
      rowsOfOperation(each, caller, context),
    );
  const views = new Map(context.callers.map((caller) => [caller, viewsOf(plan, caller, context)]));
  const may = (check: (views: CallerViews) => boolean): Callers =>
    callersThat(context, (caller) => check(views.get(caller) as CallerViews));
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
    fields: Object.fromEntries(fields),
    deleted: may((each) => each.without.list.choosesDeleted),
    related: await relatedOf(plan, rows, context),
  };
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
  return allOf(access, records, ...codeIn(controller, plan, operation));
}

const rowsAllowed = (access: Access, granted: readonly string[] | undefined): Rows =>
  decide(access, granted)
    ? 'none'
    : allOf(
        ...access.requirements.map((each): Rows =>
          'policy' in each ? condition(`policy ${each.policy.name}`) : 'all',
        ),
      );

const CREATIONS: readonly string[] = ['create', 'createMany'];

export const effectOf = ({ name, route }: OperationDeclaration): Effect =>
  route.verb === 'GET' ? 'read' : CREATIONS.includes(name) ? 'create' : 'change';

/** The application's own code that an operation runs may decide otherwise. */
function codeIn(controller: CrudControllerClass, { options }: Plan, { name }: OperationDeclaration): Rows[] {
  const override = overridesOf(controller).find((each) => each.operation.name === name);
  if (override) return [condition(codeOf(override.path, override.method))];
  const custom = options.operations?.find(
    (each): each is CustomOperation =>
      typeof each === 'object' && each.name === name && !(standardOperations as readonly object[]).includes(each),
  );
  return custom ? [condition(codeOf(name, custom.run))] : [];
}

async function relatedOf(plan: Plan, rows: ResourceReach['rows'], context: Context) {
  const found: [string, RelatedReach][] = [];
  const reads = Object.entries(rows).filter(([route]) => route.startsWith('GET '));
  for (const [path, related] of plan.relations) {
    const byCallers = await byCaller(context, (caller) => {
      const { list } = viewsOf(plan, caller, context).without;
      const isFollowed =
        list.includable.has(path) ||
        list.linkable.some((each) => each.path === path) ||
        [...list.filterable.values()].some(({ relations }) => `${pathOf(relations)}.`.startsWith(`${path}.`));
      const isReached = isFollowed && reads.some(([, by]) => by[caller] !== 'none');
      return isReached ? relatedRows(related, context.makeCall(caller)) : 'none';
    });
    const hasResource = context.plans.some(({ options }) => options === related.options);
    const names = related.list.readable.map(({ name }) => name);
    found.push([path, { entity: related.schema.name, rows: byCallers, ...(!hasResource && { fields: names }) }]);
  }
  return Object.fromEntries(found);
}
