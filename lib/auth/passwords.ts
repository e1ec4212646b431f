import { availableParallelism } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import bcrypt from 'bcrypt';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import { HashingQueue } from './hashing-queue.js';

/**
 * How many hashes run concurrently. One core and one libuv thread stay free for files, DNS and database drivers.
 *
 * @param threads the variable UV_THREADPOOL_SIZE, read as libuv reads it: 4 when unset, 1 when not a number
 */
export const hashConcurrency = (cores: number, threads = '4'): number =>
  Math.max(1, Math.min(cores, Number.parseInt(threads, 10) || 1) - 1);

/** One per process, because all applications of a process share libuv's threads. */
export const hashingQueue = new HashingQueue({
  concurrency: hashConcurrency(availableParallelism(), process.env['UV_THREADPOOL_SIZE']),
  maxQueued: 1_000,
  timeoutMs: 30_000,
});

/** Hashes and compares passwords with bcrypt, on libuv's threads, a limited number at a time. */
@Injectable()
export class Passwords {
  /**
   * Compared when there is no user, so that an unknown user takes as long as a wrong password. It is a salt without a
   * digest: bcrypt computes the same work, and no password matches.
   */
  private readonly dummyHash: string;

  constructor(@Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions) {
    this.dummyHash = bcrypt.genSaltSync(options.bcryptRounds) + '.'.repeat(31);
  }

  /** @throws ServerBusy */
  hash(password: string): Promise<string> {
    return hashingQueue.run(() => bcrypt.hash(password, this.options.bcryptRounds));
  }

  /**
   * Computes exactly one bcrypt comparison, with or without a hash.
   *
   * @throws ServerBusy
   */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    const isEqual = await hashingQueue.run(() => bcrypt.compare(password, hash ?? this.dummyHash));
    return isEqual && hash !== undefined;
  }
}
