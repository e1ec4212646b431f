/** A login above the page where the session has ended, so that its form keeps what is typed. */
import type { LoginParams } from 'ra-data-declarest';
import { useEffect, useId, useState } from 'react';
import { Confirm, Form, useNotify, useRefresh } from 'react-admin';

import { CONTENT, LoginFields, OtherWays, paramsOf, useLoginSteps } from './login-steps.js';
import { useService } from './service.js';

interface EndedSession {
  /** The user of the page. */
  readonly userId: string | undefined;
  /** The token that was refused. */
  readonly token: string | undefined;
}

export function LoginAgain() {
  const { auth } = useService();
  const [ended, setEnded] = useState<EndedSession>();
  const formId = useId();
  const notify = useNotify();
  const refresh = useRefresh();
  const close = () => setEnded(undefined);
  const steps = useLoginSteps(async (params) => {
    await auth.login(params);
    // The page has what the other user may see.
    if ((await auth.client.claims())?.id !== ended?.userId) return window.location.reload();
    close();
    notify('You are logged in again. What was not saved can be saved now.');
    refresh();
  });
  const { challenge, isSending, logIn } = steps;
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
    <Form
      key={challenge?.challenge ?? ''}
      id={formId}
      onSubmit={(values: LoginParams) => logIn(paramsOf(challenge, values))}
      mode="onChange"
      noValidate
    >
      <div style={{ ...CONTENT, width: 'auto' }}>
        <LoginFields hasChallenge={challenge !== undefined} />
        {/* A login in another tab closes the dialog. */}
        <OtherWays steps={steps} open={(address) => void window.open(address)} />
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
