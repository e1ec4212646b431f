/** The code and the options that decide on access and that the tables of rows do not show, by name. */
import type { INestApplication } from '@nestjs/common';
import type { CompiledAccess } from '../access/compiled-access.js';
import { SourceReader } from '../access/identity/source-reader.js';
import type { AuthPlugin } from '../auth/plugins/plugin.js';
import { AUTH_OPTIONS } from '../auth/users/options-token.js';
import { isOwnCode } from '../http/own-code.js';
import { isFunction, isObject } from '../options/option-table.js';
import { applicationOf } from '../routes/application.js';
import { controllersServing } from '../routes/controller-methods.js';
import { declaredRoute } from '../routes/declared-route.js';
import { groupBy } from '../routes/route.js';
import { hashOf } from './code-hash.js';
import { codeIn, generatedRoutes } from './generated-routes.js';

/**
 * Hashes and values by name: `policy isOwner`, `GET /api/reports`. Several are separated by commas; those that begin with
 * `guard ` or `requires ` only refuse. No secret is among them.
 */
export type Code = Readonly<Record<string, string>>;

interface UserOptions {
  readonly plugins: readonly AuthPlugin[];
  readonly [option: string]: unknown;
}

export function compileCode(app: INestApplication, compiled: CompiledAccess): Code {
  const found = new Map<string, Set<string>>();
  const add = (name: string, ...texts: readonly string[]): void => {
    if (texts.length > 0) found.set(name, new Set([...(found.get(name) ?? []), ...texts]));
  };
  const { config, modules } = applicationOf(app);
  /** With the metadata keys of `@UseGuards()`, `@UseInterceptors()` and `@UsePipes()`. */
  const enhancers = [
    ['guard', '__guards__', config.getGlobalGuards(), config.getGlobalRequestGuards()],
    ['interceptor', '__interceptors__', config.getGlobalInterceptors(), config.getGlobalRequestInterceptors()],
    ['pipe', '__pipes__', config.getGlobalPipes(), config.getGlobalRequestPipes()],
  ] as const;
  const addEnhancers = (place: string, kind: string, all: readonly unknown[]): void => {
    for (const each of all) {
      const type = (typeof each === 'function' ? each : (each as object).constructor) as { readonly name: string };
      if ([each, type].some((code) => isOwnCode(code as object))) continue;
      const name = `${kind} ${type === Object ? describe(each) : type.name}`;
      add(name, describe(each));
      add(place, name);
    }
  };
  for (const [kind, , instances, wrappers] of enhancers)
    addEnhancers('every route', kind, [...instances, ...wrappers.map(({ metatype }) => metatype)]);
  for (const { access } of compiled.entries)
    for (const each of access.requirements)
      if ('policy' in each) add(`policy ${each.policy.name}`, sourceOf(each.policy.allows));

  const { all, controllers, plans } = generatedRoutes(app, compiled);
  const routes = groupBy(all, ({ route }) => route.handler);
  for (const { method: verb, path, handler: method } of compiled.table.controllerRoutes) {
    const shared = compiled.methods.filter((each) => each.method === method);
    for (const controller of controllersServing(path, shared)) {
      const route = routes
        .get(method)
        ?.find((each) => each.route.path === path && each.operation.controller === controller);
      const isOfPackage = !controllers.has(controller) && declaredRoute(method) !== undefined;
      const code = route ? codeIn(route.operation)?.code : isOfPackage ? undefined : method;
      if (code) add(`${verb} ${path}`, sourceOf(code));
      for (const target of [controller, method])
        for (const [kind, key] of enhancers)
          addEnhancers(`${verb} ${path}`, kind, (Reflect.getMetadata(key, target as object) ?? []) as unknown[]);
    }
  }
  for (const { plan, hooks } of controllers.values())
    for (const [name, hook] of hooks) add(`hook ${name} of ${plan.options.endpoint}`, sourceOf(hook));
  for (const plan of plans)
    for (const metadata of [plan.metadata, ...[...plan.relations.values()].map((each) => each.metadata)]) {
      if (metadata.expression !== undefined) add(`view ${metadata.name}`, sourceOf(metadata.expression));
      for (const { propertyPath, transformer, query } of metadata.columns) {
        for (const each of [transformer ?? []].flat())
          add(`transformer ${metadata.name}.${propertyPath}`, sourceOf(each.to, each.from));
        if (query) add(`column ${metadata.name}.${propertyPath}`, sourceOf(query));
      }
    }
  const provided = <T>(token: unknown): T | undefined =>
    [...modules.values()].map(({ providers }) => providers.get(token as never)?.instance as T).find(Boolean);
  const addDecisions = (name: string, decisions: Readonly<Record<string, unknown>>): void => {
    for (const [option, value] of Object.entries(decisions))
      if (value !== undefined) add(`${name} ${option}`, ...[value].flat().map(describe));
  };
  const source = provided<SourceReader>(SourceReader)?.source;
  if (source) addDecisions('AccessModule', source.decidesBy ?? { source: source.start });
  const options = provided<UserOptions>(AUTH_OPTIONS);
  if (options) addDecisions('AuthModule', decisionsOf(options));
  for (const { name, decidesBy, ...plugin } of options?.plugins ?? [])
    if (decidesBy) addDecisions(name, decidesBy);
    else add(`plugin ${name}`, sourceOf(...functionsIn(plugin)));
  const sorted = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, texts]) => [name, [...texts].toSorted().join(', ')]));
}

/** With a sign, so that no value is taken for one. */
const sourceOf = (...code: readonly unknown[]): string => `#${hashOf(...code)}`;

function describe(value: unknown): string {
  if (typeof value === 'function') return sourceOf(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  return Object.values(value).some((each) => isFunction(each)) || !isPlain
    ? sourceOf(isPlain ? undefined : value.constructor, ...functionsIn(value))
    : Object.entries(value)
        .map(([name, each]) => `${name}: ${describe(each)}`)
        .join(' ');
}

/** The functions of a value: of arrays and plain objects, also those in them. */
function functionsIn(value: unknown, seen = new Set<unknown>()): unknown[] {
  if (typeof value === 'function') return [value];
  const isPlain = Array.isArray(value) || (isObject(value) && Object.getPrototypeOf(value) === Object.prototype);
  if (!isPlain || seen.has(value)) return [];
  seen.add(value);
  return Object.values(value as object).flatMap((each) => functionsIn(each, seen));
}

const OPTIONS = ['claims', 'repositoryClass', 'registrationFields', 'registrationRole', 'loginField'];

/** The options of `AuthModule` that decide on access. */
function decisionsOf({ issuer, audience, throttle, accessTokenSeconds, jwtExpirationHours, ...options }: UserOptions) {
  const { tries, accountTries, addressTries } = (throttle ?? { tries: Infinity }) as Readonly<Record<string, unknown>>;
  return {
    ...Object.fromEntries(OPTIONS.map((name) => [name, options[name]])),
    tries,
    accountTries,
    addressTries,
    issuer: issuer && `requires ${String(issuer)}`,
    audience: audience && `requires ${String(audience)}`,
    jwtExpirationHours: accessTokenSeconds === undefined ? jwtExpirationHours : undefined,
  };
}
