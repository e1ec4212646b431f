import {
  BooleanField,
  BooleanInput,
  Datagrid,
  Edit,
  List,
  SaveButton,
  SearchInput,
  SelectInput,
  SimpleForm,
  TextField,
  TextInput,
  Toolbar,
  TopToolbar,
} from 'react-admin';

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
  <List filters={FILTERS} exporter={false}>
    <Datagrid bulkActionButtons={false}>
      <TextField source="email" sortable={false} />
      <TextField source="firstName" sortable={false} />
      <TextField source="lastName" sortable={false} />
      <TextField source="role" sortable={false} />
      <BooleanField source="active" sortable={false} />
    </Datagrid>
  </List>
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
  <Edit mutationMode="pessimistic" actions={<Actions />}>
    <SimpleForm toolbar={<SaveToolbar />}>
      <TextInput source="email" readOnly />
      <TextInput source="firstName" />
      <TextInput source="lastName" />
      <SelectInput source="role" choices={ROLES} required />
      <BooleanInput source="active" />
    </SimpleForm>
  </Edit>
);
