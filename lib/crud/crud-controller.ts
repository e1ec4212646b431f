/** The class factory of generated controllers. */
import { Controller, type Type } from '@nestjs/common';
import type { JsonObject } from '../http/json-body.js';
import { resolveCrudOptions, type CrudOptions, type ResolvedCrudOptions } from './crud-options.js';
import { rememberDeclaration } from './declared-resources.js';
import { envelope, type Envelope } from './envelope.js';
import { GeneratedBase, injectRepository, operationsOf } from './generated-base.js';
import { addRoutes, type RouteName } from './generated-routes.js';
import { parseListQuery, parseSearchQuery, type ListQuery } from './query/list-query.js';

/** What a generated controller does; a subclass overrides what it wants otherwise, and calls `super` for the rest. */
export interface GeneratedController<T extends object> {
  findAll(query: ListQuery): Promise<Envelope<T[]>>;
  findById(id: string): Promise<Envelope<T>>;
  create(body: JsonObject): Promise<Envelope<T>>;
  update(id: string, body: JsonObject): Promise<Envelope<T>>;
  delete(id: string): Promise<Envelope<null>>;
  /** Reachable where `enableSearch` is on. */
  search(query: ListQuery): Promise<Envelope<T[]>>;
  /** Reachable where `enableExists` is on. */
  exists(id: string): Promise<Envelope<{ exists: boolean }>>;
}

// A mixin's constructor must take any arguments (TypeScript handbook, "Mixins"); the generated one takes none.
// oxlint-disable-next-line typescript/no-explicit-any
export type GeneratedControllerClass<T extends object> = new (...args: any[]) => GeneratedController<T>;

/**
 * The generated controller of an entity, to be registered as it is or extended.
 *
 * @throws InvalidOptionError
 */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options);
  const { entity, endpoint, enableSearch, enableExists } = resolved;
  const Generated = generatedClass(resolved);

  const optional: Partial<Record<RouteName, boolean>> = { search: enableSearch, exists: enableExists };
  addRoutes(Generated.prototype as object, (name) => optional[name] ?? true);
  injectRepository(resolved, Generated);
  Controller(endpoint)(Generated);
  Object.defineProperty(Generated, 'name', { value: `${entity.name}CrudController` });
  rememberDeclaration(Generated, resolved);
  return Generated;
}

function generatedClass<T extends object>(options: ResolvedCrudOptions<T>): Type<GeneratedController<T>> {
  const { entity, enablePagination, searchableFields } = options;

  class Generated extends GeneratedBase implements GeneratedController<T> {
    async search(query: ListQuery): Promise<Envelope<T[]>> {
      const { records, metadata } = await operationsOf(options, this).list(
        parseSearchQuery(query, enablePagination, searchableFields),
      );
      return envelope(`${entity.name} search`, records, metadata);
    }

    async exists(id: string): Promise<Envelope<{ exists: boolean }>> {
      const exists = await operationsOf(options, this).exists(id);
      return envelope(`${entity.name} ${exists ? 'exists' : 'does not exist'}`, { exists });
    }

    async findAll(query: ListQuery): Promise<Envelope<T[]>> {
      const { records, metadata } = await operationsOf(options, this).list(parseListQuery(query, enablePagination));
      return envelope(`${entity.name} list`, records, metadata);
    }

    async findById(id: string): Promise<Envelope<T>> {
      return envelope(`${entity.name} found`, await operationsOf(options, this).get(id));
    }

    async create(body: JsonObject): Promise<Envelope<T>> {
      return envelope(`${entity.name} created`, await operationsOf(options, this).create(body));
    }

    async update(id: string, body: JsonObject): Promise<Envelope<T>> {
      return envelope(`${entity.name} updated`, await operationsOf(options, this).replace(id, body));
    }

    async delete(id: string): Promise<Envelope<null>> {
      await operationsOf(options, this).remove(id);
      return envelope(`${entity.name} deleted`, null);
    }
  }
  return Generated;
}
