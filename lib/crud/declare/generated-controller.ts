/** The methods of generated controllers, which a subclass calls and overrides. */
import type { StreamableFile } from '@nestjs/common';
import type { JsonObject } from '../../http/json-body.js';
import type { BatchResult, Envelope, ListQuery } from './envelope.js';
import type { GeneratedHooks } from './generated-hooks.js';
import type { AggregateRow, CrudRecord } from './record-types.js';

type NotAtomic = ListQuery & { readonly atomic: 'false' };
type BatchResults<D> = Omit<Envelope<null>, 'data'> & { readonly data: readonly BatchResult<D>[] };

/**
 * The operations of a generated controller. A subclass overrides those that it wants to change, and calls `super` for
 * the rest. An override may answer another shape: two signatures let TypeScript accept any result.
 *
 * An `id` is as sent in the path, and a `query` has the parameters of the query string. A malformed one is a
 * BadRequestException, and an unknown `id` a NotFoundException.
 */
export interface GeneratedController<T extends object> extends GeneratedHooks<T> {
  /**
   * `GET {endpoint}`: records in the order of the primary key.
   * @param query `page` and `size` with `enablePagination`, else none
   * @returns the records; `metadata.pagination` of a page, `metadata.truncated` with `maxListSize`
   * @example const { data } = await super.findAll({ page: '2' });
   */
  findAll<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;
  findAll<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/{id}`: one record.
   * @param query `fields`, and `include` with `includableRelations`
   * @returns the record with every readable field, or with those that `fields` names
   * @example const { data } = await super.findById('7', { fields: 'id,name' });
   */
  findById<R = Envelope<T>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;
  findById<R = Envelope<T>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `POST {endpoint}`: stores a new record and answers 201 with `Location`.
   * @param body the fields of the record; from code, values may have the types of the entity, such as `Date`
   * @throws BadRequestException naming every wrong field
   * @throws ConflictException for a taken unique value or a missing referenced record
   * @example return super.create({ ...body, publishedAt: new Date() });
   */
  create<R = Envelope<T>>(body: JsonObject): Promise<NoInfer<R>>;
  create<R = Envelope<T>>(body: JsonObject): Promise<NoInfer<R>>;

  /**
   * `PUT {endpoint}/{id}`: replaces the fields of a record. It never creates one.
   * @param body all fields of the record: an absent one gets its default or `null`. What `findById` returned is accepted
   * @throws BadRequestException, ConflictException as `create`
   * @throws PreconditionFailedException where `If-Match` names another version
   * @example return super.update(id, { ...body, slug: data.slug });
   */
  update<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;
  update<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;

  /**
   * `PATCH {endpoint}/{id}`: changes the fields that are sent, as a JSON merge patch (RFC 7396). It never creates a record.
   * @param body the fields to change: `null` clears a field, an object is merged into the stored one
   * @throws BadRequestException, ConflictException, PreconditionFailedException as `update`
   * @example return super.patch(id, { ...body, editedAt: new Date() });
   */
  patch<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;
  patch<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;

  /**
   * `DELETE {endpoint}/{id}`: removes a record, or marks it as deleted where the entity has a `@DeleteDateColumn`.
   * @param query `purge` for users with one of the `deletedRoles`, else none
   * @returns `data: null`
   * @throws ConflictException where other records refer to it
   * @throws PreconditionFailedException where `If-Match` names another version
   * @example return super.delete(id, query);
   */
  delete<R = Envelope<null>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;
  delete<R = Envelope<null>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `POST {endpoint}/{id}/restore`, with `enableRestore`: makes a record visible again that DELETE has hidden.
   * @returns the record; unchanged where it is not hidden
   * @example const { data } = await super.restore(id);
   */
  restore<R = Envelope<T>>(id: string): Promise<NoInfer<R>>;
  restore<R = Envelope<T>>(id: string): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/search`, with `enableSearch`: records that contain every text.
   * @param query texts by the names of searchable fields; `q` searches in all of them
   * @throws BadRequestException also for an empty or too long text
   * @example const { data } = await this.search({ name: 'lamp' });
   */
  search<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;
  search<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/exists/{id}`, with `enableExists`. An unknown `id` is no error.
   * @example const { data } = await this.exists('7');
   */
  exists<R = Envelope<{ exists: boolean }>>(id: string): Promise<NoInfer<R>>;
  exists<R = Envelope<{ exists: boolean }>>(id: string): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/count`, with `enableCount`.
   * @param query filters by `filterableFields`
   * @example const { data } = await this.count({ 'filter[status]': 'open' });
   */
  count<R = Envelope<{ count: number }>>(query: ListQuery): Promise<NoInfer<R>>;
  count<R = Envelope<{ count: number }>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/aggregate`, with `aggregatableFields`: sums, averages, least and greatest values.
   * @param query `sum`, `avg`, `min`, `max` and `groupBy` name fields, and filters by `filterableFields`
   * @returns a row for each group, in its order, or one row without `groupBy`
   * @throws BadRequestException also for more than 1,000 groups
   * @example const { data } = await this.aggregate({ sum: 'price', groupBy: 'categoryId' });
   */
  aggregate<R = Envelope<AggregateRow[]>>(query: ListQuery): Promise<NoInfer<R>>;
  aggregate<R = Envelope<AggregateRow[]>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/export`, with `enableExport`: the list as a file, which is read and sent in batches.
   * @param query `format`, filters, `sort` and `fields`
   * @example return super.export({ ...query, fields: 'id,name' });
   */
  export<R = StreamableFile>(query: ListQuery): Promise<NoInfer<R>>;
  export<R = StreamableFile>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `POST {endpoint}/import`, with `enableImport`: stores the records of the file that the request sends.
   * @param query `atomic=false` stores each line by itself, and any number of them
   */
  import<R = StreamableFile>(query: ListQuery): Promise<NoInfer<R>>;
  import<R = StreamableFile>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `POST {endpoint}/batch`, with `enableBatch`: stores new records in one transaction, all or none.
   * @param body `items` has the bodies of the records
   * @param query `atomic=false` stores each record by itself: `data` is then an array of `BatchResult`
   * @throws BadRequestException naming every wrong field, such as `items[3].price`
   * @example const { data } = await this.createMany({ items: [{ name: 'Lamp' }, { name: 'Chair' }] });
   */
  createMany<R = BatchResults<CrudRecord<T>>>(body: JsonObject, query: NotAtomic): Promise<NoInfer<R>>;
  createMany<R = Envelope<T[]>>(body: JsonObject, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `PATCH {endpoint}/batch`, with `enableBatch`: changes records in one transaction, all or none.
   * @param body `items` has an object for each record: its `id`, and the fields to change
   * @param query `atomic` as in `createMany`
   * @example const { data } = await this.patchMany({ items: [{ id: 1, stock: 5 }, { id: 2, stock: 0 }] });
   */
  patchMany<R = BatchResults<CrudRecord<T>>>(body: JsonObject, query: NotAtomic): Promise<NoInfer<R>>;
  patchMany<R = Envelope<T[]>>(body: JsonObject, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `DELETE {endpoint}/batch?ids=1,2`, with `enableBatch`: removes or hides records in one transaction, all or none.
   * @param query `ids`, and `atomic` as in `createMany`
   * @example await this.deleteMany({ ids: '1,2' });
   */
  deleteMany<R = BatchResults<null>>(query: NotAtomic): Promise<NoInfer<R>>;
  deleteMany<R = Envelope<null>>(query: ListQuery): Promise<NoInfer<R>>;
}

// A mixin's constructor must take any arguments (TypeScript handbook, "Mixins"); the generated one takes none.
// oxlint-disable-next-line typescript/no-explicit-any
export type GeneratedControllerClass<T extends object> = new (...args: any[]) => GeneratedController<T>;
