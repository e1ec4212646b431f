import { type ChallengeError, type LoginParams } from 'ra-data-declarest';
import { useState } from 'react';

/** A login of one step, or of two. */
export interface LoginSteps {
  /** Whether the next step is a code of the second factor. */
  readonly needsCode: boolean;
  /** @returns whether the user is logged in @throws the failure of the server */
  enter(params: LoginParams): Promise<boolean>;
  /** Begins again. */
  reset(): void;
}

export function useLoginSteps(login: (params: LoginParams) => Promise<unknown>): LoginSteps {
  const [challenge, setChallenge] = useState<string>();
  return {
    needsCode: challenge !== undefined,
    enter: async (params) => {
      try {
        await login(challenge === undefined ? params : { challenge, code: params.code ?? '' });
        setChallenge(undefined);
        return true;
      } catch (error) {
        const next = (error as Partial<ChallengeError>).challenge;
        if (next === undefined) throw error;
        setChallenge(next);
        return false;
      }
    },
    reset: () => setChallenge(undefined),
  };
}
