/** The options of a resource that lists and other reads depend on. */
import type { Type } from '@nestjs/common';
import type { GeneratedController } from './generated-controller.js';
import type { OptionField, FilterableName, RelationPath, SortableName, SortText } from './record-types.js';

/** How lists are paged; `true` by number. */
export type Paging = boolean | 'cursor' | 'both';

/** A relation, and the resource whose scope and fields apply to its records, where several resources have the entity. */
export interface RelationThrough<P extends string = string> {
  readonly relation: P;
  /** The registered controller of the related entity. */
  // A resource of any entity.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly controller: Type<GeneratedController<any>>;
}

/** What clients can ask of lists. */
export interface ListOptions<T extends object> {
  /**
   * Lists and searches are paged: `true` by number (`?page=2&size=20`), `'cursor'` by cursor (`?after=<next>`), and
   * `'both'` by number unless a client sends `pagination=cursor` or `after`.
   * @default false
   * @example enablePagination: 'both'
   */
  enablePagination?: Paging;
  /**
   * `GET {endpoint}/search?<field>=<text>`; needs `searchableFields`.
   * @default false
   * @example enableSearch: true, searchableFields: ['title']
   */
  enableSearch?: boolean;
  /**
   * Searches for three characters and more use an index: `pg_trgm` on PostgreSQL, FTS5 on SQLite. It is created at
   * startup where `synchronize` is on; else `npx declarest schema <app module>` prints the statements for a migration.
   * @default false
   * @example enableSearch: true, searchableFields: ['title'], searchIndex: true
   */
  searchIndex?: boolean;
  /**
   * `GET {endpoint}/count?filter[…]=…` answers how many records there are.
   * @default false
   * @example enableCount: true, filterableFields: ['status']
   */
  enableCount?: boolean;
  /**
   * `GET {endpoint}/export?format=csv` answers the list as a file, `csv` or `ndjson`.
   * @default false
   * @example enableExport: true
   */
  enableExport?: boolean;
  /**
   * `POST {endpoint}/import` stores the records of a file, NDJSON or CSV as an export writes it.
   * @default false
   * @example enableImport: true
   */
  enableImport?: boolean;
  /**
   * Fields that `GET {endpoint}/aggregate?sum=price&groupBy=categoryId` can name.
   * @default [] there is no such endpoint
   * @example aggregatableFields: ['total', 'customerId']
   */
  aggregatableFields?: readonly OptionField<NoInfer<T>>[];
  /**
   * Fields of the entity that can be searched: readable text or number columns.
   * @default []
   * @example enableSearch: true, searchableFields: ['title', 'slug']
   */
  searchableFields?: readonly OptionField<NoInfer<T>>[];
  /**
   * Fields that lists and searches can be filtered by: `?filter[price][gte]=10`. `true` stands for every readable column
   * that can be compared. A path such as `author.name` names a column of a related entity.
   * @default [] `filter` is an unknown parameter
   * @example filterableFields: ['status', 'author.name']
   */
  filterableFields?: true | readonly FilterableName<NoInfer<T>>[];
  /**
   * Fields that lists and searches can be sorted by: `?sort=-publishedAt,author.name`. Paths are of to-one relations.
   * @default [] `sort` is an unknown parameter
   * @example sortableFields: ['publishedAt', 'author.name']
   */
  sortableFields?: readonly SortableName<NoInfer<T>>[];
  /**
   * The order of lists without `sort`, in its syntax. Equal records are in the order of the primary key.
   * @default the order of the primary key
   * @example defaultSort: '-publishedAt'
   */
  defaultSort?: SortText<NoInfer<T>>;
  /**
   * Relations that `include` may name: `?include=author,comments.author`, up to three deep.
   * @default [] `include` is an unknown parameter
   * @example includableRelations: ['author', 'comments.author']
   */
  includableRelations?: readonly (RelationPath<NoInfer<T>> | RelationThrough<RelationPath<NoInfer<T>>>)[];
  /**
   * The maximum number of records in an included to-many relation of one record.
   * @default 100
   * @example includableRelations: ['articles'], maxIncluded: 10
   */
  maxIncluded?: number;
  /**
   * The maximum length of an unpaged list. `metadata.truncated` says whether there were more records.
   * @default none
   * @example maxListSize: 500
   */
  maxListSize?: number;
  /**
   * How many records a numbered page may skip; one that skips more is 400. Pages by cursor have no such cost.
   * @default none
   * @example enablePagination: 'both', maxOffset: 10_000
   */
  maxOffset?: number;
}
