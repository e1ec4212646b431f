import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import Stack from '@mui/material/Stack';
import TextField from '@mui/material/TextField';
import { type FormEvent, useState } from 'react';

import { shopData } from './shop.js';

/** The page that a mailed link for a new password leads to. */
export function ResetPage({ token }: { readonly token: string | null }) {
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<string>();
  const [isDone, setIsDone] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await shopData.custom('auth/password/reset', { method: 'POST', json: { token, password } });
      setIsDone(true);
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  return (
    <Stack component="form" onSubmit={(event) => void submit(event)} spacing={2} sx={{ width: 320, m: '4em auto' }}>
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      {failure !== undefined && !isDone && <Alert severity="error">{failure}</Alert>}
      {isDone ? (
        <Button href="/">Password set: log in</Button>
      ) : (
        <Button type="submit" variant="contained">
          Set password
        </Button>
      )}
    </Stack>
  );
}
