/** The ceremonies of WebAuthn, by `@simplewebauthn/server`. */
import { generateKeyPairSync } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type {
  AuthenticatorTransport,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { CHALLENGE_MS } from './passkey-challenges.js';
import { PASSKEY_SETTINGS, type PasskeysOptions } from './passkey-settings.js';
import type { Passkey } from './passkey-tables.js';
import type { Assertion, Attestation } from './sent-credential.js';

/** EdDSA, ES256 and RS256: each version of Node verifies them. */
const ALGORITHMS = [-8, -7, -257];

/** Whom the authenticator shows for a passkey. */
export interface PasskeyUser {
  readonly handle: string;
  readonly name: string;
  readonly displayName: string;
}

/** What the authenticator has made. */
export type NewCredential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'backedUp'>;
export type CredentialUse = Pick<Passkey, 'counter' | 'backedUp'>;
type KnownCredential = Pick<Passkey, 'credentialId' | 'transports'>;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64url'));

const describeCredential = ({ credentialId, transports }: KnownCredential) => ({
  id: credentialId,
  transports: transports.split(',').filter(Boolean) as AuthenticatorTransport[],
});

@Injectable()
export class WebAuthn {
  /** A dummy public key: verifying against it makes an unknown passkey take as long as a wrong signature. */
  private readonly unknownKey = newPublicKey();

  constructor(@Inject(PASSKEY_SETTINGS) private readonly settings: PasskeysOptions) {}

  /** For `navigator.credentials.create`. @param known passkeys of the user, of which the authenticator makes no second one */
  creationOptions(
    challenge: string,
    { handle, name, displayName }: PasskeyUser,
    known: readonly KnownCredential[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    return generateRegistrationOptions({
      rpID: this.settings.rpId,
      rpName: this.settings.rpId,
      challenge: bytesOf(challenge),
      userID: bytesOf(handle),
      userName: name,
      userDisplayName: displayName,
      timeout: CHALLENGE_MS,
      attestationType: 'none',
      excludeCredentials: known.map(describeCredential),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      supportedAlgorithmIDs: ALGORITHMS,
    });
  }

  /** For `navigator.credentials.get`. @param allowed the passkeys to choose from; all of the domain without them */
  requestOptions(
    challenge: string,
    allowed: readonly KnownCredential[] = [],
  ): Promise<PublicKeyCredentialRequestOptionsJSON> {
    return generateAuthenticationOptions({
      rpID: this.settings.rpId,
      challenge: bytesOf(challenge),
      timeout: CHALLENGE_MS,
      allowCredentials: allowed.map(describeCredential),
      userVerification: 'required',
    });
  }

  /** @returns `undefined` for a credential that is not valid; its challenge counts as known */
  async verifyNew({ id, challenge, isCrossOrigin, response }: Attestation): Promise<NewCredential | undefined> {
    const sent = { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...sent, response: { ...response, transports: [] } },
      ...this.expected(challenge),
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch(() => ({ registrationInfo: undefined }));
    if (!registrationInfo || isCrossOrigin || registrationInfo.credential.id !== id) return undefined;
    const { credential, credentialBackedUp: backedUp } = registrationInfo;
    const publicKey = Buffer.from(credential.publicKey).toString('base64url');
    const transports = response.transports.join(',');
    return { credentialId: id, publicKey, counter: credential.counter, transports, backedUp };
  }

  /**
   * The caller compares the counter, when the signature is right.
   * @param passkey `undefined` where it is unknown @returns `undefined` for a credential that is not valid
   */
  async verifyUse(sent: Assertion, passkey: Passkey | undefined): Promise<CredentialUse | undefined> {
    const { id, challenge, isCrossOrigin, response } = sent;
    const { clientDataJSON, authenticatorData, signature } = response;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      ...this.expected(challenge),
      credential: { id, publicKey: bytesOf(passkey?.publicKey ?? this.unknownKey), counter: 0 },
    }).catch(() => ({ verified: false, authenticationInfo: undefined }));
    if (!verified || !authenticationInfo || isCrossOrigin || !passkey) return undefined;
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  }

  private expected(expectedChallenge: string) {
    const { rpId: expectedRPID, origins } = this.settings;
    return { expectedChallenge, expectedOrigin: [...origins], expectedRPID, requireUserVerification: true };
  }
}

/** @returns a COSE key of ES256 in base64url */
function newPublicKey(): string {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const [header, ofX, ofY] = ['a501020326200121', '5820', '225820'].map((hex) => Buffer.from(hex, 'hex'));
  const parts = [header, ofX, Buffer.from(x, 'base64url'), ofY, Buffer.from(y, 'base64url')] as Buffer[];
  return Buffer.concat(parts).toString('base64url');
}
