/** The routes of every generated controller: verbs, paths and parameters. */
import { Param, RequestMapping, RequestMethod } from '@nestjs/common';
import { JsonBody } from '../http/json-body.js';
import type { ResolvedCrudOptions } from './crud-options.js';
import { RawQuery } from './query/list-query.js';

/** Its decorator, and its type, which pipes read. */
type Parameter = readonly [decorate: ParameterDecorator, type: StringConstructor | ObjectConstructor];

const ID: Parameter = [Param('id'), String];
const QUERY: Parameter = [RawQuery(), Object];
const BODY: Parameter = [JsonBody(), Object];

interface Route {
  readonly verb: RequestMethod;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The option without which the route does not exist. */
  readonly enabledBy?: 'enableSearch' | 'enableExists';
}

const { GET, POST, PUT, DELETE } = RequestMethod;
/** Fixed paths come first, because Express matches routes in the order of their declaration. */
export const ROUTES = {
  search: { verb: GET, path: 'search', parameters: [QUERY], enabledBy: 'enableSearch' },
  exists: { verb: GET, path: 'exists/:id', parameters: [ID], enabledBy: 'enableExists' },
  findAll: { verb: GET, path: '/', parameters: [QUERY] },
  findById: { verb: GET, path: ':id', parameters: [ID] },
  create: { verb: POST, path: '/', parameters: [BODY] },
  update: { verb: PUT, path: ':id', parameters: [ID, BODY] },
  delete: { verb: DELETE, path: ':id', parameters: [ID] },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
const NAMES = Object.keys(ROUTES) as RouteName[];

/** Decorates the parameters of all handlers, for what extends the prototype. */
export function describeParameters(prototype: object): void {
  for (const name of NAMES) {
    const { parameters } = ROUTES[name];
    for (const [index, [decorate]] of parameters.entries()) decorate(prototype, name, index);
    // What TypeScript emits for a decorated method: pipes read the types of its parameters there.
    const types = parameters.map(([, type]) => type);
    Reflect.defineMetadata('design:paramtypes', types, prototype, name);
  }
}

export function addRoutes(prototype: object, options: ResolvedCrudOptions): void {
  for (const name of NAMES) {
    const { path, verb, enabledBy }: Route = ROUTES[name];
    if (enabledBy && !options[enabledBy]) continue;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    RequestMapping({ path, method: verb })(prototype, name, descriptor);
  }
}
