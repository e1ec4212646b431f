/**
 * Reads and writes through the methods of a repository that a provider has put in the place of TypeORM's: `find`,
 * `findOne`, `count`, `exists`, `insert`, `update`, `delete` and `softDelete`.
 */
import { And, Raw, Repository, type FindOperator, type FindOptionsWhere } from 'typeorm';
import type { Values } from '../../entities/record-input.js';
import type { Term } from '../query/list-query.js';
import { PARAMETER } from '../query/search-conditions.js';
import type { Resource } from '../resource/resource.js';
import { containing } from '../resource/text-search.js';
import { entityOf, fill } from './entity-values.js';
import { recordOfEntity } from './entity-projection.js';
import type { Range, RecordReader, RecordWriter } from './record-access.js';

type Where<T> = FindOptionsWhere<T>;

export class ReplacedRepository<T extends object> implements RecordReader<T>, RecordWriter<T> {
  private readonly recordOf: (entity: T) => T;
  /** Reads the ids of many-to-one relations in place of the related records. */
  private readonly relations: { readonly loadRelationIds: { relations: string[]; disableMixedMap: true } } | object;

  constructor(
    private readonly resource: Resource<T>,
    private readonly repository: Repository<T>,
  ) {
    const { schema, options } = resource;
    this.recordOf = recordOfEntity(schema, options.entity.prototype as object);
    const relations = schema.fields.flatMap(({ reference }) => (reference ? [reference.propertyPath] : []));
    this.relations = relations.length > 0 ? { loadRelationIds: { relations, disableMixedMap: true } } : {};
  }

  /** Whether only `createQueryBuilder` differs from TypeORM's repository. */
  static replacesOnlyQueryBuilder(repository: Repository<never> | object): boolean {
    const given = repository as Repository<never>;
    const methods = ['find', 'findOne', 'count', 'exists', 'insert', 'update', 'delete', 'softDelete'] as const;
    return methods.every((name) => given[name] === Repository.prototype[name]);
  }

  async find(terms: readonly Term[], range?: Range): Promise<T[]> {
    const entities = await this.repository.find({
      where: this.where(terms),
      order: { id: 'ASC' } as never,
      ...this.relations,
      ...(range && { take: range.limit, skip: range.offset }),
    });
    return entities.map(this.recordOf);
  }

  count(terms: readonly Term[]): Promise<number> {
    return this.repository.count({ where: this.where(terms) });
  }

  async findByKey(key: unknown): Promise<T | undefined> {
    const entity = await this.repository.findOne({ where: keyed(key), ...this.relations });
    return entity ? this.recordOf(entity) : undefined;
  }

  exists(key: unknown): Promise<boolean> {
    return this.repository.exists({ where: keyed(key) });
  }

  async insert(entity: T, values: Values): Promise<unknown> {
    const { identifiers } = await this.repository.insert(fill(entity, this.resource.schema, values) as never);
    return identifiers[0]?.['id'];
  }

  async update(key: unknown, values: Values): Promise<void> {
    if (values.every((value) => value === undefined)) return;
    const { schema, options } = this.resource;
    await this.repository.update(keyed(key), fill(entityOf(options.entity, key), schema, values) as never);
  }

  async remove(key: unknown): Promise<boolean> {
    if (!(await this.exists(key))) return false;
    const { deleteDateColumn } = this.resource.schema.id.column.entityMetadata;
    const { affected } = await (deleteDateColumn
      ? this.repository.softDelete(keyed(key))
      : this.repository.delete(keyed(key)));
    return affected !== 0;
  }

  /** Terms narrow; a term for any field needs one alternative for each searchable field. */
  private where(terms: readonly Term[]): Where<T>[] | Where<T> {
    const { searchable, contains } = this.resource;
    let alternatives: Map<string, FindOperator<unknown>[]>[] = [new Map()];
    for (const [index, { field, text }] of terms.entries()) {
      const parameter = `${PARAMETER}${index}`;
      const operator = Raw((column) => contains(column, `:${parameter}`), { [parameter]: containing(text) });
      const names = field === undefined ? [...searchable.keys()] : [field];
      alternatives = alternatives.flatMap((conditions) =>
        names.map((name) => {
          const { property } = searchable.get(name) ?? { property: name };
          return new Map([...conditions, [property, [...(conditions.get(property) ?? []), operator]]]);
        }),
      );
    }
    return alternatives.map((conditions) => whereOf<T>(conditions));
  }
}

const keyed = <T>(key: unknown): Where<T> => ({ id: key }) as Where<T>;

/** `address.city` is a condition of the embedded `address`. */
function whereOf<T>(conditions: ReadonlyMap<string, readonly FindOperator<unknown>[]>): Where<T> {
  const where: Record<string, unknown> = {};
  for (const [property, operators] of conditions) {
    const names = property.split('.');
    const last = names.pop() ?? '';
    let target = where;
    for (const name of names) target = (target[name] ??= {}) as Record<string, unknown>;
    target[last] = operators.length > 1 ? And(...operators) : operators[0];
  }
  return where as Where<T>;
}
