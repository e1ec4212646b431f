/** The options of a resource. */
import type { Type } from '@nestjs/common';
import type { ListOptions } from './list-options.js';
import type { OptionField, ManyRelationName } from './record-types.js';
import type { CustomOperation } from './custom-operation.js';
import type { OperationName, StandardOperation } from './operations.js';
import type { ResourceAccess } from './resource-access.js';
import type { RecordSchemas } from './standard-schema.js';
import type { RowScope } from './scope.js';

/** Who may read and write a field: everyone, by default. */
export interface FieldPermission {
  /** `'never'`, or the roles that may. */
  readonly read?: 'never' | readonly string[];
  /** `'never'`, `'once'` when the record is created, or the roles that may. */
  readonly write?: 'never' | 'once' | readonly string[];
}

/** The option `owner` with its details. */
export interface OwnerOptions<F extends string = string> {
  /** The column that holds the id of the user, or the claim. */
  readonly field: F;
  /**
   * A claim that the option `claims` of `AuthModule` adds, in place of the id of the user: records belong to all users with
   * the same one, such as a tenant. A user without it owns nothing.
   */
  readonly claim?: string;
  /** Whether others do not see the record either, and get 404. The default is `false`. */
  readonly reads?: boolean;
  /** Roles that the option does not bind, none by default. They may send the column, which defaults to their own id. */
  readonly except?: readonly string[];
}

/**
 * The declaration of one resource. The examples of its options are parts of such a declaration.
 * @example CrudController({ entity: Article, endpoint: '/api/articles', enableCount: true })
 */
// The fields of an entity that is not known by its type have any names.
// oxlint-disable-next-line typescript/no-explicit-any
export interface CrudOptions<T extends object = any> extends ListOptions<T> {
  /**
   * A TypeORM entity or view that the data source knows.
   * @example entity: Article
   */
  entity: Type<T>;
  /**
   * The path of the resource below the application's global prefix. A parameter names a field: it restricts every
   * operation, and sets the field of what is written.
   * @example endpoint: '/api/products/:productId/reviews'
   */
  endpoint: string;
  /**
   * `GET {endpoint}/exists/{id}`.
   * @default false
   * @example enableExists: true
   */
  enableExists?: boolean;
  /**
   * `POST {endpoint}/{id}/restore`; needs a `@DeleteDateColumn`.
   * @default false
   * @example enableRestore: true
   */
  enableRestore?: boolean;
  /**
   * `POST {endpoint}/batch`, `PATCH {endpoint}/batch` and `DELETE {endpoint}/batch?ids=1,2`: several records at once.
   * @default false
   * @example enableBatch: true
   */
  enableBatch?: boolean;
  /**
   * The maximum number of records in a batch.
   * @default 100
   * @example enableBatch: true, maxBatchSize: 500
   */
  maxBatchSize?: number;
  /**
   * The operations to generate, by name or as values. The others have no route, unless a subclass declares one.
   * @default standardOperations, as far as they are enabled
   * @example operations: ['findAll', 'findById']
   */
  operations?: readonly (OperationName | StandardOperation | CustomOperation<T>)[];
  /**
   * Roles whose users may send `deleted=with` and `deleted=only` to lists, and `purge=true` to DELETE. Needs a
   * `@DeleteDateColumn`.
   * @default [] `deleted` and `purge` are unknown parameters
   * @example deletedRoles: ['ADMIN']
   */
  deletedRoles?: readonly string[];
  /**
   * PUT, PATCH and DELETE without `If-Match` are 428. Needs a `@VersionColumn`.
   * @default false
   * @example requireIfMatch: true
   */
  requireIfMatch?: boolean;
  /**
   * Whether `before` hooks, listeners and an own repository have no effect outside of the transaction: a write that a
   * deadlock rolled back is repeated with them.
   * @default false they are called once
   * @example retryable: true
   */
  retryable?: boolean;
  /**
   * POST and batches take the primary key, as they do where nothing generates it. A key that is taken is 409.
   * Sequences of PostgreSQL do not follow the keys that clients send.
   * @default false
   * @example clientId: true
   */
  clientId?: boolean;
  /**
   * A POST with an `Idempotency-Key` writes once: a repeated one gets the stored answer. Needs the entity `IdempotencyKey`
   * in the data source, which `autoLoadEntities` and `CrudModule.forFeature` add.
   * @default false
   * @example enableIdempotency: true
   */
  enableIdempotency?: boolean;
  /**
   * Standard Schemas, such as those of zod and valibot, beside the checks of columns: `create` for POST, `update` for PUT
   * and PATCH.
   * @default none
   * @example validationSchema: { create: article, update: article }
   */
  validationSchema?: RecordSchemas;
  /**
   * Many-to-many relations that records have as `<relation>Ids`, and that POST, PUT and PATCH write: `"tagsIds": [1, 3]`.
   * @default []
   * @example linkableRelations: ['tags']
   */
  linkableRelations?: readonly ManyRelationName<NoInfer<T>>[];
  /**
   * The name of a further data source.
   * @default the default data source
   * @example dataSource: 'statistics'
   */
  dataSource?: string;
  /**
   * The records that a caller may see and write: TypeORM's `FindOptionsWhere`, `true` for all or `false` for none. It is
   * part of every statement. A record outside of it does not exist for the caller; writing one is 403.
   * @default all records
   * @example scope: ({ user }) => (user?.roles.includes('ADMIN') ? true : { customer: { id: Number(user?.id ?? 0) } })
   */
  scope?: RowScope<NoInfer<T>>;
  /**
   * Who may call the operations: `'public'`, `'authenticated'`, or an array of roles any of which is sufficient. `read` is
   * every operation that only reads; `create`, `update` and `delete` cover PATCH, batches and restore too.
   * @default {} the access rules alone decide
   * @example access: { read: 'public', create: ['EDITOR'], update: 'authenticated', delete: ['ADMIN'], count: ['ADMIN'] }
   */
  access?: ResourceAccess;
  /**
   * The column with the id of the user who created a record. Clients cannot write it, and only the owner may change or
   * delete the record. Anonymous creation is 401.
   * @default none
   * @example owner: { field: 'ownerId', reads: true, except: ['ADMIN'] }
   */
  owner?: OptionField<NoInfer<T>> | OwnerOptions<OptionField<NoInfer<T>>>;
  /**
   * Who may read and write single fields. What a caller may not read is an unknown name to them, also in filters and
   * sorts. What they may not write is 400, unless it is unchanged.
   * @default everyone may read and write every column that is not generated
   * @example fieldPermissions: { notes: { read: ['EDITOR'], write: ['EDITOR'] }, slug: { write: 'once' } }
   */
  fieldPermissions?: { readonly [K in OptionField<NoInfer<T>>]?: FieldPermission };
}
