/** Challenges: random, for one ceremony of one user and session, used once, for 5 minutes. */
import { Injectable } from '@nestjs/common';
import { Raw } from 'typeorm';
import { AccountTables, hashOf, isToken, newToken } from 'declarest/plugin';
import { type Ceremony, PasskeyChallenge } from './passkey-tables.js';

export const CHALLENGE_MS = 5 * 60 * 1000;

/** Whom a challenge belongs to. */
export type ChallengeOwner = Pick<PasskeyChallenge, 'userId' | 'session'>;

export const NOBODY: ChallengeOwner = { userId: '', session: '' };

@Injectable()
export class PasskeyChallenges {
  constructor(private readonly tables: AccountTables) {}

  /** @param handle of the passkey that is made @returns the challenge, in base64url */
  async create(ceremony: Ceremony, owner = NOBODY, handle = ''): Promise<string> {
    const challenge = newToken();
    const expiresAt = (): string => `${this.tables.now()} + ${CHALLENGE_MS}`;
    const values = { ...owner, hash: hashOf(challenge), ceremony, handle, expiresAt };
    await this.tables.run((manager) =>
      manager.createQueryBuilder().insert().into(PasskeyChallenge).values(values).updateEntity(false).execute(),
    );
    return challenge;
  }

  /**
   * Of several requests with one challenge, only one deletes the row.
   * @returns `undefined` where it was used, has expired, or is for another ceremony, user or session
   */
  async spend(challenge: string, ceremony: Ceremony, owner = NOBODY): Promise<PasskeyChallenge | undefined> {
    if (!isToken(challenge)) return undefined;
    const where = { ...owner, hash: hashOf(challenge), ceremony };
    const expiresAt = Raw((column) => `${column} > ${this.tables.now()}`);
    const found = await this.tables.findOne(PasskeyChallenge, { ...where, expiresAt });
    const { affected } = await this.tables.run((manager) => manager.delete(PasskeyChallenge, where));
    return found && affected === 1 ? found : undefined;
  }

  async removeAll(userId: string): Promise<void> {
    await this.tables.run((manager) => manager.delete(PasskeyChallenge, { userId }));
  }
}
