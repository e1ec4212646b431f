/** The codes that users send: six digits of an authenticator app, or a recovery code. */
import { randomBytes } from 'node:crypto';
import { BadRequestException, UnauthorizedException } from '@nestjs/common';
import { hashOf } from 'declarest/plugin';

const COUNT = 10;
/** Base 32 (RFC 4648 §6). 24 letters have 120 bits, so that a hash without salt is enough (OWASP ASVS 5.0, 6.5.2). */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const LETTERS = 24;

const DIGITS = /^\d{6}$/;
const RECOVERY = /^[a-z2-7]{24}$/;
const EXPECTED = 'code: expected the 6 digits of the authenticator app, or a recovery code';

/** @returns ten recovery codes, such as `k3vd-2m7q-xa5c-pl6e-5wtn-r2bo` */
export function newRecoveryCodes(): readonly string[] {
  const newCode = (): string => Array.from(randomBytes(LETTERS), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return Array.from({ length: COUNT }, () => newCode().replaceAll(/.{4}(?=.)/g, '$&-'));
}

/** @param code as `readCode` returns it */
export const hashOfCode = (userId: string, code: string): string => hashOf(`${userId} ${code}`);

/**
 * Reads a code as people type it: spaces, hyphens and the case do not matter.
 * @throws BadRequestException for what cannot be a code
 */
export function readCode(text: string): string {
  const code = text.slice(0, 100).replaceAll(/[\s-]/g, '').toLowerCase();
  if (DIGITS.test(code) || RECOVERY.test(code)) return code;
  throw new BadRequestException(EXPECTED);
}

export const isOfApp = (code: string): boolean => DIGITS.test(code);

export const wrongCode = (): UnauthorizedException =>
  new UnauthorizedException('This code is not valid, or was used before');
