import { Logger } from '@nestjs/common';
import { InvalidOptionError } from '../options/invalid-option.js';

const OPTION = 'AuthModule option `jwtSecret`';
const ADVICE = 'set a random string of at least 32 bytes, for example from `openssl rand -base64 48`';
/** HS256 needs a key of at least 256 bits (RFC 7518 §3.2). */
const MIN_BYTES = 32;

const logger = new Logger('AuthModule');

/**
 * @param secret the option as configured
 * @param randomSecret used without the option, except in production (`NODE_ENV=production`)
 * @returns the secret that signs tokens
 * @throws InvalidOptionError for a value that is not a string, and in production for a missing or short secret
 */
export function resolveSecret(secret: unknown, randomSecret: string): string {
  const isProduction = process.env['NODE_ENV'] === 'production';
  if (secret === undefined) {
    if (isProduction) throw new InvalidOptionError(OPTION, 'a secret in production', 'none', ADVICE);
    logger.warn('No jwtSecret configured; using a random one. Tokens become invalid on restart.');
    return randomSecret;
  }
  if (typeof secret !== 'string' || secret.trim() === '') {
    const got = typeof secret === 'string' ? 'an empty string' : `a value of type ${typeof secret}`;
    throw new InvalidOptionError(OPTION, 'a string', got, ADVICE);
  }
  const bytes = Buffer.byteLength(secret);
  if (bytes < MIN_BYTES) {
    if (isProduction)
      throw new InvalidOptionError(OPTION, `at least ${MIN_BYTES} bytes in production`, `${bytes} bytes`, ADVICE);
    logger.warn(`jwtSecret has ${bytes} bytes. Use at least ${MIN_BYTES}, which production requires.`);
  }
  return secret;
}
