/** How a document describes the endpoints that options add: sessions, passwords, links, the profile, administration. */
import { AUTH_FAILURE, authFailure, REFUSAL, refused, RETRY_AFTER } from '../documents/failures.js';
import { orNull, type JsonSchema } from '../entities/json-schema.js';
import {
  closedObject,
  openObject,
  refTo,
  type NamedSchema,
  type OperationDocument,
  type ParameterDocument,
  type ResponseDocument,
} from '../documents/operation-document.js';
import { USER_SCHEMAS } from './user-checks.js';

interface AccountFacts {
  readonly id: JsonSchema;
  readonly fields: Readonly<Record<string, JsonSchema>>;
  readonly profile: NamedSchema;
}

type Answer = (description: string, schema: JsonSchema) => ResponseDocument;
type Responses = OperationDocument['responses'];

/** One operation: what differs from the others. */
export interface EndpointRow {
  /** Where it is not the name of the method. */
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string;
  readonly body?: JsonSchema;
  readonly parameters?: readonly ParameterDocument[];
  readonly responses: Responses;
}

export const TEXT = { type: 'string' };
export const MESSAGE = { success: { const: true }, message: TEXT };

export const TOKENS = { token: { ...TEXT, description: 'For `Authorization: Bearer`.' } };

/** With the option `sessions`. */
export const SESSION_TOKENS = {
  refreshToken: { ...TEXT, description: 'For `refresh`, once.' },
  expiresIn: { type: 'integer', description: 'Seconds until `token` expires.', examples: [900] },
};

export const LIMITED = {
  429: {
    ...authFailure('Too many failures before.', 'Too many attempts, try again in 4 seconds'),
    headers: RETRY_AFTER,
  },
};

const TIME = { type: 'string', format: 'date-time' };
const BOOLEAN = { type: 'boolean' };
const SECRET = { ...TEXT, examples: ['correct horse battery'] };
const EMAIL = USER_SCHEMAS['email'] as JsonSchema;
const LINK_TOKEN = { ...TEXT, description: 'From the link that was mailed.' };

export const SESSION: NamedSchema = {
  name: 'AuthSession',
  schema: openObject({
    id: TEXT,
    createdAt: TIME,
    lastUsedAt: TIME,
    userAgent: orNull(TEXT),
    address: orNull(TEXT),
    current: BOOLEAN,
  }),
};

const pathId = (schema: JsonSchema): readonly ParameterDocument[] => [
  { in: 'path', name: 'id', schema, required: true },
];
const query = (name: string, schema: JsonSchema, description?: string): ParameterDocument => ({
  in: 'query',
  name,
  schema,
  ...(description !== undefined && { description }),
});

const done: Responses = { 204: { description: 'Done' } };
const invalid = { 400: authFailure('A field is not valid.', 'password: expected at least 8 characters') };
const unauthorized = { 401: refused(401, 'Authentication required') };
const eitherFailure = (description: string, message: string) => {
  const schema = { anyOf: [refTo(AUTH_FAILURE.name), refTo(REFUSAL.name)] };
  return { 401: { description, content: [{ schema, example: { success: false, message } }] } };
};
const wrongPassword = eitherFailure('The token or the password is not valid.', 'Invalid credentials');
const noToken = eitherFailure('The refresh token is not valid, or there is no token.', 'Invalid refresh token');
const wrongToken = { 401: authFailure('The refresh token is not valid.', 'Invalid refresh token') };
const wrongLink = { 401: authFailure('The link is not valid.', 'This link is not valid, or was used before') };
const adminOnly = { ...unauthorized, 403: refused(403, 'Admin access required') };
const unknown = (name: string) => ({ 404: authFailure('There is none.', `${name} with id 7 not found`) });
const lastAdmin = { 409: authFailure('It is the last ADMIN.', 'This is the last active user with the role ADMIN') };

