import bcrypt from 'bcrypt';

/**
 * Hashes passwords.
 * @example { hash: (password) => argon2.hash(password), verify: (password, hash) => argon2.verify(hash, password) }
 */
export interface PasswordHasher {
  /** The longest password that it reads in full, in bytes of UTF-8: 72 to 1,024. Longer ones are refused. @default 72 */
  readonly maxBytes?: number;
  /** @returns the hash with its salt, at most 255 characters */
  hash(password: string): Promise<string>;
  /** @returns whether the password is that of the hash */
  verify(password: string, hash: string): Promise<boolean>;
  /** @returns whether a login should replace the hash */
  needsRehash(hash: string): boolean;
}

/** Stored in place of a hash for users without a password. No password matches it. */
export const NO_PASSWORD = '-';

/** bcrypt ignores everything after the first 72 bytes. */
export const BCRYPT_BYTES = 72;
export const isOfBcrypt = (hash: string): boolean => /^\$2[aby]\$\d\d\$.{53}$/.test(hash);

/** A salt without a digest: bcrypt computes the same work, and no password matches. */
export const unknownBcryptHash = (rounds: number): string => bcrypt.genSaltSync(rounds) + '.'.repeat(31);

export function bcryptHasher(rounds: number): PasswordHasher {
  const costOf = (hash: string): number | undefined => (isOfBcrypt(hash) ? bcrypt.getRounds(hash) : undefined);
  return {
    hash: (password) => bcrypt.hash(password, rounds),
    async verify(password, hash) {
      if (await bcrypt.compare(password, hash)) return true;
      // The time must not tell a user with a cheaper hash from an unknown one: 2^a + … + 2^(b - 1) is 2^b - 2^a.
      const made = costOf(hash);
      // A hash that is not one of bcrypt takes no time.
      if (made === undefined) await bcrypt.compare(password, unknownBcryptHash(rounds));
      else for (let cost = made; cost < rounds; cost += 1) await bcrypt.compare(password, unknownBcryptHash(cost));
      return false;
    },
    needsRehash: (hash) => (costOf(hash) ?? rounds) < rounds,
  };
}
