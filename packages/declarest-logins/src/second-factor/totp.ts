/** Codes of authenticator apps (RFC 6238), by otplib: 6 digits and steps of 30 s, with SHA-1, which every app knows. */
import { refuseAuthOption } from 'declarest/plugin';

const STEP_SECONDS = 30;

export class Totp {
  private constructor(private readonly library: typeof import('otplib')) {}

  /** @throws InvalidOptionError where the package is missing */
  static async load(): Promise<Totp> {
    const library = await import('otplib').catch(() =>
      refuseAuthOption('secondFactor', 'used with the package otplib', 'none', 'run npm install otplib'),
    );
    return new Totp(library);
  }

  /** @returns 160 bits in base 32, as the app takes them */
  newSecret(): string {
    return this.library.generateSecret();
  }

  /** @returns `otpauth://totp/…`, for a QR code */
  uriOf(secret: string, issuer: string, label: string): string {
    return this.library.generateURI({ secret, issuer, label });
  }

  /** @returns the time step of the code: the present one, or one beside it; `undefined` for another code */
  async stepOf(secret: string, code: string): Promise<number | undefined> {
    const epoch = Math.floor(Date.now() / 1000);
    const result = await this.library.verify({ secret, token: code, epoch, epochTolerance: STEP_SECONDS });
    return result.valid ? Math.floor(epoch / STEP_SECONDS) + result.delta : undefined;
  }
}
