/** The routes of every generated controller: verbs, paths and parameters. */
import { HttpCode, HttpStatus, Param, RequestMapping, RequestMethod } from '@nestjs/common';
import { JsonBody, MergePatchBody } from '../../http/json-body.js';
import type { ResolvedCrudOptions } from '../declare/resolve-options.js';
import { missingOption, OPERATION_NAMES, type OperationName } from '../declare/operations.js';
import { RawQuery } from '../query/list-query.js';

/** Its decorator, and its type, which pipes read. */
type Parameter = readonly [decorate: ParameterDecorator, type: StringConstructor | ObjectConstructor];

const ID: Parameter = [Param('id'), String];
const QUERY: Parameter = [RawQuery(), Object];
const BODY: Parameter = [JsonBody(), Object];
const PATCH_BODY: Parameter = [MergePatchBody(), Object];

interface Route {
  readonly verb: RequestMethod;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Where it is not Nest's own for the verb. */
  readonly status?: HttpStatus;
  /** Whether it may be sent with an `Idempotency-Key`. */
  readonly isRepeatable?: true;
}

const { GET, POST, PUT, PATCH, DELETE } = RequestMethod;
/** Fixed paths come first, because Express matches routes in the order of their declaration. */
export const ROUTES = {
  search: { verb: GET, path: 'search', parameters: [QUERY] },
  exists: { verb: GET, path: 'exists/:id', parameters: [ID] },
  count: { verb: GET, path: 'count', parameters: [QUERY] },
  aggregate: { verb: GET, path: 'aggregate', parameters: [QUERY] },
  export: { verb: GET, path: 'export', parameters: [QUERY] },
  findAll: { verb: GET, path: '/', parameters: [QUERY] },
  findById: { verb: GET, path: ':id', parameters: [ID, QUERY] },
  createMany: { verb: POST, path: 'batch', parameters: [BODY, QUERY], isRepeatable: true },
  patchMany: { verb: PATCH, path: 'batch', parameters: [BODY, QUERY] },
  deleteMany: { verb: DELETE, path: 'batch', parameters: [QUERY] },
  create: { verb: POST, path: '/', parameters: [BODY], isRepeatable: true },
  update: { verb: PUT, path: ':id', parameters: [ID, BODY] },
  patch: { verb: PATCH, path: ':id', parameters: [ID, PATCH_BODY] },
  delete: { verb: DELETE, path: ':id', parameters: [ID, QUERY] },
  restore: {
    verb: POST,
    path: ':id/restore',
    parameters: [ID],
    status: HttpStatus.OK,
  },
} as const satisfies Record<OperationName, Route>;

/** Decorates the parameters of all handlers, for what extends the prototype. */
export function describeParameters(prototype: object): void {
  for (const name of OPERATION_NAMES) {
    const { parameters } = ROUTES[name];
    for (const [index, [decorate]] of parameters.entries()) decorate(prototype, name, index);
    // What TypeScript emits for a decorated method: pipes read the types of its parameters there.
    const types = parameters.map(([, type]) => type);
    Reflect.defineMetadata('design:paramtypes', types, prototype, name);
  }
}

export function addRoutes(prototype: object, options: ResolvedCrudOptions): void {
  for (const name of OPERATION_NAMES) {
    if (!isGenerated(name, options)) continue;
    const { path, verb, status }: Route = ROUTES[name];
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    RequestMapping({ path, method: verb })(prototype, name, descriptor);
    if (status) HttpCode(status)(prototype, name, descriptor);
  }
}

export function isGenerated(name: OperationName, options: ResolvedCrudOptions): boolean {
  return (options.operations?.includes(name) ?? true) && missingOption(name, options) === undefined;
}

const routeKey = (verb: RequestMethod, path: string): string => `${verb} ${path.replaceAll(/^\/|\/$/g, '')}`;
const repeatable = Object.values<Route>(ROUTES).filter((route) => route.isRepeatable);
const repeatableKeys = new Set(repeatable.map(({ verb, path }) => routeKey(verb, path)));

/** Whether a handler, also one of a subclass, serves such a route. */
export function isRepeatable(handler: object): boolean {
  const verb = Reflect.getMetadata('method', handler) as RequestMethod;
  const paths = [Reflect.getMetadata('path', handler) as string | string[]].flat();
  return paths.some((path) => repeatableKeys.has(routeKey(verb, path)));
}
