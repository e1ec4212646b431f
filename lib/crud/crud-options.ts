import type { Type } from '@nestjs/common';
import { describe, expectBoolean, expectKnownNames, InvalidOptionError, isClass } from '../options/invalid-option.js';
import { hasPrimaryKey, isEntity } from '../entities/declared-entities.js';

/** What is declared of one resource. */
export interface CrudOptions<T extends object = object> {
  /** A TypeORM entity with a generated `id`, known to the data source. */
  entity: Type<T>;
  /** Where the resource stands, such as `/api/products`; the application's global prefix comes in front. */
  endpoint: string;
  /**
   * Lists in pages: `?page=1&size=20`.
   * @default false
   */
  enablePagination?: boolean;
  /**
   * `GET {endpoint}/search?<field>=<text>`; needs `searchableFields`.
   * @default false
   */
  enableSearch?: boolean;
  /**
   * `GET {endpoint}/exists/{id}`.
   * @default false
   */
  enableExists?: boolean;
  /**
   * Fields of the entity that may be searched.
   * @default []
   */
  searchableFields?: readonly string[];
  /**
   * The name of a further data source.
   * @default the default data source
   */
  dataSource?: string;
  /**
   * The most records that an unpaged list returns; it says in `metadata.truncated` whether there were more.
   * @default none
   */
  maxListSize?: number;
}

export interface ResolvedCrudOptions<T extends object = object> {
  readonly entity: Type<T>;
  readonly endpoint: string;
  readonly enablePagination: boolean;
  readonly enableSearch: boolean;
  readonly enableExists: boolean;
  readonly searchableFields: readonly string[];
  readonly dataSource: string | undefined;
  readonly maxListSize: number | undefined;
}

/** The query parameters of a paged list. */
export const PAGE_PARAMETERS: readonly string[] = ['page', 'size'];

const NAMES = [
  'entity',
  'endpoint',
  'enablePagination',
  'enableSearch',
  'enableExists',
  'searchableFields',
  'dataSource',
  'maxListSize',
];

export function resolveCrudOptions<T extends object>(options: CrudOptions<T>): ResolvedCrudOptions<T> {
  const {
    entity,
    endpoint,
    enablePagination = false,
    enableSearch = false,
    enableExists = false,
    searchableFields = [],
    dataSource,
    maxListSize,
  } = (options ?? {}) as CrudOptions<T>;
  const of = isClass(entity) ? ` of ${entity.name}` : '';
  const at = (name: string): string => `CRUD option \`${name}\`${of}`;
  expectKnownNames(`CRUD options${of}`, options, NAMES);

  if (!isClass(entity))
    throw new InvalidOptionError(
      at('entity'),
      'a TypeORM entity class',
      describe(entity),
      'give the class that is decorated with @Entity()',
    );
  if (!isEntity(entity))
    throw new InvalidOptionError(
      at('entity'),
      'a TypeORM entity class',
      `${describe(entity)} without @Entity()`,
      'decorate the class with @Entity()',
    );
  // TypeORM would refuse it too, when it connects and in its own words.
  if (!hasPrimaryKey(entity))
    throw new InvalidOptionError(
      at('entity'),
      'a single primary key named `id`',
      'none',
      'declare `@PrimaryGeneratedColumn() id: number`, or `@PrimaryGeneratedColumn("uuid") id: string`',
    );
  for (const [name, value] of Object.entries({ enablePagination, enableSearch, enableExists }))
    expectBoolean(at(name), value);
  if (!Array.isArray(searchableFields) || !searchableFields.every((field) => typeof field === 'string' && field !== ''))
    throw new InvalidOptionError(
      at('searchableFields'),
      'an array of field names',
      describe(searchableFields),
      'give for example ["name"]',
    );
  if (enableSearch && searchableFields.length === 0)
    throw new InvalidOptionError(
      at('searchableFields'),
      'at least one field, because enableSearch is on',
      'none',
      'name the fields that may be searched',
    );
  const shadowed = searchableFields.filter((field) => enablePagination && PAGE_PARAMETERS.includes(field));
  if (shadowed.length > 0)
    throw new InvalidOptionError(
      at('searchableFields'),
      `fields other than ${PAGE_PARAMETERS.join(' and ')}, because enablePagination is on`,
      shadowed.map(describe).join(', '),
      'leave it out: those parameters name the page',
    );
  if (dataSource !== undefined && (typeof dataSource !== 'string' || dataSource === ''))
    throw new InvalidOptionError(
      at('dataSource'),
      'the name of a data source',
      describe(dataSource),
      'give the name that TypeOrmModule.forRoot has',
    );
  if (maxListSize !== undefined && (!Number.isSafeInteger(maxListSize) || maxListSize < 1))
    throw new InvalidOptionError(
      at('maxListSize'),
      'an integer from 1',
      describe(maxListSize),
      'give for example 1000',
    );
  return Object.freeze({
    entity,
    endpoint: normaliseEndpoint(endpoint, at('endpoint')),
    enablePagination,
    enableSearch,
    enableExists,
    searchableFields: Object.freeze([...searchableFields]),
    dataSource,
    maxListSize,
  });
}

/** `products/` → `/products`. Parameters may stand in it (`/shops/:shop/products`); wildcards may not. */
function normaliseEndpoint(endpoint: unknown, path: string): string {
  const levels = typeof endpoint === 'string' ? endpoint.split('/').filter((level) => level !== '') : [];
  if (levels.length === 0 || !levels.every((level) => /^:?[\w.~-]+$/.test(level) && !/^\.+$/.test(level)))
    throw new InvalidOptionError(
      path,
      'a path such as "/api/products"',
      describe(endpoint),
      'use plain levels between slashes',
    );
  return `/${levels.join('/')}`;
}
