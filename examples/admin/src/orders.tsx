import { Datagrid, DateField, NumberField, ReferenceField, TextField } from 'react-admin';

import { NARROW } from './narrow.js';
import { useIsAdmin } from './roles.js';
import { ShopList } from './shop-list.js';

/** Administrators see all orders, and others their own. Only administrators may read the names of customers. */
export function OrderList() {
  const isAdmin = useIsAdmin();
  return (
    <ShopList sort={{ field: 'placedAt', order: 'DESC' }}>
      <Datagrid bulkActionButtons={false} rowClick={false} sx={NARROW}>
        <TextField source="id" />
        <ReferenceField source="productId" reference="products" sortable={false} />
        <NumberField source="quantity" />
        {isAdmin && <ReferenceField source="customerId" reference="users" sortable={false} />}
        <DateField source="placedAt" showTime />
      </Datagrid>
    </ShopList>
  );
}
