/** Whether anybody hears what is told of requests in channels of `node:diagnostics_channel`. */
import { channel } from 'node:diagnostics_channel';

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];

/** Asked for each request: somebody may begin at any time. */
export function heard(...names: readonly string[]): () => boolean {
  const channels = names.map((name) => channel(name));
  return () => channels.some(({ hasSubscribers }) => hasSubscribers);
}

export const traced = (name: string): (() => boolean) => heard(...EVENTS.map((event) => `tracing:${name}:${event}`));
