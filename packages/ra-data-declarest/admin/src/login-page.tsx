/** The login of the interface: a password, and a code where the user has a second factor. */
import type { ChallengeError, LoginParams } from 'ra-data-declarest';
import { useEffect, useId, useState } from 'react';
import {
  Confirm,
  Form,
  Login,
  PasswordInput,
  required,
  TextInput,
  useDefaultTitle,
  useLogin,
  useNotify,
  useRefresh,
} from 'react-admin';

import { useService } from './service.js';
import { TextButton } from './text-button.js';

const CONTENT = { display: 'grid', gap: '0.5em', width: 300, padding: '0 1em 1em' } as const;

const NAME = { margin: 0, textAlign: 'center', font: 'inherit', fontSize: '1.25em' } as const;

export function LoginPage() {
  const name = useDefaultTitle();
  const { challenge, isSending, logIn, startAgain } = useLoginSteps(useLogin());
  return (
    <Login>
      <Form key={challenge ?? ''} onSubmit={logIn} mode="onChange" noValidate>
        <div style={CONTENT}>
          <h1 style={NAME}>{name}</h1>
          <LoginFields hasChallenge={challenge !== undefined} />
          <TextButton type="submit" variant="contained" size="medium" label="ra.auth.sign_in" disabled={isSending} />
          {challenge !== undefined && <TextButton label="ra.action.cancel" onClick={startAgain} />}
        </div>
      </Form>
    </Login>
  );
}

/** Asks for a login where the session has ended, above the page, so that its form keeps what is typed. */
export function LoginAgain() {
  const { auth } = useService();
  const [userId, setUserId] = useState<number | string>();
  const formId = useId();
  const refresh = useRefresh();
  const close = () => setUserId(undefined);
  const { challenge, isSending, logIn } = useLoginSteps(async (params) => {
    await auth.login(params);
    // The page has what the other user may see.
    if ((await auth.client.claims())?.id !== userId) return window.location.reload();
    close();
    refresh();
  });
  useEffect(() => {
    let lastId: number | string | undefined;
    const remember = async () => {
      lastId = (await auth.client.claims())?.id ?? lastId;
      setUserId(undefined);
    };
    void remember();
    // Another tab logs in.
    window.addEventListener('storage', remember);
    const forget = auth.onSessionEnd(() => setUserId(lastId));
    return () => {
      window.removeEventListener('storage', remember);
      forget();
    };
  }, [auth]);
  const form = (
    <Form key={challenge ?? ''} id={formId} onSubmit={logIn} mode="onChange" noValidate>
      <div style={CONTENT}>
        <LoginFields hasChallenge={challenge !== undefined} />
      </div>
    </Form>
  );
  return (
    <Confirm
      isOpen={userId !== undefined}
      loading={isSending}
      title="Your session has ended. Log in again to go on."
      content={form}
      confirm="ra.auth.sign_in"
      onConfirm={() => (document.getElementById(formId) as HTMLFormElement).requestSubmit()}
      onClose={close}
    />
  );
}

function useLoginSteps(login: (params: LoginParams) => Promise<unknown>) {
  const [challenge, setChallenge] = useState<string>();
  const [isSending, setSending] = useState(false);
  const notify = useNotify();
  const startAgain = () => setChallenge(undefined);
  const logIn = async ({ code = '', ...fields }: LoginParams) => {
    setSending(true);
    try {
      await login(challenge === undefined ? fields : { challenge, code });
      startAgain();
    } catch (error) {
      const next = (error as Partial<ChallengeError>).challenge;
      if (next === undefined) notify((error as Error).message, { type: 'error' });
      else setChallenge(next);
    } finally {
      setSending(false);
    }
  };
  return { challenge, isSending, logIn, startAgain };
}

function LoginFields({ hasChallenge }: { readonly hasChallenge: boolean }) {
  if (hasChallenge)
    return (
      <TextInput
        source="code"
        label="Code"
        helperText="Of your authenticator app, or a recovery code"
        autoComplete="one-time-code"
        validate={required()}
        autoFocus
      />
    );
  return (
    <>
      <TextInput source="username" label="ra.auth.username" autoComplete="username" validate={required()} autoFocus />
      <PasswordInput source="password" label="ra.auth.password" autoComplete="current-password" validate={required()} />
    </>
  );
}
