/** What all operations of a resource share: its records by key, and the translation of errors. */
import { BadRequestException, ConflictException, NotFoundException } from '@nestjs/common';
import type { DataSource, Repository } from 'typeorm';
import { describeConflict, type FailedWrite } from '../../entities/conflicts.js';
import { DatabaseUnavailable, databaseFailureOf } from '../../entities/database-errors.js';
import type { Field } from '../../entities/entity-schema.js';
import { AccessRefused } from '../../http/refusal.js';
import type { ListOperation, OperationName } from '../declare/operations.js';
import { and, compare, type Condition, type Relation } from '../sql/condition.js';
import type { Deleted } from '../query/deleted-parameters.js';
import type { ListQuery } from '../query/list-query.js';
import { everything, selectedFields, type RecordRequest } from '../query/record-request.js';
import type { Resource } from '../plan/resource.js';
import type { Guard } from '../rows/write-precondition.js';
import { versionGuards } from '../rows/record-version.js';
import { deletedIn, relatedViewOf, viewOf, type View } from '../rows/caller-view.js';
import type { RowLock } from '../store/record-access.js';
import { RecordStore } from '../store/record-store.js';
import { chunksOf, identityOf, keyOf } from '../store/linked-rows.js';
import { inTransaction, outsideTransactions, transactionOf } from '../store/transactions.js';
import { belowVisible, evaluatedView, withRelatedViews } from './referenced-records.js';
import { RelationViews, type RelatedAccess, type RelatedAccesses } from './relation-views.js';

/** The record that an operation changes. */
export interface Target {
  readonly key: unknown;
  /** As sent. */
  readonly id: string;
  readonly view: View;
  /** Checked in this order. */
  readonly guards: readonly Guard[];
}

type ChangeName = 'update' | 'patch' | 'delete' | 'restore' | 'patchMany' | 'deleteMany';

/** How a single record is read. */
export interface Reading {
  /** Everything that the caller may read, where it is absent. */
  readonly request?: RecordRequest;
  readonly relations?: RelationViews;
  readonly lock?: RowLock | undefined;
}

/** What a statement writes, for the message where it conflicts with another record. */
export type Write = Pick<FailedWrite, 'operation' | 'rows' | 'permissions'>;

export class ResourceAccess<T extends object> {
  readonly store: RecordStore<T>;

  constructor(
    readonly resource: Resource<T>,
    repository: Repository<T>,
    readonly dataSource: DataSource,
    private readonly relatedAccesses: () => RelatedAccesses,
    /** A record that a column refers to exists for a caller who sees it through one of them. */
    readonly resourcesOf: (relation: Relation) => readonly RelatedAccess[] = () => [],
  ) {
    this.store = new RecordStore(resource, repository, dataSource);
  }

  get name(): string {
    return this.resource.schema.name;
  }

  async view(operation: Exclude<OperationName, ListOperation>, deleted?: Deleted): Promise<View> {
    return belowVisible(this, await viewOf(this.resource, operation, this.dataSource, deleted));
  }

  /** For the operations whose query string may choose deleted records. */
  async listView(operation: ListOperation, query: ListQuery): Promise<View> {
    const deleted = deletedIn(this.resource, query);
    return belowVisible(this, await viewOf(this.resource, operation, this.dataSource, deleted));
  }

  /** For its records in relations of other resources. */
  async relatedView(): Promise<View> {
    return evaluatedView(this) ?? relatedViewOf(this.resource, 'findAll', this.dataSource);
  }

  /** What the caller may see through the relations that a query names. */
  relationViews(view: View, query: ListQuery = {}): Promise<RelationViews> {
    return RelationViews.of(this.resource, view, this.relatedAccesses(), query);
  }

  /** Reads the records of a relation of the resource. */
  related(path: string): RelatedAccess {
    const access = this.relatedAccesses().get(path);
    if (!access) throw new TypeError(`${this.name} has no relation ${path} for its clients`);
    return access;
  }

  /** @throws 400 */
  readId(text: string): unknown {
    const reading = this.resource.schema.id.type.readText(text);
    if ('value' in reading) return reading.value;
    throw new BadRequestException({
      message: `${this.name} id is not valid`,
      errors: [{ field: 'id', message: `expected ${reading.expected}` }],
    });
  }

  /** @throws 400 for a malformed id */
  async target(id: string, operation: ChangeName, deleted?: Deleted): Promise<Target> {
    const key = this.readId(id);
    return this.targetIn(await this.view(operation, deleted), key, id, operation);
  }

  targetIn(view: View, key: unknown, id: string, operation: ChangeName): Target {
    return { key, id, view, guards: [...view.guards, ...versionGuards(view, this.resource, id, operation)] };
  }

  /** The record with a key, if the caller may see it. */
  keyed({ visible }: View, key: unknown): Condition {
    return and(compare(this.resource.schema.id, 'eq', key), visible);
  }

