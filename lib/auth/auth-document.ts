/** How a document describes the endpoints of authentication. */
import { orNull, type JsonSchema } from '../entities/json-schema.js';
import { AUTH_FAILURE, authFailure, REFUSAL, refused, RETRY_AFTER } from '../documents/failures.js';
import { exampleOf } from '../documents/examples.js';
import {
  closedObject,
  openObject,
  refTo,
  type ControllerDocument,
  type NamedSchema,
  type OperationDocument,
  type ResponseDocument,
} from '../documents/operation-document.js';
import type { LoginField } from './user.repository.js';

/** What differs between applications. */
export interface AuthFacts {
  readonly loginField: LoginField;
  readonly hasRegistration: boolean;
  /** Of the id in answers. */
  readonly id: JsonSchema;
  /** What `register` accepts, by name. */
  readonly fields: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

const TEXT = { type: 'string' };
const TEXT_OR_NULL = orNull(TEXT);
const MESSAGE = { success: { const: true }, message: TEXT };

export function describeAuth({ loginField, hasRegistration, id, fields, required }: AuthFacts): ControllerDocument {
  const identity = { id, email: TEXT_OR_NULL, username: TEXT_OR_NULL, role: TEXT };
  const profile = {
    name: 'AuthProfile',
    schema: openObject({ ...identity, firstName: TEXT_OR_NULL, lastName: TEXT_OR_NULL, active: { type: 'boolean' } }),
  };
  const accepted = Object.entries(fields).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : orNull(schema),
  ]);
  const registration = {
    name: 'Registration',
    schema: closedObject(Object.fromEntries(accepted) as Record<string, JsonSchema>, required),
  };
  const credentials = { name: 'Credentials', schema: openObject({ [loginField]: TEXT, password: TEXT }) };
  const named = [AUTH_FAILURE, REFUSAL, profile, registration, credentials];
  const schemas = new Map(named.map(({ name, schema }) => [name, schema]));
  const answer = (description: string, schema: JsonSchema): ResponseDocument => ({
    description,
    content: [{ schema, example: exampleOf(schema, schemas) }],
  });
  const withToken = (user: JsonSchema): JsonSchema =>
    openObject({
      ...MESSAGE,
      data: openObject({ user, token: { ...TEXT, description: 'For `Authorization: Bearer`.' } }),
    });
  const body = ({ name, schema }: NamedSchema) => ({ schema: refTo(name), example: exampleOf(schema, schemas) });
  const register: OperationDocument = {
    operationId: 'register',
    summary: 'Register',
    parameters: [],
    body: body(registration),
    responses: {
      201: answer('Registered and logged in', withToken(refTo(profile.name))),
      400: authFailure('A field is not valid, or taken.', 'User with email ann@shop.example already exists'),
      ...UNREADABLE,
      ...INTERNAL,
    },
  };
  const login: OperationDocument = {
    operationId: 'login',
    summary: 'Log in',
    parameters: [],
    body: body(credentials),
    responses: {
      200: answer('Logged in', withToken(openObject(identity))),
      400: authFailure('A field is missing.', 'password: required'),
      401: authFailure('Nobody has these credentials.', 'Invalid credentials'),
      ...UNREADABLE,
      ...INTERNAL,
    },
  };
  const me: OperationDocument = {
    operationId: 'getCurrentUser',
    summary: 'Get the user of the token',
    parameters: [],
    responses: {
      200: answer(
        'The user',
        openObject({ success: { const: true }, data: openObject({ user: refTo(profile.name) }) }),
      ),
      401: refused(401, 'Authentication required'),
      ...INTERNAL,
    },
  };
  const operations = { ...(hasRegistration && { register }), login, me };
  return { tag: 'Auth', operations: new Map(Object.entries(operations)), schemas: named };
}

const UNREADABLE = {
  413: authFailure('The body is too large.', 'The request body is larger than this server accepts'),
  415: authFailure('The body is of another type.', 'The request body must be application/json in UTF-8'),
};

const INTERNAL = {
  500: authFailure('An unexpected error.', 'Internal server error'),
  503: { ...authFailure('The server is busy.', 'The server is busy, try again'), headers: RETRY_AFTER },
};
