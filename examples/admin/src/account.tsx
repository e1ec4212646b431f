import Card from '@mui/material/Card';
import Typography from '@mui/material/Typography';
import { useState } from 'react';
import {
  BooleanField,
  Datagrid,
  DateField,
  DeleteButton,
  Form,
  PasswordInput,
  SaveButton,
  TextField,
  useNotify,
  useRecordContext,
  useRefresh,
} from 'react-admin';

import { problemsOf } from './account-page.js';
import { NARROW } from './narrow.js';
import { PasskeysCard } from './passkeys.js';
import { SecondFactorCard } from './second-factor.js';
import { shopData } from './shop.js';
import { ShopList } from './shop-list.js';

/** The menu has an entry that ends the current session. */
function EndButton() {
  const session = useRecordContext();
  return session?.['current'] ? null : <DeleteButton label="End" mutationMode="pessimistic" redirect={false} />;
}

function PasswordForm() {
  const notify = useNotify();
  const refresh = useRefresh();
  const [changes, setChanges] = useState(0);
  const change = async (json: object) => {
    try {
      await shopData.custom('auth/password', { method: 'POST', json });
      notify('Password changed, and other sessions ended');
      setChanges(changes + 1);
      refresh();
      return undefined;
    } catch (error) {
      const { general, password, new: chosen } = problemsOf(error);
      // The server says of a wrong password only that the credentials are invalid, and of a new one what it must be.
      return (error as { status?: number }).status === 401
        ? { current: general }
        : { new: chosen ?? password ?? general };
    }
  };
  return (
    <Card sx={{ maxWidth: 400, mt: 2, p: 2 }}>
      <Typography variant="h6" component="h2">
        Password
      </Typography>
      <Form key={changes} onSubmit={change}>
        <PasswordInput source="current" label="Current password" autoComplete="current-password" required />
        <PasswordInput source="new" label="New password" autoComplete="new-password" required />
        <SaveButton label="Change password" />
      </Form>
    </Card>
  );
}

/** The own sessions, and the ways to log in. */
export const AccountPage = () => (
  <>
    <ShopList title="Account" actions={false} pagination={false}>
      <Datagrid bulkActionButtons={false} rowClick={false} sx={NARROW}>
        <TextField source="userAgent" label="Browser" sortable={false} />
        <TextField source="address" sortable={false} />
        <DateField source="createdAt" label="Login" showTime sortable={false} />
        <DateField source="lastUsedAt" label="Last use" showTime sortable={false} />
        <BooleanField source="current" sortable={false} />
        <EndButton />
      </Datagrid>
    </ShopList>
    <PasswordForm />
    <SecondFactorCard />
    <PasskeysCard />
  </>
);
