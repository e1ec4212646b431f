/** The methods of generated controllers, which a subclass calls and overrides. */
import type { StreamableFile } from '@nestjs/common';
import type { JsonObject } from '../../http/json-body.js';
import type { Envelope, ListQuery } from './envelope.js';
import type { GeneratedBatches } from './generated-batches.js';
import type { GeneratedHooks } from './generated-hooks.js';
import type { AggregateRow } from './record-types.js';

/**
 * The operations of a generated controller. A subclass overrides those that it wants to change, and calls `super` for
 * the rest. An override may answer another shape: two signatures let TypeScript accept any result.
 */
export interface GeneratedController<T extends object> extends GeneratedBatches<T>, GeneratedHooks<T> {
  /**
   * `GET {endpoint}`: records in the order of the primary key.
   *
   * @param query the query parameters: `page` and `size` with `enablePagination`, else none
   * @returns the records; `metadata.pagination` of a page, `metadata.truncated` with `maxListSize`
   * @throws BadRequestException for an unknown or malformed parameter
   * @example
   * ```ts
   * @Get()
   * override async findAll(query: ListQuery) {
   *   const list = await super.findAll(query);
   *   return { ...list, data: list.data.filter(({ stock }) => stock > 0) };
   * }
   * ```
   */
  findAll<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;
  findAll<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/{id}`: one record.
   *
   * @param id as sent in the path
   * @param query the query parameters: `fields`, and `include` with `includableRelations`
   * @returns the record with every readable field, or with those that `fields` names
   * @throws BadRequestException for a malformed id
   * @throws NotFoundException for an unknown id
   * @example
   * ```ts
   * @Get(':id')
   * override async findById(id: string) {
   *   const product = await super.findById(id);
   *   this.views.count(product.data.id);
   *   return product;
   * }
   * ```
   */
  findById<R = Envelope<T>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;
  findById<R = Envelope<T>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `POST {endpoint}`: stores a new record and answers 201 with `Location`.
   *
   * @param body the fields of the record; from code, values may have the types of the entity, such as `Date`
   * @returns the stored record
   * @throws BadRequestException naming every wrong field
   * @throws ConflictException for a taken unique value or a missing referenced record
   * @example
   * ```ts
   * @Post()
   * override async create(body: JsonObject) {
   *   return super.create({ ...body, publishedAt: new Date() });
   * }
   * ```
   */
  create<R = Envelope<T>>(body: JsonObject): Promise<NoInfer<R>>;
  create<R = Envelope<T>>(body: JsonObject): Promise<NoInfer<R>>;

  /**
   * `PUT {endpoint}/{id}`: replaces the fields of a record. It never creates one.
   *
   * @param id as sent in the path
   * @param body all fields of the record: an absent one gets its default or `null`. What `findById` returned is accepted
   * @returns the record after the update
   * @throws BadRequestException for a malformed id, or naming every wrong field
   * @throws NotFoundException for an unknown id
   * @throws ConflictException for a taken unique value or a missing referenced record
   * @example
   * ```ts
   * @Put(':id')
   * override async update(id: string, body: JsonObject) {
   *   const { data } = await super.findById(id);
   *   return super.update(id, { ...body, slug: data.slug });
   * }
   * ```
   */
  update<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;
  update<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;

  /**
   * `PATCH {endpoint}/{id}`: changes the fields that are sent, as a JSON merge patch (RFC 7396). It never creates a record.
   *
   * @param id as sent in the path
   * @param body the fields to change: `null` clears a field, an object is merged into the stored one
   * @returns the record after the update
   * @throws BadRequestException for a malformed id, or naming every wrong field
   * @throws NotFoundException for an unknown id
   * @throws PreconditionFailedException where `If-Match` names another version
   * @throws ConflictException for a taken unique value or a missing referenced record
   * @example
   * ```ts
   * @Patch(':id')
   * override async patch(id: string, body: JsonObject) {
   *   return super.patch(id, { ...body, editedAt: new Date() });
   * }
   * ```
   */
  patch<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;
  patch<R = Envelope<T>>(id: string, body: JsonObject): Promise<NoInfer<R>>;

  /**
   * `DELETE {endpoint}/{id}`: removes a record, or marks it as deleted where the entity has a `@DeleteDateColumn`.
   *
   * @param id as sent in the path
   * @param query the query parameters: `purge` for users with one of the `deletedRoles`, else none
   * @returns `data: null`
   * @throws BadRequestException for a malformed id
   * @throws NotFoundException for an unknown id
   * @throws ConflictException where other records refer to it
   * @example
   * ```ts
   * @Delete(':id')
   * override async delete(id: string) {
   *   const { data } = await super.findById(id);
   *   if (data.locked) throw new ConflictException('A locked product cannot be deleted');
   *   return super.delete(id);
   * }
   * ```
   */
  delete<R = Envelope<null>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;
  delete<R = Envelope<null>>(id: string, query?: ListQuery): Promise<NoInfer<R>>;

  /**
   * `POST {endpoint}/{id}/restore`, with `enableRestore`: makes a record visible again that DELETE has hidden.
   *
   * @param id as sent in the path
   * @returns the record; unchanged where it is not hidden
   * @throws BadRequestException for a malformed id
   * @throws NotFoundException for an unknown id
   * @example
   * ```ts
   * @Post(':id/restore')
   * @HttpCode(200)
   * override async restore(id: string) {
   *   const product = await super.restore(id);
   *   this.audit.restored(product.data.id);
   *   return product;
   * }
   * ```
   */
  restore<R = Envelope<T>>(id: string): Promise<NoInfer<R>>;
  restore<R = Envelope<T>>(id: string): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/search`, with `enableSearch`: records that contain every text.
   *
   * @param query texts by the names of searchable fields; `q` searches in all of them
   * @throws BadRequestException for an unknown parameter, or an empty or too long text
   * @example const { data } = await this.search({ name: 'lamp' });
   */
  search<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;
  search<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/exists/{id}`, with `enableExists`.
   *
   * @param id as sent in the path
   * @throws BadRequestException for a malformed id
   * @example
   * const { data } = await this.exists('7');
   * if (data.exists) …
   */
  exists<R = Envelope<{ exists: boolean }>>(id: string): Promise<NoInfer<R>>;
  exists<R = Envelope<{ exists: boolean }>>(id: string): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/count`, with `enableCount`.
   *
   * @param query filters by `filterableFields`
   * @throws BadRequestException for an unknown or malformed parameter
   * @example
   * const { data } = await this.count({ 'filter[status]': 'open' });
   * if (data.count > 0) …
   */
  count<R = Envelope<{ count: number }>>(query: ListQuery): Promise<NoInfer<R>>;
  count<R = Envelope<{ count: number }>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/aggregate`, with `aggregatableFields`: sums, averages, least and greatest values.
   *
   * @param query `sum`, `avg`, `min`, `max` and `groupBy` name fields, and filters by `filterableFields`
   * @returns a row for each group, in its order, or one row without `groupBy`
   * @throws BadRequestException for an unknown or malformed parameter, or more than 1,000 groups
   * @example const { data } = await this.aggregate({ sum: 'price', groupBy: 'categoryId' });
   */
  aggregate<R = Envelope<AggregateRow[]>>(query: ListQuery): Promise<NoInfer<R>>;
  aggregate<R = Envelope<AggregateRow[]>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/export`, with `enableExport`: the list as a file, which is read and sent in batches.
   *
   * @param query `format`, filters, `sort` and `fields`
   * @throws BadRequestException for an unknown or malformed parameter
   * @example
   * ```ts
   * @Get('export')
   * override async export(query: ListQuery) {
   *   return super.export({ ...query, fields: 'id,name' });
   * }
   * ```
   */
  export<R = StreamableFile>(query: ListQuery): Promise<NoInfer<R>>;
  export<R = StreamableFile>(query: ListQuery): Promise<NoInfer<R>>;
}

// A mixin's constructor must take any arguments (TypeScript handbook, "Mixins"); the generated one takes none.
// oxlint-disable-next-line typescript/no-explicit-any
export type GeneratedControllerClass<T extends object> = new (...args: any[]) => GeneratedController<T>;
