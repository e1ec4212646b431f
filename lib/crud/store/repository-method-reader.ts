/** Reads through the methods of a repository that a provider put in the place of TypeORM's. */
import { And, Raw, type FindOptionsWhere, type Repository } from 'typeorm';
import type { Term } from '../query/list-query.js';
import { PARAMETER } from '../query/search-conditions.js';
import type { Resource } from '../resource/resource.js';
import { containing } from '../resource/text-search.js';
import { compileProjection, place } from './entity-projection.js';
import type { Range, RecordReader } from './record-access.js';

type Where<T> = FindOptionsWhere<T>;

export class RepositoryMethodReader<T extends object> implements RecordReader<T> {
  private readonly recordOf: (entity: T) => T;
  /** Reads the ids of many-to-one relations in place of the related records. */
  private readonly loadRelationIds: { relations: string[]; disableMixedMap: true };

  constructor(
    private readonly resource: Resource<T>,
    private readonly repository: Repository<T>,
  ) {
    const { schema, options } = resource;
    const { recordOf } = compileProjection<T>(schema, options.entity.prototype as object);
    this.recordOf = (entity) => recordOf({ entity, raw: {} });
    const relations = schema.fields.flatMap(({ reference }) => (reference ? [reference.propertyPath] : []));
    this.loadRelationIds = { relations, disableMixedMap: true };
  }

  async find(terms: readonly Term[], range?: Range): Promise<T[]> {
    const entities = await this.repository.find({
      where: this.where(terms),
      order: { id: 'ASC' } as never,
      loadRelationIds: this.loadRelationIds,
      ...(range && { take: range.limit, skip: range.offset }),
    });
    return entities.map(this.recordOf);
  }

  count(terms: readonly Term[]): Promise<number> {
    return this.repository.count({ where: this.where(terms) });
  }

  async findByKey(key: unknown): Promise<T | undefined> {
    const entity = await this.repository.findOne({ where: keyed(key), loadRelationIds: this.loadRelationIds });
    return entity ? this.recordOf(entity) : undefined;
  }

  exists(key: unknown): Promise<boolean> {
    return this.repository.exists({ where: keyed(key) });
  }

  /** Terms narrow; a term for any field needs one alternative for each searchable field. */
  private where(terms: readonly Term[]): Where<T>[] {
    const named = terms.filter(({ field }) => field !== undefined);
    const anywhere = terms.find(({ field }) => field === undefined);
    if (!anywhere) return [this.allOf(named)];
    return [...this.resource.searchable.keys()].map((field) => this.allOf([...named, { ...anywhere, field }]));
  }

  private allOf(terms: readonly Term[]): Where<T> {
    const { searchable, contains } = this.resource;
    const where = {};
    for (const { property, name } of searchable.values()) {
      const operators = terms.flatMap(({ field, text }, index) => {
        const parameter = `${PARAMETER}${index}`;
        const operator = Raw((column) => contains(column, `:${parameter}`), { [parameter]: containing(text) });
        return field === name ? [operator] : [];
      });
      if (operators.length > 0) place(where, property.split('.'), And(...operators));
    }
    return where;
  }
}

const keyed = <T>(key: unknown): Where<T> => ({ id: key }) as Where<T>;
