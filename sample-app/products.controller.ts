import { HttpCode, Post, Put } from '@nestjs/common';
import { CrudController, OverrideNote, Roles } from 'declarest';

import { Product } from './product.js';

/** The generated operations of products, with two of them overridden. */
export class ProductsController extends CrudController({
  entity: Product,
  endpoint: '/api/products',
  enablePagination: true,
  enableSearch: true,
  enableExists: true,
  enableExport: true,
  enableBatch: true,
  enableRestore: true,
  deletedRoles: ['ADMIN'],
  searchableFields: ['name', 'description'],
  filterableFields: ['id', 'name', 'price', 'cost', 'stock', 'categoryId', 'category.name'],
  sortableFields: ['id', 'name', 'price', 'cost', 'stock'],
  includableRelations: ['category', 'reviews'],
  fieldPermissions: { cost: { read: ['ADMIN'], write: ['ADMIN'] } },
}) {
  @Put(':id')
  @OverrideNote('Returns the previous price in the message')
  override async update(id: string, fields: Record<string, unknown>) {
    const { data: before } = await super.findById(id);
    const updated = await super.update(id, fields);
    if (before.price === updated.data.price) return updated;
    return { ...updated, message: `Product updated, price changed from ${before.price} to ${updated.data.price}` };
  }

  /** A pattern would match the reviews below a product too, so the handler has a decorator of its own. */
  @Post(':id/restore')
  @HttpCode(200)
  @Roles('ADMIN')
  override restore(id: string) {
    return super.restore(id);
  }
}
