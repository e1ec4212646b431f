import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import Card from '@mui/material/Card';
import Stack from '@mui/material/Stack';
import TextField from '@mui/material/TextField';
import Typography from '@mui/material/Typography';
import { type FormEvent, type ReactNode, useState } from 'react';

import { shopData } from './shop.js';

/** What a failure says about the fields, and else in general. */
export interface Problems {
  readonly [field: string]: string | undefined;
  readonly general?: string;
}

export function problemsOf(error: unknown): Problems {
  const { message, body } = error as { message: string; body?: { errors?: Record<string, unknown> } };
  const { root: _, ...fields } = body?.errors ?? {};
  return Object.keys(fields).length > 0 ? (fields as Problems) : { general: message };
}

/** A page without a login. */
export function AccountFrame({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack component="main" sx={{ minHeight: '100vh', alignItems: 'center', bgcolor: 'background.default', p: 2 }}>
      <Card sx={{ width: '100%', maxWidth: 360, mt: { xs: 2, sm: 8 }, p: 3 }}>
        <Stack spacing={2}>
          <Typography variant="h5" component="h1">
            {title}
          </Typography>
          {children}
        </Stack>
      </Card>
    </Stack>
  );
}

interface OneFieldFormProps {
  readonly name: string;
  readonly label: string;
  readonly type: 'email' | 'password';
  readonly autoComplete: string;
  readonly action: string;
  /** @throws the failure of the server */
  send(value: string): Promise<unknown>;
  /** What stands instead of the form afterwards. */
  readonly children: ReactNode;
}

export function OneFieldForm({ name, label, type, autoComplete, action, send, children }: OneFieldFormProps) {
  const [value, setValue] = useState('');
  const [problems, setProblems] = useState<Problems>({});
  const [isDone, setIsDone] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await send(value);
      setIsDone(true);
    } catch (error) {
      setProblems(problemsOf(error));
    }
  };
  if (isDone) return children;
  return (
    <Stack component="form" onSubmit={(event) => void submit(event)} spacing={2}>
      <TextField
        label={label}
        type={type}
        autoComplete={autoComplete}
        required
        autoFocus
        value={value}
        error={problems[name] !== undefined}
        helperText={problems[name]}
        onChange={({ target }) => setValue(target.value)}
      />
      {problems.general !== undefined && <Alert severity="error">{problems.general}</Alert>}
      <Button type="submit" variant="contained">
        {action}
      </Button>
    </Stack>
  );
}

/** Mails a link for a new password. The answer is the same for every address. */
export const ForgotPage = () => (
  <AccountFrame title="Forgot password">
    <OneFieldForm
      name="email"
      label="Email"
      type="email"
      autoComplete="username"
      action="Mail me a link"
      send={(email) => shopData.custom('auth/password/forgot', { method: 'POST', json: { email } })}
    >
      <Alert severity="success">If the shop knows the address, a mail with a link is on its way.</Alert>
    </OneFieldForm>
    <Button href="/#/login">Back to the login</Button>
  </AccountFrame>
);
