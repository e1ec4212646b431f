/** The parts of which plugins describe their endpoints in the OpenAPI document. */
import * as parts from '../auth/plugins/document-parts.js';
import { USER_SCHEMAS } from '../auth/users/user-checks.js';
import { authFailure } from '../documents/failures.js';
import { closedObject, jsonResponse, openObject, refTo, TEXT, TRUE } from '../documents/operation-document.js';
import type { ResponseDocument } from '../documents/operation-document.js';
import { orNull, type JsonSchema } from '../entities/json-schema.js';

/** JSON schemas. */
export const schemas = {
  text: TEXT,
  boolean: parts.BOOLEAN,
  true: TRUE,
  moment: parts.MOMENT,
  email: parts.EMAIL,
  /** A name of 1 to 64 characters, such as that of a user or of a key. */
  name: USER_SCHEMAS['username'] as JsonSchema,
  /** `firstName` and `lastName`. */
  names: parts.NAMES,
  /** A user as `me` shows it. */
  profile: parts.PROFILE,
  orNull,
  /** A schema that `describe` of the plugin names. */
  named: refTo,
  /** An object that may get more properties. */
  object: openObject,
  /** An object with no other properties, such as a body. */
  closed: closedObject,
} as const;

/** Answers. */
export const answers = {
  /** `{success, message, data: {…}}` */
  data: parts.dataAnswer,
  /** `{success, data}`, such as a list. */
  list: (description: string, items: JsonSchema): ResponseDocument =>
    answers.plain(description, { type: 'array', items }),
  /** `{success, data}` */
  plain: (description: string, data: JsonSchema): ResponseDocument =>
    jsonResponse(description, openObject({ success: TRUE, data })),
  /** One of two answers of a login. */
  loginOr: (description: string, parts: parts.DocumentParts, other: JsonSchema): ResponseDocument =>
    jsonResponse(description, openObject({ success: TRUE, message: TEXT, data: { anyOf: [loginData(parts), other] } })),
  /** The user and the token. */
  login: (description: string, { identity, members }: parts.DocumentParts): ResponseDocument =>
    parts.dataAnswer(description, { user: identity, ...parts.TOKEN, ...members }),
  /** The profile of the new user and the token. */
  registration: (description: string, { members }: parts.DocumentParts): ResponseDocument =>
    parts.dataAnswer(description, { user: parts.PROFILE, ...parts.TOKEN, ...members }),
  /** `{success: false, message}` */
  failure: authFailure,
  /** 401 of the endpoint, beside that of a token which is not valid. */
  unauthorizedOr: parts.unauthorizedOr,
  /** 404 of a record of the user. */
  unknown: parts.unknown,
  /** 429 */
  limited: parts.LIMITED,
} as const;

const loginData = ({ identity, members }: parts.DocumentParts): JsonSchema =>
  openObject({ user: identity, ...parts.TOKEN, ...members });
