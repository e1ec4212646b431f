/** The hooks of generated controllers, which a subclass defines. */
import type { EntityManager } from 'typeorm';
import type { Principal } from '../../http/principal.js';
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
 * item of a batch. An exception in a `before` hook refuses the write: an `HttpException` with its status, another one as
 * 500. An exception in an `after` hook is logged.
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
   * Runs after the commit of a POST, before the response.
   * @param record as the response has it
   * @example override async afterCreate(record: CrudRecord<Article>) { await this.mailer.announce(record.title); }
   */
  afterCreate?(record: CrudRecord<T>, context: HookContext): HookResult<undefined>;

  /**
   * Runs after the commit of a PUT or PATCH, before the response.
   * @param record as the response has it
   * @example override async afterUpdate(record: CrudRecord<Article>) { await this.cache.remove(record.id); }
   */
  afterUpdate?(record: CrudRecord<T>, context: HookContext): HookResult<undefined>;

  /**
   * Runs after the commit of a DELETE, before the response.
   * @example override async afterDelete(id: number) { await this.cache.remove(id); }
   */
  afterDelete?(id: IdOf<T>, context: HookContext): HookResult<undefined>;
}

/** Every hook by its name. */
const HOOKS = {
  beforeCreate: true,
  beforeUpdate: true,
  beforeDelete: true,
  afterCreate: true,
  afterUpdate: true,
  afterDelete: true,
} satisfies Record<keyof GeneratedHooks<object>, true>;

export const HOOK_NAMES: readonly string[] = Object.keys(HOOKS);
