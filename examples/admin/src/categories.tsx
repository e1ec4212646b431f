import { Create, TextField, TextInput } from 'react-admin';

import { ShopEdit } from './conflict-dialog.js';
import { OpenLink, useCanOpen } from './open-record.js';
import { ShopForm } from './shop-form.js';
import { ShopList, ShopTable } from './shop-list.js';

export const CategoryList = () => (
  <ShopList sort={{ field: 'name', order: 'ASC' }}>
    <ShopTable bulkActionButtons={false} rowClick={useCanOpen('categories')}>
      <TextField source="id" />
      <OpenLink source="name" />
    </ShopTable>
  </ShopList>
);

const CategoryForm = () => (
  <ShopForm>
    <TextInput source="name" required />
  </ShopForm>
);

export const CategoryEdit = () => (
  <ShopEdit>
    <CategoryForm />
  </ShopEdit>
);

export const CategoryCreate = () => (
  <Create redirect="list">
    <CategoryForm />
  </Create>
);
