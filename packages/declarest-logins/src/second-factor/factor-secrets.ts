/**
 * Encrypts the secrets of authenticator apps with AES-256-GCM, by a key that is derived from those of `jwtKeys`, or from
 * `jwtSecret`. A row that is copied to another user cannot be decrypted.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { AuthServices } from 'declarest/plugin';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface DecryptedSecret {
  readonly secret: string;
  /** Whether the first one of several keys and secrets has encrypted it. */
  readonly isCurrent: boolean;
}

@Injectable()
export class FactorSecrets {
  /** One for each key and secret: the first one encrypts, each decrypts. */
  private readonly keys: readonly Buffer[];

  constructor({ keysFor }: AuthServices) {
    this.keys = keysFor('second factor');
  }

  encrypt(userId: string, secret: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.keys[0] as Buffer, iv).setAAD(Buffer.from(userId));
    const text = Buffer.concat([cipher.update(secret), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** @returns `undefined` where no key and no secret fits, which is logged */
  decrypt(userId: string, encrypted: string): DecryptedSecret | undefined {
    for (const [index, key] of this.keys.entries()) {
      const secret = decryptBy(key, userId, Buffer.from(encrypted, 'base64url'));
      if (secret !== undefined) return { secret, isCurrent: index === 0 };
    }
    new Logger('AuthModule').error(
      `The second factor of user ${userId} was encrypted with another secret. Add the earlier one to jwtSecret or jwtKeys, or remove the factor.`,
    );
    return undefined;
  }
}

function decryptBy(key: Buffer, userId: string, bytes: Buffer): string | undefined {
  const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
  try {
    const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(userId));
    decipher.setAuthTag(tag);
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
