/** Reads a resource through TypeORM's query builder, which hydrates entities: listeners and transformers run. */
import { isDeepStrictEqual } from 'node:util';
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import { columnValue } from '../../entities/entity-instances.js';
import type { EntityDescription, Field } from '../../entities/entity-schema.js';
import { unchanged } from '../../entities/value-types.js';
import { ascending, EVERYTHING, type Condition, keyIs } from '../sql/condition.js';
import { parametersOf, RECORD } from '../sql/condition-sql.js';
import { linkValues, type LinkSelection } from '../sql/link-sql.js';
import { identityOf, joinLinks, linkedKeys } from './linked-rows.js';
import type { RawRow } from '../sql/statement.js';
import type { Call } from './call.js';
import { setAtPath } from './entity-values.js';
import { Reader, type ReadResult } from './reader.js';
import { isMalformed, malformedColumns, markMalformed, nullIfMalformed, selectRaw } from './row-projection.js';
import type { Selection, Table } from './table.js';

export class RepositoryReader extends Reader {
  private readonly projection: ReturnType<typeof compileProjection>;

  constructor(table: Table) {
    super(table);
    this.projection = compileProjection(table.schema, this.dataSource);
  }

  count(call: Call, condition: Condition): Promise<number> {
    return this.table.matching(call, condition).getCount();
  }

  async exists(call: Call, condition: Condition): Promise<boolean> {
    return (await this.countUpTo(call, condition, 1)) > 0;
  }

  protected async read(call: Call, selection: Selection, keys: readonly Field[] = []): Promise<ReadResult> {
    const { condition, fields, sort, range, isLocked } = selection;
    const query = this.table.addSort(this.select(call, condition), sort, isLocked);
    for (const { column, property } of fields) if (!column.isSelect) query.addSelect(`${RECORD}.${property}`);
    this.selectPosition(query, keys);
    if (range) query.offset(range.offset).limit(range.limit);
    const { entities, raw } = await this.load(query);
    return this.recordsOf(fields, raw, await this.entitiesOf(call, entities, raw));
  }

  protected async readLinked(call: Call, links: LinkSelection, fields: readonly Field[]): Promise<ReadResult> {
    const parameters = parametersOf(linkValues(links, this.dataSource));
    const query = joinLinks(this.select(call, EVERYTHING), links, parameters, this.dataSource);
    this.table.addSort(query, ascending(links.related.fields));
    const { entities, raw } = await this.load(query);
    const { related } = linkedKeys(links, this.dataSource);
    // TypeORM makes one entity of the rows with one key.
    const distinct = new Map<string, RawRow>();
    for (const row of raw) {
      const identity = identityOf(related(row));
      if (!distinct.has(identity)) distinct.set(identity, row);
    }
    const found = await this.entitiesOf(call, entities, [...distinct.values()]);
    const byIdentity = new Map([...distinct.keys()].map((identity, index) => [identity, found[index]]));
    const rowEntities = raw.map((row) => byIdentity.get(identityOf(related(row))));
    return this.recordsOf(fields, raw, rowEntities);
  }

  private select(call: Call, condition: Condition): SelectQueryBuilder<object> {
    const query = this.table.matching(call, condition);
    this.projection.select(query);
    return query;
  }

  /** Leaves out the rows whose entity is gone. */
  private recordsOf(fields: readonly Field[], raw: readonly RawRow[], entities: readonly (object | undefined)[]) {
    const rows = raw.filter((_, index) => entities[index]);
    const loaded = entities.filter((entity) => entity !== undefined);
    const record = (entity: object, index: number): object =>
      this.projection.recordOf(entity, rows[index] ?? {}, fields);
    return { records: loaded.map(record), rows };
  }

