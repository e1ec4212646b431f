import Button from '@mui/material/Button';
import Card from '@mui/material/Card';
import List from '@mui/material/List';
import ListItem from '@mui/material/ListItem';
import ListItemText from '@mui/material/ListItemText';
import Typography from '@mui/material/Typography';
import { useState } from 'react';
import { useGetList } from 'react-admin';

import { AskDialog, type AskedField } from './ask-dialog.js';
import { shopAuth, shopData } from './shop.js';

interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly lastUsedAt: string | null;
}

interface Task {
  readonly kind: 'add' | 'rename' | 'remove';
  readonly passkey?: Passkey;
}

const PASSWORD: AskedField = {
  name: 'password',
  label: 'Current password',
  type: 'password',
  autoComplete: 'current-password',
  helperText: 'Leave it empty to use a passkey instead.',
  optional: true,
};

const NAME: AskedField = { name: 'name', label: 'Name', initial: 'Passkey' };

const TITLES = { add: 'Add a passkey', rename: 'Rename the passkey', remove: 'Remove the passkey' };
const ACTIONS = { add: 'Add', rename: 'Rename', remove: 'Remove' };

function fieldsOf({ kind, passkey }: Task): AskedField[] {
  if (kind === 'add') return [NAME, PASSWORD];
  return kind === 'remove' ? [PASSWORD] : [{ ...NAME, initial: passkey?.name ?? '' }];
}

/** The own passkeys. The client asks the browser for them. */
export function PasskeysCard() {
  const { data: passkeys = [], refetch } = useGetList<Passkey>('passkeys');
  const [task, setTask] = useState<Task>();
  const send = async ({ kind, passkey }: Task, { name = '', password }: Readonly<Record<string, string>>) => {
    const confirmation = { password: password || undefined };
    if (kind === 'add') await shopAuth.client.addPasskey({ name, ...confirmation });
    if (passkey && kind === 'remove') await shopAuth.client.removePasskey(passkey.id, confirmation);
    if (passkey && kind === 'rename')
      await shopData.custom(`auth/passkeys/${passkey.id}`, { method: 'PATCH', json: { name } });
    setTask(undefined);
    await refetch();
  };
  return (
    <Card sx={{ maxWidth: 400, mt: 2, p: 2 }}>
      <Typography variant="h6" component="h2">
        Passkeys
      </Typography>
      <List dense>
        {passkeys.map((passkey) => (
          <ListItem key={passkey.id} disableGutters sx={{ flexWrap: 'wrap' }}>
            <ListItemText
              primary={passkey.name}
              secondary={passkey.lastUsedAt && `Last use: ${new Date(passkey.lastUsedAt).toLocaleString()}`}
            />
            <Button onClick={() => setTask({ kind: 'rename', passkey })}>Rename</Button>
            <Button onClick={() => setTask({ kind: 'remove', passkey })}>Remove</Button>
          </ListItem>
        ))}
      </List>
      <Button onClick={() => setTask({ kind: 'add' })}>Add a passkey</Button>
      {task && (
        <AskDialog
          title={TITLES[task.kind]}
          action={ACTIONS[task.kind]}
          fields={fieldsOf(task)}
          send={(values) => send(task, values)}
          close={() => setTask(undefined)}
        />
      )}
    </Card>
  );
}
