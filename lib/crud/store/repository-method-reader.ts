/** Reads through the methods of a repository that a provider put in the place of TypeORM's. */
import type { DataSource, FindManyOptions, Repository } from 'typeorm';
import type { Field } from '../../entities/entity-schema.js';
import { and, compare, type Condition } from '../sql/condition.js';
import type { SortKey } from '../sql/condition.js';
import { dialectOf } from '../sql/dialect.js';
import type { LinkSelection } from '../sql/link-sql.js';
import { compileProjection } from './entity-projection.js';
import { setAtPath } from './entity-values.js';
import { activeLock, inCurrentTransaction, LOCK_MODE, whereOf } from './query-parts.js';
import type {
  LinkedRecord,
  PositionedRecord,
  RecordReader,
  RowLock,
  Selection,
  StoredResource,
} from './record-access.js';
import { chunksOf, identityOf, linkedKeys, readLinks } from './linked-rows.js';
import { managerOf, type Call } from './call.js';
import type { Database } from './database.js';

export class RepositoryMethodReader<T extends object> implements RecordReader<T> {
  private readonly projection: ReturnType<typeof compileProjection<T>>;
  /** Reads the ids of many-to-one relations in place of the related records. */
  private readonly loadRelationIds: { relations: string[]; disableMixedMap: true };

  private readonly dataSource: DataSource;

  constructor(
    private readonly resource: StoredResource<T>,
    private readonly repository: Repository<T>,
    private readonly database: Database,
  ) {
    this.dataSource = database.dataSource;
    const { schema, options } = resource;
    this.projection = compileProjection<T>(schema, options.entity.prototype as object);
    const relations = schema.fields.flatMap(({ reference }) => (reference ? [reference.propertyPath] : []));
    this.loadRelationIds = { relations, disableMixedMap: true };
  }

  private methods(call: Call): Repository<T> {
    return inCurrentTransaction(call, this.repository, this.database);
  }

  async find(call: Call, { condition, fields, sort, range, lock }: Selection): Promise<T[]> {
    const entities = await this.methods(call).find({
      ...this.matching(condition),
      order: this.order(sort),
      loadRelationIds: this.loadRelationIds,
      ...(range && { take: range.limit, skip: range.offset }),
      ...this.locked(call, lock),
    });
    return entities.map((entity) => this.projection.recordOf({ entity, raw: {} }, fields));
  }

  /** The exact values of a record cannot be read by `find`: a position is the number of records before it. */
  async findAfter(...[call, selection, limit, position]: Parameters<RecordReader<T>['findAfter']>) {
    const first = position ? Number(position[0]) : 0;
    if (!Number.isSafeInteger(first) || first < 0) return [];
    const records = await this.find(call, { ...selection, range: { limit, offset: first } });
    return records.map((record, index): PositionedRecord<T> => ({ record, position: [`${first + index + 1}`] }));
  }

  async findOne(call: Call, condition: Condition, fields: readonly Field[], lock?: RowLock): Promise<T | undefined> {
    const { loadRelationIds } = this;
    const entity = await this.methods(call).findOne({
      ...this.matching(condition),
      loadRelationIds,
      ...this.locked(call, lock),
    });
    return entity ? this.projection.recordOf({ entity, raw: {} }, fields) : undefined;
  }

  /** Two statements: the methods of a repository cannot read the keys of a relation. */
  async findLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<LinkedRecord<T>[]> {
    const { related } = links;
    const rows = await readLinks(links, this.dataSource, managerOf(call, this.database)?.queryRunner);
    const keys = linkedKeys(links, this.dataSource);
    const byKey = new Map<string, T>();
    for (const held of chunksOf(new Set(rows.map((row) => keys.related(row))), related)) {
      const condition = and(compare(related, 'in', ...held), links.condition);
      for (const entity of await this.methods(call).find({
        ...this.matching(condition),
        loadRelationIds: this.loadRelationIds,
      }))
        byKey.set(identityOf(this.projection.valueOf(related, { entity, raw: {} })), entity);
    }
    return rows.flatMap((row) => {
      const entity = byKey.get(identityOf(keys.related(row)));
      return entity ? [{ owner: keys.owner(row), record: this.projection.recordOf({ entity, raw: {} }, fields) }] : [];
    });
  }

  count(call: Call, condition: Condition): Promise<number> {
    return this.methods(call).count(this.matching(condition));
  }

  /** A repository may restrict what it reads to one tenant. */
  estimate(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  exists(call: Call, condition: Condition): Promise<boolean> {
    return this.methods(call).exists(this.matching(condition));
  }

  private locked(call: Call, lock: RowLock | undefined): Pick<FindManyOptions<T>, 'lock'> {
    return lock && activeLock(call, this.database) ? { lock: { mode: LOCK_MODE } } : {};
  }

  private matching(condition: Condition): FindManyOptions<T> {
    const { metadata } = this.resource;
    const where = whereOf<T>(condition, this.dataSource, metadata);
    return { where, ...(metadata.deleteDateColumn && { withDeleted: true }) };
  }

  /** The methods of a repository sort as the database does, apart from where NULLs are placed. */
  private order(sort: readonly SortKey[]): never {
    const order = {};
    const canPlaceNulls = dialectOf(this.dataSource).placesNulls;
    for (const { field, descending } of sort) {
      const direction = descending ? 'DESC' : 'ASC';
      const nulls = descending ? 'FIRST' : 'LAST';
      setAtPath(order, field.property.split('.'), field.nullable && canPlaceNulls ? { direction, nulls } : direction);
    }
    return order as never;
  }
}
