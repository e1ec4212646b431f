/** Hashes and compares passwords, a limited number at a time, because libuv has few threads. */
import { availableParallelism } from 'node:os';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Semaphore } from '../../database/semaphore.js';
import { ServiceUnavailable } from '../../http/failure.js';
import { newToken } from '../tables/secret-tokens.js';
import type { AuthUser } from '../users/auth-user.js';
import { AUTH_OPTIONS } from '../users/options-token.js';
import { UserRepository } from '../users/user.repository.js';
import { BCRYPT_BYTES, bcryptHasher, isOfBcrypt, NO_PASSWORD, unknownBcryptHash } from './password-hasher.js';
import type { PasswordHasher } from './password-hasher.js';

const TIMEOUT_SECONDS = 30;

/** One core and one thread stay free for other work. @param threads UV_THREADPOOL_SIZE, read as libuv reads it */
export const hashConcurrency = (cores: number, threads = '4'): number =>
  Math.max(1, Math.min(cores, Number.parseInt(threads, 10) || 1) - 1);

/** One per process, because all applications of a process share libuv's threads. */
export const hashingQueue = new Semaphore(hashConcurrency(availableParallelism(), process.env['UV_THREADPOOL_SIZE']), {
  maxWaiting: 1_000,
  timeoutMs: TIMEOUT_SECONDS * 1000,
  // After the timeout, every task that waits now has started or was refused.
  refusal: () => new ServiceUnavailable('The server is busy, try again', TIMEOUT_SECONDS),
});

interface HashingOptions {
  readonly bcryptRounds: number;
  readonly passwordHasher?: PasswordHasher | undefined;
}

@Injectable()
export class Passwords {
  private readonly hasher: PasswordHasher;
  /** A hash that no password has: an unknown user takes as long as a wrong password. */
  private readonly unknownHash: () => string | Promise<string>;

  constructor(
    private readonly users: UserRepository,
    @Inject(AUTH_OPTIONS) { bcryptRounds, passwordHasher }: HashingOptions,
  ) {
    this.hasher = passwordHasher ?? bcryptHasher(bcryptRounds);
    let made: string | undefined;
    // A queue that is full must not be remembered.
    this.unknownHash = passwordHasher
      ? async () => (made ??= await hashingQueue.run(() => passwordHasher.hash(newToken())))
      : () => unknownBcryptHash(bcryptRounds);
  }

  /** @throws ServiceUnavailable (503) when too many passwords wait to be hashed */
  hash(password: string): Promise<string> {
    return hashingQueue.run(() => this.hasher.hash(password));
  }

  /** @param hash `undefined` for an unknown user @throws ServiceUnavailable (503) when too many passwords wait */
  async verify(password: string, hash: string | undefined): Promise<boolean> {
    const { maxBytes = BCRYPT_BYTES } = this.hasher;
    // bcrypt compares only the beginning of a longer password, also where another hasher takes its hashes over.
    const most = hash !== undefined && isOfBcrypt(hash) ? BCRYPT_BYTES : maxBytes;
    const isUnknown = hash === undefined || hash === NO_PASSWORD || Buffer.byteLength(password) > most;
    const against = isUnknown ? await this.unknownHash() : hash;
    // No text is hashed that is longer than a password can be.
    const isEqual = await hashingQueue.run(() => this.hasher.verify(password.slice(0, maxBytes), against));
    return isEqual && !isUnknown;
  }

  /**
   * Replaces a hash that was made at a lower cost, or by another hasher. A login does not fail by it.
   * @returns the hash that the user has then
   */
  async renew({ id, password: hash }: AuthUser, password: string): Promise<string> {
    if (!this.hasher.needsRehash(hash)) return hash;
    try {
      const renewed = await this.hash(password);
      if (await this.users.replaceHash(String(id), hash, renewed)) return renewed;
    } catch {
      new Logger('AuthModule').warn(
        `The password hash of user ${id} could not be renewed. Its next login tries again.`,
      );
    }
    return hash;
  }

  /**
   * Reads the user again whose password was compared with a hash: both may have changed meanwhile.
   * @returns `undefined` where the user is not active, or has another password
   */
  async recheck(id: string, password: string, hash: string): Promise<AuthUser | undefined> {
    const user = await this.users.findWithHash(id);
    if (!user?.active) return undefined;
    return user.password === hash || (await this.verify(password, user.password)) ? user : undefined;
  }

  /** @returns the user, including its hash, where the password is theirs; the time does not depend on the user */
  async verifyUser(id: string, password: string): Promise<AuthUser | undefined> {
    const user = await this.users.findWithHash(id);
    const isEqual = await this.verify(password, user?.password);
    if (!user || !isEqual) return undefined;
    // The comparison waits for its turn: the password may have been reset meanwhile.
    return (await this.users.findWithHash(id))?.password === user.password ? user : undefined;
  }
}
