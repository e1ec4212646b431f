/** How a document describes the endpoints of authentication. */
import { orNull, type JsonSchema } from '../entities/json-schema.js';
import { AUTH_FAILURE, authFailure, REFUSAL, refused } from '../documents/failures.js';
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
import { describeAccounts, SESSION } from './account-document.js';
import { INTERNAL, LIMITED, MESSAGE, SESSION_TOKENS, TEXT, TOKENS, UNREADABLE } from './document-parts.js';
import type { LoginField } from './user.repository.js';

/** What differs between applications. */
export interface AuthFacts {
  readonly loginField: LoginField;
  readonly hasSessions: boolean;
  readonly requireVerified: boolean;
  /** Of the id in answers. */
  readonly id: JsonSchema;
  /** What `register` accepts, by name. */
  readonly fields: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

const TEXT_OR_NULL = orNull(TEXT);

/** All operations that there can be, by the names of their methods. */
export function describeAuth(facts: AuthFacts): ControllerDocument {
  const { loginField, id, fields, required, hasSessions, requireVerified } = facts;
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
  const named = [AUTH_FAILURE, REFUSAL, profile, registration, credentials, SESSION];
  const schemas = new Map(named.map(({ name, schema }) => [name, schema]));
  const answer = (description: string, schema: JsonSchema): ResponseDocument => ({
    description,
    content: [{ schema, example: exampleOf(schema, schemas) }],
  });
  const withToken = (user: JsonSchema): JsonSchema =>
    openObject({
      ...MESSAGE,
      data: openObject({ user, ...TOKENS, ...(hasSessions && SESSION_TOKENS) }),
    });
  const body = ({ name, schema }: NamedSchema) => ({ schema: refTo(name), example: exampleOf(schema, schemas) });
  const register: OperationDocument = {
    operationId: 'register',
    summary: 'Register',
    parameters: [],
    body: body(registration),
    responses: {
      201: requireVerified
        ? answer('Registered', openObject({ ...MESSAGE, data: openObject({ user: refTo(profile.name) }) }))
        : answer('Registered and logged in', withToken(refTo(profile.name))),
      400: authFailure('A field is not valid, or taken.', 'User with email ann@shop.example already exists'),
      ...LIMITED,
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
      ...(requireVerified && { 403: authFailure('Not verified yet.', 'The e-mail address is not verified') }),
      ...LIMITED,
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
  const operations = { register, login, me, ...describeAccounts({ id, fields, profile }, answer) };
  return { tag: 'Auth', operations: new Map(Object.entries(operations)), schemas: named };
}
