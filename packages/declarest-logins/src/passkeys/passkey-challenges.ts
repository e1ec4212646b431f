/** Challenges: random, for one ceremony of one user and session, used once, for 5 minutes. */
import { Injectable } from '@nestjs/common';
import { OneTimeTokens } from 'declarest/plugin';

export const CHALLENGE_MS = 5 * 60 * 1000;

/** What a challenge is for: a new user, a further passkey, a login, or the confirmation of a change. */
const CEREMONIES = ['register', 'add', 'login', 'confirm'] as const;
export type Ceremony = (typeof CEREMONIES)[number];
const purposeOf = (ceremony: Ceremony): string => `passkey ${ceremony}`;

/** Whom a challenge belongs to. */
export interface ChallengeOwner {
  /** The id of the user as text; empty where the request has none. */
  readonly userId: string;
  /** The session of the request; empty where it has none. */
  readonly session: string;
}

interface ChallengeData {
  readonly session: string;
  /** The `handle` of the passkey that is made for it; empty for the other ceremonies. */
  readonly handle: string;
}

export const NOBODY: ChallengeOwner = { userId: '', session: '' };

@Injectable()
export class PasskeyChallenges {
  constructor(private readonly tokens: OneTimeTokens) {}

  /** @param handle of the passkey that is made @returns the challenge, in base64url */
  create(ceremony: Ceremony, { userId, session } = NOBODY, handle = ''): Promise<string> {
    const data: ChallengeData = { session, handle };
    return this.tokens.create(purposeOf(ceremony), { userId, lifetimeMs: CHALLENGE_MS, data });
  }

  /** @returns `undefined` where it was used, has expired, or is for another ceremony, user or session */
  async spend(challenge: string, ceremony: Ceremony, owner = NOBODY): Promise<ChallengeData | undefined> {
    const found = await this.tokens.find<ChallengeData>(challenge, purposeOf(ceremony));
    if (found?.userId !== owner.userId || found.data.session !== owner.session) return undefined;
    return (await this.tokens.spend(found)) ? found.data : undefined;
  }

  removeAll(userId: string): Promise<void> {
    return this.tokens.removeAll(userId, ...CEREMONIES.map(purposeOf));
  }
}
