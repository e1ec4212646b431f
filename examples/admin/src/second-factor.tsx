import Button from '@mui/material/Button';
import Card from '@mui/material/Card';
import Dialog from '@mui/material/Dialog';
import DialogActions from '@mui/material/DialogActions';
import DialogContent from '@mui/material/DialogContent';
import DialogContentText from '@mui/material/DialogContentText';
import DialogTitle from '@mui/material/DialogTitle';
import Link from '@mui/material/Link';
import Typography from '@mui/material/Typography';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLogout, useNotify } from 'react-admin';

import { AskDialog } from './ask-dialog.js';
import { shopAuth, shopData } from './shop.js';

interface Enrolment {
  readonly uri: string;
  readonly secret: string;
}

const CODE = { name: 'code', label: 'Code', autoComplete: 'one-time-code' };

async function send<T>(path: string, json: object): Promise<T> {
  const { data } = await shopData.custom<{ data: T } | undefined>(`auth/mfa/${path}`, { method: 'POST', json });
  return data?.data as T;
}

/** Sets the second factor up, or switches it off. Both end all sessions, so the user logs in again. */
export function SecondFactorCard() {
  const logout = useLogout();
  const notify = useNotify();
  // A user with a factor has logged in with it.
  const { data: claims } = useQuery({ queryKey: ['auth', 'claims'], queryFn: async () => shopAuth.client.claims() });
  const [enrolment, setEnrolment] = useState<Enrolment>();
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>();
  const [isLeaving, setIsLeaving] = useState(false);
  const begin = () =>
    send<Enrolment>('enrol', {}).then(setEnrolment, (error: Error) => notify(error.message, { type: 'error' }));
  const confirm = async (json: object) => {
    const answer = await send<{ recoveryCodes: readonly string[] }>('confirm', json);
    setEnrolment(undefined);
    setRecoveryCodes(answer.recoveryCodes);
  };
  const disable = async (json: object) => {
    await send('disable', json);
    await logout();
  };
  return (
    <Card sx={{ maxWidth: 400, mt: 2, p: 2 }}>
      <Typography variant="h6" component="h2">
        Second factor
      </Typography>
      {claims?.amr?.includes('mfa') ? (
        <>
          <Typography>A login needs a code of your authenticator app.</Typography>
          <Button onClick={() => setIsLeaving(true)}>Switch off</Button>
        </>
      ) : (
        <>
          <Typography>A login needs your password only.</Typography>
          <Button onClick={() => void begin()}>Set up</Button>
        </>
      )}
      {enrolment && (
        <AskDialog
          title="Set up a second factor"
          action="Confirm"
          fields={[CODE]}
          send={confirm}
          close={() => setEnrolment(undefined)}
        >
          <DialogContentText>
            <Link href={enrolment.uri}>Open your authenticator app</Link>, or enter this secret there. Then enter the
            code that it shows.
          </DialogContentText>
          <Typography sx={{ fontFamily: 'monospace', overflowWrap: 'anywhere', my: 1 }}>{enrolment.secret}</Typography>
        </AskDialog>
      )}
      {isLeaving && (
        <AskDialog
          title="Switch off the second factor"
          action="Switch off"
          fields={[{ ...CODE, label: 'Code of your authenticator app, or a recovery code' }]}
          send={disable}
          close={() => setIsLeaving(false)}
        />
      )}
      {recoveryCodes && (
        <Dialog open aria-labelledby="codes-title">
          <DialogTitle id="codes-title">Your recovery codes</DialogTitle>
          <DialogContent>
            <DialogContentText>Keep them: each one logs in once where you have no phone.</DialogContentText>
            <Typography component="pre" sx={{ fontFamily: 'monospace', fontSize: 13 }}>
              {recoveryCodes.join('\n')}
            </Typography>
          </DialogContent>
          <DialogActions>
            <Button variant="contained" onClick={() => void logout()}>
              Log in again
            </Button>
          </DialogActions>
        </Dialog>
      )}
    </Card>
  );
}
