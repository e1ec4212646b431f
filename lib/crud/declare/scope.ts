/** The option `scope`: which records the caller of an operation may see and write. */
import type { Type } from '@nestjs/common';
import type { FindOperator, FindOptionsWhere } from 'typeorm';
import type { Principal } from '../../http/caller.js';
import type { OperationName } from './operations.js';
import type { CrudRecord, NoEntity, RelatedOf } from './record-types.js';

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
type OrRelated<V> = RelatedOf<V> extends NoEntity ? never : Conditions<RelatedOf<V>>;

/** TypeORM's `FindOptionsWhere`, and the names of foreign keys, also in related entities: `{ authorId: user.id }`. */
type ScopeWhere<T> = { readonly [K in keyof T]?: FindOptionsWhere<T>[K] | OrId<T[K]> | OrRelated<T[K]> } & {
  readonly [K in Exclude<keyof CrudRecord<T>, keyof T>]?: Principal['id'] | FindOperator<unknown>;
};
/** Conditions in an array are alternatives. */
type Conditions<T> = ScopeWhere<T> | readonly ScopeWhere<T>[];

/** The records of a scope: those that match its conditions, all (`true`) or none (`false`). */
export type ScopeResult<T> = Conditions<T> | boolean;

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
