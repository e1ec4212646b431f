import { HttpCode, Patch, Post, Put } from '@nestjs/common';
import { CrudController, type Envelope, type JsonObject, type ListQuery, OverrideNote, Roles } from 'declarest';

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
  override update(id: string, fields: JsonObject) {
    return this.withPreviousPrice(id, () => super.update(id, fields));
  }

  @Patch(':id')
  @OverrideNote('Returns the previous price in the message')
  override patch(id: string, changes: JsonObject) {
    return this.withPreviousPrice(id, () => super.patch(id, changes));
  }

  @Patch('batch')
  @OverrideNote('Messages of batches name no prices')
  override patchMany(body: JsonObject, query?: ListQuery) {
    return super.patchMany(body, query);
  }

  private async withPreviousPrice(id: string, change: () => Promise<Envelope<Product>>): Promise<Envelope<Product>> {
    const { data: before } = await super.findById(id);
    const changed = await change();
    if (before.price === changed.data.price) return changed;
    return { ...changed, message: `Product updated, price changed from ${before.price} to ${changed.data.price}` };
  }

  /** A pattern would match the reviews below a product too, so the handler has a decorator of its own. */
  @Post(':id/restore')
  @HttpCode(200)
  @Roles('ADMIN')
  override restore(id: string) {
    return super.restore(id);
  }
}
