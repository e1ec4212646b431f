// The pages that mailed links lead to.
import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import { type ReactNode, useEffect, useState } from 'react';

import { AccountFrame, OneFieldForm } from './account-page.js';
import { shopData } from './shop.js';

interface LinkPageProps {
  readonly token: string | null;
}

const sendReset = (token: string | null, password: string) =>
  shopData.custom('auth/password/reset', { method: 'POST', json: { token, password } });

function SpentLink({ children, action }: { readonly children: ReactNode; readonly action: ReactNode }) {
  return (
    <>
      <Alert severity="error">{children}</Alert>
      {action}
    </>
  );
}

const newLink = <Button href="/#/forgot">Get a new link</Button>;

/** Sets a new password. */
export function ResetPage({ token }: LinkPageProps) {
  const [problem, setProblem] = useState(
    token ? undefined : 'The address of this page has no link. Open it from the mail.',
  );
  useEffect(() => {
    if (!token) return;
    // The server looks at the link first, and a password that it refuses does not use the link up.
    sendReset(token, '').catch((error: { status?: number; message: string }) => {
      if (error.status === 401) setProblem(error.message);
    });
  }, [token]);
  return (
    <AccountFrame title="New password">
      {problem === undefined ? (
        <OneFieldForm
          name="password"
          label="New password"
          type="password"
          autoComplete="new-password"
          action="Set password"
          send={(password) => sendReset(token, password)}
        >
          <Alert severity="success">Password set.</Alert>
          <Button href="/">Log in</Button>
        </OneFieldForm>
      ) : (
        <SpentLink action={newLink}>{problem}</SpentLink>
      )}
    </AccountFrame>
  );
}

/** Confirms an address. Programs that scan mails open the page, and click nothing. */
export function VerifyPage({ token }: LinkPageProps) {
  const [problem, setProblem] = useState(
    token ? undefined : 'The address of this page has no link. Open it from the mail.',
  );
  const [isDone, setIsDone] = useState(false);
  const confirm = async () => {
    try {
      await shopData.custom('auth/verify', { method: 'POST', json: { token } });
      setIsDone(true);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const start = <Button href="/">To the shop</Button>;
  return (
    <AccountFrame title="Confirm your email address">
      {problem !== undefined && <SpentLink action={start}>{problem}</SpentLink>}
      {problem === undefined && isDone && (
        <>
          <Alert severity="success">The address is confirmed.</Alert>
          {start}
        </>
      )}
      {problem === undefined && !isDone && (
        <Button variant="contained" onClick={() => void confirm()}>
          Confirm
        </Button>
      )}
    </AccountFrame>
  );
}