  private async entitiesOf(call: Call, entities: readonly object[], raw: readonly RawRow[]) {
    if (entities.length === raw.length) return entities;
    const { key: primary } = this.table.schema;
    if (primary.fields.length === 0) {
      // TypeORM merged equal rows of a view without a key.
      const distinct = [...new Set(raw.map((row) => JSON.stringify(row)))];
      return raw.map((row) => entities[distinct.indexOf(JSON.stringify(row))]);
    }
    // TypeORM merged two keys beyond 53 bits into one, or failed: each entity is read again by its exact key.
    const exact: (object | undefined)[] = [];
    for (const row of raw) {
      const key = this.projection.keyOf(row);
      const query = this.select(call, keyIs(primary, key));
      const wrong = {};
      const readable = this.columns.filter((column) => this.isReadable(column, row, key, wrong));
      if (readable.length < this.columns.length)
        query.select(readable.map(({ propertyPath }) => `${RECORD}.${propertyPath}`));
      const entity = await query.getOne();
      if (entity) markMalformed(entity, malformedColumns(wrong));
      exact.push(entity ?? undefined);
    }
    return exact;
  }

  /** A malformed value makes TypeORM fail for all rows: then only the rows are read, with each column by its property. */
  private async load(query: SelectQueryBuilder<object>): Promise<{ entities: object[]; raw: RawRow[] }> {
    try {
      return await query.getRawAndEntities<RawRow>();
    } catch (error) {
      if (!isMalformed(error, this.columns)) throw error;
      for (const { propertyPath } of this.columns) query.addSelect(`(${RECORD}.${propertyPath})`, propertyPath);
      return { entities: [], raw: await query.getRawMany<RawRow>() };
    }
  }

  private isReadable(column: ColumnMetadata, row: RawRow, key: unknown, wrong: object): boolean {
    try {
      this.dataSource.driver.prepareHydratedValue(row[column.propertyPath], column);
      return true;
    } catch (error) {
      return nullIfMalformed(error, column, key, wrong) !== null;
    }
  }

  private get columns(): ColumnMetadata[] {
    return this.table.metadata.columns.filter((column) => column.isSelect && !column.isVirtualProperty);
  }
}

/** The value as the driver reads it, which listeners may change in the entity. */
const plain = (alias: string): string => `${alias}plain`;

/** From an entity to the record that a client sees, compiled once for a resource. */
function compileProjection(schema: EntityDescription, { driver }: DataSource) {
  const aliases = new Map(
    schema.fields
      .filter((field) => field.reference || field.textRead || schema.key.fields.includes(field))
      .map((field, index) => [field, `extra${index}`]),
  );

  const valueOf = (field: Field, entity: object, raw: RawRow): unknown => {
    const { column, reference, textRead } = field;
    const alias = aliases.get(field) ?? '';
    const held: unknown = reference ? undefined : columnValue(column, entity);
    const loaded = (): unknown => driver.prepareHydratedValue(raw[plain(alias)], column);
    const isRead = alias in raw && (reference || (textRead && isDeepStrictEqual(held, loaded())));
    const value = isRead ? (textRead?.read ?? unchanged)(raw[alias]) : held;
    return value == null ? null : field.type.write(value);
  };
  return {
    /** Adds what an entity does not hold: references, and values that the driver would change. */
    select(query: SelectQueryBuilder<object>): void {
      for (const [field, alias] of aliases) {
        selectRaw(query, field, alias);
        if (!field.reference) query.addSelect(`(${query.alias}.${field.property})`, plain(alias));
      }
    },
    /** The exact key of a row; the entity's may be rounded. */
    keyOf: (raw: RawRow): unknown => schema.key.hold(schema.key.fields.map((field) => raw[aliases.get(field) ?? ''])),
    /**
     * The prototype is the entity's, for an application's serializer.
     * @param raw the row with the columns that the entity does not hold, where they were selected
     */
    recordOf(entity: object, raw: RawRow, fields: readonly Field[]): object {
      const record = Object.create(schema.prototype) as object;
      for (const field of fields) setAtPath(record, field.path, valueOf(field, entity, raw));
      markMalformed(record, malformedColumns(entity));
      return record;
    },
  };
}
