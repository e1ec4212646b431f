import { Create, Datagrid, Edit, List, SimpleForm, TextField, TextInput } from 'react-admin';

export const CategoryList = () => (
  <List sort={{ field: 'name', order: 'ASC' }}>
    <Datagrid bulkActionButtons={false}>
      <TextField source="id" />
      <TextField source="name" />
    </Datagrid>
  </List>
);

const CategoryForm = () => (
  <SimpleForm>
    <TextInput source="name" required />
  </SimpleForm>
);

export const CategoryEdit = () => (
  <Edit mutationMode="pessimistic">
    <CategoryForm />
  </Edit>
);

export const CategoryCreate = () => (
  <Create redirect="list">
    <CategoryForm />
  </Create>
);
