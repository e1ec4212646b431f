/** The generated controller: it knows HTTP only, and asks the operations of its resource. */
import { Controller, Inject, Optional, UseFilters, UseGuards, type Type } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { JsonObject } from '../http/json-body.js';
import { UnreadableBodyGuard } from '../http/unreadable-body.js';
import { markCreated, type Locate } from './created-location.js';
import { resolveCrudOptions, type CrudOptions, type ResolvedCrudOptions } from './crud.options.js';
import { CrudEdge } from './crud.edge.js';
import { envelope, type Envelope } from './envelope.js';
import { parseListQuery, parseSearchQuery, type ListQuery } from './list-query.js';
import { operationsFor, rememberDeclaration } from './declared-resources.js';
import { addRoutes, DATA_SOURCE, Described } from './generated-routes.js';
import type { Operations } from './operations.js';
import { unreadEnvelope } from './unread.js';

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
  const { entity, endpoint, enableSearch, enableExists, dataSource } = resolved;
  const Generated = generate(resolved);

  const optional = { search: enableSearch, exists: enableExists };
  addRoutes(Generated.prototype, (name) => !(name in optional) || optional[name as keyof typeof optional]);
  Inject(getDataSourceToken(dataSource) as string)(Generated.prototype, DATA_SOURCE);
  // Where there is none, the boot says so in a sentence of its own.
  Optional()(Generated.prototype, DATA_SOURCE);
  for (const decorate of [Controller(endpoint), UseGuards(UnreadableBodyGuard), UseFilters(CrudEdge)])
    decorate(Generated);
  Object.defineProperty(Generated, 'name', { value: `${entity.name}CrudController` });
  rememberDeclaration(Generated, resolved);
  return Generated;
}

function generate<T extends object>(options: ResolvedCrudOptions<T>): Type<GeneratedController<T>> {
  const { name } = options.entity;
  const operationsOf = (controller: { readonly [DATA_SOURCE]: DataSource }): Operations<T> =>
    operationsFor(options, controller[DATA_SOURCE]);
  return class extends Described implements GeneratedController<T> {
    async findAll(query: ListQuery): Promise<Envelope<T[]>> {
      const { records, metadata } = await operationsOf(this).list(parseListQuery(query, options.enablePagination));
      return unreadEnvelope(`${name} list`, records, metadata);
    }

    async search(query: ListQuery): Promise<Envelope<T[]>> {
      const { records, metadata } = await operationsOf(this).list(
        parseSearchQuery(query, options.enablePagination, options.searchableFields),
      );
      return unreadEnvelope(`${name} search`, records, metadata);
    }

    async exists(id: string): Promise<Envelope<{ exists: boolean }>> {
      const exists = await operationsOf(this).exists(id);
      return envelope(exists ? `${name} exists` : `${name} does not exist`, { exists });
    }

    async findById(id: string): Promise<Envelope<T>> {
      return unreadEnvelope(`${name} found`, await operationsOf(this).get(id));
    }

    /** @param locate where the route is the generated one; an override passes the answer on */
    async create(body: JsonObject, locate?: Locate): Promise<Envelope<T>> {
      const record = await operationsOf(this).create(body);
      const id = record.id();
      const answer = unreadEnvelope(`${name} created`, record);
      if (typeof locate !== 'function') return markCreated(answer, id);
      locate(id);
      return answer;
    }

    async update(id: string, body: JsonObject): Promise<Envelope<T>> {
      return unreadEnvelope(`${name} updated`, await operationsOf(this).replace(id, body));
    }

    async delete(id: string): Promise<Envelope<null>> {
      await operationsOf(this).remove(id);
      return envelope(`${name} deleted`, null);
    }
  };
}
