import { Put } from '@nestjs/common';
import { CrudController, CrudOverride } from 'declarest';

import { Product } from './product.js';

/** The generated operations of products, with `update` overridden. */
export class ProductsController extends CrudController({
  entity: Product,
  endpoint: '/api/products',
  enablePagination: true,
  enableSearch: true,
  enableExists: true,
  searchableFields: ['name', 'description'],
  filterableFields: ['name', 'price', 'stock', 'categoryId', 'category.name'],
  sortableFields: ['name', 'price'],
}) {
  @Put(':id')
  @CrudOverride('Returns the previous price in the message')
  override async update(id: string, fields: Record<string, unknown>) {
    const { data: before } = await super.findById(id);
    const updated = await super.update(id, fields);
    if (before.price === updated.data.price) return updated;
    return { ...updated, message: `Product updated, price changed from ${before.price} to ${updated.data.price}` };
  }
}
