/** The routes of generated operations, with the access rules that apply to each: compiled once for an application. */
import { ModuleRef } from '@nestjs/core';
import { decide } from '../access/decide.js';
import type { CompiledAccess } from '../access/compiled-access.js';
import type { RouteEntry } from '../access/route-access.js';
import { inspectControllers, type InspectedController, type InspectedOperation, type Plan } from '../crud/inspect.js';
import { applicationOf, type Application } from '../routes/application.js';
import { controllersServing } from '../routes/controller-methods.js';
import { groupBy, type Route, type ServedRoute } from '../routes/route.js';
import { isForwarding } from './code-hash.js';
import { anyOf, condition, type Rows } from './rows.js';

export interface GeneratedRoute {
  readonly operation: InspectedOperation;
  readonly route: Route;
  /** Several where a rule matches a part of the paths. */
  readonly entries: readonly RouteEntry[];
}

export interface GeneratedRoutes {
  readonly all: readonly GeneratedRoute[];
  readonly controllers: ReadonlyMap<object, InspectedController>;
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
  const controllers = inspectControllers(moduleRef);
  const operations = [...controllers.values()].flatMap((each) => each.operations);
  const all = operations.flatMap((operation) => {
    const { controller, name } = operation;
    const handler = Reflect.get(controller.prototype, name) as object;
    return (routes.get(handler) ?? [])
      .filter(({ path }) => controllersServing(path, sharing.get(handler) ?? []).includes(controller as never))
      .map((route) => ({
        operation,
        route,
        entries: (entries.get(keyOf(route.method, route.path)) ?? []).filter(isServedBy(route)),
      }));
  });
  const byKey = groupBy(all, ({ route }) => keyOf(route.method, route.path));
  return {
    all,
    controllers,
    plans: [...controllers.values()].map(({ plan }) => plan),
    serving(method, path) {
      const served = table.find(method, path.replace(/[?#].*$/s, ''));
      const found = served && byKey.get(keyOf(served.route.method, served.route.path));
      const serving = found?.find(({ route }) => route.handler === served?.route.handler);
      return served && serving && { ...serving, params: served.params };
    },
  };
}

/** Whether a caller passes the rules of each part of the paths. @param granted the roles of a token, and those that they include */
export const answersOf = ({ entries }: GeneratedRoute, granted: readonly string[] | undefined): boolean[] =>
  entries.map(({ access }) => !decide(access, granted));

/** The application's own code that an operation runs: nobody can tell which records it reads and writes. */
export const codeIn = ({ code }: InspectedOperation) => (code && isForwarding(code.code) ? undefined : code);

/** Code may leave out the conditions of the declaration: its rows are an alternative. */
export function withCode(operation: InspectedOperation, rows: Rows): Rows {
  const code = codeIn(operation);
  return code ? anyOf(rows, condition(`code: ${code.name}`)) : rows;
}