export function describeAccounts(
  { id, fields, profile }: AccountFacts,
  answer: Answer,
): Readonly<Record<string, EndpointRow>> {
  const user = openObject({ ...MESSAGE, data: openObject({ user: refTo(profile.name) }) });
  const names = {
    firstName: orNull(USER_SCHEMAS['firstName'] as JsonSchema),
    lastName: orNull(USER_SCHEMAS['lastName'] as JsonSchema),
  };
  const own = Object.entries(fields).filter(([name]) => !(name in USER_SCHEMAS));
  const pagination = openObject(
    Object.fromEntries(['page', 'size', 'total', 'totalPages'].map((name) => [name, { type: 'integer' }])),
  );
  // No name begins like that of a generated operation: a resource of users has `listUsers`.
  return {
    refresh: {
      summary: 'Refresh the tokens',
      description:
        'Spends the refresh token. One that was spent before ends the session, except within 2 minutes while the new one is unused.',
      body: closedObject({ refreshToken: TEXT }),
      responses: {
        200: answer('A new pair', openObject({ ...MESSAGE, data: openObject({ ...TOKENS, ...SESSION_TOKENS }) })),
        ...invalid,
        ...wrongToken,
        ...LIMITED,
      },
    },
    logout: {
      summary: 'End this session',
      description: 'That of the access token, or that of `refreshToken`.',
      body: closedObject({ refreshToken: TEXT }, []),
      responses: { ...done, ...invalid, ...noToken },
    },
    logoutAll: { summary: 'End all own sessions', responses: { ...done, ...unauthorized } },
    findSessions: {
      summary: 'List own sessions',
      responses: {
        200: answer(
          'The 100 used last',
          openObject({ success: { const: true }, data: { type: 'array', items: refTo(SESSION.name) } }),
        ),
        ...unauthorized,
      },
    },
    endSession: {
      summary: 'End an own session',
      parameters: pathId(TEXT),
      responses: { ...done, ...unauthorized, ...unknown('Session') },
    },
    changePassword: {
      summary: 'Change the own password',
      description: 'Ends the other sessions.',
      body: closedObject({ current: SECRET, new: USER_SCHEMAS['password'] as JsonSchema }),
      responses: { ...done, ...invalid, ...wrongPassword, ...LIMITED },
    },
    updateMe: {
      summary: 'Change the own profile',
      body: closedObject({ ...names, ...Object.fromEntries(own.map(([name, schema]) => [name, orNull(schema)])) }, []),
      responses: { 200: answer('The user', user), ...invalid, ...unauthorized, ...LIMITED },
    },
    deleteMe: {
      summary: 'Delete the own account',
      body: closedObject({ password: SECRET }),
      responses: {
        ...done,
        ...invalid,
        ...wrongPassword,
        409: authFailure('Records refer to the user.', 'Other records refer to this user'),
        ...LIMITED,
      },
    },
    forgotPassword: {
      summary: 'Ask for a new password',
      description: 'The answer is the same for known and unknown addresses.',
      body: closedObject({ email: EMAIL }),
      responses: { 202: answer('Accepted', openObject(MESSAGE)), ...invalid },
    },
    resetPassword: {
      summary: 'Set a new password',
      description: 'Ends all sessions.',
      body: closedObject({ token: LINK_TOKEN, password: USER_SCHEMAS['password'] as JsonSchema }),
      responses: { ...done, ...invalid, ...wrongLink, ...LIMITED },
    },
    verifyEmail: {
      summary: 'Confirm an e-mail address',
      body: closedObject({ token: LINK_TOKEN }),
      responses: { ...done, ...invalid, ...wrongLink, ...LIMITED },
    },
    resendVerification: {
      summary: 'Ask for another link to confirm the address',
      body: closedObject({ email: EMAIL }),
      responses: { 202: answer('Accepted', openObject(MESSAGE)), ...invalid },
    },
    changeEmail: {
      summary: 'Change the own e-mail address',
      description: 'The new address counts when the link that is mailed to it is used.',
      body: closedObject({ password: SECRET, email: EMAIL }),
      responses: { 202: answer('Accepted', openObject(MESSAGE)), ...invalid, ...wrongPassword, ...LIMITED },
    },
    findUsers: {
      summary: 'List users',
      parameters: [
        query('page', { type: 'integer', minimum: 1, default: 1 }),
        query('size', { type: 'integer', minimum: 1, default: 20 }, 'At most 100.'),
        query('q', TEXT, 'Text in the e-mail address, the username or a name.'),
        query('filter[role]', TEXT),
        query('filter[active]', BOOLEAN),
      ],
      responses: {
        200: answer(
          'A page of users',
          openObject({
            ...MESSAGE,
            data: { type: 'array', items: refTo(profile.name) },
            metadata: openObject({ pagination }),
          }),
        ),
        ...invalid,
        ...adminOnly,
      },
    },
    changeUser: {
      summary: 'Change a user',
      parameters: pathId(id),
      body: closedObject({ role: USER_SCHEMAS['role'] as JsonSchema, active: BOOLEAN, ...names }, []),
      responses: { 200: answer('The user', user), ...invalid, ...adminOnly, ...unknown('User'), ...lastAdmin },
    },
    mailPasswordReset: {
      summary: 'Mail a user a link for a new password',
      parameters: pathId(id),
      responses: {
        202: answer('Accepted', openObject(MESSAGE)),
        ...adminOnly,
        ...unknown('User'),
        409: authFailure('No mail can be sent.', 'This user has no e-mail address'),
      },
    },
    endUserSessions: {
      summary: 'End all sessions of a user',
      parameters: pathId(id),
      responses: { ...done, ...adminOnly, ...unknown('User') },
    },
  };
}
