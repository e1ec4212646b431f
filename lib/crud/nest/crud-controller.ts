/** The class factory of generated controllers. */
import { Controller, UseInterceptors } from '@nestjs/common';
import type { JsonObject } from '../../http/json-body.js';
import type { CrudOptions } from '../declare/crud-options.js';
import { declareOptions } from '../declare/declared-options.js';
import type { ListQuery } from '../declare/envelope.js';
import type { GeneratedControllerClass } from '../declare/generated-controller.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { OPERATION_NAMES, type OperationName } from '../declare/operations.js';
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
import type { Plan } from '../plan/plan.js';
import { beginCall, type Call } from '../store/call.js';
import { GeneratedBase, injectRepository, planOf } from './generated-base.js';
import { idempotencyInterceptor } from './idempotency.interceptor.js';
import { addRoutes } from './routes.js';

/** What the method of each operation runs. A subclass may define the hooks. */
type Run = (plan: Plan, call: Call, hooks: GeneratedHooks<object>, ...parameters: never[]) => Promise<unknown>;

const RUN: Readonly<Record<OperationName, Run>> = {
  search: (plan, call, _, query: ListQuery) => list(plan, call, query, 'search'),
  exists: (plan, call, _, id: string) => exists(plan, call, id),
  count: (plan, call, _, query: ListQuery) => count(plan, call, query),
  aggregate: (plan, call, _, query: ListQuery) => aggregate(plan, call, query),
  export: (plan, call, _, query: ListQuery) => exportList(plan, call, query),
  findAll: (plan, call, _, query: ListQuery) => list(plan, call, query, 'findAll'),
  findById: (plan, call, _, id: string, query?: ListQuery) => findById(plan, call, id, query),
  createMany: (plan, call, hooks, body: JsonObject, query?: ListQuery) => createMany(plan, call, body, query, hooks),
  patchMany: (plan, call, hooks, body: JsonObject, query?: ListQuery) => patchMany(plan, call, body, query, hooks),
  deleteMany: (plan, call, hooks, query: ListQuery) => deleteMany(plan, call, query, hooks),
  create: (plan, call, hooks, body: JsonObject) => create(plan, call, body, hooks),
  update: (plan, call, hooks, id: string, body: JsonObject) => update(plan, call, 'update', id, body, hooks),
  patch: (plan, call, hooks, id: string, body: JsonObject) => update(plan, call, 'patch', id, body, hooks),
  delete: (plan, call, hooks, id: string, query?: ListQuery) => remove(plan, call, id, query, hooks),
  restore: (plan, call, _, id: string) => restore(plan, call, id),
};

/** The generated controller of an entity, to be registered as it is or extended. @throws InvalidOptionError */
export function CrudController<T extends object>(options: CrudOptions<T>): GeneratedControllerClass<T> {
  const resolved = resolveCrudOptions(options);
  class Generated extends GeneratedBase {}
  for (const name of OPERATION_NAMES) {
    const run = RUN[name];
    const methods = {
      [name](this: GeneratedBase, ...parameters: never[]): Promise<unknown> {
        return run(planOf(resolved, this), beginCall(), this as GeneratedHooks<object>, ...parameters);
      },
    };
    Object.defineProperty(Generated.prototype, name, { value: methods[name], writable: true, configurable: true });
  }
  addRoutes(Generated.prototype, resolved);
  injectRepository(resolved, Generated.prototype);
  Controller(resolved.endpoint)(Generated);
  if (resolved.idempotency) UseInterceptors(idempotencyInterceptor(resolved))(Generated);
  Object.defineProperty(Generated, 'name', { value: `${resolved.entity.name}CrudController` });
  declareOptions(Generated, resolved);
  return Generated as unknown as GeneratedControllerClass<T>;
}
