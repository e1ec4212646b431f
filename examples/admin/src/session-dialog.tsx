import { useQueryClient } from '@tanstack/react-query';
import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import Dialog from '@mui/material/Dialog';
import DialogActions from '@mui/material/DialogActions';
import DialogContent from '@mui/material/DialogContent';
import DialogContentText from '@mui/material/DialogContentText';
import DialogTitle from '@mui/material/DialogTitle';
import TextField from '@mui/material/TextField';
import { type FormEvent, useCallback, useEffect, useState } from 'react';

import { shopAuth } from './shop.js';

/** Asks for a login beside the page when the session has ended, so that no text of a form is lost. */
export function SessionDialog() {
  const queries = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<string>();

  /** Reads what could not be read, and asks again what the user may do. */
  const goOn = useCallback(() => {
    setIsOpen(false);
    setPassword('');
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

  const logIn = async (event: FormEvent) => {
    event.preventDefault();
    // React passes the event on to the form that the dialog covers.
    event.stopPropagation();
    try {
      await shopAuth.login({ email, password });
      goOn();
    } catch (error) {
      setFailure((error as Error).message);
    }
  };

  return (
    <Dialog open={isOpen} onClose={() => setIsOpen(false)} aria-labelledby="session-title">
      <form onSubmit={(event) => void logIn(event)}>
        <DialogTitle id="session-title">Your session has ended</DialogTitle>
        <DialogContent>
          <DialogContentText>Log in to go on. What you have entered on this page is kept.</DialogContentText>
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
          {failure !== undefined && <Alert severity="error">{failure}</Alert>}
        </DialogContent>
        <DialogActions>
          <Button onClick={() => setIsOpen(false)}>Later</Button>
          <Button type="submit" variant="contained">
            Log in
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
