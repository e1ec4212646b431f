/** Calls the hooks of a controller around the writes of its records. */
import { Logger } from '@nestjs/common';
import { userOf } from '../../http/principal.js';
import type { GeneratedHooks, HookContext, HookValues, IdOf } from '../declare/generated-hooks.js';
import type { CrudRecord } from '../declare/record-types.js';
import { currentRequest } from '../nest/request-context.js';
import type { View } from '../rows/caller-view.js';
import { afterCommit, transactionOf } from '../store/transactions.js';
import type { Change, RecordBodies } from './record-bodies.js';
import type { ResourceAccess, Target } from '../operations/resource-access.js';

const logger = new Logger('declarest');

export class HookCalls<T extends object> {
  constructor(
    private readonly access: ResourceAccess<T>,
    private readonly bodies: RecordBodies<T>,
  ) {}

  /** @returns what is written @throws what the hook throws, and 400 for wrong values that it returns */
  async beforeCreate(hooks: GeneratedHooks<T>, change: Change<T>, view: View): Promise<Change<T>> {
    const returned = await hooks.beforeCreate?.(this.valuesOf(change), this.context);
    if (returned === undefined) return change;
    return this.bodies.checkCreated(this.bodies.read(returned, 'create', view, 'hook'), view);
  }

  /** @returns what is written @throws 404, 403, 412, what the hook throws, and 400 for wrong values that it returns */
  async beforeUpdate(hooks: GeneratedHooks<T>, change: Change<T>, target: Target): Promise<Change<T>> {
    if (!hooks.beforeUpdate) return change;
    await this.access.lockChangeable(target);
    const returned = await hooks.beforeUpdate(this.idOf(target), this.valuesOf(change), this.context);
    if (returned === undefined) return change;
    const sent = this.bodies.read(returned, change.kind, target.view, 'hook');
    const current = this.bodies.needsCurrent(sent) ? await this.access.current(target) : undefined;
    return this.bodies.checkChanged(sent, current, target);
  }

  /** @throws 404, 403, 412, and what the hook throws */
  async beforeDelete(hooks: GeneratedHooks<T>, target: Target): Promise<void> {
    if (!hooks.beforeDelete) return;
    await this.access.lockChangeable(target);
    await hooks.beforeDelete(this.idOf(target), this.context);
  }

  afterCreate(hooks: GeneratedHooks<T>, record: T): Promise<void> {
    return this.after(hooks, 'afterCreate', () => hooks.afterCreate?.(record as CrudRecord<T>, this.context));
  }

  afterUpdate(hooks: GeneratedHooks<T>, record: T): Promise<void> {
    return this.after(hooks, 'afterUpdate', () => hooks.afterUpdate?.(record as CrudRecord<T>, this.context));
  }

  afterDelete(hooks: GeneratedHooks<T>, target: Target): Promise<void> {
    return this.after(hooks, 'afterDelete', () => hooks.afterDelete?.(this.idOf(target), this.context));
  }

  /** The records are written already, so that an error must not say otherwise. */
  private async after(hooks: GeneratedHooks<T>, name: keyof GeneratedHooks<T>, call: () => unknown): Promise<void> {
    if (!hooks[name]) return;
    await afterCommit(this.access.dataSource, async () => {
      try {
        await call();
      } catch (error) {
        logger.error(`${name} of ${this.access.name} failed.`, error instanceof Error ? error.stack : undefined);
      }
    });
  }

  private get context(): HookContext {
    const request = currentRequest();
    const { dataSource } = this.access;
    return { user: userOf(request), request, manager: transactionOf(dataSource) ?? dataSource.manager };
  }

  private valuesOf(change: Change<T>): HookValues<T> {
    return this.bodies.valuesOf(change) as HookValues<T>;
  }

  /** As clients see it. */
  private idOf({ key }: Target): IdOf<T> {
    return this.access.resource.schema.id.type.write(key) as IdOf<T>;
  }
}
