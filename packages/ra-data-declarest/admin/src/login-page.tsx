/** The login page. */
import { type ReactNode, useEffect, useState } from 'react';
import { email as isEmail, Form, Login, required, TextInput, useDefaultTitle, useLogin, useNotify } from 'react-admin';

import { FirstFocus } from './first-focus.js';
import { CONTENT, LoginFields, OtherWays, paramsOf, useLoginSteps } from './login-steps.js';
import { useService } from './service.js';
import { TextButton } from './text-button.js';

const NAME = { margin: 0, textAlign: 'center', font: 'inherit', fontSize: '1.25em' } as const;

export function LoginPage() {
  const { logins } = useService();
  const steps = useLoginSteps(useLogin());
  const [hasForgotten, setForgotten] = useState(false);
  const { challenge, isSending, logIn, startAgain } = steps;
  useEffect(() => {
    // Of the provider that has sent the user back, once.
    const url = logins.takeReturn();
    if (url !== undefined) void logIn({ url });
  });
  if (hasForgotten) return <ResetRequest onEnd={() => setForgotten(false)} />;
  return (
    <LoginForm key={challenge?.challenge ?? ''} onSubmit={(values) => logIn(paramsOf(challenge, values))}>
      <LoginFields hasChallenge={challenge !== undefined} />
      <TextButton type="submit" variant="contained" size="medium" label="ra.auth.sign_in" disabled={isSending} />
      <OtherWays steps={steps} open={(address) => window.location.assign(address)} />
      {challenge && <TextButton label="ra.action.cancel" onClick={startAgain} />}
      {!challenge && logins.passwordReset && (
        <TextButton label="Forgot your password?" onClick={() => setForgotten(true)} />
      )}
    </LoginForm>
  );
}

interface LoginFormProps {
  readonly onSubmit: (values: Readonly<Record<string, string>>) => Promise<void>;
  readonly children: ReactNode;
}

function LoginForm({ onSubmit, children }: LoginFormProps) {
  const name = useDefaultTitle();
  return (
    <main>
      <Login>
        <Form onSubmit={onSubmit} mode="onChange" noValidate>
          <div style={CONTENT}>
            <h1 style={NAME}>{name}</h1>
            {children}
          </div>
        </Form>
      </Login>
    </main>
  );
}

/** Asks for a mail with a link to a new password. The answer does not say whether the address has an account. */
function ResetRequest({ onEnd }: { readonly onEnd: () => void }) {
  const { logins } = useService();
  const [isSending, setSending] = useState(false);
  const notify = useNotify();
  const send = async ({ email = '' }: Readonly<Record<string, string>>) => {
    setSending(true);
    try {
      await logins.requestReset(email);
      notify('If this address has an account, a mail with a link to a new password is on its way.');
      onEnd();
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
      setSending(false);
    }
  };
  return (
    <LoginForm onSubmit={send}>
      <FirstFocus>
        <TextInput source="email" type="email" autoComplete="email" validate={[required(), isEmail()]} />
      </FirstFocus>
      <TextButton type="submit" variant="contained" size="medium" label="Send a link" disabled={isSending} />
      <TextButton label="ra.action.cancel" onClick={onEnd} />
    </LoginForm>
  );
}
