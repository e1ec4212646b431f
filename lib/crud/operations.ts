/** The operations of a resource. Of HTTP they know only the exceptions that name a refusal. */
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import type { DataSource, Repository } from 'typeorm';
import type { FieldError } from '../http/failure.js';
import { expectJsonObject, type JsonObject } from '../http/json-body.js';
import { loadClassValidation } from '../entities/class-validation.js';
import { describeConflict, type FailedWrite } from '../entities/conflicts.js';
import type { ColumnMetadata } from '../entities/column-types.js';
import { DatabaseUnavailable, databaseFailureOf } from '../entities/database-errors.js';
import type { EntityDescription } from '../entities/entity-schema.js';
import { isSqlite } from '../entities/database-family.js';
import { checkNew, checkReplacement, compileInput, type CheckResult, type Values } from '../entities/record-input.js';
import type { ListMetadata } from './envelope.js';
import type { ListRequest } from './query/list-query.js';
import type { Resource } from './resource/resource.js';
import { entityOf, fill, valuesOfEntity } from './store/entity-values.js';
import { RecordStore } from './store/record-store.js';

export class Operations<T extends object> {
  private readonly store: RecordStore<T>;
  private readonly readBody: ReturnType<typeof compileInput>;
  private classValidation: ReturnType<typeof loadClassValidation> | undefined;

  constructor(
    private readonly resource: Resource<T>,
    repository: Repository<T>,
    private readonly dataSource: DataSource,
  ) {
    this.store = new RecordStore(resource, repository, dataSource);
    this.readBody = compileInput(resource.schema);
  }

  /** In the order of the primary key. */
  async list({ page, terms }: ListRequest): Promise<{ records: T[]; metadata?: ListMetadata }> {
    return this.run(async () => {
      const { reader } = this.store;
      if (page) {
        const total = await reader.count(terms);
        const records = await reader.find(terms, { limit: page.size, offset: (page.page - 1) * page.size });
        return { records, metadata: { pagination: { ...page, total, totalPages: Math.ceil(total / page.size) } } };
      }
      const { maxListSize } = this.resource.options;
      if (maxListSize === undefined) return { records: await reader.find(terms) };
      const records = await reader.find(terms, { limit: maxListSize + 1, offset: 0 });
      return { records: records.slice(0, maxListSize), metadata: { truncated: records.length > maxListSize } };
    });
  }

  /** @throws 400 for a malformed id, 404 for an unknown one */
  async get(id: string): Promise<T> {
    return await this.record(this.readId(id), id);
  }

  /** @throws 400 for a malformed id */
  async exists(id: string): Promise<boolean> {
    const key = this.readId(id);
    return this.run(() => this.store.reader.exists(key));
  }

  /** @throws 400 naming every wrong field, 409 */
  async create(body: JsonObject): Promise<T> {
    const { values: sent, errors } = this.readBody(expectJsonObject(body), 'create');
    const entity = this.resource.metadata.create() as T;
    const values = await this.validated(entity, checkNew(this.resource.schema, sent), errors);
    const key = await this.run(() => this.store.writer('create').insert(entity, values), 'create', values);
    const stored = key === undefined ? undefined : await this.run(() => this.store.reader.findByKey(key));
    if (stored) return stored;
    throw new ConflictException(`${this.name} was not stored: the database ignored it, or it is deleted already`);
  }

  /** A full replacement; never creates. @throws 400 naming every wrong field, 404, 409 */
  async replace(id: string, body: JsonObject): Promise<T> {
    const key = this.readId(id);
    const { values: sent, errors } = this.readBody(expectJsonObject(body), 'update');
    const { schema, options } = this.resource;
    const sendsFixed = schema.fields.some(({ updatable }, place) => !updatable && sent[place] !== undefined);
    const current = sendsFixed || this.store.callsListeners('update') ? await this.record(key, id) : undefined;
    try {
      const values = await this.validated(entityOf(options.entity, key), this.replacement(sent, current), errors);
      await this.run(() => this.store.writer('update').update(key, values), 'update', values);
    } catch (error) {
      // An unknown record is 404, whatever is wrong with its replacement.
      if (!current) await this.record(key, id);
      throw error;
    }
    return this.record(key, id);
  }

