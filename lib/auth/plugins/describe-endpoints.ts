/** Describes the endpoints of accounts for `SwaggerModule.createDocument`, which may be called before `app.init()`. */
import { Logger, type Type } from '@nestjs/common';
import { describeController, Descriptions } from '../../documents/describe-controller.js';
import { authFailure, refused, RETRY_AFTER, unreadable } from '../../documents/failures.js';
import { closedObject, openObject, TEXT, type OperationDocument } from '../../documents/operation-document.js';
import { orNull, type JsonSchema } from '../../entities/json-schema.js';
import { AccessRefused } from '../../http/refusal.js';
import type { Application } from '../../routes/application.js';
import { USER_SCHEMAS } from '../users/user-checks.js';
import type { LoginField } from '../users/user.repository.js';
import { endpointsOf } from './auth-plugins.js';
import { BOOLEAN, INVALID, LIMITED, SECRET, TEXT_OR_NULL, WRONG_PROOF } from './document-parts.js';
import type { Answers, DocumentParts } from './document-parts.js';
import { isLimited } from './endpoint-controller.js';
import type { AuthPlugin, Endpoint } from './plugin.js';

const INTERNAL = {
  500: authFailure('An unexpected error.', 'Internal server error'),
  503: { ...authFailure('The server is busy.', 'The server is busy, try again'), headers: RETRY_AFTER },
};
const PATH_ID = [{ in: 'path', name: 'id', schema: TEXT, required: true }] as const;

interface Described {
  readonly plugins: readonly AuthPlugin[];
  readonly loginField: LoginField;
  readonly parseId: (text: string) => string | number;
  /** The fields of a registration. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

export const describeEndpoints = (application: Application, controller: Type, described: Described): void =>
  application
    .stateOf(Descriptions)
    .add(new Logger('AuthModule'), [controller], () => describeController(controller, documentOf(described)));

function documentOf(described: Described) {
  const logins = described.plugins.map((plugin) => plugin.describe?.() ?? {});
  const members = Object.assign({}, ...logins.map((each) => each.members)) as DocumentParts['members'];
  const { parts, schemas } = partsOf(described, members);
  for (const { name, schema } of logins.flatMap((each) => each.schemas ?? [])) schemas.set(name, schema);
  const operations = new Map(
    endpointsOf(described.plugins).map((endpoint) => {
      const further = logins.map(({ login, register }) => ({ login, register })[endpoint.name]);
      const answers = further.map((each) => (typeof each === 'function' ? each(parts) : each));
      return [endpoint.name, operationOf(endpoint, parts, Object.assign({}, ...answers) as Answers)];
    }),
  );
  return { tag: 'Auth', operations, schemas };
}

function operationOf(endpoint: Endpoint, parts: DocumentParts, further: Answers): OperationDocument {
  const { name, route, status = 200, access, operationId = name, summary, description } = endpoint;
  const { parameters = () => (route.includes('/:id') ? PATH_ID : []), answers } = endpoint;
  const body = bodyOf(endpoint, parts);
  const responses: Answers = {
    [status]: { description: 'Done' },
    ...(body && { ...INVALID, ...unreadable(authFailure) }),
    ...(access !== 'public' && { 401: refused(401, 'Authentication required') }),
    ...(typeof access === 'object' && { 403: refused(403, new AccessRefused(access.anyOf).message) }),
    ...(isLimited(endpoint) && LIMITED),
    ...(endpoint.needsProof && WRONG_PROOF),
    ...(typeof answers === 'function' ? answers(parts) : answers),
    ...further,
    ...INTERNAL,
  };
  const texts = { operationId, summary, ...(description !== undefined && { description }) };
  const isBodyOptional = !endpoint.takesObject && !endpoint.texts;
  return { ...texts, parameters: parameters(parts), ...(body && { body, isBodyOptional }), responses };
}

function bodyOf(endpoint: Endpoint, parts: DocumentParts): JsonSchema | undefined {
  const { takesObject, texts, optionalTexts, needsProof } = endpoint;
  if (!takesObject && !texts && !optionalTexts && !needsProof) return undefined;
  const own = takesObject?.(parts) ?? closedObject({ ...texts, ...optionalTexts }, Object.keys(texts ?? {}));
  return needsProof ? { ...own, properties: { ...(own['properties'] as object), ...parts.proofs } } : own;
}

function partsOf(
  { plugins, schemas: fields, required, loginField, parseId }: Described,
  members: DocumentParts['members'],
) {
  const id: JsonSchema = typeof parseId('1') === 'string' ? TEXT : { type: 'integer' };
  const login = { ...TEXT, examples: [loginField === 'email' ? 'ann@shop.example' : 'ann'] };
  const identity = { id, email: TEXT_OR_NULL, username: TEXT_OR_NULL, role: TEXT };
  const optional = Object.entries(fields).map(([name, schema]) => [name, orNull(schema)] as const);
  const mandatory = Object.entries(fields).filter(([name]) => required.includes(name));
  const schemas = new Map([
    ['AuthProfile', openObject({ ...identity, firstName: TEXT_OR_NULL, lastName: TEXT_OR_NULL, active: BOOLEAN })],
    ['NewPassword', fields['password'] as JsonSchema],
    ['Registration', closedObject(Object.fromEntries([...optional, ...mandatory]), required)],
    ['Credentials', openObject({ [loginField]: login, password: SECRET })],
  ]);
  const ownFields = Object.fromEntries(optional.filter(([name]) => !(name in USER_SCHEMAS)));
  const proofs = Object.fromEntries(plugins.flatMap(({ proof }) => (proof ? [[proof.member, proof.schema]] : [])));
  return { parts: { id, identity: openObject(identity), ownFields, members, proofs }, schemas };
}
