/** Schemas of the bodies and answers of passkeys, for the OpenAPI document. */
import { type DocumentParts, type JsonSchema, type NamedSchema, schemas } from 'declarest/plugin';

const BASE64URL = { type: 'string', pattern: '^[\\w-]+$', maxLength: 16_384 };

const credential = (response: Readonly<Record<string, JsonSchema>>, optional: typeof response): JsonSchema => ({
  ...schemas.object({
    id: BASE64URL,
    rawId: BASE64URL,
    type: { const: 'public-key' },
    response: schemas.object({ clientDataJSON: BASE64URL, ...response, ...optional }, [
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
  { userHandle: schemas.orNull(BASE64URL) },
);
const LOGINS = { email: schemas.orNull(schemas.email), username: schemas.orNull(schemas.name) };

export const NAME: JsonSchema = { ...schemas.name, examples: ['Phone'] };
export const LOGIN = schemas.closed({ credential: ASSERTION });
export const ADDITION = schemas.closed({ credential: ATTESTATION, name: schemas.orNull(NAME) }, ['credential']);
export const START_REGISTRATION = schemas.closed(LOGINS, []);
export const REGISTRATION = ({ ownFields }: DocumentParts): JsonSchema =>
  schemas.closed({ credential: ATTESTATION, ...LOGINS, ...schemas.names, ...ownFields }, ['credential']);

export const PASSKEY: NamedSchema = {
  name: 'AuthPasskey',
  schema: schemas.object({
    id: { type: 'string' },
    name: NAME,
    backedUp: { ...schemas.boolean, description: 'Whether it is synchronized between devices.' },
    createdAt: schemas.moment,
    lastUsedAt: schemas.orNull(schemas.moment),
  }),
};

export const CEREMONY = { type: 'object', description: 'The options of the ceremony as JSON (WebAuthn level 3).' };
