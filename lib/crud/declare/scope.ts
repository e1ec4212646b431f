/** The option `scope`: which records the caller of an operation may see and write. */
import type { Type } from '@nestjs/common';
import type { FindOperator, FindOptionsWhere } from 'typeorm';
import type { Principal } from '../../http/caller.js';
import type { OperationName } from './operations.js';
import type { CrudRecord } from './record-types.js';

/**
 * What a scope decides by.
 * @typeParam Claims what the option `claims` of `AuthModule` adds to the user
 */
export interface ScopeContext<Claims extends object = object> {
  /** The user of the request; `undefined` for an anonymous one, and outside of a request. */
  readonly user: Principal<Claims> | undefined;
  /** A custom operation has its own name. */
  readonly operation: OperationName | (string & {});
}

/** The id of a user is `string | number`, whichever the column has. */
type OrId<V> = NonNullable<V> extends string | number ? Principal['id'] : never;

/** TypeORM's `FindOptionsWhere`, and foreign keys by the names that clients use: `{ authorId: user.id }`. */
type ScopeWhere<T> = { readonly [K in keyof T]?: FindOptionsWhere<T>[K] | OrId<T[K]> } & {
  readonly [K in Exclude<keyof CrudRecord<T>, keyof T>]?: Principal['id'] | FindOperator<unknown>;
};

/**
 * The records of a scope: those that match a condition, all (`true`) or none (`false`). Several conditions in an array
 * are alternatives.
 */
export type ScopeResult<T> = ScopeWhere<T> | readonly ScopeWhere<T>[] | boolean;

/** A provider that decides by injected services. */
export interface ScopeProvider<T> {
  /** A method, so that a function may name the claims that it needs: `({ user }: ScopeContext<Claims>) => …`. */
  scope(context: ScopeContext): ScopeResult<T> | Promise<ScopeResult<T>>;
}

export type ScopeFunction<T> = ScopeProvider<T>['scope'];

/** A provider of any module, as `useScope` names it. */
export class ScopeReference<T> {
  constructor(readonly provider: Type<ScopeProvider<T>>) {}
}

/** What the option takes. The name `Scope` is that of Nest for providers. */
export type RowScope<T> = ScopeFunction<T> | ScopeReference<T>;

/**
 * Takes the scope of a resource from a provider, which any module of the application provides.
 * @example CrudController({ entity: Article, endpoint: '/api/articles', scope: useScope(ArticleScope) })
 */
export const useScope = <T extends object>(provider: Type<ScopeProvider<NoInfer<T>>>): ScopeReference<T> =>
  new ScopeReference(provider);
