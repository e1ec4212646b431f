/** Schemas of the bodies and answers of passkeys, for the OpenAPI document. */
import {
  BOOLEAN,
  closedObject,
  type DocumentParts,
  EMAIL,
  jsonResponse,
  type JsonSchema,
  type NamedSchema,
  NAMES,
  openObject,
  orNull,
  TRUE,
  USER_SCHEMAS,
} from 'declarest/plugin';
import { MOMENT } from '../moments.js';

const BASE64URL = { type: 'string', pattern: '^[\\w-]+$', maxLength: 16_384 };

const credential = (response: Readonly<Record<string, JsonSchema>>, optional: typeof response): JsonSchema => ({
  ...openObject({
    id: BASE64URL,
    rawId: BASE64URL,
    type: { const: 'public-key' },
    response: openObject({ clientDataJSON: BASE64URL, ...response, ...optional }, [
      'clientDataJSON',
      ...Object.keys(response),
    ]),
  }),
  description: '`credential.toJSON()` in the browser.',
});

const TRANSPORTS = { transports: { type: 'array', items: { type: 'string' } } };
const ATTESTATION = credential({ attestationObject: BASE64URL }, TRANSPORTS);
export const ASSERTION = credential(
  { authenticatorData: BASE64URL, signature: BASE64URL },
  { userHandle: orNull(BASE64URL) },
);
const LOGINS = { email: orNull(EMAIL), username: orNull(USER_SCHEMAS['username'] as JsonSchema) };

export const NAME: JsonSchema = { ...USER_SCHEMAS['username'], examples: ['Phone'] };
export const LOGIN = closedObject({ credential: ASSERTION });
export const ADDITION = closedObject({ credential: ATTESTATION, name: orNull(NAME) }, ['credential']);
export const START_REGISTRATION = closedObject(LOGINS, []);
export const REGISTRATION = ({ ownFields }: DocumentParts): JsonSchema =>
  closedObject({ credential: ATTESTATION, ...LOGINS, ...NAMES, ...ownFields }, ['credential']);

export const PASSKEY: NamedSchema = {
  name: 'AuthPasskey',
  schema: openObject({
    id: { type: 'string' },
    name: NAME,
    backedUp: { ...BOOLEAN, description: 'Whether it is synchronized between devices.' },
    createdAt: MOMENT,
    lastUsedAt: orNull(MOMENT),
  }),
};

export const CEREMONY = { type: 'object', description: 'The options of the ceremony as JSON (WebAuthn level 3).' };
export const startAnswer = { 200: jsonResponse('For the browser', openObject({ success: TRUE, data: CEREMONY })) };
