/** The routes of every generated controller: their verbs and paths, and what each hands to its method. */
import { HttpStatus, Param, RequestMapping, RequestMethod } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { JsonBody, jsonBodyOf } from '../http/json-body.js';
import type { HandlerCall } from '../routes/declared-route.js';
import type { AnyFunction } from '../routes/observed-method.js';
import { CreatedAt, locator } from './created-location.js';
import { RawQuery, rawQueryOf } from './list-query.js';

interface Route {
  readonly verb: RequestMethod;
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

/** Its decorator and type, which Nest and its pipes are told, and what Nest then reads. */
type Parameter = readonly [
  decorate: ParameterDecorator,
  type: StringConstructor | ObjectConstructor,
  read: HandlerCall['parameters'][number],
];

const ID: Parameter = [Param('id'), String, ({ params }) => params?.['id']];
const QUERY: Parameter = [RawQuery(), Object, rawQueryOf];
const BODY: Parameter = [JsonBody(), Object, jsonBodyOf];
const CREATED_AT: Parameter = [CreatedAt(), Object, locator];

const { GET, POST, PUT, DELETE } = RequestMethod;
/** Fixed paths first: Express asks its routes in the order in which they were declared. */
const ROUTES = {
  search: { verb: GET, path: 'search', parameters: [QUERY] },
  exists: { verb: GET, path: 'exists/:id', parameters: [ID] },
  findAll: { verb: GET, path: '/', parameters: [QUERY] },
  findById: { verb: GET, path: ':id', parameters: [ID] },
  create: { verb: POST, path: '/', parameters: [BODY, CREATED_AT] },
  update: { verb: PUT, path: ':id', parameters: [ID, BODY] },
  delete: { verb: DELETE, path: ':id', parameters: [ID] },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
const NAMES = Object.keys(ROUTES) as RouteName[];

export const DATA_SOURCE = Symbol('declarest.dataSource');

/** Says once what the parameters of every generated controller are, which inherit it: to say it 500 times takes a while. */
export abstract class Described {
  /** Injected by name, not by constructor: a subclass has its constructor to itself. */
  declare readonly [DATA_SOURCE]: DataSource;
}
for (const name of NAMES) {
  const { parameters } = ROUTES[name];
  for (const [index, [decorate]] of parameters.entries()) decorate(Described.prototype, name, index);
  const types = parameters.map(([, type]) => type);
  // What TypeScript writes for a decorated method: pipes read the types of the parameters there.
  Reflect.defineMetadata('design:paramtypes', types, Described.prototype, name);
}

/** What is the same of every generated controller. */
const CALLS = Object.fromEntries(
  NAMES.map((name) => {
    const { verb, parameters } = ROUTES[name];
    const told: unknown = Reflect.getMetadata('__routeArguments__', Described, name);
    const status = verb === POST ? HttpStatus.CREATED : HttpStatus.OK;
    return [name, { told, status, parameters: parameters.map(([, , read]) => read) }];
  }),
) as unknown as Readonly<Record<RouteName, Pick<HandlerCall, 'told' | 'status' | 'parameters'>>>;

/** The methods as they were generated, and not what somebody has put in their place. */
const generated = new WeakMap<object, HandlerCall>();

export function addRoutes(
  prototype: object,
  isServed: (name: RouteName) => boolean,
  answerOf: (name: RouteName) => HandlerCall['answer'],
): void {
  for (const name of NAMES.filter(isServed)) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    const method = descriptor.value as AnyFunction;
    const { path, verb } = ROUTES[name];
    RequestMapping({ path, method: verb })(prototype, name, descriptor);
    const { told, status, parameters } = CALLS[name];
    generated.set(method, { method, name, verb, parameters, told, answer: answerOf(name), status });
  }
}

/** @returns `undefined` for a method that was not generated */
export const callOf = (method: object): HandlerCall | undefined => generated.get(method);
