/** An authenticator and its browser in software, which can be told to send what no browser sends. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const base64url = (bytes: Buffer | string): string => Buffer.from(bytes).toString('base64url');

const UP = 0x01;
const UV = 0x04;
const AT = 0x40;

/** What the credential says in place of the truth. */
export interface Forgery {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  flags?: number;
  counter?: number;
  /** Another key signs. */
  key?: KeyObject;
  handle?: string | null;
  /** The id in the envelope. */
  id?: string;
}

interface OwnPasskey {
  readonly id: string;
  readonly handle: string;
  readonly key: KeyObject;
}

interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id?: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
  readonly allowCredentials?: readonly { readonly id: string }[];
}

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

export function newKey(algorithm: Algorithm = 'ES256'): KeyObject {
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519').privateKey;
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

export class SoftwareAuthenticator {
  readonly passkeys: OwnPasskey[] = [];
  /** 0 does not count, as those of synchronized passkeys. */
  counter = 0;
  algorithm: Algorithm = 'ES256';

  constructor(readonly origin: string) {}

  /** As `navigator.credentials.create`, of which `toJSON()` is sent. */
  create({ challenge, rp, user }: Options, forged: Forgery = {}) {
    const key = newKey(this.algorithm);
    const id = randomBytes(32);
    const passkey = { id: base64url(id), handle: user?.id ?? '', key };
    this.passkeys.push(passkey);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const data = this.authenticatorData(rp?.id, UP | UV | AT, forged, [Buffer.alloc(16), length, id, coseOf(key)]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(data.length);
    // {"fmt": "none", "attStmt": {}, "authData": data}
    const header = hex('a363666d74646e6f6e656761747453746d74a068617574684461746159');
    const attestationObject = base64url(Buffer.concat([header, size, data]));
    const clientDataJSON = this.clientData('webauthn.create', challenge, forged);
    return envelope(forged.id ?? passkey.id, { clientDataJSON, attestationObject, transports: ['internal', 'hybrid'] });
  }

  /** As `navigator.credentials.get`. */
  get(
    { challenge, rpId, allowCredentials = [] }: Options,
    forged: Forgery = {},
    passkey = this.choose(allowCredentials),
  ) {
    if (this.counter > 0) this.counter += 1;
    const data = this.authenticatorData(rpId, UP | UV, forged);
    const clientDataJSON = this.clientData('webauthn.get', challenge, forged);
    const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const key = forged.key ?? passkey.key;
    const signature = base64url(sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key));
    const { handle = passkey.handle } = forged;
    const response = { clientDataJSON, authenticatorData: base64url(data), signature };
    return envelope(forged.id ?? passkey.id, { ...response, ...(handle !== null && { userHandle: handle }) });
  }

  private choose(allowed: readonly { readonly id: string }[]): OwnPasskey {
    const found = this.passkeys.find(({ id }) => allowed.length === 0 || allowed.some((each) => each.id === id));
    return found ?? { id: base64url(randomBytes(32)), handle: base64url(randomBytes(32)), key: newKey() };
  }

  private authenticatorData(rpId: string | undefined, flags: number, forged: Forgery, attested: Buffer[] = []): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(forged.counter ?? this.counter);
    return Buffer.concat([sha256(forged.rpId ?? rpId ?? ''), Buffer.of(forged.flags ?? flags), counter, ...attested]);
  }

  private clientData(type: string, challenge: string, forged: Forgery): string {
    const { origin = this.origin, crossOrigin = false, topOrigin } = forged;
    const facts = { type: forged.type ?? type, challenge: forged.challenge ?? challenge, origin, crossOrigin };
    return base64url(JSON.stringify({ ...facts, ...(topOrigin !== undefined && { topOrigin }) }));
  }
}

/** The members that Chromium sends, some of which the server does not read. */
const envelope = <R extends object>(id: string, response: R) => ({
  id,
  rawId: id,
  type: 'public-key',
  authenticatorAttachment: 'platform',
  clientExtensionResults: {},
  response,
});

/** The public key as COSE writes it. */
function coseOf(key: KeyObject): Buffer {
  const jwk = key.export({ format: 'jwk' });
  const [x, y, n] = [jwk.x, jwk.y, jwk.n].map((each = '') => Buffer.from(each, 'base64url')) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  if (jwk.kty === 'OKP') return Buffer.concat([hex('a4010103272006215820'), x]);
  if (jwk.kty === 'RSA') return Buffer.concat([hex('a401030339010020590100'), n, hex('2143010001')]);
  return Buffer.concat([hex('a5010203262001215820'), x, hex('225820'), y]);
}
