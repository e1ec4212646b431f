/** What a resource can do, in the words of its records: it knows of HTTP only the exceptions that name a refusal. */
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import type { DataSource, Repository } from 'typeorm';
import type { FieldError } from '../http/failure.js';
import type { JsonObject } from '../http/json-body.js';
import { loadClassValidation } from '../entities/class-validation.js';
import type { FailedWrite } from '../entities/conflicts.js';
import type { ColumnMetadata } from '../entities/column-types.js';
import type { EntityDescription, Field } from '../entities/entity-schema.js';
import { isSqlite } from '../entities/database-family.js';
import { checkNew, checkReplacement, compileInput, type Checked, type Values } from '../entities/record-input.js';
import { askDatabase } from './ask-database.js';
import { after, orElse, type Answer } from '../http/at-once.js';
import { entityOf, fill, heldBy } from './entity-values.js';
import type { ListRequest } from './list-query.js';
import { RecordStore, type Listed, type Written } from './record-store.js';
import type { Resource } from './resource.js';
import type { UnreadRecord } from './unread.js';

export class Operations<T extends object> {
  readonly store: RecordStore<T>;
  private readonly repository: Repository<T>;
  private readonly readBody: ReturnType<typeof compileInput>;
  /** The places of those fields that no replacement changes. */
  private readonly fixed: readonly number[];
  private classValidation: Answer<Awaited<ReturnType<typeof loadClassValidation>>>;

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {
    const { schema, options } = resource;
    this.repository = dataSource.getRepository(options.entity);
    this.store = new RecordStore(resource, dataSource);
    this.readBody = compileInput(schema);
    this.fixed = [...schema.fields.keys()].filter((place) => schema.fields[place]?.updatable === false);
    this.classValidation = loadClassValidation(options.entity);
    void after(this.classValidation, (validate) => {
      this.classValidation = validate;
    });
  }

  /** In the order of the primary key. */
  list(request: ListRequest): Answer<Listed<T>> {
    return this.asked(() => this.store.reader.list(request));
  }

  /** @throws 400 where the id is none, 404 where no record has it */
  get(id: string): Answer<UnreadRecord<T>> {
    return this.record(this.readId(id), id);
  }

  /** @throws 400 where the id is none */
  exists(id: string): Answer<boolean> {
    const key = this.readId(id);
    return this.asked(() => this.store.reader.exists(key));
  }

  /** @throws 400 naming every wrong field, 409 */
  create(body: JsonObject): Answer<UnreadRecord<T>> {
    const { sent, errors } = this.readBody(body, 'create');
    const checked = checkNew(this.resource.schema, sent);
    const entity = this.repository.create();
    const inserted = after(
      this.validated(() => entity, checked, errors),
      ({ values, errors: wrong }) =>
        wrong.length > 0
          ? this.refuse(wrong)
          : this.asked(() => this.store.writer('create').insert(entity, values), this.write('create', values)),
    );
    const stored = after(
      inserted,
      ({ key, record }) =>
        this.asRead(record) ?? (key === undefined ? undefined : this.asked(() => this.store.reader.one(key))),
    );
    return after(stored, (found) => {
      if (found) return found;
      throw new ConflictException(`${this.name} is not there: the database ignored it, or it is deleted already`);
    });
  }

  /**
   * A full replacement; never creates.
   *
   * @throws 400 naming every wrong field, 404, 409
   */
  replace(id: string, body: JsonObject): Answer<UnreadRecord<T>> {
    const key = this.readId(id);
    const { sent, errors } = this.readBody(body, 'update');
    const needsCurrent =
      this.store.goesThroughRepository('update') || this.fixed.some((place) => sent[place] !== undefined);
    return after(needsCurrent ? this.record(key, id) : undefined, (found) => {
      const current = found?.read();
      // A record that is not there is told before what is wrong with its replacement.
      const told = <R>(refuse: () => R): Answer<R> => (current ? refuse() : after(this.record(key, id), refuse));
      const checked = this.replacement(sent, current);
      const validated = this.validated(() => entityOf(this.resource.options.entity, key), checked, errors);
      const updated = after(validated, ({ values, errors: wrong }) => {
        if (wrong.length > 0) return told(() => this.refuse(wrong));
        const update = (): Answer<Written<T>> =>
          this.asked(() => this.store.writer('update').update(key, values), this.write('update', values));
        return orElse(update, (error) => told(() => fail(error)));
      });
      return after(updated, ({ record }) => this.asRead(record) ?? this.record(key, id));
    });
  }

