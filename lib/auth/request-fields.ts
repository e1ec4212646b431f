/** The bodies of the endpoints that take text only. */
import type { JsonObject } from '../http/json-body.js';
import { InvalidUserError } from './user-checks.js';

/** Lone surrogates are refused, because different passwords with them would have the same hash. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

type Texts<R extends string, O extends string> = Readonly<Record<R, string> & Partial<Record<O, string>>>;

/** @throws InvalidUserError (400) naming every field that is missing, no text, or unknown */
export function readTexts<R extends string, O extends string = never>(
  body: JsonObject,
  required: readonly R[],
  optional: readonly O[] = [],
): Texts<R, O> {
  const known: readonly string[] = [...required, ...optional];
  const problems = [
    ...required.filter((name) => body[name] == null).map((name) => `${name}: required`),
    ...Object.entries(body).flatMap(([name, value]) => {
      if (!known.includes(name)) return [`${name}: not accepted here, expected only ${known.join(', ')}`];
      return value == null || isText(value) ? [] : [`${name}: expected well-formed text`];
    }),
  ];
  if (problems.length > 0) throw new InvalidUserError(problems);
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value != null)) as Texts<R, O>;
}
