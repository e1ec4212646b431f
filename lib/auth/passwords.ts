import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import bcrypt from 'bcrypt';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './auth.options.js';

/** Hashes and compares passwords on libuv's threads, never on the event loop. */
@Injectable()
export class Passwords {
  /** Compared with where there is no user, so that an unknown one costs what a wrong password costs. */
  private readonly nobody: Promise<string>;

  constructor(@Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions) {
    this.nobody = this.hash(randomBytes(32).toString('base64'));
  }

  hash(password: string): Promise<string> {
    return bcrypt.hash(password, this.options.bcryptRounds);
  }

  /** Always computes one bcrypt comparison, whether or not there is a hash. */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    const equal = await bcrypt.compare(password, hash ?? (await this.nobody));
    return equal && hash !== undefined;
  }
}
