/** The bodies of failures, which all operations of the package share. */
import { closedObject, jsonResponse, openObject, refTo, TEXT, textHeader } from './operation-document.js';
import type { NamedSchema, ResponseDocument } from './operation-document.js';

const FAILED = { type: 'boolean', const: false };
export const TIMESTAMP = { type: 'string', examples: ['2026-01-31T09:30:15.123'] };

const fieldError = openObject({ field: TEXT, message: TEXT });

const fields = { type: 'object', additionalProperties: TEXT, description: 'What is wrong with each field.' };
const errors = { type: 'array', items: fieldError, maxItems: 21 };
const failed = { success: FAILED, message: TEXT, timestamp: TIMESTAMP };
const PROBLEM = 'Every failure is a problem (RFC 9457) for clients that accept `application/problem+json`.';
const failureSchema = { ...openObject({ ...failed, errors, fields }, Object.keys(failed)), description: PROBLEM };
export const FAILURE: NamedSchema = { name: 'FailureEnvelope', schema: failureSchema };
const authFailureSchema = openObject({ success: FAILED, message: TEXT, fields }, ['success', 'message']);
export const AUTH_FAILURE: NamedSchema = { name: 'AuthFailure', schema: authFailureSchema };

/** 401 and 403 of access rules, owners and scopes. */
export const REFUSAL: NamedSchema = { name: 'Refusal', schema: closedObject({ error: TEXT }) };

type Fields = Readonly<Record<string, string>>;

const failureWith = (description: string, message: string, details?: object): ResponseDocument => {
  const example = { success: false, message, timestamp: TIMESTAMP.examples[0], ...details };
  return jsonResponse(description, refTo(FAILURE.name), example);
};

/** @param fields wrong fields, with their messages */
export function failure(description: string, message: string, fields?: Fields): ResponseDocument {
  const listed = Object.entries(fields ?? {}).map(([field, text]) => ({ field, message: text }));
  return failureWith(description, message, fields && { errors: listed, fields });
}

/** A 409 says in `fields` which ones are in conflict, and has no `errors`. */
export const conflict = (message: string, fields?: Fields): ResponseDocument =>
  failureWith('It conflicts with another record.', message, fields && { fields });

export const authFailure = (description: string, message: string): ResponseDocument =>
  jsonResponse(description, refTo(AUTH_FAILURE.name), { success: false, message });

/** The answers to a body that cannot be read. @param describe `failure` or `authFailure` */
export const unreadable = (describe: (description: string, message: string) => ResponseDocument) => ({
  413: describe('The body is too large.', 'The request body is larger than this server accepts'),
  415: describe('The body is of another type.', 'The request body must be application/json in UTF-8'),
});

export const RETRY_AFTER = textHeader('Retry-After', 'Seconds to wait before the request is repeated.');

export function refused(status: 401 | 403, error: string): ResponseDocument {
  const description = status === 401 ? 'The request has no valid token.' : 'The user may not do this.';
  const headers = status === 401 && { headers: textHeader('WWW-Authenticate', '`Bearer`') };
  // In the order of @nestjs/swagger, so that the document has one of them.
  const { content } = jsonResponse(description, refTo(REFUSAL.name), { error });
  return { description, ...headers, ...(content && { content }) };
}
