/** The steps of a login: a password, a passkey or a provider, and a second factor where the user has one. */
import type { ChallengeError, LoginParams } from 'ra-data-declarest';
import { useState } from 'react';
import { PasswordInput, required, TextInput, useNotify } from 'react-admin';

import { FirstFocus } from './first-focus.js';
import { useService } from './service.js';
import { TextButton } from './text-button.js';

export const CONTENT = { display: 'grid', gap: '0.5em', width: 300, padding: '0 1em 1em' } as const;

type Challenge = Pick<ChallengeError, 'challenge' | 'passkey'>;

interface LoginSteps {
  /** Of a login that needs a second factor. */
  readonly challenge: Challenge | undefined;
  readonly isSending: boolean;
  /** Does a step, and shows why it failed. */
  attempt(step: () => Promise<unknown>): Promise<void>;
  logIn(params: LoginParams): Promise<void>;
  startAgain(): void;
}

export function useLoginSteps(login: (params: LoginParams) => Promise<unknown>): LoginSteps {
  const [challenge, setChallenge] = useState<Challenge>();
  const [isSending, setSending] = useState(false);
  const notify = useNotify();
  const startAgain = () => setChallenge(undefined);
  const attempt = async (step: () => Promise<unknown>) => {
    setSending(true);
    try {
      await step();
    } catch (error) {
      const { message, ...next } = error as Error & Partial<Challenge>;
      if (next.challenge === undefined) notify(message, { type: 'error' });
      else setChallenge({ challenge: next.challenge, passkey: next.passkey });
    } finally {
      setSending(false);
    }
  };
  const logIn = (params: LoginParams) =>
    attempt(async () => {
      await login(params);
      startAgain();
    });
  return { challenge, isSending, attempt, logIn, startAgain };
}

/** What the inputs of `LoginFields` hold, as a login takes it. */
export const paramsOf = (challenge: Challenge | undefined, { code = '', ...fields }: LoginParams): LoginParams =>
  challenge ? { challenge: challenge.challenge, code } : fields;

export function LoginFields({ hasChallenge }: { readonly hasChallenge: boolean }) {
  const { loginField } = useService().logins;
  return (
    <FirstFocus>
      {hasChallenge ? (
        <TextInput
          source="code"
          label="Code"
          helperText="Of your authenticator app, or a recovery code"
          autoComplete="one-time-code"
          validate={required()}
        />
      ) : (
        <>
          <TextInput source="username" label={`ra.auth.${loginField}`} autoComplete="username" validate={required()} />
          <PasswordInput
            source="password"
            label="ra.auth.password"
            autoComplete="current-password"
            validate={required()}
          />
        </>
      )}
    </FirstFocus>
  );
}

interface OtherWaysProps {
  readonly steps: LoginSteps;
  /** Shows the page of a provider. */
  readonly open: (address: string) => void;
}

/** Buttons for a passkey and for each provider. */
export function OtherWays({ steps: { challenge, isSending, attempt, logIn }, open }: OtherWaysProps) {
  const { providers = {}, passkeys, beginAt } = useService().logins;
  const passkey = challenge ? challenge.passkey : passkeys;
  return (
    <>
      {passkey && (
        <TextButton
          label={challenge ? 'Use a passkey' : 'Sign in with a passkey'}
          disabled={isSending}
          onClick={() => void logIn({ passkey })}
        />
      )}
      {!challenge &&
        Object.entries(providers).map(([name, label]) => (
          <TextButton
            key={name}
            label={`Sign in with ${label}`}
            disabled={isSending}
            onClick={() => void attempt(async () => open(await beginAt(name)))}
          />
        ))}
    </>
  );
}
