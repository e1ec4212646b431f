/** Random tokens that a client sends back once, and the hashes by which the database knows them. */
import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
/** Base64url of 32 bytes. */
const FORM = /^[\w-]{43}$/;

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** A token of another form needs no query. The last character has unused bits, so that one token has one spelling only. */
export const isToken = (text: string): boolean =>
  FORM.test(text) && Buffer.from(text, 'base64url').toString('base64url') === text;

export const hashOf = (secret: string | Buffer): string => createHash('sha256').update(secret).digest('hex');
