import type { Type } from '@nestjs/common';
import type { GeneratedController } from './generated-controller.js';
import type { FieldName, FilterableName, ManyRelationName, RelationPath } from './record-types.js';
import type { RecordSchemas } from './standard-schema.js';
import type { FieldPermission } from './rows/field-permissions.js';
import type { Scope } from './rows/scope.js';

/** A relation, and the resource whose scope and fields apply to its records, where several resources have the entity. */
export interface RelationThrough<P extends string = string> {
  readonly relation: P;
  /** The registered controller of the related entity. */
  // A resource of any entity.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly as: Type<GeneratedController<any>>;
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
export interface CrudOptions<T extends object = any> {
  /** A TypeORM entity with a generated `id`, known to the data source. */
  entity: Type<T>;
  /**
   * The path of the resource below the application's global prefix. A parameter names a field: it restricts every
   * operation, and sets the field of what is written.
   *
   * @example
   * ```ts
   * CrudController({ entity: Review, endpoint: '/api/products/:productId/reviews' });
   * ```
   */
  endpoint: string;
  /**
   * Lists and searches are paged: `true` by number (`?page=2&size=20`), `'cursor'` by cursor (`?after=<next>`), and
   * `'both'` by number unless a client sends `pagination=cursor` or `after`.
   *
   * @default false
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', enablePagination: 'both' })
   * ```
   */
  enablePagination?: boolean | 'cursor' | 'both';
  /**
   * `GET {endpoint}/search?<field>=<text>`; needs `searchableFields`.
   * @default false
   */
  enableSearch?: boolean;
  /**
   * Searches for three characters and more use an index: `pg_trgm` on PostgreSQL, FTS5 on SQLite. It is created at
   * startup where `synchronize` is on; else `npx declarest schema <app module>` prints the statements for a migration.
   *
   * @default false
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', enableSearch: true, searchableFields: ['title'], searchIndex: true })
   * ```
   */
  searchIndex?: boolean;
  /**
   * `GET {endpoint}/exists/{id}`.
   * @default false
   */
  enableExists?: boolean;
  /**
   * `GET {endpoint}/count?filter[…]=…` answers how many records there are.
   *
   * @default false
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', enableCount: true, filterableFields: ['status'] })
   * ```
   */
  enableCount?: boolean;
  /**
   * `GET {endpoint}/export?format=csv` answers the list as a file, `csv` or `ndjson`.
   *
   * @default false
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', enableExport: true })
   * ```
   */
  enableExport?: boolean;
  /**
   * Fields that `GET {endpoint}/aggregate?sum=price&groupBy=categoryId` can name.
   *
   * @default [] there is no such endpoint
   * @example
   * ```ts
   * CrudController({ entity: Order, endpoint: '/api/orders', aggregatableFields: ['total', 'customerId'] })
   * ```
   */
  aggregatableFields?: readonly FieldName<NoInfer<T>>[];
  /**
   * Fields of the entity that can be searched: readable text or number columns.
   * @default []
   */
  searchableFields?: readonly FieldName<NoInfer<T>>[];
  /**
   * Fields that lists and searches can be filtered by: `?filter[price][gte]=10`. `true` stands for every readable column
   * that can be compared. A path such as `author.name` names a column of a related entity.
   *
   * @default [] `filter` is an unknown parameter
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', filterableFields: ['status', 'author.name'] })
   * ```
   */
  filterableFields?: true | readonly FilterableName<NoInfer<T>>[];
  /**
   * Fields that lists and searches can be sorted by: `?sort=-publishedAt,title`.
   *
   * @default [] `sort` is an unknown parameter
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', sortableFields: ['publishedAt', 'title'] })
   * ```
   */
  sortableFields?: readonly FieldName<NoInfer<T>>[];
  /**
   * The order of lists without `sort`, in its syntax. Records that it leaves equal are in the order of the primary key.
   *
   * @default the order of the primary key
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', defaultSort: '-publishedAt' })
   * ```
   */
  defaultSort?: string;
  /**
   * `POST {endpoint}/{id}/restore`; needs a `@DeleteDateColumn`.
   *
   * @default false
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', enableRestore: true })
   * ```
   */
  enableRestore?: boolean;
  /**
   * Roles whose users may send `deleted=with` and `deleted=only` to lists, and `purge=true` to DELETE. Needs a
   * `@DeleteDateColumn`.
   *
   * @default [] `deleted` and `purge` are unknown parameters
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', deletedRoles: ['ADMIN'] })
   * ```
   */
  deletedRoles?: readonly string[];
  /**
   * PUT, PATCH and DELETE without `If-Match` are 428. Needs a `@VersionColumn`.
   *
   * @default false
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', requireIfMatch: true })
   * ```
   */
  requireIfMatch?: boolean;
  /**
   * Standard Schemas, such as those of zod and valibot, beside the checks of columns: `create` for POST, `update` for PUT
   * and PATCH.
   *
   * @default none
   * @example
   * ```ts
   * const article = z.object({ title: z.string().min(3), pages: z.number().positive() });
   * CrudController({ entity: Article, endpoint: '/api/articles', schema: { create: article, update: article } })
   * ```
   */
  schema?: RecordSchemas;
  /**
   * Relations that `include` may name: `?include=author,comments.author`, up to three deep.
   *
   * @default [] `include` is an unknown parameter
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', includableRelations: ['author', 'comments.author'] })
   * ```
   */
  includableRelations?: readonly (RelationPath<NoInfer<T>> | RelationThrough<RelationPath<NoInfer<T>>>)[];
  /**
   * The maximum number of records in an included to-many relation of one record.
   *
   * @default 100
   * @example
   * ```ts
   * CrudController({ entity: Author, endpoint: '/api/authors', includableRelations: ['articles'], maxIncluded: 10 })
   * ```
   */
  maxIncluded?: number;
  /**
   * Many-to-many relations that records have as `<relation>Ids`, and that POST, PUT and PATCH write: `"tagsIds": [1, 3]`.
   *
   * @default []
   * @example
   * ```ts
   * CrudController({ entity: Article, endpoint: '/api/articles', linkableRelations: ['tags'] })
   * ```
   */
  linkableRelations?: readonly ManyRelationName<NoInfer<T>>[];
  /**
   * The name of a further data source.
   * @default the default data source
   */
  dataSource?: string;
  /**
   * The maximum length of an unpaged list. `metadata.truncated` says whether there were more records.
   * @default none
   */
  maxListSize?: number;
  /**
   * The records that a caller may see and write: TypeORM's `FindOptionsWhere`, `true` for all or `false` for none. It is
   * part of every statement. A record outside of it does not exist for the caller; writing one is 403.
   *
   * @default all records
   * @example
   * ```ts
   * CrudController({
   *   entity: Order,
   *   endpoint: '/api/orders',
   *   scope: ({ user }) => (user?.roles.includes('ADMIN') ? true : { customer: { id: Number(user?.id ?? 0) } }),
   * });
   * ```
   */
  scope?: Scope<NoInfer<T>>;
  /**
   * The column with the id of the user who created a record. Clients cannot write it, and only the owner may change or
   * delete the record. Anonymous creation is 401.
   *
   * @default none
   * @example
   * ```ts
   * CrudController({ entity: Note, endpoint: '/api/notes', owner: { field: 'ownerId', reads: true, except: ['ADMIN'] } });
   * ```
   */
  owner?: FieldName<NoInfer<T>> | OwnerOptions<FieldName<NoInfer<T>>>;
  /**
   * Who may read and write single fields. What a caller may not read is an unknown name to them, also in filters and
   * sorts. What they may not write is 400, unless it is unchanged.
   *
   * @default everyone may read and write every column that is not generated
   * @example
   * ```ts
   * CrudController({
   *   entity: Article,
   *   endpoint: '/api/articles',
   *   fields: { notes: { read: ['EDITOR'], write: ['EDITOR'] }, slug: { write: 'once' } },
   * });
   * ```
   */
  fields?: { readonly [K in FieldName<NoInfer<T>>]?: FieldPermission };
}
