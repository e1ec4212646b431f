/** The hooks of generated controllers, which a subclass defines. */
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../http/caller.js';
import type { HttpRequest } from '../../http/http-request.js';
import type { CrudRecord, ManyRelationName } from './record-types.js';

/** What a hook knows of the write that it belongs to. */
export interface HookContext {
  /** The user of the request; `undefined` for an anonymous one, and outside of a request. */
  readonly user: Principal | undefined;
  /** `undefined` outside of a request. */
  readonly request: HttpRequest | undefined;
  /** TypeORM's manager of the transaction. After the commit, that of the data source. */
  readonly manager: EntityManager;
  /** Runs work after the commit, before the response; never where the write is rolled back. Its errors are logged. */
  readonly afterCommit: (work: () => unknown) => void;
}

/** The type of an entity's primary key. */
export type IdOf<T> = T extends { readonly id: infer Id } ? Id : unknown;

/** The values that a write sets, by the names that clients use. They have the types of the entity, such as `Date`. */
export type HookValues<T> = { readonly [K in keyof CrudRecord<T>]?: CrudRecord<T>[K] } & {
  readonly [K in ManyRelationName<T> as `${K}Ids`]?: readonly (string | number)[];
};

type Changes<V> = { readonly [K in keyof V]?: V[K] | undefined };

/** Without a result, the values stay as they are. */
// A method without a `return` has the type `void`.
// oxlint-disable-next-line typescript/no-invalid-void-type
type HookResult<V> = Changes<V> | void | Promise<Changes<V> | void>;

/**
 * Methods that run around the writes of a generated controller, also where an override calls `super`, and once for each
 * item of a batch. An exception in a `before` or `when` hook refuses the write: an `HttpException` with its status, another
 * one as 500. An exception in an `after` hook is logged.
 *
 * Where several classes define a hook, such as a mixin and its subclass, each one runs, that of the base class first. Do not
 * call `super` in a hook: it would run twice.
 */
export interface GeneratedHooks<T extends object> {
  /**
   * Runs before POST writes a record, in the transaction of the write.
   * @param values the checked values of the body, with those that the server sets
   * @returns values that are merged over these, and checked; `undefined` for one counts as not sent. It may set fields
   *   that clients cannot write
   * @example override beforeCreate(values: HookValues<Article>) { return { slug: slugOf(values.title) }; }
   */
  beforeCreate?(values: HookValues<T>, context: HookContext): HookResult<HookValues<T>>;
  /**
   * Runs before PUT or PATCH changes a record, in the transaction of the write. The record is locked.
   * @param values the values that the write sets: all for PUT, those that the body has for PATCH
   * @returns values that are merged over these, and checked; `undefined` for one counts as not sent
   * @example override async beforeUpdate(id: number, values: HookValues<Article>) { await this.check(id, values.title); }
   */
  beforeUpdate?(id: IdOf<T>, values: HookValues<T>, context: HookContext): HookResult<HookValues<T>>;
  /**
   * Runs before DELETE removes or hides a record, in the transaction of the write. The record is locked.
   * @example override async beforeDelete(id: number) { if (await this.isOrdered(id)) throw new ConflictException(); }
   */
  beforeDelete?(id: IdOf<T>, context: HookContext): HookResult<undefined>;
  /**
   * Runs after POST has written a record, before the commit. What it writes by `manager` is committed with the record.
   * @param record every column but hidden ones, whatever the caller may read
   * @example override async whenCreated({ id }: CrudRecord<Order>, { manager }: HookContext) { await manager.insert(Outbox, { orderId: id }); }
   */
  whenCreated?(record: CrudRecord<T>, context: HookContext): HookResult<undefined>;
  /**
   * Runs after PUT or PATCH has changed a record, before the commit.
   * @param record as `whenCreated` gets it
   * @param before the record as it was stored before
   * @example override async whenUpdated(record: CrudRecord<Order>, before: CrudRecord<Order>, { manager }: HookContext) { await manager.insert(Audit, changesOf(before, record)); }
   */
  whenUpdated?(record: CrudRecord<T>, before: CrudRecord<T>, context: HookContext): HookResult<undefined>;
  /** Runs after DELETE has removed or hidden a record, before the commit. @param record as it was stored before */
  whenDeleted?(record: CrudRecord<T>, context: HookContext): HookResult<undefined>;
  /**
   * Runs after `restore` has made a hidden record visible, before the commit.
   * @example override async whenRestored({ id }: CrudRecord<Order>, { manager }: HookContext) { await manager.insert(Outbox, { orderId: id }); }
   */
  whenRestored?(record: CrudRecord<T>, context: HookContext): HookResult<undefined>;
  /**
   * Runs after the commit of a POST, before the response.
   * @param record as the response has it
   * @example override async afterCreate(record: CrudRecord<Article>) { await this.mailer.announce(record.title); }
   */
  afterCreate?(record: CrudRecord<T>, context: HookContext): HookResult<undefined>;
  /** Runs after the commit of a PUT or PATCH, before the response. @param record as the response has it */
  afterUpdate?(record: CrudRecord<T>, context: HookContext): HookResult<undefined>;
  /**
   * Runs after the commit of a DELETE, before the response.
   * @example override async afterDelete(id: number) { await this.cache.remove(id); }
   */
  afterDelete?(id: IdOf<T>, context: HookContext): HookResult<undefined>;
}

/** The hooks in their order, with the place of the values that one changes for the next one; -1 without values. */
const BEFORE = { beforeCreate: 0, beforeUpdate: 1, beforeDelete: -1 };
const WHEN = { whenCreated: -1, whenUpdated: -1, whenDeleted: -1, whenRestored: -1 };
const AFTER = { afterCreate: -1, afterUpdate: -1, afterDelete: -1 };
const VALUES: Readonly<Record<keyof GeneratedHooks<object>, number>> = { ...BEFORE, ...WHEN, ...AFTER };
export const HOOK_NAMES = Object.keys(VALUES) as readonly (keyof typeof VALUES)[];

type Hook = (...given: unknown[]) => unknown;

/** The hooks of a controller: of each class that defines one, from the base to the subclass. */
export function compileHooks(controller: object): GeneratedHooks<object> {
  const hookOf = (owner: object, name: string) => Reflect.get(owner, name, controller) as Hook | undefined;
  const compile = (name: keyof typeof VALUES): Hook => {
    const owners: object[] = [];
    for (let each = controller; each !== null; each = Object.getPrototypeOf(each) as typeof each)
      if (Object.hasOwn(each, name)) owners.unshift(each);
    // A property of the controller, such as a spy of a test, replaces the method of its class.
    if (owners.at(-1) === controller) owners.splice(-2, 1, controller);
    const place = VALUES[name];
    return async (...given) => {
      let changes: object | undefined;
      for (const owner of new Set(owners)) {
        const step = given.map((each, index) => (index === place ? { ...(each as object), ...changes } : each));
        const returned = await hookOf(owner, name)?.apply(controller, step);
        if (returned !== undefined) changes = { ...changes, ...(returned as object) };
      }
      return changes;
    };
  };
  const defined = HOOK_NAMES.filter((name) => typeof hookOf(controller, name) === 'function');
  return Object.freeze(Object.fromEntries(defined.map((name) => [name, compile(name)])));
}
