/** The credentials of browsers: `PublicKeyCredential.toJSON()`. What cannot be one leads to no query. */
import { InvalidUserError } from 'declarest';
import { isObject } from '../values.js';

/** Of each text of a response. RSA keys of 4,096 bits need a tenth of it. */
const MAX_TEXT = 16_384;
/** Base64url of 1,023 bytes (WebAuthn §4, "credential id"). */
const MAX_ID = 1_364;
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** Members that browsers add later are left out: they must not stop logins. */
export interface SentCredential<R extends object = object> {
  readonly id: string;
  /** As the browser says. It is verified later. */
  readonly challenge: string;
  /** Whether the page was in a frame of another origin. */
  readonly isCrossOrigin: boolean;
  readonly response: R & { readonly clientDataJSON: string };
}

export type Attestation = SentCredential<{
  readonly attestationObject: string;
  readonly transports: readonly string[];
}>;

export type Assertion = SentCredential<{
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle: string | undefined;
}>;

/** @throws InvalidUserError (400) */
export function readAttestation(value: unknown): Attestation {
  const { response, ...credential } = readCredential(value, ['attestationObject']);
  const { transports } = (value as { readonly response: { readonly transports?: unknown } }).response;
  const known = TRANSPORTS.filter((each) => Array.isArray(transports) && transports.includes(each));
  return { ...credential, response: { ...response, transports: known } };
}

/** @throws InvalidUserError (400) */
export function readAssertion(value: unknown): Assertion {
  const { response, ...credential } = readCredential(value, ['authenticatorData', 'signature']);
  const { userHandle } = (value as { readonly response: { readonly userHandle?: unknown } }).response;
  if (userHandle != null && !isBase64url(userHandle)) refuse('response.userHandle in base64url');
  return { ...credential, response: { ...response, userHandle: (userHandle as string | null) ?? undefined } };
}

function readCredential<N extends string>(value: unknown, names: readonly N[]) {
  if (!isObject(value)) return refuse('a PublicKeyCredential as JSON');
  const { id, rawId, type, response } = value;
  if (!isBase64url(id, MAX_ID) || rawId !== id || type !== 'public-key')
    return refuse('an id in base64url, the same rawId, and the type public-key');
  if (!isObject(response)) return refuse('a response');
  const texts = ['clientDataJSON', ...names] as const;
  for (const name of texts) if (!isBase64url(response[name])) refuse(`response.${name} in base64url`);
  const read = Object.fromEntries(texts.map((name) => [name, response[name]])) as Record<N | 'clientDataJSON', string>;
  const clientData = readJson(Buffer.from(read.clientDataJSON, 'base64url').toString());
  if (!isObject(clientData) || typeof clientData['challenge'] !== 'string')
    return refuse('response.clientDataJSON with a challenge');
  const { challenge, crossOrigin = false, topOrigin } = clientData;
  return {
    id,
    challenge: challenge as string,
    isCrossOrigin: crossOrigin !== false || topOrigin !== undefined,
    response: read,
  };
}

/** In its one spelling. */
const isBase64url = (value: unknown, most = MAX_TEXT): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= most &&
  Buffer.from(value, 'base64url').toString('base64url') === value;

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(expected: string): never {
  throw new InvalidUserError([`credential: expected ${expected}`]);
}
