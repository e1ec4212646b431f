/** The routes of generated operations, with the access rules that apply to each: compiled once for an application. */
import { ModuleRef } from '@nestjs/core';
import type { CompiledAccess } from '../access/compiled-access.js';
import type { RouteEntry } from '../access/route-access.js';
import type { OperationDeclaration } from '../crud/declare/operations.js';
import type { CustomOperation } from '../crud/declare/custom-operation.js';
import { crudApplicationOf, type CrudControllerClass } from '../crud/nest/crud-application.js';
import { overridesOf } from '../crud/nest/declaration-warnings.js';
import { standardOperations } from '../crud/operations/standard-operations.js';
import type { CallerViews } from '../crud/plan/caller-views.js';
import type { Plan } from '../crud/plan/plan.js';
import { applicationOf, type Application } from '../routes/application.js';
import { controllersServing } from '../routes/controller-methods.js';
import { groupBy, type Route, type ServedRoute } from '../routes/route.js';
import { isForwarding } from './code-hash.js';
import { anyOf, condition, type Rows } from './rows.js';

interface GeneratedOperation {
  readonly controller: CrudControllerClass;
  readonly plan: Plan;
  readonly operation: OperationDeclaration;
}

export interface GeneratedRoute extends GeneratedOperation {
  readonly route: Route;
  /** Several where a rule matches a part of the paths. */
  readonly entries: readonly RouteEntry[];
}

export interface GeneratedRoutes {
  readonly all: readonly GeneratedRoute[];
  readonly plans: readonly Plan[];
  /** `undefined` where no generated operation serves the request. */
  serving(method: string, path: string): (GeneratedRoute & Pick<ServedRoute, 'params'>) | undefined;
}

/** @param app anything that has the providers of the application */
export function generatedRoutes(
  app: { get(token: typeof ModuleRef): ModuleRef },
  compiled: CompiledAccess,
): GeneratedRoutes {
  const moduleRef = app.get(ModuleRef);
  return applicationOf(moduleRef).once(compileRoutes, moduleRef, compiled);
}

/** Which records an operation finds for a caller: those that it may restore or remove for good, too. */
export const deletedFor = ({ name, undoes }: OperationDeclaration, { without }: CallerViews): keyof CallerViews =>
  undoes !== undefined || (name === 'delete' && without.list.choosesDeleted) ? 'with' : 'without';

const keyOf = (method: string, path: string): string => `${method} ${path}`;

function compileRoutes(
  _: Application,
  moduleRef: ModuleRef,
  { table, methods, inside }: CompiledAccess,
): GeneratedRoutes {
  const routes = groupBy(table.controllerRoutes, ({ handler }) => handler);
  const sharing = groupBy(methods, ({ method }) => method);
  const entries = groupBy(inside.entries, ({ method, template }) => keyOf(method, template));
  // A rule for `/orders/batch` matches `/orders/:id` too, which does not serve that path.
  const isServedBy =
    (route: Route) =>
    ({ part, path }: RouteEntry): boolean =>
      part?.pattern.tail !== '' || (table.find(route.method, path)?.route.path ?? route.path) === route.path;
  const crud = crudApplicationOf(moduleRef);
  const plans = new Map(crud.controllers.map((controller) => [controller, crud.planOfController(controller)]));
  const all = [...plans].flatMap(([controller, plan]) =>
    plan.options.knownOperations.flatMap((operation) => {
      const handler = Reflect.get(controller.prototype, operation.name) as object;
      return (routes.get(handler) ?? [])
        .filter(({ path }) => controllersServing(path, sharing.get(handler) ?? []).includes(controller as never))
        .map((route) => ({
          controller,
          plan,
          operation,
          route,
          entries: (entries.get(keyOf(route.method, route.path)) ?? []).filter(isServedBy(route)),
        }));
    }),
  );
  const byKey = groupBy(all, ({ route }) => keyOf(route.method, route.path));
  return {
    all,
    plans: [...plans.values()],
    serving(method, path) {
      const served = table.find(method, path.replace(/[?#].*$/s, ''));
      const found = served && byKey.get(keyOf(served.route.method, served.route.path));
      const serving = found?.find(({ route }) => route.handler === served?.route.handler);
      return served && serving && { ...serving, params: served.params };
    },
  };
}

/** The application's own code that an operation runs: nobody can tell which records it reads and writes. */
export function codeIn({ controller, plan, operation: { name } }: GeneratedOperation) {
  const override = overridesOf(controller).find((each) => each.operation.name === name);
  if (override) return isForwarding(override.method) ? undefined : { name: override.path, code: override.method };
  const custom = plan.options.operations?.find(
    (each): each is CustomOperation =>
      typeof each === 'object' && each.name === name && !(standardOperations as readonly object[]).includes(each),
  );
  return custom && { name, code: custom.run };
}

/** Code may leave out the conditions of the declaration: its rows are an alternative. */
export function withCode(operation: GeneratedOperation, rows: Rows): Rows {
  const code = codeIn(operation);
  return code ? anyOf(rows, condition(`code: ${code.name}`)) : rows;
}
