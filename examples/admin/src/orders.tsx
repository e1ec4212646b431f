import { DateField, NumberField, ReferenceField, TextField } from 'react-admin';

import { NARROW } from './narrow.js';
import { ShopList, ShopTable } from './shop-list.js';

/** Administrators see all orders with their customers, and others their own. */
export const OrderList = () => (
  <ShopList sort={{ field: 'placedAt', order: 'DESC' }}>
    <ShopTable bulkActionButtons={false} rowClick={false} sx={NARROW}>
      <TextField source="id" />
      <ReferenceField source="productId" reference="products" sortable={false} />
      <NumberField source="quantity" />
      <ReferenceField source="customerId" reference="users" sortable={false} />
      <DateField source="placedAt" showTime />
    </ShopTable>
  </ShopList>
);
