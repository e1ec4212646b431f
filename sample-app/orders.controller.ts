import { CrudController } from 'declarest';

import { Order } from './order.js';

/** Customers see and change their own orders, and administrators all of them. */
export class OrdersController extends CrudController({
  entity: Order,
  endpoint: '/api/orders',
  enablePagination: true,
  enableIdempotency: true,
  filterableFields: ['id', 'productId', 'customerId', 'placedAt'],
  sortableFields: ['id', 'quantity', 'placedAt'],
  owner: { field: 'customerId', reads: true, except: ['ADMIN'] },
}) {}
