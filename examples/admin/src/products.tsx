import {
  BulkDeleteButton,
  BulkUpdateButton,
  Create,
  Datagrid,
  Edit,
  List,
  NumberField,
  NumberInput,
  ReferenceField,
  ReferenceInput,
  SearchInput,
  SelectInput,
  SimpleForm,
  TextField,
  TextInput,
} from 'react-admin';

import { RestoreButton } from './restore-button.js';
import { ProductReviews } from './reviews.js';
import { useIsAdmin } from './roles.js';

const FILTERS = [
  <SearchInput key="q" source="q" alwaysOn />,
  <ReferenceInput key="category" source="categoryId" reference="categories" />,
  <NumberInput key="from" source="price_gte" label="Price from" />,
  <NumberInput key="to" source="price_lte" label="Price to" />,
];

const DELETED = (
  <SelectInput
    key="deleted"
    source="deleted"
    choices={[
      { id: 'only', name: 'Only deleted' },
      { id: 'with', name: 'With deleted' },
    ]}
  />
);

const BulkActions = () => (
  <>
    <BulkUpdateButton label="Set stock to 0" data={{ stock: 0 }} mutationMode="pessimistic" />
    <BulkDeleteButton mutationMode="pessimistic" />
  </>
);

export function ProductList() {
  const isAdmin = useIsAdmin();
  return (
    <List filters={isAdmin ? [...FILTERS, DELETED] : FILTERS} sort={{ field: 'name', order: 'ASC' }}>
      <Datagrid bulkActionButtons={<BulkActions />}>
        <TextField source="name" />
        <ReferenceField source="categoryId" reference="categories" sortable={false} />
        <NumberField source="price" />
        {isAdmin && <NumberField source="cost" />}
        <NumberField source="stock" />
        {isAdmin && <RestoreButton />}
      </Datagrid>
    </List>
  );
}

function ProductFields() {
  const isAdmin = useIsAdmin();
  return (
    <>
      <TextInput source="name" required />
      <TextInput source="description" multiline />
      <ReferenceInput source="categoryId" reference="categories" />
      <NumberInput source="price" required />
      {isAdmin && <NumberInput source="cost" />}
      <NumberInput source="stock" required />
    </>
  );
}

/** Saves with `If-Match`: when another editor was faster, the form shows a conflict instead of overwriting the change. */
export const ProductEdit = () => (
  <Edit mutationMode="pessimistic">
    <SimpleForm>
      <ProductFields />
    </SimpleForm>
    <ProductReviews />
  </Edit>
);

export const ProductCreate = () => (
  <Create redirect="list">
    <SimpleForm>
      <ProductFields />
    </SimpleForm>
  </Create>
);