  /**
   * Keeps the row, marked as deleted, where the entity has a `@DeleteDateColumn`.
   *
   * @throws 400 for a malformed id, 404, 409 where other records refer to it
   */
  async remove(id: string): Promise<void> {
    const key = this.readId(id);
    const removed = await this.run(() => this.store.writer('delete').remove(key), 'delete');
    if (!removed) throw this.missing(id);
  }

  /** @param current the record as a client sees it, where it had to be read */
  private replacement(sent: Values, current: T | undefined): CheckResult {
    const { schema, metadata } = this.resource;
    let blank: object | undefined;
    return checkReplacement(schema, sent, {
      current: ({ path }) => path.reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], current),
      default: ({ column }) =>
        column.getEntityValue((blank ??= metadata.create() as object)) ?? this.databaseDefault(column),
    });
  }

  /** SQLite has no `DEFAULT` in an UPDATE. A text is hexadecimal, so that TypeORM finds no names in it. */
  private databaseDefault(column: ColumnMetadata): () => string {
    if (!isSqlite(this.dataSource)) return () => 'DEFAULT';
    const { default: value } = column;
    if (typeof value === 'string') return () => `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`;
    return () => this.dataSource.driver.normalizeDefault(column) ?? 'NULL';
  }

  private get name(): string {
    return this.resource.schema.name;
  }

  private async record(key: unknown, id: string): Promise<T> {
    const found = await this.run(() => this.store.reader.findByKey(key));
    if (!found) throw this.missing(id);
    return found;
  }

  private readId(text: string): unknown {
    const reading = this.resource.schema.id.type.readText(text);
    if ('value' in reading) return reading.value;
    throw new BadRequestException({
      message: `${this.name} id is not valid`,
      errors: [{ field: 'id', message: `expected ${reading.expected}` }],
    });
  }

  private missing(id: string): NotFoundException {
    return new NotFoundException(`${this.name} with id ${id} not found`);
  }

  /**
   * Adds what class-validator finds. It may change the values, as a constraint may change the entity.
   *
   * @param entity for the values, which class-validator checks
   * @throws 400 naming every wrong field
   */
  private async validated(entity: T, checked: CheckResult, unknown: readonly FieldError[]): Promise<Values> {
    const { schema, options } = this.resource;
    let { values } = checked;
    const errors = [...unknown, ...checked.errors];
    const validate = await (this.classValidation ??= loadClassValidation(options.entity));
    if (validate) {
      const found = await validate(fill(entity, schema, values));
      errors.push(...errorsOfOtherFields(found, schema, values, errors));
      values = valuesOfEntity(entity, schema, values);
    }
    if (errors.length > 0) throw new BadRequestException({ message: `${this.name} is not valid`, errors });
    return values;
  }

  /** Translates errors of the database into exceptions without inner details. @throws 400, 409, 503 */
  private async run<R>(work: () => Promise<R>, operation?: FailedWrite['operation'], values: Values = []): Promise<R> {
    try {
      return await work();
    } catch (error) {
      const { schema } = this.resource;
      const { name } = schema;
      const failure = databaseFailureOf(error);
      const options = { cause: error };
      if (failure === 'unavailable') throw new DatabaseUnavailable(options);
      if (failure === 'invalid')
        throw new BadRequestException(`${name} is not valid: the database does not accept one of its values`, options);
      if (failure === 'read-only')
        throw new ConflictException(`${name} cannot be changed: it is a view of other records`, options);
      if (failure !== 'conflict' || !operation) throw error;
      const write = { operation, schema, manager: this.dataSource.manager, values };
      throw new ConflictException(await describeConflict(error, write), options);
    }
  }
}

/** The errors of class-validator for fields that have no error yet. */
function errorsOfOtherFields(
  found: readonly FieldError[],
  { fields }: EntityDescription,
  values: Values,
  known: readonly FieldError[],
): FieldError[] {
  const named = new Set(known.map(({ field }) => field));
  // What the database will fill in is not there to be checked.
  const sent = fields.filter((_, place) => values[place] !== undefined && typeof values[place] !== 'function');
  const byProperty = new Map(sent.map(({ property, name }) => [property, name]));
  return found.flatMap(({ field, message }) => {
    const name = byProperty.get(field) ?? (byProperty.has(field.split('.')[0] ?? '') ? field : undefined);
    return name === undefined || named.has(name) ? [] : [{ field: name, message }];
  });
}
