import type { Type } from '@nestjs/common';
import { describe, expectBoolean, expectKnownNames, InvalidOptionError, isClass } from '../options/invalid-option.js';
import { plainPath } from '../options/plain-path.js';
import { hasPrimaryKey, isEntity } from '../entities/declared-entities.js';
import type { FieldName } from './record-types.js';

/** The declaration of one resource. */
// The fields of an entity that is not known by its type have any names.
// oxlint-disable-next-line typescript/no-explicit-any
export interface CrudOptions<T extends object = any> {
  /** A TypeORM entity with a generated `id`, known to the data source. */
  entity: Type<T>;
  /** The path of the resource, such as `/api/products`, below the application's global prefix. It has no parameters. */
  endpoint: string;
  /**
   * Lists are paged: `?page=1&size=20`.
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
   * Fields of the entity that can be searched: readable text or number columns.
   * @default []
   */
  searchableFields?: readonly FieldName<NoInfer<T>>[];
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
}

type Flag = 'enablePagination' | 'enableSearch' | 'enableExists';

export interface ResolvedCrudOptions<T extends object = object> extends Readonly<Record<Flag, boolean>> {
  readonly entity: Type<T>;
  readonly endpoint: string;
  readonly searchableFields: readonly string[];
  readonly dataSource: string | undefined;
  readonly maxListSize: number | undefined;
}

export const EXPECTED_KEY = 'an entity with a single primary key named `id`';
export const KEY_ADVICE =
  'declare `@PrimaryGeneratedColumn() id: number`, or `@PrimaryGeneratedColumn("uuid") id: string`';

/** The query parameters of a paged list. */
export const PAGE_PARAMETERS: readonly string[] = ['page', 'size'];

export function resolveCrudOptions<T extends object>(options: CrudOptions<T>): ResolvedCrudOptions<T> {
  const { entity, endpoint, searchableFields = [], dataSource, maxListSize } = (options ?? {}) as CrudOptions<T>;
  const { enablePagination = false, enableSearch = false, enableExists = false } = options ?? {};
  const flags = { enablePagination, enableSearch, enableExists };
  const resolved = { entity, endpoint, ...flags, searchableFields, dataSource, maxListSize };
  const of = isClass(entity) ? ` of ${entity.name}` : '';
  const at = (name: string): string => `CRUD option \`${name}\`${of}`;
  const refuse = (name: string, expected: string, got: string, advice: string): never => {
    throw new InvalidOptionError(at(name), expected, got, advice);
  };
  expectKnownNames(`CRUD options${of}`, options, Object.keys(resolved));

  if (!isClass(entity))
    refuse('entity', 'a TypeORM entity class', describe(entity), 'give the class that is decorated with @Entity()');
  if (!isEntity(entity))
    refuse('entity', 'a TypeORM entity class', describe(entity), 'decorate the class with @Entity()');
  // TypeORM would refuse it too, but only when it connects.
  if (!hasPrimaryKey(entity)) refuse('entity', EXPECTED_KEY, 'none', KEY_ADVICE);
  for (const [name, value] of Object.entries(flags)) expectBoolean(at(name), value);

  const isFieldName = (field: unknown): boolean => typeof field === 'string' && field !== '';
  if (!Array.isArray(searchableFields) || !searchableFields.every(isFieldName))
    refuse('searchableFields', 'an array of field names', describe(searchableFields), 'give for example ["name"]');
  if (enableSearch && searchableFields.length === 0)
    refuse('searchableFields', 'at least one field, because enableSearch is on', 'none', 'name the fields to search');
  const shadowed = searchableFields.find((field) => enablePagination && PAGE_PARAMETERS.includes(field));
  if (shadowed !== undefined) {
    const expected = `fields other than ${PAGE_PARAMETERS.join(' and ')}, which select the page`;
    refuse('searchableFields', expected, describe(shadowed), 'leave the field out, or turn enablePagination off');
  }
  if (dataSource !== undefined && (typeof dataSource !== 'string' || dataSource === ''))
    refuse('dataSource', 'the name of a data source', describe(dataSource), 'give the name of TypeOrmModule.forRoot');
  if (maxListSize !== undefined && (!Number.isSafeInteger(maxListSize) || maxListSize < 1))
    refuse('maxListSize', 'an integer from 1', describe(maxListSize), 'give for example 1000');
  return Object.freeze({
    ...resolved,
    endpoint: normaliseEndpoint(endpoint, at('endpoint')),
    searchableFields: Object.freeze([...searchableFields]),
  });
}

function normaliseEndpoint(endpoint: unknown, path: string): string {
  if (typeof endpoint === 'string' && endpoint.split('/').some((level) => level.startsWith(':'))) {
    const advice = 'Remove the parameter: generated operations do not filter by it';
    throw new InvalidOptionError(path, 'a path without parameters', describe(endpoint), advice);
  }
  const normal = plainPath(endpoint);
  if (normal !== undefined) return normal;
  const advice = 'Separate letters, digits and hyphens by slashes';
  throw new InvalidOptionError(path, 'a path such as "/api/products"', describe(endpoint), advice);
}
