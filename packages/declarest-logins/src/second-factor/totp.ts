/** Codes of authenticator apps (RFC 6238), by otplib: 6 digits and steps of 30 s, with SHA-1, which every app knows. */
import { Injectable } from '@nestjs/common';
import { generateSecret, generateURI, verify } from 'otplib';

const STEP_SECONDS = 30;

@Injectable()
export class Totp {
  /** @returns 160 bits in base 32, as the app takes them */
  newSecret(): string {
    return generateSecret();
  }

  /** @returns `otpauth://totp/…`, for a QR code */
  uriOf(secret: string, issuer: string, label: string): string {
    return generateURI({ secret, issuer, label });
  }

  /** @returns the time step of the code: the present one, or one beside it; `undefined` for another code */
  async stepOf(secret: string, code: string): Promise<number | undefined> {
    const epoch = Math.floor(Date.now() / 1000);
    const result = await verify({ secret, token: code, epoch, epochTolerance: STEP_SECONDS });
    return result.valid ? Math.floor(epoch / STEP_SECONDS) + result.delta : undefined;
  }
}
