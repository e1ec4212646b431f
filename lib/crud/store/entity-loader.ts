/** Reads the entities that listeners and subscribers get, inside of the transaction of a write. */
import { ConflictException } from '@nestjs/common';
import type { FindManyOptions } from 'typeorm';
import { isSqlite } from '../../entities/database-family.js';
import { columnValue } from '../../entities/entity-instances.js';
import type { Field } from '../../entities/entity-schema.js';
import { DATABASE_DEFAULT, type Values } from '../../entities/record-input.js';
import { type Condition, keyIs } from '../sql/condition.js';
import { escapePath } from '../sql/dialect.js';
import { databaseDefault } from '../sql/set-columns.js';
import type { Call } from './call.js';
import { fill, setAtPath } from './entity-values.js';
import type { Reader } from './reader.js';
import { isMalformed } from './row-projection.js';
import type { Table } from './table.js';

export class EntityLoader {
  constructor(
    private readonly table: Table,
    private readonly reader: Reader,
  ) {}

  /** Listeners are called with the entity, so it is loaded first. They may write its row, which is not locked. */
  async find(call: Call, key: unknown, condition: Condition): Promise<object | null> {
    const { key: primary } = this.table.schema;
    if (!(await this.reader.findOne(call, condition, primary.fields))) return null;
    const entity = await this.load(call, key, {});
    // The driver may have changed the key to that of another record.
    const isOther = ([{ column }, part]: [Field, unknown]): boolean =>
      entity !== null && String(columnValue(column, entity)) !== String(part);
    const parts = primary.fields.map((field, index): [Field, unknown] => [field, primary.parts(key)[index]]);
    return entity && fill(entity, new Map(parts.filter(isOther)));
  }

  /** The entity that `save` reads to compare, with the keys of the relations that the changed one has. */
  stored(call: Call, key: unknown, changed: object): Promise<object | null> {
    const relations = this.table.metadata.relations.flatMap((relation) =>
      relation.getEntityValue(changed) === undefined ? [] : relation.propertyPath,
    );
    return this.load(call, key, { loadEagerRelations: false, loadRelationIds: { relations, disableMixedMap: true } });
  }

  /** Hidden columns too: TypeORM stores NULL in those that are missing when the entity is saved again. */
  private load(call: Call, key: unknown, options: FindManyOptions<object>): Promise<object | null> {
    const { schema, metadata } = this.table;
    const select = {};
    for (const { isVirtual, propertyPath } of metadata.columns)
      if (!isVirtual) setAtPath(select, propertyPath.split('.'), true);
    const isHiding = metadata.columns.some(({ isSelect }) => !isSelect);
    return this.table
      .methods(call)
      .findOne({
        where: this.table.where(keyIs(schema.key, key)),
        withDeleted: true,
        cache: false,
        ...(isHiding && { select }),
        ...options,
      })
      .catch((error: unknown) => {
        if (!isMalformed(error, metadata.columns)) throw error;
        const problem =
          error instanceof SyntaxError ? 'its stored JSON is malformed' : 'a transformer refuses what it stores';
        throw new ConflictException(`${schema.name} was not changed: ${problem}`);
      });
  }

  /** Listeners get values: the database evaluates its defaults, in the types of their columns. */
  async withDefaults(call: Call, values: Values): Promise<Values> {
    const { dataSource, metadata } = this.table;
    const { driver } = dataSource;
    const fields = [...values.keys()].filter((field) => values.get(field) === DATABASE_DEFAULT);
    if (fields.length === 0) return values;
    const selected = fields.map(({ column }, index) => {
      const sql = isSqlite(dataSource)
        ? databaseDefault(column, dataSource)
        : (driver.normalizeDefault(column) ?? 'NULL');
      return `CASE WHEN 1 = 0 THEN record.${driver.escape(column.databaseName)} ELSE ${sql} END AS value${index}`;
    });
    const table = escapePath(metadata.tablePath, driver);
    const [row = {}] = await this.table
      .manager(call)
      .query<Record<string, unknown>[]>(
        `SELECT ${selected.join(', ')} FROM (SELECT 1 AS one) AS one LEFT JOIN ${table} AS record ON 1 = 0`,
      );
    const read = ({ column }: Field, index: number): unknown =>
      driver.prepareHydratedValue(row[`value${index}`], column);
    return new Map([...values, ...fields.map((field, index) => [field, read(field, index)] as const)]);
  }
}
