/** The class factory of generated controllers. */
import { Controller, UseInterceptors } from '@nestjs/common';
import type { JsonObject } from '../../http/json-body.js';
import type { CrudOptions } from '../declare/crud-options.js';
import { rememberDeclaration } from './declared-resources.js';
import { envelope } from '../declare/envelope.js';
import { GeneratedBase, injectRepository, operationsOf } from './generated-base.js';
import type { GeneratedControllerClass } from '../declare/generated-controller.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { addRoutes } from './generated-routes.js';
import { idempotencyInterceptor } from './idempotency.interceptor.js';
import type { ListQuery } from '../query/list-query.js';
import type { BatchResult } from '../write/batch-items.js';
import { resolveCrudOptions } from '../declare/resolve-options.js';

/** The generated controller of an entity, to be registered as it is or extended. @throws InvalidOptionError */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options);
  const { entity } = resolved;
  // A subclass may define them.
  const hooksOf = (controller: object): GeneratedHooks<T> => controller;

  class Generated extends GeneratedBase {
    async search(query: ListQuery) {
      const { records, metadata } = await operationsOf(resolved, this).reads.list(query, 'search');
      return envelope(`${entity.name} search`, records, metadata);
    }

    async exists(id: string) {
      const exists = await operationsOf(resolved, this).reads.exists(id);
      return envelope(`${entity.name} ${exists ? 'exists' : 'does not exist'}`, { exists });
    }

    async count(query: ListQuery) {
      return envelope(`${entity.name} count`, { count: await operationsOf(resolved, this).reads.count(query) });
    }

    async aggregate(query: ListQuery) {
      return envelope(`${entity.name} aggregate`, await operationsOf(resolved, this).reads.aggregate(query));
    }

    export(query: ListQuery) {
      return operationsOf(resolved, this).reads.export(query);
    }

    async findAll(query: ListQuery) {
      const { records, metadata } = await operationsOf(resolved, this).reads.list(query, 'findAll');
      return envelope(`${entity.name} list`, records, metadata);
    }

    async findById(id: string, query?: ListQuery) {
      return envelope(`${entity.name} found`, await operationsOf(resolved, this).reads.get(id, query));
    }

    async createMany(body: JsonObject, query?: ListQuery) {
      const answer = (created: T[] | BatchResult[]) => envelope(`${entity.name} batch created`, created);
      return operationsOf(resolved, this).batches.createMany(body, query, hooksOf(this), answer);
    }

    async patchMany(body: JsonObject, query?: ListQuery) {
      const updated = await operationsOf(resolved, this).batches.patchMany(body, query, hooksOf(this));
      return envelope(`${entity.name} batch updated`, updated);
    }

    async deleteMany(query: ListQuery) {
      const deleted = await operationsOf(resolved, this).batches.deleteMany(query, hooksOf(this));
      return envelope(`${entity.name} batch deleted`, deleted);
    }

    async create(body: JsonObject) {
      const answer = (created: T) => envelope(`${entity.name} created`, created);
      return operationsOf(resolved, this).writes.create(body, hooksOf(this), answer);
    }

    async update(id: string, body: JsonObject) {
      return envelope(
        `${entity.name} updated`,
        await operationsOf(resolved, this).writes.replace(id, body, hooksOf(this)),
      );
    }

    async patch(id: string, body: JsonObject) {
      return envelope(
        `${entity.name} updated`,
        await operationsOf(resolved, this).writes.patch(id, body, hooksOf(this)),
      );
    }

    async delete(id: string, query?: ListQuery) {
      await operationsOf(resolved, this).writes.remove(id, query, hooksOf(this));
      return envelope(`${entity.name} deleted`, null);
    }

    async restore(id: string) {
      return envelope(`${entity.name} restored`, await operationsOf(resolved, this).writes.restore(id));
    }
  }

  addRoutes(Generated.prototype, resolved);
  injectRepository(resolved, Generated.prototype);
  Controller(resolved.endpoint)(Generated);
  if (resolved.idempotency) UseInterceptors(idempotencyInterceptor(resolved))(Generated);
  Object.defineProperty(Generated, 'name', { value: `${entity.name}CrudController` });
  rememberDeclaration(Generated, resolved);
  return Generated as unknown as GeneratedControllerClass<T>;
}
