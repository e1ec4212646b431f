import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { InvalidOptionError } from '../options/invalid-option.js';

const OPTION = 'AuthModule option `jwtSecret`';
/** HS256 wants a key of at least 256 bits (RFC 7518 §3.2). */
const SECRET_LEAST_BYTES = 32;

const logger = new Logger('AuthModule');

/** NODE_ENV decides whether a weak secret is a warning or a refusal. */
export function resolveSecret(secret: unknown): string {
  const inProduction = process.env['NODE_ENV'] === 'production';
  const advice = 'set a random one of at least 32 bytes, for example from `openssl rand -base64 48`';
  if (secret === undefined) {
    if (inProduction) throw new InvalidOptionError(OPTION, 'a secret in production', 'none', advice);
    logger.warn('No jwtSecret is given: a random one is used, and tokens end with this process.');
    return randomBytes(48).toString('base64');
  }
  if (typeof secret !== 'string' || secret.trim() === '')
    throw new InvalidOptionError(
      OPTION,
      'a string',
      typeof secret === 'string' ? 'an empty string' : `a value of type ${typeof secret}`,
      advice,
    );
  const bytes = Buffer.byteLength(secret);
  if (bytes < SECRET_LEAST_BYTES) {
    if (inProduction)
      throw new InvalidOptionError(
        OPTION,
        `at least ${SECRET_LEAST_BYTES} bytes in production`,
        `${bytes} bytes`,
        advice,
      );
    logger.warn(
      `The jwtSecret has ${bytes} bytes; at least ${SECRET_LEAST_BYTES} are advised, and required in production.`,
    );
  }
  return secret;
}
