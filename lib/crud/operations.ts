/** What a resource can do, in the words of the database: it knows of HTTP only the exceptions that name a refusal. */
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import { IsNull, type DataSource, type Repository, type SelectQueryBuilder } from 'typeorm';
import type { FieldError } from '../http/failure.js';
import type { JsonObject } from '../http/json-body.js';
import { classValidationOf } from '../schema/class-validation.js';
import type { ColumnMetadata } from '../schema/column-kind.js';
import { checkNew, checkReplacement, compileInput, type Checked } from '../schema/record-input.js';
import { askDatabase } from './ask-database.js';
import type { ListMetadata } from './envelope.js';
import type { ListRequest, Page, Term } from './list-query.js';
import { compileProjection, type Projection, type Row } from './projection.js';
import type { Resource } from './resource.js';
import { containing, containsExpression } from './text-search.js';

const RECORD = 'record';

export interface Listed<T> {
  readonly records: T[];
  readonly metadata?: ListMetadata;
}

export class Operations<T extends object> {
  private readonly repository: Repository<T>;
  private readonly projection: Projection<T>;
  private readonly readBody: ReturnType<typeof compileInput>;
  private readonly contains: ReturnType<typeof containsExpression>;
  private readonly classValidation: ReturnType<typeof classValidationOf>;

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {
    const { schema, options } = resource;
    this.repository = dataSource.getRepository(options.entity);
    this.projection = compileProjection(schema, options.entity.prototype as object);
    this.readBody = compileInput(schema);
    this.contains = containsExpression(dataSource.options.type);
    this.classValidation = classValidationOf(options.entity);
  }

  /** In the order of the primary key. */
  async list({ page, terms }: ListRequest): Promise<Listed<T>> {
    const query = this.select().orderBy(`${RECORD}.id`, 'ASC');
    for (const [index, term] of terms.entries()) this.addTerm(query, term, `term${index}`);
    return this.asked(() => (page ? this.page(query, page) : this.whole(query)));
  }

  /** @throws 400 where the id is none, 404 where no record has it */
  async get(id: string): Promise<T> {
    return this.projection.recordOf(await this.row(id));
  }

  /** @throws 400 where the id is none */
  async exists(id: string): Promise<boolean> {
    const key = this.readId(id);
    return this.asked(() =>
      this.repository.createQueryBuilder(RECORD).where(`${RECORD}.id = :key`, { key }).getExists(),
    );
  }

  /** @throws 400 naming every wrong field, 409 */
  async create(body: JsonObject): Promise<T> {
    const { sent, errors } = this.readBody(body);
    const checked = checkNew(this.resource.schema, sent);
    const entity = fill(this.repository.create(), checked);
    await this.refuseInvalid(entity, checked, errors);
    const { identifiers } = await this.asked(() =>
      this.repository
        .createQueryBuilder()
        .insert()
        .values(entity as never)
        .execute(),
    );
    const stored = await this.rowOf(identifiers[0]?.['id']);
    if (!stored) throw new ConflictException(`${this.name} was deleted by somebody else as soon as it was created`);
    return this.projection.recordOf(stored);
  }

  /**
   * A full replacement; never creates. One statement sets every field, so that of two at once one stands whole.
   *
   * @throws 400 naming every wrong field, 404, 409
   */
  async replace(id: string, body: JsonObject): Promise<T> {
    const current = await this.row(id);
    const { sent, errors } = this.readBody(body);
    const blank = this.repository.create();
    const checked = checkReplacement(this.resource.schema, sent, {
      current: (field) => this.projection.valueOf(field, current),
      default: ({ column }) => column.getEntityValue(blank) ?? this.databaseDefault(column),
    });
    const key = this.readId(id);
    const changes = fill(this.emptyEntity(key), checked);
    await this.refuseInvalid(changes, checked, errors);
    if (checked.values.size > 0)
      await this.asked(() =>
        this.repository
          .createQueryBuilder()
          .update()
          .set(changes as never)
          .where({ id: key })
          .execute(),
      );
    return this.get(id);
  }

  /**
   * Keeps the row, marked as deleted, where the entity has a `@DeleteDateColumn`.
   *
   * @throws 400 where the id is none, 404, 409 where other records refer to it
   */
  async remove(id: string): Promise<void> {
    const { deleteDateColumn, beforeRemoveListeners, afterRemoveListeners } = this.repository.metadata;
    const key = this.readId(id);
    const query = this.repository.createQueryBuilder();
    if (deleteDateColumn) {
      const where = { id: key, [deleteDateColumn.propertyName]: IsNull() };
      return this.affectOne(id, () => query.softDelete().where(where).execute());
    }
    if (beforeRemoveListeners.length + afterRemoveListeners.length === 0)
      return this.affectOne(id, () => query.delete().where({ id: key }).execute());
    // Listeners of the entity are called with the entity: it is loaded first. No transaction: one statement needs none.
    const { entity } = await this.row(id);
    await this.asked(() => this.repository.remove(entity, { transaction: false }));
  }

