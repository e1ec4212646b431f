import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import Dialog from '@mui/material/Dialog';
import DialogActions from '@mui/material/DialogActions';
import DialogContent from '@mui/material/DialogContent';
import DialogTitle from '@mui/material/DialogTitle';
import TextField from '@mui/material/TextField';
import { type FormEvent, type ReactNode, useId, useState } from 'react';

import { problemsOf } from './account-page.js';

export interface AskedField {
  readonly name: string;
  readonly label: string;
  readonly type?: 'password';
  readonly autoComplete?: string;
  readonly initial?: string;
  readonly helperText?: string;
  readonly optional?: true;
}

interface AskDialogProps {
  readonly title: string;
  readonly action: string;
  readonly fields: readonly AskedField[];
  /** Above the fields. */
  readonly children?: ReactNode;
  /** @throws the failure of the server, which the dialog shows */
  send(values: Readonly<Record<string, string>>): Promise<unknown>;
  close(): void;
}

/** Asks for some texts, and sends them. */
export function AskDialog({ title, action, fields, children, send, close }: AskDialogProps) {
  const id = useId();
  const [values, setValues] = useState(Object.fromEntries(fields.map(({ name, initial = '' }) => [name, initial])));
  const [failure, setFailure] = useState<string>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await send(values);
    } catch (error) {
      const { general, ...named } = problemsOf(error);
      setFailure(general ?? Object.values(named).join('; '));
    }
  };
  return (
    <Dialog open onClose={close} aria-labelledby={id}>
      <form onSubmit={(event) => void submit(event)}>
        <DialogTitle id={id}>{title}</DialogTitle>
        <DialogContent>
          {children}
          {fields.map(({ name, label, type, autoComplete = 'off', helperText, optional }, index) => (
            <TextField
              key={name}
              label={label}
              type={type ?? 'text'}
              autoComplete={autoComplete}
              autoFocus={index === 0}
              helperText={helperText}
              required={!optional}
              fullWidth
              margin="dense"
              value={values[name]}
              onChange={({ target }) => setValues({ ...values, [name]: target.value })}
            />
          ))}
          {failure !== undefined && <Alert severity="error">{failure}</Alert>}
        </DialogContent>
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" variant="contained">
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
