/** Private keys that sign access tokens, by node:crypto: jsonwebtoken has no EdDSA. */
import { createPrivateKey, createPublicKey, sign, verify, type JsonWebKey, type KeyObject } from 'node:crypto';
import { describe } from '../../options/invalid-option.js';
import { isObject, isOneOf, readNestedOptions, refuseAuthOption, row } from '../../options/option-table.js';
import type { JwtKey } from '../options/auth.options.js';
import type { TokenKey } from '../tokens/access-tokens.js';

export interface SigningKey extends TokenKey, Pick<JwtKey, 'kid'> {
  /** The public key, for the key set (RFC 7517). */
  readonly jwk: JsonWebKey;
}

/** Compact serialization (RFC 7515 §7.1) of two JSON objects, whose first letter is `e`, and a signature. */
const COMPACT = /^(e[\w-]+)\.(e[\w-]+)\.([\w-]+)$/;

const isType = (type: string) => (key: KeyObject) => key.asymmetricKeyType === type;
const ALGORITHMS = {
  EdDSA: { hash: null, expected: 'an Ed25519 key', fits: isType('ed25519') },
  ES256: {
    hash: 'sha256',
    expected: 'an EC key with the curve P-256',
    fits: (key: KeyObject) => key.asymmetricKeyDetails?.namedCurve === 'prime256v1',
  },
  RS256: {
    hash: 'sha256',
    expected: 'an RSA key of at least 2048 bits',
    fits: (key: KeyObject) => isType('rsa')(key) && Number(key.asymmetricKeyDetails?.modulusLength) >= 2048,
  },
};

const LIST_ADVICE = 'set for example [{ kid: "2026-01", alg: "EdDSA", privateKey: process.env["JWT_KEY"] }]';
const KEY_ADVICE = 'give the text of a file that `openssl genpkey` writes, with its line breaks';
const isString = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';
const OPTIONS = {
  kid: row<string>(undefined as never, 'a non-empty string', isString, 'set for example "2026-01"'),
  alg: row<JwtKey['alg']>(undefined as never, 'EdDSA, ES256 or RS256', isOneOf(...Object.keys(ALGORITHMS)), 'set one'),
  privateKey: row<string>(undefined as never, 'a private key in PEM', isString, KEY_ADVICE),
};

/** Messages never contain a private key. @throws InvalidOptionError */
export function resolveJwtKeys(given: unknown): readonly SigningKey[] {
  if (!Array.isArray(given) || given.length === 0)
    return refuseAuthOption('jwtKeys', 'an array of at least one key', typeOf(given), LIST_ADVICE);
  const keys = given.map((each: unknown, index) => readKey(`jwtKeys[${index}]`, each));
  const repeated = keys.find(({ kid }, index) => keys.findIndex((other) => other.kid === kid) < index);
  if (repeated) {
    const advice = 'name each key for itself, such as by its date';
    refuseAuthOption('jwtKeys', 'keys of different `kid`', `${describe(repeated.kid)} twice`, advice);
  }
  return Object.freeze(keys);
}

function readKey(option: string, given: unknown): SigningKey {
  if (!isObject(given)) refuseAuthOption(option, 'an object with kid, alg and privateKey', typeOf(given), LIST_ADVICE);
  const { kid, alg, privateKey } = readNestedOptions(option, OPTIONS, given);
  const { hash, expected, fits } = ALGORITHMS[alg];
  const key = readPrivateKey(privateKey);
  if (typeof key === 'string' || !fits(key)) {
    const got = typeof key === 'string' ? key : describeKey(key);
    return refuseAuthOption(`${option}.privateKey`, `${expected} in PEM, for ${alg}`, got, KEY_ADVICE);
  }
  const publicKey = createPublicKey(key);
  const start = encode({ alg, typ: 'JWT', kid });
  // RFC 7518 §3.4: two numbers, not the DER of OpenSSL. Other algorithms have no such choice.
  const dsaEncoding = 'ieee-p1363';
  return {
    kid,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    secret: key.export({ type: 'pkcs8', format: 'der' }),
    signerOf: ({ issuer: iss, audience: aud }) => ({
      sign(claims) {
        const signed = `${start}.${encode(claims)}`;
        return `${signed}.${sign(hash, Buffer.from(signed), { key, dsaEncoding }).toString('base64url')}`;
      },
      verify(token) {
        const [, head = '', payload = '', end = ''] = COMPACT.exec(token) ?? [];
        const header = decode(head);
        if (header?.['kid'] !== kid) return undefined;
        // The algorithm is that of the key (RFC 8725 §3.1). An extension is not understood (RFC 7515 §4.1.11).
        if (header['alg'] !== alg || header['crit'] !== undefined) return null;
        const signature = Buffer.from(end, 'base64url');
        const isSigned = verify(hash, Buffer.from(`${head}.${payload}`), { key: publicKey, dsaEncoding }, signature);
        // Base64 has other spellings of the same bytes.
        if (!isSigned || signature.toString('base64url') !== end) return null;
        const claims = decode(payload);
        return claims && isCurrent(claims, { iss, aud }) ? claims : null;
      },
    }),
  };
}

/** Compares as jsonwebtoken does: times without leeway. `exp` may be missing. */
function isCurrent(
  claims: Json,
  { iss, aud }: { readonly iss: string | undefined; readonly aud: string | undefined },
): boolean {
  const { exp = Infinity, nbf = 0 } = claims;
  const now = Math.floor(Date.now() / 1000);
  if (typeof exp !== 'number' || now >= exp || typeof nbf !== 'number' || nbf > now) return false;
  return (iss === undefined || claims['iss'] === iss) && (aud === undefined || [claims['aud']].flat().includes(aud));
}

/** A text may be a private key. */
const typeOf = (given: unknown): string =>
  Array.isArray(given) ? 'an empty array' : `a value of type ${typeof given}`;

/** @returns what it is instead, for a message */
function readPrivateKey(text: string): KeyObject | string {
  try {
    return createPrivateKey(text);
  } catch {
    if (text.includes('ENCRYPTED')) return 'an encrypted key';
    return /-BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-/.test(text)
      ? 'a public key'
      : 'text that is no private key';
  }
}

function describeKey({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): string {
  const { modulusLength, namedCurve = '' } = asymmetricKeyDetails ?? {};
  return `a key of type ${type} ${modulusLength === undefined ? namedCurve : `of ${modulusLength} bits`}`.trim();
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

type Json = Readonly<Record<string, unknown>>;

function decode(part: string): Json | undefined {
  try {
    return (JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) ?? undefined) as Json | undefined;
  } catch {
    return undefined;
  }
}
