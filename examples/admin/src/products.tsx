import {
  BulkDeleteButton,
  BulkUpdateButton,
  Create,
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
import { ShopForm } from './shop-form.js';
import { ShopList, ShopTable } from './shop-list.js';

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
  const canOpen = useCanOpen('products');
  const { canAccess: mayDelete = false } = useCanAccess({ resource: 'products', action: 'delete' });
  const { canAccess: mayRestore = false } = useCanAccess({ resource: 'products', action: 'restore' });
  return (
    <ShopList filters={mayRestore ? [...FILTERS, DELETED] : FILTERS} sort={{ field: 'name', order: 'ASC' }}>
      <ShopTable bulkActionButtons={mayDelete && <BulkActions />} rowClick={canOpen} sx={NARROW}>
        <OpenLink source="name" />
        <ReferenceField source="categoryId" reference="categories" sortable={false} />
        <NumberField source="price" />
        <NumberField source="cost" />
        <NumberField source="stock" />
        {mayRestore && <RestoreButton />}
      </ShopTable>
    </ShopList>
  );
}

const INPUTS = [
  <TextInput key="name" source="name" required />,
  <TextInput key="description" source="description" multiline />,
  <ReferenceInput key="category" source="categoryId" reference="categories" />,
  <NumberInput key="price" source="price" required />,
  <NumberInput key="cost" source="cost" />,
  <NumberInput key="stock" source="stock" required />,
];

/** Saves with `If-Match`: when another editor was faster, the form shows a conflict instead of overwriting the change. */
export const ProductEdit = () => (
  <ShopEdit>
    <ShopForm>{INPUTS}</ShopForm>
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
    <ShopForm>{INPUTS}</ShopForm>
  </Create>
);
