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

import { FirstFocus } from './first-focus.js';
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

interface EndedSession {
  /** The user of the page. */
  readonly userId: string | undefined;
  /** The token that was refused. */
  readonly token: string | undefined;
}

/** Asks for a login where the session has ended, above the page, so that its form keeps what is typed. */
export function LoginAgain() {
  const { auth } = useService();
  const [ended, setEnded] = useState<EndedSession>();
  const formId = useId();
  const notify = useNotify();
  const refresh = useRefresh();
  const close = () => setEnded(undefined);
  const { challenge, isSending, logIn } = useLoginSteps(async (params) => {
    await auth.login(params);
    // The page has what the other user may see.
    if ((await auth.client.claims())?.id !== ended?.userId) return window.location.reload();
    close();
    notify('You are logged in again. What was not saved can be saved now.');
    refresh();
  });
  useEffect(() => {
    const userId = auth.client.claims().then((claims) => claims?.id);
    return auth.onSessionEnd(() => {
      void Promise.all([userId, auth.client.token()]).then(([id, token]) => setEnded({ userId: id, token }));
    });
  }, [auth]);
  useEffect(() => {
    if (!ended) return undefined;
    // Other tabs write other items too.
    const closeAfterLogin = async () => {
      const [claims, token] = await Promise.all([auth.client.claims(), auth.client.token()]);
      if (claims?.id !== ended.userId || token === ended.token) return;
      setEnded(undefined);
      refresh();
    };
    window.addEventListener('storage', closeAfterLogin);
    return () => window.removeEventListener('storage', closeAfterLogin);
  }, [auth, ended, refresh]);
  const form = (
    <Form key={challenge ?? ''} id={formId} onSubmit={logIn} mode="onChange" noValidate>
      <div style={CONTENT}>
        <LoginFields hasChallenge={challenge !== undefined} />
      </div>
      {/* Enter submits a form that has a button. */}
      <input type="submit" hidden />
    </Form>
  );
  return (
    <Confirm
      isOpen={ended !== undefined}
      loading={isSending}
      title="Your session has ended. Log in again to go on."
      content={form}
      confirm="ra.auth.sign_in"
      onConfirm={() => (document.getElementById(formId) as HTMLFormElement).requestSubmit()}
      onClose={(_event: unknown, reason?: unknown) => reason !== 'backdropClick' && close()}
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
          <TextInput source="username" label="ra.auth.username" autoComplete="username" validate={required()} />
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