  /** As SQL, written by the driver that wrote it into the table: the statement sets the column to it. */
  private databaseDefault(column: ColumnMetadata): () => string {
    return () => this.dataSource.driver.normalizeDefault(column) ?? 'NULL';
  }

  private get name(): string {
    return this.resource.schema.name;
  }

  private select(): SelectQueryBuilder<T> {
    const query = this.repository.createQueryBuilder(RECORD);
    this.projection.select(query);
    return query;
  }

  private async rows(query: SelectQueryBuilder<T>): Promise<Row<T>[]> {
    const { entities, raw } = await query.getRawAndEntities<Record<string, unknown>>();
    return entities.map((entity, index) => ({ entity, raw: raw[index] ?? {} }));
  }

  private async rowOf(key: unknown): Promise<Row<T> | undefined> {
    const [found] = await this.asked(() => this.rows(this.select().where(`${RECORD}.id = :key`, { key })));
    return found;
  }

  private async row(id: string): Promise<Row<T>> {
    const found = await this.rowOf(this.readId(id));
    if (!found) throw this.missing(id);
    return found;
  }

  private async page(query: SelectQueryBuilder<T>, { page, size }: Page): Promise<Listed<T>> {
    const total = await query.getCount();
    const rows = await this.rows(query.offset((page - 1) * size).limit(size));
    return {
      records: rows.map(this.projection.recordOf),
      metadata: { pagination: { page, size, total, totalPages: Math.ceil(total / size) } },
    };
  }

  private async whole(query: SelectQueryBuilder<T>): Promise<Listed<T>> {
    const most = this.resource.options.maxListSize;
    const rows = await this.rows(most === undefined ? query : query.limit(most + 1));
    const records = rows.slice(0, most).map(this.projection.recordOf);
    return most === undefined ? { records } : { records, metadata: { truncated: rows.length > most } };
  }

  private addTerm(query: SelectQueryBuilder<T>, { field, text }: Term, parameter: string): void {
    const { searchable } = this.resource;
    const fields = [...searchable].filter(([name]) => field === undefined || name === field).map(([, each]) => each);
    const found = fields.map(({ property }) => this.contains(`${RECORD}.${property}`, `:${parameter}`));
    query.andWhere(`(${found.join(' OR ')})`, { [parameter]: containing(text) });
  }

  private readId(text: string): unknown {
    const reading = this.resource.schema.id.kind.readText(text);
    if ('value' in reading) return reading.value;
    throw new BadRequestException({
      message: `${this.name} id is not valid`,
      errors: [{ field: 'id', message: `expected ${reading.expected}` }],
    });
  }

  private missing(id: string): NotFoundException {
    return new NotFoundException(`${this.name} with id ${id} not found`);
  }

  /** Listeners of the entity see the id; as it is not enumerable, no statement sets it. */
  private emptyEntity(key: unknown): T {
    return Object.defineProperty(Object.create(this.resource.options.entity.prototype as object) as T, 'id', {
      value: key,
      writable: true,
      configurable: true,
    });
  }

  private async refuseInvalid(entity: T, checked: Checked, unknown: readonly FieldError[]): Promise<void> {
    const errors = [...unknown, ...checked.errors];
    const validate = await this.classValidation;
    if (validate) {
      const named = new Set(errors.map(({ field }) => field));
      // What the database will fill in is not there to be checked.
      const sent = [...checked.values].filter(([, value]) => typeof value !== 'function');
      const byProperty = new Map(sent.map(([field]) => [field.property, field.name]));
      for (const { field, message } of await validate(entity)) {
        const name = byProperty.get(field) ?? (byProperty.has(field.split('.')[0] ?? '') ? field : undefined);
        if (name !== undefined && !named.has(name)) errors.push({ field: name, message });
      }
    }
    if (errors.length > 0) throw new BadRequestException({ message: `${this.name} is not valid`, errors });
  }

  private async affectOne(id: string, deletion: () => Promise<{ affected?: number | null }>): Promise<void> {
    const { affected } = await this.asked(deletion);
    if (affected === 0) throw this.missing(id);
  }

  private asked<R>(ask: () => Promise<R>): Promise<R> {
    return askDatabase(this.name, ask);
  }
}

function fill<T extends object>(entity: T, { values }: Checked): T {
  for (const [{ column, reference }, value] of values) {
    if (reference)
      reference.setEntityValue(entity, value === null ? null : column.referencedColumn?.createValueMap(value));
    else column.setEntityValue(entity, value);
  }
  return entity;
}
