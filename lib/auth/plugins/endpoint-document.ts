/** Describes the endpoints of accounts for @nestjs/swagger, where it is installed. */
import { Logger, type Type } from '@nestjs/common';
import { describeController, loadSwagger } from '../../documents/describe-controller.js';
import { exampleOf } from '../../documents/examples.js';
import { AUTH_FAILURE, authFailure, REFUSAL, refused, RETRY_AFTER } from '../../documents/failures.js';
import { closedObject, openObject, refTo } from '../../documents/operation-document.js';
import type { OperationDocument, ParameterDocument, ResponseDocument } from '../../documents/operation-document.js';
import { orNull, type JsonSchema } from '../../entities/json-schema.js';
import { signed } from '../../entities/value-types.js';
import type { ResolvedAuthOptions } from '../options/auth.options.js';
import type { Registration } from '../accounts/user-field-rules.js';
import { USER_SCHEMAS } from '../users/user-checks.js';

export interface EndpointDocument {
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string;
  readonly body?: JsonSchema;
  readonly parameters?: readonly ParameterDocument[];
  /** The answers beside those that status, access and body tell. */
  readonly responses?: OperationDocument['responses'];
}

export type DocumentParts = ReturnType<typeof partsOf>;

export const TEXT = { type: 'string' };
export const BOOLEAN = { type: 'boolean' };
export const MESSAGE = { success: { const: true }, message: TEXT };
const TOKENS = { token: { ...TEXT, description: 'For `Authorization: Bearer`.' } };
const SESSION_TOKENS = {
  refreshToken: { ...TEXT, description: 'For `refresh`, once.' },
  expiresIn: { type: 'integer', description: 'Seconds until `token` expires.', examples: [900] },
};
export const SECRET = { ...TEXT, examples: ['correct horse battery'] };
export const EMAIL = USER_SCHEMAS['email'] as JsonSchema;
export const NEW_PASSWORD = USER_SCHEMAS['password'] as JsonSchema;
export const NAMES = {
  firstName: orNull(USER_SCHEMAS['firstName'] as JsonSchema),
  lastName: orNull(USER_SCHEMAS['lastName'] as JsonSchema),
};
const TEXT_OR_NULL = orNull(TEXT);
const TIME = { type: 'string', format: 'date-time' };

const DONE = { 204: { description: 'Done' } };
export const INVALID = { 400: authFailure('A field is not valid.', 'password: expected at least 8 characters') };
const UNAUTHORIZED = { 401: refused(401, 'Authentication required') };
const ADMIN_ONLY = { ...UNAUTHORIZED, 403: refused(403, 'Admin access required') };
export const unauthorizedOr = (description: string, message: string) => {
  const schema = { anyOf: [refTo(AUTH_FAILURE.name), refTo(REFUSAL.name)] };
  return { 401: { description, content: [{ schema, example: { success: false, message } }] } };
};
export const WRONG_PASSWORD = unauthorizedOr('The token or the password is not valid.', 'Invalid credentials');
export const LIMITED = {
  429: {
    ...authFailure('Too many failures before.', 'Too many attempts, try again in 4 seconds'),
    headers: RETRY_AFTER,
  },
};
const UNREADABLE = {
  413: authFailure('The body is too large.', 'The request body is larger than this server accepts'),
  415: authFailure('The body is of another type.', 'The request body must be application/json in UTF-8'),
};
const INTERNAL = {
  500: authFailure('An unexpected error.', 'Internal server error'),
  503: { ...authFailure('The server is busy.', 'The server is busy, try again'), headers: RETRY_AFTER },
};

export const unknown = (name: string) => ({ 404: authFailure('There is none.', `${name} with id 7 not found`) });
export const pathId = (schema: JsonSchema): readonly ParameterDocument[] => [
  { in: 'path', name: 'id', schema, required: true },
];

const SESSION = openObject({
  id: TEXT,
  createdAt: TIME,
  lastUsedAt: TIME,
  userAgent: TEXT_OR_NULL,
  address: TEXT_OR_NULL,
  current: BOOLEAN,
});

