/**
 * What an application says around a handler of the package's own. Whatever is not known here to change nothing counts, and
 * so does what a later version of Nest brings.
 */
import { VersioningType, type CanActivate, type VersioningOptions } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { RouterExecutionContext } from '@nestjs/core/router/router-execution-context.js';
import { RouterProxy } from '@nestjs/core/router/router-proxy.js';
import { isDirect } from './direct-guard.js';

/** What the package itself has said of the class, in the words of Nest's decorators. */
export interface OwnEnhancers {
  readonly guards: readonly unknown[];
  readonly filters: readonly unknown[];
}

type Harmless = (value: unknown, own: OwnEnhancers) => boolean;
/** What is said, and when it changes nothing. */
type Known = Readonly<Record<string, Harmless>>;

const always: Harmless = () => true;
const same = (value: unknown, own: readonly unknown[]): boolean =>
  Array.isArray(value) && value.length === own.length && own.every((each, index) => each === value[index]);
const nothing: Harmless = (value) => value === undefined || value === null || same(value, []);

/** By the keys of Nest's metadata. */
const OF_CLASS: Known = {
  path: always,
  __version__: always,
  __controller__: always,
  __injectable__: always,
  'design:paramtypes': always,
  'self:paramtypes': always,
  'self:properties_metadata': always,
  'optional:paramtypes': always,
  'optional:properties_metadata': always,
  __guards__: (value, { guards }) => same(value, guards),
  __exceptionFilters__: (value, { filters }) => same(value, filters),
};
const OF_METHOD: Known = { path: always, method: always, __version__: always };

/** By the names of Nest's configuration. Global filters are never asked: the package's own catches everything. */
const OF_APPLICATION: Known = {
  ioAdapter: always,
  globalPrefix: always,
  globalPrefixOptions: always,
  globalFilters: always,
  globalRequestFilters: always,
  globalGuards: (value) => (value as readonly CanActivate[]).every(isDirect),
  versioningOptions: (value) =>
    ((value as VersioningOptions | undefined)?.type ?? VersioningType.URI) === VersioningType.URI,
  routeConflictPolicy: always,
  routeResolutionStrategy: always,
  cookieSigner: always,
};

/** @returns the first thing that the application says of all handlers, or of those of a class; `undefined` where it is silent */
export const saidOfClass = (controller: object, config: ApplicationConfig, own: OwnEnhancers): string | undefined =>
  heard(OF_APPLICATION, Object.entries(config), own) ??
  (isInstrumented() ? 'instrumentation' : heard(OF_CLASS, metadataOf(controller), own));

/** @param handler onto which Nest has copied what is said of the method */
export const saidOfMethod = (handler: object): string | undefined => heard(OF_METHOD, metadataOf(handler));

const heard = (
  known: Known,
  said: readonly (readonly [name: string, value: unknown])[],
  own: OwnEnhancers = { guards: [], filters: [] },
): string | undefined =>
  said.find(([name, value]) => !(Object.hasOwn(known, name) ? known[name] : nothing)?.(value, own))?.[0];

/** But for the package's own, and for what only documentation is made of. */
const metadataOf = (target: object): [name: string, value: unknown][] =>
  Reflect.getMetadataKeys(target)
    .filter((key: unknown) => !/^(Symbol\(declarest\.|swagger\/)/.test(String(key)))
    .map((key: unknown) => [String(key), Reflect.getMetadata(key, target)]);

/** Tools that trace requests put something in the place of Nest's (`@opentelemetry/instrumentation-nestjs-core`). */
const isInstrumented = (): boolean =>
  RouterExecutionContext.prototype.create.name !== 'create' || RouterProxy.prototype.createProxy.name !== 'createProxy';
