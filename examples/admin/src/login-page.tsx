import Button from '@mui/material/Button';
import CardContent from '@mui/material/CardContent';
import type { LoginParams } from 'ra-data-declarest';
import { Form, Login, PasswordInput, required, TextInput, useLogin, useNotify } from 'react-admin';

import { useLoginSteps } from './login-steps.js';

/** Asks for the password, and then for a code where the user has a second factor; or for a passkey. */
export function LoginPage() {
  const { needsCode, enter, reset } = useLoginSteps(useLogin());
  const notify = useNotify();
  const logIn = async (params: LoginParams) => {
    try {
      await enter(params);
    } catch (error) {
      notify((error as Error).message, { type: 'error' });
    }
  };
  return (
    <Login>
      <Form key={String(needsCode)} onSubmit={logIn} mode="onChange" noValidate>
        <CardContent sx={{ width: 300 }}>
          {needsCode ? (
            <TextInput
              source="code"
              label="Code of your authenticator app, or a recovery code"
              autoComplete="one-time-code"
              validate={required()}
              autoFocus
            />
          ) : (
            <>
              <TextInput source="email" type="email" autoComplete="username" validate={required()} autoFocus />
              <PasswordInput source="password" autoComplete="current-password" validate={required()} />
            </>
          )}
          <Button type="submit" variant="contained" fullWidth>
            Sign in
          </Button>
        </CardContent>
      </Form>
      {needsCode ? (
        <Button fullWidth onClick={reset}>
          Back
        </Button>
      ) : (
        <>
          <Button fullWidth onClick={() => void logIn({ passkey: true })}>
            Use a passkey
          </Button>
          <Button href="#/forgot" fullWidth>
            Forgot password?
          </Button>
        </>
      )}
    </Login>
  );
}
