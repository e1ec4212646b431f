/** Which rows and fields of a generated resource one request reaches, and whether one record is among them. */
import type { INestApplicationContext } from '@nestjs/common';
import { ACCESS_OPTIONS } from '../access/access-options.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import { callAs, evaluateRule, exists, recordWith, viewOf } from '../crud/inspect.js';
import type { Condition, InspectedOperation, RowRule } from '../crud/inspect.js';
import { userOf, type Principal } from '../http/caller.js';
import { generatedRoutes, withCode } from './generated-routes.js';
import { recordRows } from './record-rows.js';
import { allOf, describeRows, rowsMeeting } from './rows.js';
import { symbolicCalls, type MakeCall, type SymbolicCall } from './symbolic-caller.js';

/** The options of AuthModule, whose users have an id of the type of their key. */
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
  const { operation, makeCall } = asked;
  const { plan, effect } = operation;
  const rows = withCode(operation, await recordRows(operation, makeCall));
  const view = plan.viewsFor(makeCall(0, true).call.request).without;
  const { canInsert, canUpdate } = view.permissions;
  const { fields } = plan.schema;
  const isRead = (field: (typeof fields)[number]): boolean => view.list.readable.includes(field);
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
  const standing = await recordStanding(asked.operation, asked.makeCall(0, true), String(id));
  return `Record: ${standing ?? 'visible'}`;
}

/** Why a caller does not see a record, or may not change it; `undefined` where nothing refuses. */
async function recordStanding(
  operation: InspectedOperation,
  { call, nameOf }: SymbolicCall,
  id: string,
): Promise<string | undefined> {
  const { plan, effect } = operation;
  const record = recordWith(id, plan);
  if (typeof record === 'string') return `the id must be ${record}`;
  const meets = (...conditions: readonly Condition[]) => exists(plan, call, record, ...conditions);
  if (!(await meets())) return `there is no ${plan.schema.name} with the id ${id}`;
  if (!(await meets(viewOf(operation, call).visible)))
    return 'not visible, because it is deleted or belongs to another class';
  for (const rule of plan.rowRules) {
    const { reached, changed } = await evaluateRule(rule, operation, call);
    const describe = (of: readonly Condition[]): string =>
      `because of ${REASONS[rule.kind]}: ${describeRows(allOf(...of.map((each) => rowsMeeting(each, nameOf))))}`;
    if (!(await meets(...reached))) return `not visible, ${describe(reached)}`;
    if (effect === 'change' && !(await meets(...changed)))
      return `visible, and not to be changed, ${describe(changed)}`;
  }
  return undefined;
}

function askedOf(
  app: INestApplicationContext,
  compiled: CompiledAccess,
  { method, path }: { readonly method: string; readonly path: string },
  { roles, id, claims }: Asker,
) {
  const served = generatedRoutes(app, compiled).serving(method, path);
  if (!served) return undefined;
  const { operation, params } = served;
  const { expand } = compiled.roles;
  const { parseId = String } = app.get<IdOptions>(ACCESS_OPTIONS, { strict: false });
  const known = id === undefined ? claims?.['id'] : parseId(id);
  const makeSymbolic = symbolicCalls(roles, expand, [operation.plan]);
  const makeCall: MakeCall = (...probe) => {
    const symbolic = makeSymbolic(...probe);
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
    return { ...symbolic, call: callAs(user, () => expand(roles ?? []), params) };
  };
  return { operation, params, makeCall };
}
