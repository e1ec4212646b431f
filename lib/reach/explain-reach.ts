/** Which rows and fields of a generated resource one request reaches, and whether one record is among them. */
import type { INestApplicationContext } from '@nestjs/common';
import { ACCESS_OPTIONS } from '../access/access-options.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import type { OperationDeclaration } from '../crud/declare/operations.js';
import type { Plan, RowRule } from '../crud/plan/plan.js';
import { run } from '../crud/read/statements.js';
import { and, keyIs, type Condition } from '../crud/sql/condition.js';
import { userOf, type Principal } from '../http/caller.js';
import type { ServedRoute } from '../routes/route.js';
import { deletedFor, generatedRoutes, withCode, type GeneratedRoute } from './generated-routes.js';
import { makeSymbolicCalls } from './reach.js';
import { effectOf, recordRows, type MakeCall } from './record-rows.js';
import { allOf, describeRows, rowsMeeting } from './rows.js';
import { callAs, type SymbolicCall } from './symbolic-caller.js';

/** Those of AuthModule, whose users have an id of the type of their key. */
interface IdOptions {
  readonly parseId?: (text: string) => string | number;
}

/** The caller of a request: of any user with the roles, or of one with these values. */
export interface Asker {
  /** `undefined` for a request without a token. */
  readonly roles: readonly string[] | undefined;
  readonly id: string | undefined;
  readonly claims: Readonly<Record<string, unknown>> | undefined;
}

/** Lines such as `Rows: own (customerId)`; none for a route that no generated resource serves. */
export async function explainReach(
  app: INestApplicationContext,
  compiled: CompiledAccess,
  request: { readonly method: string; readonly path: string },
  asker: Asker,
): Promise<string[]> {
  const asked = askedOf(app, compiled, request, asker);
  if (!asked) return [];
  const { plan, operation, makeCall } = asked;
  const rows = withCode(asked, await recordRows(plan, operation.name, effectOf(operation), makeCall));
  const view = plan.viewsFor(makeCall(0, true).call.request).without;
  const { canInsert, canUpdate } = view.permissions;
  const { fields } = plan.schema;
  const isRead = (field: (typeof fields)[number]): boolean => view.list.readable.includes(field);
  const effect = effectOf(operation);
  const writable = fields.filter(effect === 'create' ? canInsert : canUpdate);
  const names = (of: typeof fields): string => of.map(({ name }) => name).join(', ') || 'none';
  return [
    `Rows: ${describeRows(rows)}`,
    `Fields to read: ${names(fields.filter(isRead))}`,
    `Hidden fields: ${names(fields.filter((field) => !isRead(field)))}`,
    ...(effect === 'read' ? [] : [`Fields to write: ${names(writable)}`]),
  ];
}

const REASONS: Readonly<Record<RowRule['kind'], string>> = {
  path: 'the parameters of the path',
  scope: 'the option `scope`',
  owner: 'the option `owner`',
  standing: 'the rules of the user class',
  parents: 'the record that the path names before it',
};

/**
 * Whether the record that a request names is visible to its caller, in a started application.
 * @returns a line such as ``Record: not visible, because of the option `owner`: customerId = 5``
 */
export async function explainRecord(
  app: INestApplicationContext,
  compiled: CompiledAccess,
  request: { readonly method: string; readonly path: string },
  asker: Asker,
): Promise<string> {
  const asked = askedOf(app, compiled, request, asker);
  const id = asked?.params['id'];
  if (!asked || id === undefined) return 'Record: the path names no record of a generated resource';
  const { plan, operation, makeCall } = asked;
  const standing = await recordStanding(plan, makeCall(0, true), operation, String(id));
  return `Record: ${standing ?? 'visible'}`;
}

/** Why a caller does not see a record, or may not change it; `undefined` where nothing refuses. */
async function recordStanding(
  plan: Plan,
  { call, nameOf }: SymbolicCall,
  operation: OperationDeclaration,
  id: string,
): Promise<string | undefined> {
  const { schema, store } = plan;
  const views = plan.viewsFor(call.request);
  const task = { plan, call, operation: operation.name, view: views[deletedFor(operation, views)] };
  const key = schema.key.readText(id);
  if (!('value' in key)) return `the id must be ${key.expected}`;
  const meets = async (...conditions: readonly Condition[]): Promise<boolean> =>
    (await run(plan, call, (within) => store.reader.count(within, and(keyIs(schema.key, key.value), ...conditions)))) >
    0;
  if (!(await meets())) return `there is no ${schema.name} with the id ${id}`;
  if (!(await meets(task.view.visible))) return 'not visible, because it is deleted or belongs to another class';
  for (const part of plan.rowRules) {
    const { conditions = [], preconditions = [] } = await part.add(task);
    const written = preconditions.map(({ condition }) => condition);
    const describe = (of: readonly Condition[]): string =>
      `because of ${REASONS[part.kind]}: ${describeRows(allOf(...of.map((each) => rowsMeeting(each, nameOf))))}`;
    if (!(await meets(...conditions))) return `not visible, ${describe(conditions)}`;
    if (effectOf(operation) === 'change' && !(await meets(...written)))
      return `visible, and not to be changed, ${describe(written)}`;
  }
  return undefined;
}

function askedOf(
  app: INestApplicationContext,
  compiled: CompiledAccess,
  { method, path }: { readonly method: string; readonly path: string },
  asker: Asker,
) {
  const served = generatedRoutes(app, compiled).serving(method, path);
  const { parseId = String } = app.get<IdOptions>(ACCESS_OPTIONS, { strict: false });
  return served && { ...served, makeCall: callsOf(asker, compiled, served, parseId) };
}

function callsOf(
  { roles, id, claims }: Asker,
  { roles: { expand } }: CompiledAccess,
  { plan, params }: Pick<GeneratedRoute & ServedRoute, 'plan' | 'params'>,
  parseId: NonNullable<IdOptions['parseId']>,
): MakeCall {
  const makeCall = makeSymbolicCalls(roles, expand, [plan]);
  const known = id === undefined ? claims?.['id'] : parseId(id);
  return (...probe) => {
    const symbolic = makeCall(...probe);
    const any = userOf(symbolic.call.request);
    // The id of any user has a name, such as `:id`, and counts as read.
    const withValues = {
      email: '',
      roles,
      ...claims,
      get id() {
        return known ?? any?.id;
      },
    } as Principal;
    const user = known === undefined && claims === undefined ? any : any && withValues;
    // As for the table: the package itself asks for roles without a scope.
    return { ...symbolic, call: callAs(user, () => expand(roles ?? []), params as never) };
  };
}
