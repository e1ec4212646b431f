/** Schemas and answers from which the endpoints of accounts are described. */
import { AUTH_FAILURE, authFailure, REFUSAL, RETRY_AFTER } from '../../documents/failures.js';
import { jsonResponse, openObject, refTo, TEXT, TRUE } from '../../documents/operation-document.js';
import type { NamedSchema, OperationDocument, ResponseDocument } from '../../documents/operation-document.js';
import { orNull, type JsonSchema } from '../../entities/json-schema.js';
import { USER_SCHEMAS } from '../users/user-checks.js';

export type Answers = OperationDocument['responses'];

/** What a description refers to that depends on the options of the application. */
export interface DocumentParts {
  /** The id of a user, as a path parameter. */
  readonly id: JsonSchema;
  /** The user in the answer of a login. */
  readonly identity: JsonSchema;
  /** The columns that the application adds, and users change themselves. */
  readonly ownFields: Readonly<Record<string, JsonSchema>>;
  /** The members that plugins add to a login. */
  readonly members: Readonly<Record<string, JsonSchema>>;
  /** The members of which an endpoint that `needsProof` takes one. */
  readonly proofs: Readonly<Record<string, JsonSchema>>;
}

/** How a plugin changes the description of logins. */
export interface LoginDocument {
  /** The members that `issue` adds. */
  readonly members?: Readonly<Record<string, JsonSchema>>;
  /** Further answers of `login`, by status. */
  readonly login?: Answers | ((parts: DocumentParts) => Answers);
  /** Further answers of `register`, by status. */
  readonly register?: Answers;
  /** Schemas that endpoints of the plugin refer to. */
  readonly schemas?: readonly NamedSchema[];
}

export const BOOLEAN = { type: 'boolean' };
export const MOMENT = { type: 'string', format: 'date-time' };
export const MESSAGE = { success: TRUE, message: TEXT };
export const TOKEN = { token: { ...TEXT, description: 'For `Authorization: Bearer`.' } };
export const SECRET = { ...TEXT, examples: ['correct horse battery'] };
export const EMAIL = USER_SCHEMAS['email'] as JsonSchema;
export const NEW_PASSWORD = refTo('NewPassword');
export const NAMES = {
  firstName: orNull(USER_SCHEMAS['firstName'] as JsonSchema),
  lastName: orNull(USER_SCHEMAS['lastName'] as JsonSchema),
};
export const TEXT_OR_NULL = orNull(TEXT);
export const PROFILE = refTo('AuthProfile');

/** An answer `{success, message, data: {…}}`. */
export const dataAnswer = (description: string, data: Readonly<Record<string, JsonSchema>>): ResponseDocument =>
  jsonResponse(description, openObject({ ...MESSAGE, data: openObject(data) }));

export const ACCEPTED = { 202: jsonResponse('Accepted', openObject(MESSAGE)) };
export const INVALID = { 400: authFailure('A field is not valid.', 'password: expected at least 8 characters') };
const TOO_MANY = authFailure('Too many failures before.', 'Too many attempts, try again in 4 seconds');
export const LIMITED = { 429: { ...TOO_MANY, headers: RETRY_AFTER } };
export const unauthorizedOr = (description: string, message: string) => {
  const schema = { anyOf: [refTo(AUTH_FAILURE.name), refTo(REFUSAL.name)] };
  return { 401: jsonResponse(description, schema, { success: false, message }) };
};
const wrong = (description: string) => ({ ...unauthorizedOr(description, 'Invalid credentials'), ...LIMITED });
/** The answers of endpoints that ask for the password again. */
export const WRONG_PASSWORD = wrong('The token or the password is not valid.');
export const WRONG_PROOF = wrong('The token or the proof is not valid, or the login is too old.');
export const unknown = (name: string) => ({ 404: authFailure('There is none.', `${name} with id 7 not found`) });
