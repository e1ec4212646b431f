/** The form of keys: a prefix that secret scanners know, 256 random bits, and a checksum that needs no query. */
import { randomInt } from 'node:crypto';
// Node 22.0 and 22.1 have no `crc32`, and load this file too.
import * as zlib from 'node:zlib';

export const KEY_PREFIX = 'dk_';
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62 ** 43 is more than 2 ** 256. */
const RANDOM_DIGITS = 43;
/** 62 ** 6 is more than 2 ** 32. */
const CHECKSUM_DIGITS = 6;
const FORM = new RegExp(`^${KEY_PREFIX}([0-9A-Za-z]{${RANDOM_DIGITS}})([0-9A-Za-z]{${CHECKSUM_DIGITS}})$`);

export function newKey(): string {
  const random = Array.from({ length: RANDOM_DIGITS }, () => DIGITS[randomInt(DIGITS.length)]).join('');
  return `${KEY_PREFIX}${random}${checksumOf(random)}`;
}

/** Whether a text may be a key. A checksum is no secret: it only finds what was mistyped, cut off, or made up. */
export function isKey(text: string): boolean {
  const [, random = '', checksum] = FORM.exec(text) ?? [];
  return checksum === checksumOf(random);
}

/** CRC-32 in base 62, as at the end of tokens of GitHub. */
function checksumOf(random: string): string {
  let rest = zlib.crc32(random);
  const digits = Array.from({ length: CHECKSUM_DIGITS }, () => {
    const digit = DIGITS[rest % DIGITS.length];
    rest = Math.floor(rest / DIGITS.length);
    return digit;
  });
  return digits.toReversed().join('');
}
