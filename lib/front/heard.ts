import { channel } from 'node:diagnostics_channel';

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'];

/** Whether somebody hears what is told in one of these channels, which may begin at any time. */
export function heard(...names: readonly string[]): () => boolean {
  const channels = names.map((name) => channel(name));
  return () => channels.some(({ hasSubscribers }) => hasSubscribers);
}

export const traced = (name: string): (() => boolean) => heard(...EVENTS.map((event) => `tracing:${name}:${event}`));
