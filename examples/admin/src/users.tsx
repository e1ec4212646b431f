import {
  BooleanField,
  BooleanInput,
  Datagrid,
  Edit,
  List,
  SelectInput,
  SimpleForm,
  TextField,
  TextInput,
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

/** A new role counts from the next login of the user on. */
export const UserEdit = () => (
  <Edit mutationMode="pessimistic">
    <SimpleForm>
      <TextInput source="email" readOnly />
      <SelectInput source="role" choices={ROLES} required />
      <BooleanInput source="active" />
    </SimpleForm>
  </Edit>
);
