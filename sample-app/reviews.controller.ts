import { CrudController } from 'declarest';

import { Review } from './review.js';

/** The reviews of one product. Their authors change and delete them, and the staff does too. */
export class ReviewsController extends CrudController({
  entity: Review,
  endpoint: '/api/products/:productId/reviews',
  enablePagination: true,
  sortableFields: ['id', 'stars'],
  // The rules of the products do not count for the reviews below them.
  access: { create: 'authenticated', update: 'authenticated', delete: 'authenticated' },
  owner: { field: 'authorId', except: ['STAFF'] },
}) {}
