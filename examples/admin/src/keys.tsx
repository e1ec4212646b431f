import Alert from '@mui/material/Alert';
import Button from '@mui/material/Button';
import Card from '@mui/material/Card';
import Stack from '@mui/material/Stack';
import MuiTextField from '@mui/material/TextField';
import { useState } from 'react';
import {
  Create,
  Datagrid,
  DateField,
  DateTimeInput,
  DeleteButton,
  type RaRecord,
  SimpleForm,
  TextField,
  TextInput,
  useNotify,
  useRedirect,
} from 'react-admin';

import { NARROW } from './narrow.js';
import { ShopList } from './shop-list.js';

interface Key extends RaRecord {
  readonly key: string;
}

/** The own API keys. */
export const KeyList = () => (
  <ShopList title="API keys" pagination={false} exporter={false} empty={false}>
    <Datagrid bulkActionButtons={false} rowClick={false} sx={NARROW}>
      <TextField source="name" sortable={false} />
      <TextField source="prefix" sortable={false} />
      <DateField source="createdAt" label="Created" showTime sortable={false} />
      <DateField source="lastUsedAt" label="Last use" showTime sortable={false} emptyText="never" />
      <DateField source="expiresAt" label="Expires" showTime sortable={false} emptyText="never" />
      <DeleteButton mutationMode="pessimistic" redirect={false} />
    </Datagrid>
  </ShopList>
);

/** Shows the key that was created: no later answer has it. */
function NewKey({ text }: { readonly text: string }) {
  const notify = useNotify();
  const redirect = useRedirect();
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    notify('Copied');
  };
  return (
    <Card sx={{ maxWidth: 600, mt: 2, p: 2 }}>
      <Stack spacing={2}>
        <Alert severity="warning">Copy the key now: it is not shown again.</Alert>
        <MuiTextField label="Key" value={text} fullWidth slotProps={{ input: { readOnly: true } }} />
        <Stack direction="row" spacing={1}>
          <Button variant="contained" onClick={() => void copy()}>
            Copy
          </Button>
          <Button onClick={() => redirect('list', 'keys')}>Done</Button>
        </Stack>
      </Stack>
    </Card>
  );
}

export function KeyCreate() {
  const [created, setCreated] = useState<string>();
  if (created !== undefined) return <NewKey text={created} />;
  return (
    <Create<Key> title="Create an API key" mutationOptions={{ onSuccess: ({ key }) => setCreated(key) }}>
      <SimpleForm>
        <TextInput source="name" required helperText="Such as the program that uses it." />
        <DateTimeInput source="expiresAt" label="Expires" helperText="Leave it empty for a key that does not expire." />
      </SimpleForm>
    </Create>
  );
}