  async find(
    view: View,
    key: unknown,
    { request = everything(view.list), relations, lock }: Reading = {},
  ): Promise<T | undefined> {
    const fields = selectedFields(request, this.resource.schema.id);
    const record = await this.run(() => this.store.reader.findOne(this.keyed(view, key), fields, lock));
    if (record) await (relations ?? (await this.relationViews(view))).complete([record], request);
    return record;
  }

  /** In the order of the keys; `undefined` where the caller does not see one. */
  async findAll(view: View, keys: readonly unknown[], reading?: Reading): Promise<(T | undefined)[]> {
    if (keys.length === 1) return [await this.find(view, keys[0], reading)];
    const { id } = this.resource.schema;
    const { request = everything(view.list), relations, lock } = reading ?? {};
    const fields = request.fields.includes(id) ? request.fields : [id, ...request.fields];
    const records: T[] = [];
    for (const chunk of chunksOf(new Set(keys.map((key) => id.type.write(key))), id)) {
      const condition = and(compare(id, 'in', ...chunk), view.visible);
      // In the order of the key, so that two batches do not wait for each other.
      const selection = { condition, fields, sort: [{ field: id, descending: false }], lock };
      records.push(...(await this.run(() => this.store.reader.find(selection))));
    }
    const byKey = new Map(records.map((record) => [identityOf(keyOf(record, id)), record]));
    await (relations ?? (await this.relationViews(view))).complete(records, { ...request, fields });
    if (fields !== request.fields) for (const record of records) delete (record as Record<string, unknown>)[id.name];
    return keys.map((key) => byKey.get(identityOf(id.type.write(key))));
  }

  /** As the caller sees it, with further fields. @throws 404 */
  current({ view, key, id }: Target, more: readonly Field[] = [], lock?: RowLock): Promise<T> {
    const read = this.resource.schema.fields.filter(
      (field) => view.list.readable.includes(field) || more.includes(field),
    );
    return this.record(view, key, id, { request: { fields: read, linked: [], includes: [] }, lock });
  }

  /** @param id as sent, for the message @throws 404 */
  async record(view: View, key: unknown, id: string, reading?: Reading): Promise<T> {
    const found = await this.find(view, key, reading);
    if (!found) throw this.missing(id);
    return found;
  }

  missing(id: string): NotFoundException {
    return new NotFoundException(`${this.name} with id ${id} not found`);
  }

  exists(condition: Condition): Promise<boolean> {
    return this.run(() => this.store.reader.exists(condition));
  }

  /** What the statement that changes the target asks for, so that nothing can change between a check and the write. */
  changeable({ key, view, guards }: Target): Condition {
    return and(this.keyed(view, key), ...guards.map(({ condition }) => condition));
  }

  /** Why no record was changed. */
  async refusalOf({ key, id, view, guards }: Target): Promise<Error> {
    const visible = this.keyed(view, key);
    if (guards.length === 0 || !(await this.exists(visible))) return this.missing(id);
    for (const { condition, refuse } of guards) if (!(await this.exists(and(visible, condition)))) return refuse();
    return new ConflictException(`${this.name} was not changed: the database ignored the statement`);
  }

  /** @throws 404, or what the first guard that fails says */
  async assertChangeable(target: Target): Promise<void> {
    if (!(await this.exists(this.changeable(target)))) throw await this.refusalOf(target);
  }

  /** Keeps the record as it is until the end of the transaction. @throws 404, or what the first guard that fails says */
  async lockChangeable(target: Target): Promise<void> {
    const { id } = this.resource.schema;
    const condition = this.changeable(target);
    const found = await this.run(() => this.store.reader.findOne(condition, [id], 'for update'));
    if (!found) throw await this.refusalOf(target);
  }

  /** @param isChecked whether something besides the one statement has to hold, which needs a transaction */
  writing<R>(isChecked: boolean, work: () => Promise<R>): Promise<R> {
    return isChecked ? this.transacted(work) : work();
  }

  /** Not inside `run`: on SQLite it would wait for itself. */
  async transacted<R>(work: () => Promise<R>): Promise<R> {
    const prepared = transactionOf(this.dataSource) ? work : await withRelatedViews(this, work);
    return this.translated(() => inTransaction(this.dataSource, prepared));
  }

  /** @throws 403 where the written record lies outside of what the caller may see */
  async assertVisible(view: View, key: unknown): Promise<void> {
    if (view.isScoped && !(await this.exists(this.keyed(view, key)))) throw new AccessRefused();
  }

  /** Runs statements, in the transaction of the caller where there is one. @throws 400, 409, 503 */
  run<R>(work: () => Promise<R>, write?: Write): Promise<R> {
    return this.translated(() => outsideTransactions(this.dataSource, work), write);
  }

  /** Translates errors of the database into exceptions without inner details. */
  private async translated<R>(work: () => Promise<R>, write?: Write): Promise<R> {
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
      if (failure !== 'conflict' || !write) throw error;
      const { manager } = this.dataSource;
      throw new ConflictException(await describeConflict(error, { ...write, schema, manager }), options);
    }
  }
}
