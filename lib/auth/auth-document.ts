/** Describes the endpoints of authentication for @nestjs/swagger, where it is installed. */
import { Logger, type Type } from '@nestjs/common';
import { describeController, loadSwagger } from '../documents/describe-controller.js';
import { orNull, type JsonSchema } from '../entities/json-schema.js';
import { signed } from '../entities/value-types.js';
import { AUTH_FAILURE, authFailure, REFUSAL, refused, RETRY_AFTER } from '../documents/failures.js';
import { exampleOf } from '../documents/examples.js';
import {
  closedObject,
  openObject,
  refTo,
  type ControllerDocument,
  type OperationDocument,
  type ResponseDocument,
} from '../documents/operation-document.js';
import {
  describeAccounts,
  LIMITED,
  MESSAGE,
  SESSION,
  SESSION_TOKENS,
  TEXT,
  TOKENS,
  type EndpointRow,
} from './account-document.js';
import type { ResolvedAuthOptions } from './auth.options.js';
import type { Registration } from './registration.js';
import type { LoginField } from './user.repository.js';

/** What differs between applications. */
interface AuthFacts {
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

const UNREADABLE = {
  413: authFailure('The body is too large.', 'The request body is larger than this server accepts'),
  415: authFailure('The body is of another type.', 'The request body must be application/json in UTF-8'),
};

const INTERNAL = {
  500: authFailure('An unexpected error.', 'Internal server error'),
  503: { ...authFailure('The server is busy.', 'The server is busy, try again'), headers: RETRY_AFTER },
};

/** For `SwaggerModule.createDocument`, which may be called before `app.init()`. */
export async function describeEndpoints(
  controllers: readonly Type<unknown>[],
  { schemas: fields, required }: Registration,
  { loginField, parseId, sessions, requireVerified }: ResolvedAuthOptions,
): Promise<void> {
  const swagger = await loadSwagger((sentence) => new Logger('AuthModule').warn(sentence));
  if (!swagger) return;
  const isText = typeof parseId('1') === 'string';
  const id = isText ? { type: 'string' } : signed(64n).schemas.answer;
  const facts = { loginField, hasSessions: sessions !== undefined, requireVerified, id, fields, required };
  const document = describeAuth(facts);
  for (const controller of controllers) {
    const prototype = controller.prototype as Readonly<Record<string, object>>;
    const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(
      ([name, { value }]): [string, object][] =>
        document.operations.has(name) && Reflect.hasMetadata('path', value as object) ? [[name, value as object]] : [],
    );
    const operations = new Map([...document.operations].filter(([name]) => methods.some(([each]) => each === name)));
    const text = JSON.stringify([...operations.values()]);
    const schemas = document.schemas.filter(({ name }) => text.includes(`schemas/${name}"`));
    describeController(swagger, controller, new Map(methods), { ...document, operations, schemas });
  }
}

/** All operations that there can be, by the names of their methods. */
function describeAuth(facts: AuthFacts): ControllerDocument {
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
  const rows: Readonly<Record<string, EndpointRow>> = {
    register: {
      summary: 'Register',
      body: refTo(registration.name),
      responses: {
        201: requireVerified
          ? answer('Registered', openObject({ ...MESSAGE, data: openObject({ user: refTo(profile.name) }) }))
          : answer('Registered and logged in', withToken(refTo(profile.name))),
        400: authFailure('A field is not valid, or taken.', 'User with email ann@shop.example already exists'),
        ...LIMITED,
      },
    },
    login: {
      summary: 'Log in',
      body: refTo(credentials.name),
      responses: {
        200: answer('Logged in', withToken(openObject(identity))),
        400: authFailure('A field is missing.', 'password: required'),
        401: authFailure('Nobody has these credentials.', 'Invalid credentials'),
        ...(requireVerified && { 403: authFailure('Not verified yet.', 'The e-mail address is not verified') }),
        ...LIMITED,
      },
    },
    me: {
      operationId: 'getCurrentUser',
      summary: 'Get the user of the token',
      responses: {
        200: answer(
          'The user',
          openObject({ success: { const: true }, data: openObject({ user: refTo(profile.name) }) }),
        ),
        401: refused(401, 'Authentication required'),
      },
    },
    ...describeAccounts({ id, fields, profile }, answer),
  };
  const operations = Object.entries(rows).map(([name, { body, responses, ...told }]): [string, OperationDocument] => [
    name,
    {
      operationId: name,
      parameters: [],
      ...told,
      ...(body && { body: { schema: body, example: exampleOf(body, schemas) } }),
      responses: { ...responses, ...(body && UNREADABLE), ...INTERNAL },
    },
  ]);
  return { tag: 'Auth', operations: new Map(operations), schemas: named };
}