function partsOf({ schemas: fields, required }: Registration, options: ResolvedAuthOptions) {
  const { loginField, parseId, sessions, requireVerified } = options;
  const id: JsonSchema = typeof parseId('1') === 'string' ? TEXT : signed(64n).schemas.answer;
  const identity = { id, email: TEXT_OR_NULL, username: TEXT_OR_NULL, role: TEXT };
  const optional = Object.entries(fields).map(([name, schema]) => [name, orNull(schema)] as const);
  const accepted = { ...Object.fromEntries(optional), ...pick(fields, required) };
  const schemas = new Map([
    [AUTH_FAILURE.name, AUTH_FAILURE.schema],
    [REFUSAL.name, REFUSAL.schema],
    ['AuthProfile', openObject({ ...identity, firstName: TEXT_OR_NULL, lastName: TEXT_OR_NULL, active: BOOLEAN })],
    ['Registration', closedObject(accepted, required)],
    ['Credentials', openObject({ [loginField]: TEXT, password: TEXT })],
    ['AuthSession', SESSION],
  ]);
  const answer = (description: string, schema: JsonSchema): ResponseDocument => ({
    description,
    content: [{ schema, example: exampleOf(schema, schemas) }],
  });
  const profile = refTo('AuthProfile');
  const message = (data: Readonly<Record<string, JsonSchema>>): JsonSchema =>
    openObject({ ...MESSAGE, data: openObject(data) });
  return {
    id,
    identity: openObject(identity),
    profile,
    requireVerified,
    schemas,
    ownFields: Object.fromEntries(optional.filter(([name]) => !(name in USER_SCHEMAS))),
    answer,
    user: (description: string) => answer(description, message({ user: profile })),
    accepted: answer('Accepted', openObject(MESSAGE)),
    pair: answer('A new pair', message({ ...TOKENS, ...SESSION_TOKENS })),
    loggedIn: (description: string, user: JsonSchema) =>
      answer(description, message({ user, ...TOKENS, ...(sessions && SESSION_TOKENS) })),
  };
}

const pick = <V>(values: Readonly<Record<string, V>>, names: readonly string[]): Readonly<Record<string, V>> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));

interface Described {
  readonly name: string;
  readonly status: number;
  readonly access: unknown;
  readonly describe: (parts: DocumentParts) => EndpointDocument;
}

/** For `SwaggerModule.createDocument`, which may be called before `app.init()`. */
export async function describeEndpoints(
  controller: Type<unknown>,
  endpoints: readonly Described[],
  registration: Registration,
  options: ResolvedAuthOptions,
): Promise<void> {
  const swagger = await loadSwagger((sentence) => new Logger('AuthModule').warn(sentence));
  if (!swagger) return;
  const parts = partsOf(registration, options);
  const operations = new Map<string, OperationDocument>();
  for (const { name, status, access, describe } of endpoints) {
    const { body, responses, ...document } = describe(parts);
    const answers = {
      ...(status === 204 && DONE),
      ...(body && { ...INVALID, ...UNREADABLE }),
      ...(access === 'authenticated' && UNAUTHORIZED),
      ...(typeof access === 'object' && ADMIN_ONLY),
    };
    const sent = body && { body: { schema: body, example: exampleOf(body, parts.schemas) } };
    const described = { operationId: name, parameters: [], ...document, ...sent };
    operations.set(name, { ...described, responses: { ...answers, ...responses, ...INTERNAL } });
  }
  const text = JSON.stringify([...operations]);
  const schemas = [...parts.schemas].filter(([name]) => text.includes(`schemas/${name}"`));
  const prototype = controller.prototype as Readonly<Record<string, object>>;
  const methods = new Map(endpoints.map(({ name }) => [name, prototype[name] as object]));
  describeController(swagger, controller, methods, {
    tag: 'Auth',
    operations,
    schemas: schemas.map(([name, schema]) => ({ name, schema })),
  });
}
