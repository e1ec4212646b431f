/** Keys for purposes other than access tokens, derived from the private keys or secrets of the application (RFC 5869). */
import { hkdfSync } from 'node:crypto';

/** @returns one of 32 bytes for each secret: the first one encrypts and signs, the others belong to earlier secrets */
export const derivedKeys = (secrets: readonly (string | Buffer)[], purpose: string): readonly Buffer[] =>
  secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', `declarest ${purpose}`, 32)));
