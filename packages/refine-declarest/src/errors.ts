/** Makes the errors of refine. */
import type { HttpError } from '@refinedev/core';
import {
  aboutField,
  type Answer,
  type Failure,
  failureBody,
  fieldsOf,
  isMissingRoute,
  NEEDS_FACTOR,
  readable,
  UNSAVED,
} from 'declarest-client/providers';

/** @param statusCode 0 where there is no answer */
export function httpError(message: string, statusCode: number, errors?: HttpError['errors']): HttpError & Error {
  return Object.assign(new Error(message), { statusCode, ...(errors && { errors }) });
}

/** What refine gets for a failure. `keepsLogin`: a 401 that is no reason to log out. `needsFactor`: as of the failure. */
export function toHttpError(failure: Failure): HttpError & Error {
  const { answer, message, status, needsLogin, isUnsaved, needsFactor } = failure;
  if (!answer) return httpError(message, status);
  if (needsFactor) return Object.assign(httpError(NEEDS_FACTOR, status), { keepsLogin: true, needsFactor });
  const error = isUnsaved ? httpError(UNSAVED, status) : describeFailure(answer, message);
  return status === 401 && (!needsLogin || isUnsaved) ? Object.assign(error, { keepsLogin: true }) : error;
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
  const fields = Object.entries(fieldsOf(answer));
  const errors = Object.fromEntries(fields.map(([name, text]) => [name, readable(text)]));
  const isOfForm = method === 'POST' || method === 'PATCH';
  // Only `errors` names what is allowed. A 409 has none.
  const named = failureBody(answer).errors?.map(({ field, message }) => [field, message]) ?? fields;
  // Forms show the messages of their fields. Messages of parameters have no other place than the message.
  const shown = named.filter(([name]) => !isOfForm || name === 'items');
  const reasons = shown.map(([name = '', text = '']) => aboutField(name, text)).join('. ');
  return httpError(reasons === '' ? reason : `${reason}: ${reasons}`, status, fields.length > 0 ? errors : undefined);
}
