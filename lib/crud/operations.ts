/** What a resource can do, in the words of the database: it knows of HTTP only the exceptions that name a refusal. */
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import { IsNull, type DataSource, type Repository } from 'typeorm';
import type { FieldError } from '../http/failure.js';
import type { JsonObject } from '../http/json-body.js';
import { classValidationOf } from '../schema/class-validation.js';
import type { ColumnMetadata } from '../schema/column-kind.js';
import { checkNew, checkReplacement, compileInput, type Checked } from '../schema/record-input.js';
import { askDatabase } from './ask-database.js';
import type { ListRequest } from './list-query.js';
import { compileProjection, type Projection, type Row } from './projection.js';
import { RecordReader, type Listed } from './record-reader.js';
import type { Resource } from './resource.js';

export class Operations<T extends object> {
  private readonly repository: Repository<T>;
  private readonly projection: Projection<T>;
  private readonly readBody: ReturnType<typeof compileInput>;
  private readonly reader: RecordReader<T>;
  private readonly classValidation: ReturnType<typeof classValidationOf>;

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {
    const { schema, options } = resource;
    this.repository = dataSource.getRepository(options.entity);
    this.projection = compileProjection(schema, options.entity.prototype as object);
    this.readBody = compileInput(schema);
    this.reader = new RecordReader(resource, this.projection, dataSource);
    this.classValidation = classValidationOf(options.entity);
  }

  /** In the order of the primary key. */
  list(request: ListRequest): Promise<Listed<T>> {
    return this.asked(() => this.reader.list(request));
  }

  /** @throws 400 where the id is none, 404 where no record has it */
  async get(id: string): Promise<T> {
    return this.projection.recordOf(await this.row(id));
  }

  /** @throws 400 where the id is none */
  async exists(id: string): Promise<boolean> {
    const key = this.readId(id);
    return this.asked(() => this.reader.exists(key));
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
    const key = await this.reader.exactKey(identifiers[0]?.['id']);
    const stored = await this.asked(() => this.reader.one(key));
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
    const { deleteDateColumn } = this.repository.metadata;
    if (this.hasRemoveListeners) return this.removeEntity(id);
    const key = this.readId(id);
    const query = this.repository.createQueryBuilder();
    const deletion = deleteDateColumn
      ? query.softDelete().where({ id: key, [deleteDateColumn.propertyName]: IsNull() })
      : query.delete().where({ id: key });
    const { affected } = await this.asked(() => deletion.execute());
    if (affected === 0) throw this.missing(id);
  }

  private get hasRemoveListeners(): boolean {
    const { metadata } = this.repository;
    const listeners = metadata.deleteDateColumn
      ? [metadata.beforeSoftRemoveListeners, metadata.afterSoftRemoveListeners]
      : [metadata.beforeRemoveListeners, metadata.afterRemoveListeners];
    return listeners.flat().length > 0;
  }

  /** Listeners of the entity are called with the entity: it is loaded first. No transaction: one statement needs none. */
  private async removeEntity(id: string): Promise<void> {
    const { entity } = await this.row(id);
    const { deleteDateColumn } = this.repository.metadata;
    const [entities, options] = [[entity] as never[], { transaction: false }] as const;
    await this.asked<unknown>(() =>
      deleteDateColumn ? this.repository.softRemove(entities, options) : this.repository.remove(entities, options),
    );
  }

  /** As SQL, written by the driver that wrote it into the table: the statement sets the column to it. */
  private databaseDefault(column: ColumnMetadata): () => string {
    return () => this.dataSource.driver.normalizeDefault(column) ?? 'NULL';
  }

  private get name(): string {
    return this.resource.schema.name;
  }

  private async row(id: string): Promise<Row<T>> {
    const key = this.readId(id);
    const found = await this.asked(() => this.reader.one(key));
    if (!found) throw this.missing(id);
    return found;
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

  private asked<R>(ask: () => Promise<R>): Promise<R> {
    return askDatabase(this.name, ask);
  }
}

/**
 * Written out, because TypeORM's own setter takes a class field that is there and `undefined` for an object, and makes
 * embedded objects whose absent fields a statement would set to NULL.
 */
function fill<T extends object>(entity: T, { values }: Checked): T {
  for (const [{ column, property, reference }, value] of values) {
    const names = property.split('.');
    const last = names.pop() ?? '';
    let target = entity as Record<string, unknown>;
    for (const [depth, name] of names.entries())
      target = (target[name] ??= Object.create(embeddedPrototype(column, depth))) as Record<string, unknown>;
    const held: unknown = reference && value !== null ? column.referencedColumn?.createValueMap(value) : value;
    // Defined, not assigned: the class of an entity with a lazy relation has a setter that would hide it.
    Object.defineProperty(target, last, { value: held, enumerable: true, writable: true, configurable: true });
  }
  return entity;
}

function embeddedPrototype({ embeddedMetadata }: ColumnMetadata, depth: number): object {
  const type: unknown = embeddedMetadata?.embeddedMetadataTree[depth]?.type;
  return typeof type === 'function' ? (type.prototype as object) : {};
}
