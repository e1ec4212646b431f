/** Makes the errors of refine. */
import type { HttpError } from '@refinedev/core';
import { type Answer, type Failure, failureBody, fieldsOf, isMissingRoute } from 'declarest-client/providers';

/** @param statusCode 0 where there is no answer */
export function httpError(message: string, statusCode: number, errors?: HttpError['errors']): HttpError & Error {
  return Object.assign(new Error(message), { statusCode, ...(errors && { errors }) });
}

/** What refine gets for a failure. `keepsLogin`: a 401 that is no reason to log out. */
export function toHttpError({ answer, message, status, needsLogin }: Failure): HttpError & Error {
  if (!answer) return httpError(message, status);
  const error = describeFailure(answer, message);
  return status === 401 && !needsLogin ? Object.assign(error, { keepsLogin: true }) : error;
}

/** @param reason of the server */
function describeFailure(answer: Answer, reason: string): HttpError & Error {
  const { status, request } = answer;
  const { method, url, resource } = request;
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
    reasons === '' ? reason : `${reason}: ${reasons}`,
    status,
    Object.keys(errors).length > 0 ? { ...errors } : undefined,
  );
}
