/** What each kind of caller reaches of the records of generated resources: rows by operation, and fields. */
import type { INestApplication } from '@nestjs/common';
import { decide, type Access } from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { rolesIn, type CallerViews, type ListParameters, type Plan } from '../crud/inspect.js';
import { BASE_ROLE } from '../http/caller.js';
import { groupBy } from '../routes/route.js';
import { AND, byCaller, callersThat, isAmong, NOBODY, rolesRequired } from './callers.js';
import type { Caller, CallerName, Callers, RowsByCaller } from './callers.js';
import { compileCode, type Code } from './code.js';
import { codeIn, generatedRoutes, withCode, type GeneratedRoute } from './generated-routes.js';
import { askForRoles, recordRows, relatedRows } from './record-rows.js';
import { allOf, anyOf, condition, type Rows } from './rows.js';
import { symbolicCalls } from './symbolic-caller.js';

export interface FieldReach {
  readonly read: Callers;
  readonly create: Callers;
  readonly update: Callers;
}

export interface RelatedReach {
  readonly entity: string;
  readonly rows: RowsByCaller;
  /** Those that included records show, and those that requests filter or sort by. */
  readonly fields: Readonly<Record<string, Readonly<Record<'read' | 'filter', Callers>>>>;
  /** Who may write which records are linked. */
  readonly link: Callers;
}

export interface ResourceReach {
  readonly entity: string;
  readonly endpoint: string;
  /** The rows of each operation, such as `GET /api/orders/:id`. */
  readonly rows: Readonly<Record<string, RowsByCaller>>;
  /** `read` answers records, `count` something else about them, and nobody can tell what `code` does. */
  readonly effects: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, FieldReach>>;
  /** Who may ask for deleted records too, and remove them for good. */
  readonly deleted: Callers;
  /** The records of relations that requests may include, filter or sort by, or link, by path. */
  readonly related: Readonly<Record<string, RelatedReach>>;
}

/** The rows of operations, and those of relations by a name such as `category (Category)`. */
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
  const { expand } = compiled.roles;
  const roles = [...[...(await namedRoles(plans, compiled))].map((role) => [role]), ...rolesRequired(all, compiled)];
  const callers = [undefined, ...roles].map((each): [CallerName, Caller] => {
    const name = each?.join(AND) ?? NOBODY;
    return [name, { name, granted: each && expand(each), makeCall: symbolicCalls(each, expand, plans) }];
  });
  const named = new Map(callers);
  const byPlan = groupBy(all, ({ operation }) => operation.plan);
  const reaches = plans.map((plan) => reachOf(plan, byPlan.get(plan) ?? [], [...named.values()]));
  return { callers: [...named.keys()], resources: await Promise.all(reaches), code: compileCode(app, compiled) };
}

/** `USER`, and every role that a rule, the hierarchy, an option of a resource or its scope names. */
export async function namedRoles(plans: readonly Plan[], compiled: CompiledAccess): Promise<ReadonlySet<string>> {
  const names = new Set([BASE_ROLE, ...compiled.roleNames, ...plans.flatMap(rolesIn)]);
  // The loop visits the roles that scopes add, too.
  for (const role of names)
    for (const plan of plans) {
      const makeCall = symbolicCalls([role], compiled.roles.expand, plans, names);
      for (const { name } of plan.options.knownOperations) await askForRoles({ plan, name }, makeCall);
    }
  return names;
}

async function reachOf(
  plan: Plan,
  routes: readonly GeneratedRoute[],
  callers: readonly Caller[],
): Promise<ResourceReach> {
  const { options, schema } = plan;
  const compileRows = async (each: GeneratedRoute) =>
    [keyOf(each), await byCaller(callers, (caller) => rowsOfOperation(each, caller))] as const;
  const rows = Object.fromEntries(await Promise.all(routes.map(compileRows)));
  // The views of any caller with the role: permissions do not depend on other values.
  const views = new Map(callers.map((each) => [each, plan.viewsFor(each.makeCall(0, true).call.request)]));
  const viewsOf = (caller: Caller): CallerViews => views.get(caller) as CallerViews;
  const may = (check: (views: CallerViews) => boolean): Callers =>
    callersThat(callers, (caller) => check(viewsOf(caller)));
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
    effects: Object.fromEntries(
      routes.map((each) => [keyOf(each), codeIn(each.operation) ? 'code' : each.operation.action]),
    ),
    fields: Object.fromEntries(fields),
    deleted: may((each) => each.without.list.choosesDeleted),
    related: await relatedOf(plan, routes, rows, viewsOf, callers),
  };
}

const keyOf = ({ route }: GeneratedRoute): string => `${route.method} ${route.path}`;

async function rowsOfOperation({ operation, entries }: GeneratedRoute, caller: Caller): Promise<Rows> {
  const allowed = entries.map((entry) => ({ entry, rows: rowsAllowed(entry.access, caller.granted) }));
  const isSame = allowed.every(({ rows }) => JSON.stringify(rows) === JSON.stringify(allowed[0]?.rows));
  const byPath = allowed.map(({ entry, rows }) => (isSame ? rows : allOf(rows, condition(`path ${entry.path}`))));
  const access = anyOf(...byPath);
  if (access === 'none') return access;
  return allOf(access, withCode(operation, await recordRows(operation, caller.makeCall)));
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
  routes: readonly GeneratedRoute[],
  rows: ResourceReach['rows'],
  viewsOf: (caller: Caller) => CallerViews,
  callers: readonly Caller[],
): Promise<ResourceReach['related']> {
  const found: [string, RelatedReach][] = [];
  const reaches = ({ name }: Caller, isRead: boolean): boolean =>
    routes.some((each) => (each.operation.effect === 'read') === isRead && rows[keyOf(each)]?.[name] !== 'none');
  for (const [path, related] of plan.relations) {
    const may = (check: (list: ListParameters) => boolean, isRead = true): Callers =>
      callersThat(callers, (caller) => reaches(caller, isRead) && check(viewsOf(caller).without.list));
    const isLinked = ({ linkable }: ListParameters): boolean => linkable.some((each) => each.path === path);
    const namesIn = ({ filterable, sortable }: ListParameters) => [...filterable.keys(), ...sortable.keys()];
    const isNamed = (list: ListParameters): boolean => namesIn(list).some((each) => each.startsWith(`${path}.`));
    const followers = may((list) => list.includable.has(path) || isLinked(list) || isNamed(list));
    const fields = related.schema.fields.map(({ name }) => {
      const isRead = ({ includable }: ListParameters): boolean =>
        includable.get(path)?.readable.some((field) => field.name === name) ?? false;
      const filter = may((list) => isRead(list) || namesIn(list).includes(`${path}.${name}`));
      return [name, { read: may(isRead), filter }] as const;
    });
    found.push([
      path,
      {
        entity: related.schema.name,
        rows: await byCaller(callers, ({ name, makeCall }) =>
          isAmong(followers, name) ? relatedRows(related, makeCall) : 'none',
        ),
        fields: Object.fromEntries(fields.filter(([, { filter }]) => filter !== 'none')),
        link: may(isLinked, false),
      },
    ]);
  }
  return Object.fromEntries(found);
}
