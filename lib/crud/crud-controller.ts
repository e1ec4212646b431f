/** The generated controller: it knows HTTP only, and asks the operations of its resource. */
import { Controller, Inject, Optional, UseFilters, UseGuards, type Type } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { after, type Answer } from '../http/at-once.js';
import type { JsonObject } from '../http/json-body.js';
import type { Draft } from '../http/json-answer.js';
import { UnreadableBodyGuard } from '../http/unreadable-body.js';
import { markCreated, type Locate } from './created-location.js';
import { resolveCrudOptions, type CrudOptions, type ResolvedCrudOptions } from './crud.options.js';
import { CrudEdge } from './crud.edge.js';
import type { Envelope } from './envelope.js';
import { parseListQuery, parseSearchQuery, type ListQuery } from './list-query.js';
import { operationsFor, rememberDeclaration } from './declared-resources.js';
import { addRoutes, DATA_SOURCE, Described, type Answers, type RouteName } from './generated-routes.js';
import type { Operations } from './operations.js';
import type { Listed } from './record-store.js';
import { envelopes, plain } from './unread.js';

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
  const { Generated, answer } = generate(resolved);

  const optional = { search: enableSearch, exists: enableExists };
  const isServed = (name: RouteName): boolean => !(name in optional) || optional[name as keyof typeof optional];
  addRoutes(Generated.prototype, isServed, answer);
  Inject(getDataSourceToken(dataSource) as string)(Generated.prototype, DATA_SOURCE);
  // Where there is none, the boot says so in a sentence of its own.
  Optional()(Generated.prototype, DATA_SOURCE);
  for (const decorate of [Controller(endpoint), UseGuards(UnreadableBodyGuard), UseFilters(CrudEdge)])
    decorate(Generated);
  Object.defineProperty(Generated, 'name', { value: `${entity.name}CrudController` });
  rememberDeclaration(Generated, resolved);
  return Generated;
}

function generate<T extends object>(
  options: ResolvedCrudOptions<T>,
): {
  readonly Generated: Type<GeneratedController<T>>;
  readonly answer: Answers;
} {
  const { entity, enablePagination, searchableFields } = options;
  const answered = answersOf<T>(entity.name);
  const operationsOf = rememberedOperations(options);
  type Asked = Operations<T>;
  const answers = {
    findAll: (asked: Asked, query: ListQuery) =>
      after(asked.list(parseListQuery(query, enablePagination)), answered.list),
    search: (asked: Asked, query: ListQuery) =>
      after(asked.list(parseSearchQuery(query, enablePagination, searchableFields)), answered.search),
    exists: (asked: Asked, id: string) => after(asked.exists(id), answered.exists),
    findById: (asked: Asked, id: string) => after(asked.get(id), answered.found),
    create: (asked: Asked, body: JsonObject, locate: Locate) =>
      after(asked.create(body), (record) => {
        locate(record.id());
        return answered.created(record);
      }),
    update: (asked: Asked, id: string, body: JsonObject) => after(asked.replace(id, body), answered.updated),
    delete: (asked: Asked, id: string) => after(asked.remove(id), answered.deleted),
  };

  class Generated extends Described implements GeneratedController<T> {
    async findAll(query: ListQuery): Promise<Envelope<T[]>> {
      return (await answers.findAll(operationsOf(this), query)).object();
    }

    async search(query: ListQuery): Promise<Envelope<T[]>> {
      return (await answers.search(operationsOf(this), query)).object();
    }

    async exists(id: string): Promise<Envelope<{ exists: boolean }>> {
      return (await answers.exists(operationsOf(this), id)).object();
    }

    async findById(id: string): Promise<Envelope<T>> {
      return (await answers.findById(operationsOf(this), id)).object();
    }

    /** @param locate where the route is the generated one; an override passes the answer on */
    async create(body: JsonObject, locate?: Locate): Promise<Envelope<T>> {
      const record = await operationsOf(this).create(body);
      const id = record.id();
      const answer = answered.created(record).object();
      if (typeof locate !== 'function') return markCreated(answer, id);
      locate(id);
      return answer;
    }

    async update(id: string, body: JsonObject): Promise<Envelope<T>> {
      return (await answers.update(operationsOf(this), id, body)).object();
    }

    async delete(id: string): Promise<Envelope<null>> {
      return (await answers.delete(operationsOf(this), id)).object();
    }
  }
  return {
    Generated,
    answer: (name) => (controller, values) =>
      (answers[name] as (asked: Asked, ...sent: readonly unknown[]) => Answer<Draft>)(
        operationsOf(controller as Described),
        ...values,
      ),
  };
}

/** What each operation answers, in the words of the contract. */
function answersOf<T>(name: string) {
  const listed = (message: string) => {
    const list = envelopes(message);
    return ({ records, metadata }: Listed<T>) => list(records, metadata);
  };
  const [there, nowhere] = [envelopes(`${name} exists`), envelopes(`${name} does not exist`)];
  const deleted = envelopes(`${name} deleted`);
  return {
    list: listed(`${name} list`),
    search: listed(`${name} search`),
    exists: (exists: boolean) => (exists ? there : nowhere)(plain({ exists })),
    found: envelopes(`${name} found`),
    created: envelopes(`${name} created`),
    updated: envelopes(`${name} updated`),
    deleted: () => deleted(plain(null)),
  };
}

/** Of the data source that a controller was given; one class seldom has controllers of two. */
function rememberedOperations<T extends object>(
  options: ResolvedCrudOptions<T>,
): (controller: Described) => Operations<T> {
  let last: { readonly of: DataSource; readonly operations: Operations<T> } | undefined;
  return ({ [DATA_SOURCE]: dataSource }) => {
    if (last?.of !== dataSource) last = { of: dataSource, operations: operationsFor(options, dataSource) };
    return last.operations;
  };
}
