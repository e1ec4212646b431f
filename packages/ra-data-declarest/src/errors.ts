/** Makes the errors of react-admin, which shows `body.errors` at the fields of a form and `message` as a notification. */
import { HttpError } from 'ra-core';

import type { Answer, Request } from './http.js';

/** The body of a failure: of a generated endpoint, an access rule, or Nest. */
interface FailureBody {
  readonly success?: unknown;
  readonly message?: unknown;
  readonly error?: unknown;
  readonly statusCode?: unknown;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  readonly fields?: Readonly<Record<string, string>>;
}

const bodyOf = ({ body }: Answer): FailureBody => (typeof body === 'object' && body !== null ? body : {});

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** The text that the server gives as the reason of a failure. */
export function messageOf(answer: Answer): string {
  const { message, error } = bodyOf(answer);
  const texts = [message, error].flat().filter((each) => typeof each === 'string');
  return texts[0] ?? `The server answered with status ${answer.status}`;
}

/** Messages by field or query parameter. */
export const fieldsOf = (answer: Answer): Readonly<Record<string, string>> => bodyOf(answer).fields ?? {};

/** Whether the server refuses this query parameter, or what it names, as unknown. */
export const isUnknown = (answer: Answer, parameter: string): boolean =>
  answer.status === 400 && (fieldsOf(answer)[parameter]?.startsWith('unknown ') ?? false);

/** Whether the server has no such route: Nest answers in a format of its own. */
export const isMissingRoute = (answer: Answer): boolean =>
  answer.status === 404 && bodyOf(answer).statusCode === 404 && messageOf(answer).startsWith('Cannot ');

/**
 * Whether a 401 says that the token is not valid. A wrong password is a 401 too: its body is `{success: false, message}`,
 * and it has no challenge.
 */
export function isTokenRefused(answer: Answer): boolean {
  if (answer.status !== 401) return false;
  const { success, error } = bodyOf(answer);
  return answer.headers.has('WWW-Authenticate') || success !== false || error !== undefined;
}

/** What react-admin gets for a response that is not a success. `keepsLogin`: a 401 that is no reason to log out. */
export function failureOf(answer: Answer): HttpError & { readonly keepsLogin?: true } {
  const failure = describeFailure(answer);
  return answer.status === 401 && !isTokenRefused(answer)
    ? Object.assign(failure, { keepsLogin: true } as const)
    : failure;
}

function describeFailure(answer: Answer): HttpError {
  const { request, status, body } = answer;
  if (isMissingRoute(answer))
    return new HttpError(
      `The server has no route ${request.method} ${request.url} for "${request.resource}". Check the name of the resource, the url of the provider, and the operations of the resource on the server.`,
      status,
      body,
    );
  if (status === 412) return conflict(request.resource, body);
  const { errors, fields } = bodyOf(answer);
  const reasons = errors?.map(({ field, message }) => `${field} ${message}`.trim()).join('; ');
  const message = reasons ? `${messageOf(answer)}: ${reasons}` : messageOf(answer);
  if (!errors && !fields) return new HttpError(message, status, body);
  // A form shows the messages of its fields, and "root.serverError" as the notification.
  return new HttpError(message, status, { ...bodyOf(answer), errors: { ...fields, root: { serverError: message } } });
}

export const conflict = (resource: string, body?: unknown): HttpError =>
  new HttpError(
    `This record of "${resource}" was changed by somebody else since you opened it. Reload it and repeat your change.`,
    412,
    body,
  );

export const noAnswer = ({ resource, url }: Request, cause: unknown): HttpError =>
  new HttpError(
    `There is no answer from ${url} for "${resource}" (${cause instanceof Error ? cause.message : String(cause)}). Check that the server runs, and that its CORS settings allow this page.`,
    0,
  );

export const notJson = ({ resource, url }: Request, status: number): HttpError =>
  new HttpError(
    `The answer from ${url} for "${resource}" must be JSON, got HTML. Check the url of the provider.`,
    status,
  );

export const notPaginated = (resource: string): HttpError =>
  new HttpError(
    `The list of "${resource}" must be paginated. Set enablePagination of the resource on the server.`,
    400,
  );

/** A call that cannot be sent. */
export const invalidCall = (message: string): HttpError => new HttpError(message, 400);
