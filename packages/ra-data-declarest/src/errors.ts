/** Makes the errors of react-admin, which shows `body.errors` at the fields of a form and `message` as a notification. */
import { HttpError } from 'ra-core';

import type { Answer } from './http.js';

/** The body of a failure: of a generated endpoint, an access rule, or Nest. */
interface FailureBody {
  readonly message?: unknown;
  readonly error?: unknown;
  readonly statusCode?: unknown;
  readonly fields?: Readonly<Record<string, string>>;
}

export const isSuccess = ({ status }: Answer): boolean => status >= 200 && status < 300;

const failureBody = ({ body }: Answer): FailureBody => (typeof body === 'object' && body !== null ? body : {});

/** The messages of a failure by field or parameter. */
export const fieldsOf = (answer: Answer): Readonly<Record<string, string>> => failureBody(answer).fields ?? {};

/** Whether the server does not know this query parameter, or does not accept this field in it. */
export const isUnknown = (answer: Answer, name: string): boolean =>
  answer.status === 400 && (fieldsOf(answer)[name]?.startsWith('unknown ') ?? false);

/** Whether the application has no such route: Nest says so in a body of its own. */
export const isMissingRoute = (answer: Answer): boolean =>
  answer.status === 404 && failureBody(answer).statusCode === 404 && messageOf(answer).startsWith('Cannot ');

/** The reason that the server gives. */
export function messageOf(answer: Answer): string {
  const { message, error } = failureBody(answer);
  const texts = [message].flat().filter((each) => typeof each === 'string');
  if (texts.length > 0) return texts.join('; ');
  return typeof error === 'string' ? error : `The server answered with status ${answer.status}`;
}

export function failureOf(answer: Answer): HttpError {
  const { status, request } = answer;
  if (status === 412) return conflict(request.resource);
  const errors = { ...fieldsOf(answer) };
  return new HttpError(describe(answer, errors), status, { ...failureBody(answer), errors });
}

function describe(answer: Answer, errors: Readonly<Record<string, string>>): string {
  const { method, url, resource } = answer.request;
  if (isMissingRoute(answer))
    return `The server has no route ${method} ${url} for "${resource}". Check the name of the resource and the url of the provider.`;
  const message = messageOf(answer);
  if (message.startsWith('/search of '))
    return `The filter "q" needs a search of "${resource}". Set enableSearch and searchableFields on the server.`;
  // Forms show the messages of their fields. Messages of parameters and of items have no other place.
  const isOfForm = method === 'POST' || method === 'PATCH' || method === 'PUT';
  const shown = Object.entries(errors).filter(([name]) => !isOfForm || name.startsWith('items'));
  return [message, ...shown.map(([name, text]) => `${name} ${text}`)].join('. ');
}

/** Another editor was faster. */
export const conflict = (resource: string): HttpError =>
  new HttpError(`This record of "${resource}" was changed by somebody else. Load it again and repeat the change.`, 412);

export const notPaginated = (resource: string): HttpError =>
  new HttpError(
    `The list "${resource}" must have pages, got a list without metadata.pagination. Set enablePagination on the server.`,
    400,
  );
