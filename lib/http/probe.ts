/** Requests of `accessMatrix` in declarest/testing, which stop where a handler would run. There are none outside tests. */
import type { HttpRequest } from './request-facts.js';

export interface Probe {
  hasReachedHandler: boolean;
}

let find: (request: HttpRequest) => Probe | undefined = () => undefined;

/** Called by declarest/testing only. */
export function recognizeProbes(lookup: typeof find): void {
  find = lookup;
}

export const probeOf = (request: HttpRequest): Probe | undefined => find(request);

/** Whether the request is a probe, which has reached its handler now. */
export function stopsProbe(request: HttpRequest): boolean {
  const probe = find(request);
  if (probe) probe.hasReachedHandler = true;
  return probe !== undefined;
}
