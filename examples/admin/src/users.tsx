import {
  BooleanField,
  BooleanInput,
  Create,
  Datagrid,
  SaveButton,
  SearchInput,
  SelectInput,
  TextField,
  TextInput,
  Toolbar,
  TopToolbar,
} from 'react-admin';

import { ShopEdit } from './conflict-dialog.js';
import { NARROW } from './narrow.js';
import { OpenLink } from './open-record.js';
import { KeptForm } from './shop-form.js';
import { ShopList } from './shop-list.js';
import { EndSessionsButton, MailResetButton } from './user-buttons.js';

const ROLES = ['USER', 'STAFF', 'ADMIN'].map((id) => ({ id, name: id }));

const FILTERS = [
  <SearchInput key="q" source="q" alwaysOn />,
  <SelectInput key="role" source="role" choices={ROLES} alwaysOn />,
  <SelectInput
    key="active"
    source="active"
    choices={[
      { id: true, name: 'Active' },
      { id: false, name: 'Inactive' },
    ]}
    alwaysOn
  />,
];

export const UserList = () => (
  <ShopList filters={FILTERS} exporter={false}>
    <Datagrid bulkActionButtons={false} rowClick="edit" sx={NARROW}>
      <OpenLink source="email" sortable={false} />
      <TextField source="firstName" sortable={false} />
      <TextField source="lastName" sortable={false} />
      <TextField source="role" sortable={false} />
      <BooleanField source="active" sortable={false} />
    </Datagrid>
  </ShopList>
);

const Actions = () => (
  <TopToolbar>
    <MailResetButton />
    <EndSessionsButton />
  </TopToolbar>
);

/** Users are made inactive, and never deleted. */
const SaveToolbar = () => (
  <Toolbar>
    <SaveButton />
  </Toolbar>
);

/** The server keeps the last active ADMIN: the form shows its message. */
export const UserEdit = () => (
  <ShopEdit actions={<Actions />}>
    <KeptForm toolbar={<SaveToolbar />}>
      <TextInput source="email" readOnly />
      <TextInput source="firstName" />
      <TextInput source="lastName" />
      <SelectInput source="role" choices={ROLES} required />
      <BooleanInput source="active" />
    </KeptForm>
  </ShopEdit>
);

/** The user chooses a password by a link that is mailed. */
export const UserCreate = () => (
  <Create redirect="list" title="Invite a user">
    <KeptForm>
      <TextInput source="email" type="email" required helperText="A link to choose a password is mailed to it." />
      <TextInput source="firstName" />
      <TextInput source="lastName" />
      <SelectInput source="role" choices={ROLES} defaultValue="USER" required />
    </KeptForm>
  </Create>
);
