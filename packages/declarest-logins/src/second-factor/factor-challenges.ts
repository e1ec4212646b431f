/** The challenges of logins whose password was right: single-use, for 5 minutes and 5 codes, and until the password changes. */
import { Injectable, UnauthorizedException } from '@nestjs/common';
import { LessThan, Raw } from 'typeorm';
import { type AuthUser, UserRepository } from 'declarest';
import { AccountTables, hashOf, isToken, newToken } from 'declarest/plugin';
import { FactorChallenge } from './factor-tables.js';

const LIFETIME_MS = 5 * 60 * 1000;
const MAX_TRIES = 5;

const invalidChallenge = (): UnauthorizedException =>
  new UnauthorizedException('This challenge is not valid, or was used before. Log in again');

@Injectable()
export class FactorChallenges {
  constructor(
    private readonly tables: AccountTables,
    private readonly users: UserRepository,
  ) {}

  /** @returns the challenge, which is stored nowhere */
  async create({ id }: AuthUser): Promise<string> {
    const challenge = newToken();
    const userId = String(id);
    const userHash = await this.userHashOf(userId);
    const expiresAt = () => `${this.tables.now()} + ${LIFETIME_MS}`;
    const row = { hash: hashOf(challenge), userId, userHash, tries: 0, expiresAt };
    await this.tables.run((manager) =>
      manager.createQueryBuilder().insert().into(FactorChallenge).values(row).updateEntity(false).execute(),
    );
    return challenge;
  }

  /** What cannot be a challenge needs no query. @throws 401 where it was used, or has expired */
  async find(challenge: string): Promise<FactorChallenge> {
    const where = { hash: hashOf(challenge), expiresAt: Raw((column) => `${column} > ${this.tables.now()}`) };
    const found = isToken(challenge) ? await this.tables.findOne(FactorChallenge, where) : undefined;
    if (!found) throw invalidChallenge();
    return found;
  }

  /** Counts before a code is checked, so that parallel guesses count too. @throws 401 after the last one */
  async countTry({ hash }: FactorChallenge): Promise<void> {
    const values = { tries: () => 'tries + 1' };
    const { affected } = await this.tables.run((manager) =>
      manager.update(FactorChallenge, { hash, tries: LessThan(MAX_TRIES) }, values),
    );
    if (affected !== 1) throw invalidChallenge();
  }

  /** @returns whether this request is the one that uses it, and the user has the same password as then */
  async spend({ hash, userId, userHash }: FactorChallenge): Promise<boolean> {
    const { affected } = await this.tables.run((manager) => manager.delete(FactorChallenge, { hash }));
    return affected === 1 && (await this.userHashOf(userId)) === userHash;
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.run((manager) => manager.delete(FactorChallenge, { userId }));
  }

  private async userHashOf(userId: string): Promise<string> {
    const user = await this.users.findWithHash(userId);
    if (!user) throw invalidChallenge();
    return hashOf(user.password);
  }
}
