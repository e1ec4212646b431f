/** The class factory of generated controllers. */
import { Controller } from '@nestjs/common';
import type { JsonObject } from '../http/json-body.js';
import { resolveCrudOptions, type CrudOptions } from './crud-options.js';
import { rememberDeclaration } from './declared-resources.js';
import { envelope, type Envelope } from './envelope.js';
import { GeneratedBase, injectRepository, operationsOf } from './generated-base.js';
import { addRoutes } from './generated-routes.js';
import { parseListQuery, type ListQuery } from './query/list-query.js';

/**
 * The operations of a generated controller. A subclass overrides those that it wants to change, and calls `super` for
 * the rest. An override may answer another shape: two signatures let TypeScript accept any result.
 */
export interface GeneratedController<T extends object> {
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
   * @returns the record with every readable field
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
  findById<R = Envelope<T>>(id: string): Promise<NoInfer<R>>;
  findById<R = Envelope<T>>(id: string): Promise<NoInfer<R>>;

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
   * `DELETE {endpoint}/{id}`: removes a record, or marks it as deleted where the entity has a `@DeleteDateColumn`.
   *
   * @param id as sent in the path
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
  delete<R = Envelope<null>>(id: string): Promise<NoInfer<R>>;
  delete<R = Envelope<null>>(id: string): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/search`, with `enableSearch`: records that contain every text.
   *
   * @param query texts by the names of searchable fields; `q` searches in all of them
   * @throws BadRequestException for an unknown parameter, or an empty or too long text
   * @example
   * ```ts
   * const { data } = await this.search({ name: 'lamp' });
   * ```
   */
  search<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;
  search<R = Envelope<T[]>>(query: ListQuery): Promise<NoInfer<R>>;

  /**
   * `GET {endpoint}/exists/{id}`, with `enableExists`.
   *
   * @param id as sent in the path
   * @throws BadRequestException for a malformed id
   * @example
   * ```ts
   * const { data } = await this.exists('7');
   * if (data.exists) …
   * ```
   */
  exists<R = Envelope<{ exists: boolean }>>(id: string): Promise<NoInfer<R>>;
  exists<R = Envelope<{ exists: boolean }>>(id: string): Promise<NoInfer<R>>;
}

// A mixin's constructor must take any arguments (TypeScript handbook, "Mixins"); the generated one takes none.
// oxlint-disable-next-line typescript/no-explicit-any
export type GeneratedControllerClass<T extends object> = new (...args: any[]) => GeneratedController<T>;

/** The generated controller of an entity, to be registered as it is or extended. @throws InvalidOptionError */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options);
  const { entity, enablePagination, searchableFields } = resolved;

  class Generated extends GeneratedBase {
    async search(query: ListQuery) {
      const request = parseListQuery(query, enablePagination, searchableFields);
      const { records, metadata } = await operationsOf(resolved, this).list(request);
      return envelope(`${entity.name} search`, records, metadata);
    }

    async exists(id: string) {
      const exists = await operationsOf(resolved, this).exists(id);
      return envelope(`${entity.name} ${exists ? 'exists' : 'does not exist'}`, { exists });
    }

    async findAll(query: ListQuery) {
      const { records, metadata } = await operationsOf(resolved, this).list(parseListQuery(query, enablePagination));
      return envelope(`${entity.name} list`, records, metadata);
    }

    async findById(id: string) {
      return envelope(`${entity.name} found`, await operationsOf(resolved, this).get(id));
    }

    async create(body: JsonObject) {
      return envelope(`${entity.name} created`, await operationsOf(resolved, this).create(body));
    }

    async update(id: string, body: JsonObject) {
      return envelope(`${entity.name} updated`, await operationsOf(resolved, this).replace(id, body));
    }

    async delete(id: string) {
      await operationsOf(resolved, this).remove(id);
      return envelope(`${entity.name} deleted`, null);
    }
  }

  addRoutes(Generated.prototype, resolved);
  injectRepository(resolved, Generated.prototype);
  Controller(resolved.endpoint)(Generated);
  Object.defineProperty(Generated, 'name', { value: `${entity.name}CrudController` });
  rememberDeclaration(Generated, resolved);
  return Generated as unknown as GeneratedControllerClass<T>;
}
