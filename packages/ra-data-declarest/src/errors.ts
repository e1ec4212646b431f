/** Makes the errors of react-admin, which shows `body.errors` at the fields of a form and `message` as a notification. */
import {
  aboutField,
  type Answer,
  Failure,
  failureBody,
  fieldsOf,
  isMissingRoute,
  messagesOf,
  NEEDS_FACTOR,
  readable,
  UNSAVED,
} from 'declarest-client/providers';
import { HttpError } from 'ra-core';

/** What react-admin gets for a failure. `keepsLogin`: a 401 that is no reason to log out. `needsFactor`: as of the failure. */
export function toHttpError(
  failure: Failure,
): HttpError & { readonly keepsLogin?: true; readonly needsFactor?: boolean } {
  const { answer, message, status, needsLogin, isUnsaved, needsFactor } = failure;
  if (!answer) return new HttpError(message, status);
  if (needsFactor)
    return Object.assign(new HttpError(NEEDS_FACTOR, status, answer.body), { keepsLogin: true, needsFactor } as const);
  const error = isUnsaved ? new HttpError(UNSAVED, status, answer.body) : describeFailure(answer);
  // react-admin takes a change for made if a failure logs out.
  return status === 401 && (!needsLogin || isUnsaved) ? Object.assign(error, { keepsLogin: true } as const) : error;
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
  const { errors } = failureBody(answer);
  const fields = fieldsOf(answer);
  const reasons = errors?.map(({ field, message }) => aboutField(field, message)).join('; ');
  const [text] = messagesOf(answer);
  const message = reasons ? `${text}: ${reasons}` : text;
  if (!errors && Object.keys(fields).length === 0) return new HttpError(message, status, body);
  // A form shows the messages of its fields, and "root.serverError" as the notification.
  return new HttpError(message, status, {
    ...failureBody(answer),
    errors: { ...readableFields(fields), root: { serverError: message } },
  });
}

const readableFields = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, message]) => [name, readable(message)]));

export const conflict = (resource: string, body?: unknown): HttpError =>
  new HttpError(
    `This record of "${resource}" was changed by somebody else since you opened it. Reload it and repeat your change.`,
    412,
    body,
  );

export const notPaginated = (resource: string): Failure =>
  invalidCall(`The list of "${resource}" must be paginated. Set enablePagination of the resource on the server.`);

/** A call that cannot be sent. */
export const invalidCall = (message: string): Failure => new Failure(message, 400);
