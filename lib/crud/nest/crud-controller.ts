/** The class factory of generated controllers. */
import { Controller, UseInterceptors } from '@nestjs/common';
import type { JsonObject } from '../../http/json-body.js';
import type { CrudOptions } from '../declare/crud-options.js';
import { declareOptions } from '../declare/declared-options.js';
import type { ListQuery } from '../declare/envelope.js';
import type { GeneratedControllerClass } from '../declare/generated-controller.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { resolveCrudOptions } from '../declare/resolve-options.js';
import { aggregate } from '../operations/aggregate.js';
import { count } from '../operations/count.js';
import { create, createMany } from '../operations/create.js';
import { deleteMany, remove } from '../operations/delete.js';
import { exists } from '../operations/exists.js';
import { exportList } from '../operations/export.js';
import { findById } from '../operations/find-by-id.js';
import { list } from '../operations/list.js';
import { patchMany } from '../operations/patch-many.js';
import { restore } from '../operations/restore.js';
import { update } from '../operations/update.js';
import { beginCall } from '../store/call.js';
import { GeneratedBase, injectRepository, planOf } from './generated-base.js';
import { idempotencyInterceptor } from './idempotency.interceptor.js';
import { addRoutes } from './routes.js';

/** The generated controller of an entity, to be registered as it is or extended. @throws InvalidOptionError */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options);
  // A subclass may define them.
  const hooksOf = (controller: object): GeneratedHooks<T> => controller;

  class Generated extends GeneratedBase {
    search(query: ListQuery) {
      return list(planOf(resolved, this), beginCall(), query, 'search');
    }

    exists(id: string) {
      return exists(planOf(resolved, this), beginCall(), id);
    }

    count(query: ListQuery) {
      return count(planOf(resolved, this), beginCall(), query);
    }

    aggregate(query: ListQuery) {
      return aggregate(planOf(resolved, this), beginCall(), query);
    }

    export(query: ListQuery) {
      return exportList(planOf(resolved, this), beginCall(), query);
    }

    findAll(query: ListQuery) {
      return list(planOf(resolved, this), beginCall(), query, 'findAll');
    }

    findById(id: string, query?: ListQuery) {
      return findById(planOf(resolved, this), beginCall(), id, query);
    }

    createMany(body: JsonObject, query?: ListQuery) {
      return createMany(planOf(resolved, this), beginCall(), body, query, hooksOf(this));
    }

    patchMany(body: JsonObject, query?: ListQuery) {
      return patchMany(planOf(resolved, this), beginCall(), body, query, hooksOf(this));
    }

    deleteMany(query: ListQuery) {
      return deleteMany(planOf(resolved, this), beginCall(), query, hooksOf(this));
    }

    create(body: JsonObject) {
      return create(planOf(resolved, this), beginCall(), body, hooksOf(this));
    }

    update(id: string, body: JsonObject) {
      return update(planOf(resolved, this), beginCall(), 'update', id, body, hooksOf(this));
    }

    patch(id: string, body: JsonObject) {
      return update(planOf(resolved, this), beginCall(), 'patch', id, body, hooksOf(this));
    }

    delete(id: string, query?: ListQuery) {
      return remove(planOf(resolved, this), beginCall(), id, query, hooksOf(this));
    }

    restore(id: string) {
      return restore(planOf(resolved, this), beginCall(), id);
    }
  }

  addRoutes(Generated.prototype, resolved);
  injectRepository(resolved, Generated.prototype);
  Controller(resolved.endpoint)(Generated);
  if (resolved.idempotency) UseInterceptors(idempotencyInterceptor(resolved))(Generated);
  Object.defineProperty(Generated, 'name', { value: `${resolved.entity.name}CrudController` });
  declareOptions(Generated, resolved);
  return Generated as unknown as GeneratedControllerClass<T>;
}
