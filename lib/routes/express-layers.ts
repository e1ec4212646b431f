/**
 * The layers of Express's router that Nest did not put there. Whatever adds one (`app.use`, `app.route`, `router.get`, or
 * an Express application that was there before Nest's) pushes it onto the stack, so that is where they are seen.
 */
import { observe } from './observed-method.js';
import type { Handler, MountRequest, Mounts } from './mounts.js';
import { staticFilesOf, type StaticFiles } from './static-files.js';

type Next = (error?: unknown) => unknown;

interface Layer {
  readonly handle: Handler;
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> } | undefined;
  /** Since version 2.3 of the router; before, `slash` tells what has no path. */
  readonly rawPath?: unknown;
  readonly slash?: boolean;
  handleRequest(request: MountRequest, response: unknown, next: Next): unknown;
}

interface ExpressAdapter {
  getInstance<T>(): T;
}

export function watchLayers(adapter: object, mounts: Mounts, nests: { readonly isRegistering: () => boolean }): void {
  let files: StaticFiles | undefined;
  observe(adapter, 'useStaticAssets', (call, args) => {
    files = staticFilesOf(args);
    try {
      return call(args);
    } finally {
      files = undefined;
    }
  });
  const express = (adapter as ExpressAdapter).getInstance<{ router: { stack: Layer[] } }>();
  let path: unknown;
  observe(express, 'use', (call, args) => {
    [path] = args;
    try {
      return call(args);
    } finally {
      path = undefined;
    }
  });
  const { stack } = express.router;
  for (const layer of stack) guard(layer, mounts, {});
  const push = (...layers: Layer[]): number => {
    if (!nests.isRegistering()) for (const layer of layers) guard(layer, mounts, { files, path });
    return Array.prototype.push.apply(stack, layers);
  };
  Object.defineProperty(stack, 'push', { value: push, writable: true, configurable: true });
}

function guard(layer: Layer, mounts: Mounts, given: { files?: StaticFiles | undefined; path?: unknown }): void {
  const { handle, route } = layer;
  // Express takes a function of four parameters for an error handler.
  if (handle.length > 3) return;
  const path = layer.rawPath ?? route?.path ?? (layer.slash ? '/' : given.path);
  // Told when it is asked for: verbs are added to a route that is in the stack already.
  const methods = route && (() => Object.keys(route.methods).map((name) => VERB_OF_ALL[name] ?? name.toUpperCase()));
  const gate = mounts.add({ path, handler: handle, files: given.files, ...(methods && { methods }) });
  if (!gate) return;
  const { handleRequest } = layer;
  layer.handleRequest = (request, response, next) => {
    const enter = (): unknown => handleRequest.call(layer, request, response, next);
    try {
      const asked = gate(request, response, enter, () => next());
      // A policy may be asked for a while.
      if (asked instanceof Promise) asked.catch(next);
    } catch (error) {
      next(error);
    }
  };
}

/** What the router calls a verb for every method. */
const VERB_OF_ALL: Readonly<Record<string, string>> = { _all: 'ALL' };
