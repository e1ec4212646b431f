/** The login of the interface: a password, and a code where the user has a second factor. */
import type { ChallengeError, LoginParams } from 'ra-data-declarest';
import { useState } from 'react';
import { Button, Form, Login, PasswordInput, required, TextInput, useLogin, useNotify } from 'react-admin';

const CONTENT = { display: 'grid', gap: '0.5em', width: 300, padding: '0 1em 1em' } as const;

export function LoginPage() {
  const [challenge, setChallenge] = useState<string>();
  const [isSending, setSending] = useState(false);
  const login = useLogin();
  const notify = useNotify();
  const logIn = async ({ code = '', ...fields }: LoginParams) => {
    setSending(true);
    try {
      await login(challenge === undefined ? fields : { challenge, code });
    } catch (error) {
      const next = (error as Partial<ChallengeError>).challenge;
      if (next === undefined) notify((error as Error).message, { type: 'error' });
      else setChallenge(next);
    } finally {
      setSending(false);
    }
  };
  return (
    <Login>
      <Form key={challenge ?? ''} onSubmit={logIn} mode="onChange" noValidate>
        <div style={CONTENT}>
          {challenge === undefined ? (
            <>
              <TextInput
                source="username"
                label="ra.auth.username"
                autoComplete="username"
                validate={required()}
                autoFocus
              />
              <PasswordInput
                source="password"
                label="ra.auth.password"
                autoComplete="current-password"
                validate={required()}
              />
            </>
          ) : (
            <TextInput
              source="code"
              label="Code"
              helperText="Of your authenticator app, or a recovery code"
              autoComplete="one-time-code"
              validate={required()}
              autoFocus
            />
          )}
          <Button type="submit" variant="contained" size="medium" label="ra.auth.sign_in" disabled={isSending} />
          {challenge !== undefined && <Button label="ra.action.cancel" onClick={() => setChallenge(undefined)} />}
        </div>
      </Form>
    </Login>
  );
}
