import { Datagrid, DateField, List, NumberField, ReferenceField, TextField } from 'react-admin';

import { useIsAdmin } from './roles.js';

/** Administrators see all orders, and others their own. Only administrators may read the names of customers. */
export function OrderList() {
  const isAdmin = useIsAdmin();
  return (
    <List sort={{ field: 'placedAt', order: 'DESC' }}>
      <Datagrid bulkActionButtons={false} rowClick={false}>
        <TextField source="id" />
        <ReferenceField source="productId" reference="products" sortable={false} />
        <NumberField source="quantity" />
        {isAdmin && <ReferenceField source="customerId" reference="users" sortable={false} />}
        <DateField source="placedAt" showTime />
      </Datagrid>
    </List>
  );
}
