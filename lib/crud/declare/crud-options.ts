/** The options of a resource. */
import type { Type } from '@nestjs/common';
import type { ListOptions } from './list-options.js';
import type { FieldName, ManyRelationName } from './record-types.js';
import type { OperationName } from './operations.js';
import type { RecordSchemas } from './standard-schema.js';
import type { Scope } from './scope.js';

/** Who may read and write a field. */
export interface FieldPermission {
  /**
   * `'never'`, or the roles that may.
   *
   * @default everyone
   */
  readonly read?: 'never' | readonly string[];
  /**
   * `'never'`, `'once'` when the record is created, or the roles that may.
   *
   * @default everyone
   */
  readonly write?: 'never' | 'once' | readonly string[];
}

/** The option `owner` with its details. */
export interface OwnerOptions<F extends string = string> {
  /** The column that holds the id of the user. */
  readonly field: F;
  /**
   * Whether others do not see the record either, and get 404.
   *
   * @default false
   */
  readonly reads?: boolean;
  /**
   * Roles that the option does not bind. They may send the column, which defaults to their own id.
   *
   * @default []
   */
  readonly except?: readonly string[];
}

/** The declaration of one resource. */
// The fields of an entity that is not known by its type have any names.
// oxlint-disable-next-line typescript/no-explicit-any
export interface CrudOptions<T extends object = any> extends ListOptions<T> {
  /**
   * A TypeORM entity with a generated `id`, known to the data source.
   *
   * @example CrudController({ entity: Article, endpoint: '/api/articles' })
   */
  entity: Type<T>;
  /**
   * The path of the resource below the application's global prefix. A parameter names a field: it restricts every
   * operation, and sets the field of what is written.
   *
   * @example CrudController({ entity: Review, endpoint: '/api/products/:productId/reviews' });
   */
  endpoint: string;
  /**
   * `GET {endpoint}/exists/{id}`.
   *
   * @default false
   * @example CrudController({ entity: Article, endpoint: '/api/articles', enableExists: true })
   */
  enableExists?: boolean;
  /**
   * `POST {endpoint}/{id}/restore`; needs a `@DeleteDateColumn`.
   *
   * @default false
   * @example CrudController({ entity: Article, endpoint: '/api/articles', enableRestore: true })
   */
  enableRestore?: boolean;
  /**
   * `POST {endpoint}/batch`, `PATCH {endpoint}/batch` and `DELETE {endpoint}/batch?ids=1,2`: several records at once.
   *
   * @default false
   * @example CrudController({ entity: Article, endpoint: '/api/articles', enableBatch: true })
   */
  enableBatch?: boolean;
  /**
   * The maximum number of records in a batch.
   *
   * @default 100
   * @example CrudController({ entity: Article, endpoint: '/api/articles', enableBatch: true, maxBatchSize: 500 })
   */
  maxBatchSize?: number;
  /**
   * The operations to generate. The others have no route, unless a subclass declares one.
   *
   * @default every operation, as far as it is enabled
   * @example CrudController({ entity: Country, endpoint: '/api/countries', operations: ['findAll', 'findById'] })
   */
  operations?: readonly OperationName[];
  /**
   * Roles whose users may send `deleted=with` and `deleted=only` to lists, and `purge=true` to DELETE. Needs a
   * `@DeleteDateColumn`.
   *
   * @default [] `deleted` and `purge` are unknown parameters
   * @example CrudController({ entity: Article, endpoint: '/api/articles', deletedRoles: ['ADMIN'] })
   */
  deletedRoles?: readonly string[];
  /**
   * PUT, PATCH and DELETE without `If-Match` are 428. Needs a `@VersionColumn`.
   *
   * @default false
   * @example CrudController({ entity: Article, endpoint: '/api/articles', requireIfMatch: true })
   */
  requireIfMatch?: boolean;
  /**
   * A POST with an `Idempotency-Key` writes once: a repeated one gets the stored answer. Needs the entity `IdempotencyKey`
   * in the data source, which `autoLoadEntities` and `CrudModule.forFeature` add.
   *
   * @default false
   * @example CrudController({ entity: Order, endpoint: '/api/orders', idempotency: true })
   */
  idempotency?: boolean;
  /**
   * Standard Schemas, such as those of zod and valibot, beside the checks of columns: `create` for POST, `update` for PUT
   * and PATCH.
   *
   * @default none
   * @example
   * const article = z.object({ title: z.string().min(3), pages: z.number().positive() });
   * CrudController({ entity: Article, endpoint: '/api/articles', schema: { create: article, update: article } })
   */
  schema?: RecordSchemas;
  /**
   * Many-to-many relations that records have as `<relation>Ids`, and that POST, PUT and PATCH write: `"tagsIds": [1, 3]`.
   *
   * @default []
   * @example CrudController({ entity: Article, endpoint: '/api/articles', linkableRelations: ['tags'] })
   */
  linkableRelations?: readonly ManyRelationName<NoInfer<T>>[];
  /**
   * The name of a further data source.
   *
   * @default the default data source
   * @example CrudController({ entity: Visit, endpoint: '/api/visits', dataSource: 'statistics' })
   */
  dataSource?: string;
  /**
   * The records that a caller may see and write: TypeORM's `FindOptionsWhere`, `true` for all or `false` for none. It is
   * part of every statement. A record outside of it does not exist for the caller; writing one is 403.
   *
   * @default all records
   * @example
   * CrudController({
   *   entity: Order,
   *   endpoint: '/api/orders',
   *   scope: ({ user }) => (user?.roles.includes('ADMIN') ? true : { customer: { id: Number(user?.id ?? 0) } }),
   * });
   */
  scope?: Scope<NoInfer<T>>;
  /**
   * The column with the id of the user who created a record. Clients cannot write it, and only the owner may change or
   * delete the record. Anonymous creation is 401.
   *
   * @default none
   * @example
   * CrudController({ entity: Note, endpoint: '/api/notes', owner: { field: 'ownerId', reads: true, except: ['ADMIN'] } });
   */
  owner?: FieldName<NoInfer<T>> | OwnerOptions<FieldName<NoInfer<T>>>;
  /**
   * Who may read and write single fields. What a caller may not read is an unknown name to them, also in filters and
   * sorts. What they may not write is 400, unless it is unchanged.
   *
   * @default everyone may read and write every column that is not generated
   * @example
   * CrudController({
   *   entity: Article,
   *   endpoint: '/api/articles',
   *   fields: { notes: { read: ['EDITOR'], write: ['EDITOR'] }, slug: { write: 'once' } },
   * });
   */
  fields?: { readonly [K in FieldName<NoInfer<T>>]?: FieldPermission };
}
