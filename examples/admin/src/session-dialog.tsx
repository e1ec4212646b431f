import { useQueryClient } from '@tanstack/react-query';
import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import Dialog from '@mui/material/Dialog';
import DialogActions from '@mui/material/DialogActions';
import DialogContent from '@mui/material/DialogContent';
import DialogContentText from '@mui/material/DialogContentText';
import DialogTitle from '@mui/material/DialogTitle';
import TextField from '@mui/material/TextField';
import type { LoginParams } from 'ra-data-declarest';
import { type FormEvent, useCallback, useEffect, useState } from 'react';

import { useLoginSteps } from './login-steps.js';
import { shopAuth } from './shop.js';

/** Asks for a login beside the page when the session has ended, so that no text of a form is lost. */
export function SessionDialog() {
  const queries = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { needsCode, enter, reset } = useLoginSteps(shopAuth.login);
  const [failure, setFailure] = useState<string>();

  /** Reads what could not be read, and asks again what the user may do. */
  const goOn = useCallback(() => {
    setIsOpen(false);
    setPassword('');
    setCode('');
    setFailure(undefined);
    void queries.refetchQueries({
      predicate: ({ state, queryKey }) => state.status === 'error' || queryKey[0] === 'auth',
    });
  }, [queries]);

  useEffect(() => shopAuth.onSessionEnd(() => setIsOpen(true)), []);
  useEffect(() => {
    // Another tab has logged in.
    const changed = ({ newValue }: StorageEvent) => newValue !== null && goOn();
    window.addEventListener('storage', changed);
    return () => window.removeEventListener('storage', changed);
  }, [goOn]);

  const logIn = async (params: LoginParams) => {
    setFailure(undefined);
    try {
      if (await enter(params)) goOn();
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React passes the event on to the form that the dialog covers.
    event.stopPropagation();
    void logIn(needsCode ? { code } : { email, password });
  };
  const close = () => {
    setIsOpen(false);
    reset();
  };

  return (
    <Dialog open={isOpen} onClose={close} aria-labelledby="session-title">
      <form onSubmit={submit}>
        <DialogTitle id="session-title">Your session has ended</DialogTitle>
        <DialogContent>
          <DialogContentText>Log in to go on. What you have entered on this page is kept.</DialogContentText>
          {needsCode ? (
            <TextField
              label="Code of your authenticator app, or a recovery code"
              autoComplete="one-time-code"
              autoFocus
              fullWidth
              required
              margin="dense"
              value={code}
              onChange={({ target }) => setCode(target.value)}
            />
          ) : (
            <>
              <TextField
                label="Email"
                type="email"
                autoComplete="username"
                autoFocus
                fullWidth
                required
                margin="dense"
                value={email}
                onChange={({ target }) => setEmail(target.value)}
              />
              <TextField
                label="Password"
                type="password"
                autoComplete="current-password"
                fullWidth
                required
                margin="dense"
                value={password}
                onChange={({ target }) => setPassword(target.value)}
              />
            </>
          )}
          {failure !== undefined && <Alert severity="error">{failure}</Alert>}
        </DialogContent>
        <DialogActions>
          <Button onClick={close}>Later</Button>
          {!needsCode && <Button onClick={() => void logIn({ passkey: true })}>Use a passkey</Button>}
          <Button type="submit" variant="contained">
            Log in
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
