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

const failureBody = ({ json }: Answer): FailureBody => (typeof json === 'object' && json !== null ? json : {});

/** The messages of a failure by field or parameter. */
export const fieldsOf = (answer: Answer): Readonly<Record<string, string>> => failureBody(answer).fields ?? {};

/** Whether the server does not know this query parameter. */
export const isUnknownParameter = (answer: Answer, name: string): boolean =>
  answer.status === 400 && (fieldsOf(answer)[name]?.startsWith('unknown parameter') ?? false);

/** Whether the resource was declared without `/batch` or `/search`. */
export const isNotEnabled = (answer: Answer, level: 'batch' | 'search'): boolean =>
  answer.status === 404 && (messageOf(answer).startsWith(`/${level} of `) || isMissingRoute(answer));

/** Whether the application has no such route: Nest says so in a body of its own. */
export const isMissingRoute = (answer: Answer): boolean =>
  answer.status === 404 && failureBody(answer).statusCode === 404 && messageOf(answer).startsWith('Cannot ');

/** The reason that the server gives. */
function messageOf(answer: Answer): string {
  const { message, error } = failureBody(answer);
  const texts = [message].flat().filter((each) => typeof each === 'string');
  if (texts.length > 0) return texts.join('; ');
  return typeof error === 'string' ? error : `The server answered with status ${answer.status}`;
}

/** @param resource for the messages */
export function failureOf(answer: Answer, resource: string): HttpError {
  const { status, method, url } = answer;
  const errors = { ...fieldsOf(answer) };
  return new HttpError(messageFor(), status, { ...failureBody(answer), errors });

  function messageFor(): string {
    if (isMissingRoute(answer))
      return `The server has no route ${method} ${url} for "${resource}". Check the name of the resource and the url of the provider.`;
    if (status === 412)
      return `This record of "${resource}" was changed by somebody else. Load it again and repeat the change.`;
    // Forms show the messages of their fields. Messages of parameters have no other place.
    const shown = Object.entries(errors).filter(
      ([name]) => method === 'GET' || method === 'DELETE' || name === 'items',
    );
    return [messageOf(answer), ...shown.map(([name, text]) => `${name} ${text}`)].join('. ');
  }
}
