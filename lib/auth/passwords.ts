import { availableParallelism } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import bcrypt from 'bcrypt';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';
import { HashingQueue } from './hashing-queue.js';

/**
 * One core and one thread are left to everybody else: files, DNS and database drivers run on the same threads.
 *
 * @param threads the variable UV_THREADPOOL_SIZE, read as libuv reads it: 4 without it, 1 where it is no number
 */
export const hashesAtOnce = (cores: number, threads = '4'): number =>
  Math.max(1, Math.min(cores, Number.parseInt(threads, 10) || 1) - 1);

/** One for the process, as libuv's threads are, however many applications run in it. */
export const HASHING = new HashingQueue({
  atOnce: hashesAtOnce(availableParallelism(), process.env['UV_THREADPOOL_SIZE']),
  room: 1_000,
  patience: 30_000,
});

/** Hashes and compares passwords on libuv's threads, never on the event loop, and a few at a time. */
@Injectable()
export class Passwords {
  /**
   * Compared with where there is no user, so that an unknown one costs what a wrong password costs: a salt and no digest,
   * which makes bcrypt compute as it does for a hash, and is the hash of nothing.
   */
  private readonly nobody: string;

  constructor(@Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions) {
    this.nobody = bcrypt.genSaltSync(options.bcryptRounds) + '.'.repeat(31);
  }

  /** @throws ServerBusy */
  hash(password: string): Promise<string> {
    return HASHING.run(() => bcrypt.hash(password, this.options.bcryptRounds));
  }

  /**
   * Always computes one bcrypt comparison, whether or not there is a hash.
   *
   * @throws ServerBusy
   */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    const equal = await HASHING.run(() => bcrypt.compare(password, hash ?? this.nobody));
    return equal && hash !== undefined;
  }
}
