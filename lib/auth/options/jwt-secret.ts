/** The option `jwtSecret`: in production, each secret has at least 32 bytes. */
import { Logger } from '@nestjs/common';
import { isProduction } from '../../options/invalid-option.js';
import { refuseAuthOption } from '../../options/option-table.js';

const logger = new Logger('AuthModule');

const MIN_SECRET_BYTES = 32;
const SECRET_ADVICE = 'set a random string of at least 32 bytes, for example from `openssl rand -base64 48`';

/** The secrets of tokens. @param randomSecret is used outside of production, where none is given */
export function resolveSecrets(option: unknown, randomSecret: string): readonly string[] {
  if (!Array.isArray(option)) return [resolveSecret(option, randomSecret, 'jwtSecret')];
  if (option.length === 0)
    refuseAuthOption('jwtSecret', 'a string, or an array of strings', 'an empty array', SECRET_ADVICE);
  return option.map((each: unknown, index) => resolveSecret(each ?? null, randomSecret, `jwtSecret[${index}]`));
}

/** Messages about a secret never contain it. */
function resolveSecret(secret: unknown, randomSecret: string, option: string): string {
  const fail = (expected: string, got: string): never => refuseAuthOption(option, expected, got, SECRET_ADVICE);
  if (secret === undefined) {
    if (isProduction()) fail('a secret in production', 'none');
    logger.warn('No jwtSecret configured; using a random one. Tokens become invalid on restart.');
    return randomSecret;
  }
  if (typeof secret !== 'string') return fail('a string', `a value of type ${typeof secret}`);
  if (secret.trim() === '') fail('a string', 'an empty string');
  const bytes = Buffer.byteLength(secret);
  if (bytes < MIN_SECRET_BYTES) {
    if (isProduction()) fail(`at least ${MIN_SECRET_BYTES} bytes in production`, `${bytes} bytes`);
    logger.warn(`${option} has ${bytes} bytes. Use at least ${MIN_SECRET_BYTES}, which production requires.`);
  }
  return secret;
}
