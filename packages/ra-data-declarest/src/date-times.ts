/** Gives the date-times of forms a zone. */
import type { Fields } from 'declarest-client/providers';

const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/;

/** `DateTimeInput` gives the time of the user without a zone, which the server would read in its own zone. */
export function withZone(value: unknown): unknown {
  if (typeof value !== 'string' || !LOCAL.test(value)) return value;
  const moment = new Date(value);
  return Number.isNaN(moment.getTime()) ? value : moment.toISOString();
}

export const withZones = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withZone(value)]));