  /**
   * Keeps the row, marked as deleted, where the entity has a `@DeleteDateColumn`.
   *
   * @throws 400 where the id is none, 404, 409 where other records refer to it
   */
  remove(id: string): Answer<void> {
    const key = this.readId(id);
    return after(
      this.asked(() => this.store.writer('delete').remove(key), this.write('delete')),
      (removed) => {
        if (!removed) throw this.missing(id);
      },
    );
  }

  /** @param current the record as a client sees it, where it had to be read */
  private replacement(sent: Values, current: T | undefined): Checked {
    let blank: T | undefined;
    return checkReplacement(this.resource.schema, sent, {
      current: (field) => current && valueIn(current, field),
      default: ({ column }) =>
        column.getEntityValue((blank ??= this.repository.create())) ?? this.databaseDefault(column),
    });
  }

  /**
   * As SQL. SQLite has no word for it in an UPDATE: there it is what TypeORM wrote into the table, a text in hexadecimal,
   * as TypeORM would take a word in it for a column or a parameter.
   */
  private databaseDefault(column: ColumnMetadata): () => string {
    if (!isSqlite(this.dataSource)) return () => 'DEFAULT';
    const { default: value } = column;
    if (typeof value === 'string') return () => `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)`;
    return () => this.dataSource.driver.normalizeDefault(column) ?? 'NULL';
  }

  /** What a statement gave back, unless somebody wants to hear of what is read. */
  private asRead(record: UnreadRecord<T> | undefined): UnreadRecord<T> | undefined {
    return this.store.goesThroughRepository('read') ? undefined : record;
  }

  private get name(): string {
    return this.resource.schema.name;
  }

  private record(key: unknown, id: string): Answer<UnreadRecord<T>> {
    const asked = this.asked(() => this.store.reader.one(key));
    return after(asked, (found) => {
      if (!found) throw this.missing(id);
      return found;
    });
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
   * What is wrong beside what is known, and the values as class-validator leaves them: a constraint may change the entity.
   *
   * @param make the entity that it looks at
   */
  private validated(make: () => T, { values, errors }: Checked, unknown: readonly FieldError[]): Answer<Checked> {
    const known = unknown.length > 0 ? [...unknown, ...errors] : errors;
    const { schema } = this.resource;
    return after(this.classValidation, (validate) => {
      if (!validate) return { values, errors: known };
      const entity = fill(make(), schema, values);
      return after(validate(entity), (found) => ({
        values: heldBy(entity, schema, values),
        errors: [...known, ...unnamed(found, schema, values, known)],
      }));
    });
  }

  private refuse(errors: readonly FieldError[]): never {
    throw new BadRequestException({ message: `${this.name} is not valid`, errors });
  }

  private asked<R>(ask: () => Answer<R>, write?: FailedWrite): Answer<R> {
    return askDatabase(this.name, ask, write);
  }

  private write(operation: FailedWrite['operation'], values: Values = []): FailedWrite {
    return { operation, schema: this.resource.schema, manager: this.dataSource.manager, values };
  }
}

/** What class-validator says of fields that nothing else is said of. */
function unnamed(
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

function fail(error: unknown): never {
  throw error;
}

function valueIn(record: object, { path }: Field): unknown {
  return path.reduce<unknown>((held, name) => (held as Record<string, unknown> | undefined)?.[name], record);
}
