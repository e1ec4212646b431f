import {
  BooleanField,
  BooleanInput,
  Datagrid,
  Edit,
  List,
  SaveButton,
  SelectInput,
  SimpleForm,
  TextField,
  TextInput,
  Toolbar,
} from 'react-admin';

const ROLES = ['USER', 'STAFF', 'ADMIN'].map((id) => ({ id, name: id }));

const FILTERS = [
  <TextInput key="email" source="email_contains" label="E-mail contains" alwaysOn />,
  <SelectInput key="role" source="role" choices={ROLES} />,
];

export const UserList = () => (
  <List filters={FILTERS} sort={{ field: 'email', order: 'ASC' }}>
    <Datagrid bulkActionButtons={false}>
      <TextField source="email" />
      <TextField source="role" />
      <BooleanField source="active" sortable={false} />
    </Datagrid>
  </List>
);

/** Users are made inactive, and never deleted. */
const SaveToolbar = () => (
  <Toolbar>
    <SaveButton />
  </Toolbar>
);

/** A new role counts from the next login of the user on. */
export const UserEdit = () => (
  <Edit mutationMode="pessimistic">
    <SimpleForm toolbar={<SaveToolbar />}>
      <TextInput source="email" readOnly />
      <SelectInput source="role" choices={ROLES} required />
      <BooleanInput source="active" />
    </SimpleForm>
  </Edit>
);
