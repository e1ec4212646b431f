/** Schemas and answers from which the endpoints of accounts are described. */
import { exampleOf } from '../../documents/examples.js';
import { AUTH_FAILURE, authFailure, REFUSAL, RETRY_AFTER } from '../../documents/failures.js';
import { openObject, refTo, TEXT, type OperationDocument } from '../../documents/operation-document.js';
import type { ResponseDocument } from '../../documents/operation-document.js';
import { orNull, type JsonSchema } from '../../entities/json-schema.js';
import { USER_SCHEMAS } from '../users/user-checks.js';

export type Answers = OperationDocument['responses'];

/** What a description of an endpoint may refer to, because it depends on the options of the application. */
export interface DocumentParts {
  /** The id of a user, as a path parameter. */
  readonly id: JsonSchema;
  /** The user in the answer of a login. */
  readonly identity: JsonSchema;
  /** The user in other answers. */
  readonly profile: JsonSchema;
  /** The columns that the application adds, and users change themselves. */
  readonly ownFields: Readonly<Record<string, JsonSchema>>;
  /** An answer with an example. */
  answer(description: string, schema: JsonSchema): ResponseDocument;
  /** An answer `{success, message, data: {…}}`. */
  data(description: string, properties: Readonly<Record<string, JsonSchema>>): ResponseDocument;
  /** The answer of a login. */
  loggedIn(description: string, user: JsonSchema): ResponseDocument;
}

export const BOOLEAN = { type: 'boolean' };
export const MESSAGE = { success: { const: true }, message: TEXT };
export const TOKEN = { token: { ...TEXT, description: 'For `Authorization: Bearer`.' } };
export const SECRET = { ...TEXT, examples: ['correct horse battery'] };
export const EMAIL = USER_SCHEMAS['email'] as JsonSchema;
export const NEW_PASSWORD = USER_SCHEMAS['password'] as JsonSchema;
export const NAMES = {
  firstName: orNull(USER_SCHEMAS['firstName'] as JsonSchema),
  lastName: orNull(USER_SCHEMAS['lastName'] as JsonSchema),
};
export const TEXT_OR_NULL = orNull(TEXT);

const ACCEPTED_BODY = openObject(MESSAGE);
export const ACCEPTED = {
  202: {
    description: 'Accepted',
    content: [{ schema: ACCEPTED_BODY, example: exampleOf(ACCEPTED_BODY, new Map()) }],
  },
};
export const INVALID = { 400: authFailure('A field is not valid.', 'password: expected at least 8 characters') };
export const LIMITED = {
  429: {
    ...authFailure('Too many failures before.', 'Too many attempts, try again in 4 seconds'),
    headers: RETRY_AFTER,
  },
};
export const unauthorizedOr = (description: string, message: string) => {
  const schema = { anyOf: [refTo(AUTH_FAILURE.name), refTo(REFUSAL.name)] };
  return { 401: { description, content: [{ schema, example: { success: false, message } }] } };
};
/** Of endpoints that ask for the password again. */
export const WRONG_PASSWORD = {
  ...unauthorizedOr('The token or the password is not valid.', 'Invalid credentials'),
  ...LIMITED,
};
export const unknown = (name: string) => ({ 404: authFailure('There is none.', `${name} with id 7 not found`) });
