import {
  BulkDeleteButton,
  BulkUpdateButton,
  Create,
  Datagrid,
  NumberField,
  NumberInput,
  ReferenceField,
  ReferenceInput,
  SearchInput,
  SelectInput,
  Show,
  SimpleShowLayout,
  TextField,
  TextInput,
  useCanAccess,
} from 'react-admin';

import { ShopEdit } from './conflict-dialog.js';
import { NARROW } from './narrow.js';
import { OpenLink, useCanOpen } from './open-record.js';
import { RestoreButton } from './restore-button.js';
import { ProductReviews } from './reviews.js';
import { useIsAdmin } from './roles.js';
import { ShopForm } from './shop-form.js';
import { ShopList } from './shop-list.js';

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
  const canOpen = useCanOpen('products');
  const { canAccess: mayDelete = false } = useCanAccess({ resource: 'products', action: 'delete' });
  return (
    <ShopList filters={isAdmin ? [...FILTERS, DELETED] : FILTERS} sort={{ field: 'name', order: 'ASC' }}>
      <Datagrid bulkActionButtons={mayDelete && <BulkActions />} rowClick={canOpen} sx={NARROW}>
        <OpenLink source="name" />
        <ReferenceField source="categoryId" reference="categories" sortable={false} />
        <NumberField source="price" />
        {isAdmin && <NumberField source="cost" />}
        <NumberField source="stock" />
        {isAdmin && <RestoreButton />}
      </Datagrid>
    </ShopList>
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
  <ShopEdit>
    <ShopForm>
      <ProductFields />
    </ShopForm>
    <ProductReviews />
  </ShopEdit>
);

/** For users who may not change products. They delete their own reviews. */
export const ProductShow = () => (
  <Show>
    <SimpleShowLayout>
      <TextField source="name" />
      <TextField source="description" />
      <ReferenceField source="categoryId" reference="categories" link={false} />
      <NumberField source="price" />
      <NumberField source="stock" />
    </SimpleShowLayout>
    <ProductReviews />
  </Show>
);

export const ProductCreate = () => (
  <Create redirect="list">
    <ShopForm>
      <ProductFields />
    </ShopForm>
  </Create>
);
