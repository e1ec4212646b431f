import type { ControllerMethod } from '../../../lib/routes/controller-methods.js';
import { makeRoute, type Route } from '../../../lib/routes/route.js';
import type { RouteHandler } from '../../../lib/access/route-access.js';
import type { Pattern } from '../../../lib/access/pattern.js';
import type { Effect, Policy, Rule } from '../../../lib/access/decide.js';

export const PUBLIC: Effect = { kind: 'public' };
export const AUTHENTICATED: Effect = { kind: 'authenticated' };
export const DENIED: Effect = { kind: 'denied' };
export const roles = (...anyOf: string[]): Effect => ({ kind: 'roles', anyOf });
export const policyOf = (name: string, allows: Policy['allows'] = () => true): Policy => ({ name, allows });
export const policy = (name: string): Effect => ({ kind: 'policy', policy: policyOf(name) });

/** A pattern, parsed without the package. */
function pattern(text: string): Pattern {
  const [path = '', methods] = text.split(' ').toReversed();
  const levels = path.split('/').filter((level) => level !== '');
  const tail = path.endsWith('/**') ? '**' : path.endsWith('/*') ? '*' : '';
  return { text, methods: methods?.split(',') ?? [], levels: tail === '' ? levels : levels.slice(0, -1), tail };
}

/** A rule as a configuration of the shop would declare it. */
export const rule = (text: string, effect: Effect, declaredBy = `Shop.${effect.kind}`): Rule => ({
  pattern: pattern(text),
  effect,
  declaredBy,
});

/** `GET /api/products/:id` as the route table would hold it. */
export function route(line: string, handler: object = () => undefined): Route {
  const [method = '', path = ''] = line.split(' ');
  return makeRoute(method, path, handler);
}

/** The handler of a request, as the guard sees it. */
export const handling = ({ controller, method }: ControllerMethod): RouteHandler =>
  ({ getClass: () => controller, getHandler: () => method }) as RouteHandler;

/** The sentence with which a declaration is refused. */
export function refusalOf(declare: () => unknown): string {
  try {
    declare();
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
}
