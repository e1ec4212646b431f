/** Makes the errors of refine. */
import type { HttpError } from '@refinedev/core';

import type { Answer } from './http.js';

/** The body of a failure: of a generated endpoint, an access rule, or Nest. */
interface FailureBody {
  readonly success?: unknown;
  readonly message?: unknown;
  readonly error?: unknown;
  readonly statusCode?: unknown;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  readonly fields?: Readonly<Record<string, string>>;
}

/** @param statusCode 0 where there is no answer */
export function httpError(message: string, statusCode: number, errors?: HttpError['errors']): HttpError & Error {
  return Object.assign(new Error(message), { statusCode, ...(errors && { errors }) });
}

const failureBody = ({ json }: Answer): FailureBody => (typeof json === 'object' && json !== null ? json : {});

/** The messages of a failure by field or parameter. */
export const fieldsOf = (answer: Answer): Readonly<Record<string, string>> => failureBody(answer).fields ?? {};

/** Whether the server does not know this parameter, or this member of the body. */
export const isUnknown = (answer: Answer, name: string): boolean =>
  answer.status === 400 && (fieldsOf(answer)[name]?.startsWith('unknown ') ?? false);

/** The text that the server gives as the reason of a failure. */
export function messageOf(answer: Answer): string {
  const { message, error } = failureBody(answer);
  const text = [message].flat().filter((each) => typeof each === 'string');
  if (text.length > 0) return text.join('; ');
  return typeof error === 'string' ? error : `The server answered with status ${answer.status}`;
}

/** Whether the application has no such route: Nest says so in a body of its own. */
export const isMissingRoute = (answer: Answer): boolean =>
  answer.status === 404 && failureBody(answer).statusCode === 404 && messageOf(answer).startsWith('Cannot ');

/**
 * Whether a 401 says that the token is not valid. A wrong password is a 401 too: its body is `{success: false, message}`,
 * and it has no challenge.
 */
export function isTokenRefused(answer: Answer): boolean {
  if (answer.status !== 401) return false;
  const { success, error } = failureBody(answer);
  return answer.headers.has('WWW-Authenticate') || success !== false || error !== undefined;
}

/** @param resource for the messages @returns with `keepsLogin` for a 401 that is no reason to log out */
export function failureOf(answer: Answer, resource: string): HttpError & Error {
  const failure = describeFailure(answer, resource);
  return answer.status === 401 && !isTokenRefused(answer) ? Object.assign(failure, { keepsLogin: true }) : failure;
}

function describeFailure(answer: Answer, resource: string): HttpError & Error {
  const { status, method, url } = answer;
  if (isMissingRoute(answer))
    return httpError(
      `The server has no route ${method} ${url} for "${resource}". Check the name of the resource, the url of the provider, and whether the server generates this operation.`,
      404,
    );
  if (status === 412)
    return httpError(
      `A record of "${resource}" has changed since it was read. Load it again and repeat the change.`,
      412,
    );
  const errors = fieldsOf(answer);
  const isOfForm = method === 'POST' || method === 'PATCH';
  // Only `errors` names what is allowed. A 409 has none.
  const named = failureBody(answer).errors?.map(({ field, message }) => [field, message]) ?? Object.entries(errors);
  // Forms show the messages of their fields. Messages of parameters have no other place than the message.
  const shown = named.filter(([name]) => !isOfForm || name === 'items');
  const reasons = shown.map(([name, text]) => `${name} ${text}`.trim()).join('. ');
  return httpError(
    reasons === '' ? messageOf(answer) : `${messageOf(answer)}: ${reasons}`,
    status,
    Object.keys(errors).length > 0 ? { ...errors } : undefined,
  );
}
