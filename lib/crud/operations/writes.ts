/** The operations that change a record. */
import { ConflictException } from '@nestjs/common';
import { expectJsonObject, type JsonObject } from '../../http/json-body.js';
import type { Field } from '../../entities/entity-schema.js';
import { isMerged, mergePatch } from '../../entities/merge-patch.js';
import {
  checkNew,
  checkPatch,
  checkReplacement,
  compileInput,
  describeJson,
  toJson,
  type CheckResult,
  type ReplacementContext,
  type Values,
} from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import { and, compare, NOTHING } from '../query/condition.js';
import type { Deleted } from '../query/deleted-parameters.js';
import { parseDeleteQuery, type ListQuery } from '../query/list-query.js';
import { everything } from '../query/record-request.js';
import { deletionOf } from '../resource/field-path.js';
import { versionGuards, withETag } from '../rows/record-version.js';
import { mayChooseDeleted, newValuesOf, type View } from '../rows/view.js';
import { databaseDefault } from '../sql/column-default.js';
import type { RowLock } from '../store/record-access.js';
import { entityOf, valueOf } from '../store/entity-values.js';
import { transactionOf } from '../store/transactions.js';
import type { ResourceAccess, Target } from './resource-access.js';
import { RecordValidation } from './record-validation.js';
import { References, type ReferencedResources } from './references.js';
import { RelationIds, type SentIds } from './relation-ids.js';

type ChangeName = 'update' | 'patch' | 'delete' | 'restore';

export class Writes<T extends object> {
  private readonly readBody: ReturnType<typeof compileInput>;
  private readonly validation: RecordValidation<T>;
  private readonly relationIds: RelationIds<T>;
  private readonly references: References<T>;

  constructor(
    private readonly access: ResourceAccess<T>,
    referenced: ReferencedResources,
  ) {
    this.references = new References(access, referenced);
    this.relationIds = new RelationIds(access);
    this.readBody = compileInput(access.resource.schema, this.relationIds.names);
    this.validation = new RecordValidation(access.resource);
  }

  /** @throws 400 naming every wrong field, 403, 409 */
  async create(body: JsonObject): Promise<T> {
    const { access } = this;
    const { schema, metadata } = access.resource;
    const view = await access.view('create');
    const { permissions } = view;
    const given = newValuesOf(access.resource, view);
    const read = this.read(body, 'create', view);
    const linked = this.relationIds.read(body, 'create');
    const { values: sent, errors } = await this.validation.bySchema('create', read);
    const entity = metadata.create() as T;
    const checked = checkNew(schema, sent, permissions, given);
    const values = await this.validation.validated(entity, checked, [...errors, ...linked.errors]);
    await this.references.assertVisible({ operation: 'create', view, sent: read.values, values });
    return access.writing({ isScoped: view.isScoped || linked.ids.size > 0 }, async () => {
      const write = { operation: 'create', values, permissions } as const;
      const key = await access.run(() => access.store.writer('create').insert(entity, values), write);
      if (key !== undefined) await this.relationIds.write(key, linked.ids, 'create');
      if (key !== undefined) await access.assertVisible(view, key);
      const stored = key === undefined ? undefined : await access.find(view, key);
      if (stored) return withETag(stored, view);
      throw new ConflictException(`${access.name} was not stored: the database ignored it, or it is deleted already`);
    });
  }

  /** A full replacement; never creates. @throws 400 naming every wrong field, 403, 404, 409 */
  async replace(id: string, body: JsonObject): Promise<T> {
    const { access } = this;
    const target = await this.target(id, 'update');
    const { view } = target;
    const read = this.read(body, 'update', view);
    const linked = this.relationIds.read(body, 'update');
    const current = this.needsCurrent(read.values, view) ? await this.current(target) : undefined;
    return this.explained(target, async () => {
      const { values: sent, errors } = await this.validation.bySchema('update', read);
      const entity = entityOf(access.resource.options.entity, target.key);
      const checked = this.replacement(sent, current, view);
      const values = await this.validation.validated(entity, checked, [...errors, ...linked.errors]);
      await this.references.assertVisible({ ...target, operation: 'update', sent: read.values, values });
      return this.update(target, values, linked.ids);
    });
  }

  /**
   * Changes what is sent (RFC 7396); never creates. Where the stored record takes part in the result, it is read and locked
   * in the transaction that changes it.
   *
   * @throws 400 naming every wrong field, 403, 404, 409
   */
  async patch(id: string, body: JsonObject): Promise<T> {
    const { access } = this;
    const { schema, options } = access.resource;
    const target = await this.target(id, 'patch');
    const { list, permissions } = target.view;
    const read = this.read(body, 'patch', target.view);
    const linked = this.relationIds.read(body, 'patch');
    const merged = schema.fields.filter((field, place) => permissions.canUpdate(field) && isMerged(read.values[place]));
    const apply = async (lock?: RowLock): Promise<T> => {
      const current =
        lock || this.needsCurrent(read.values, target.view) ? await this.current(target, merged, lock) : undefined;
      const patched = read.values.map((value, place) =>
        value === undefined ? value : mergePatch(valueOf(schema.fields[place], current), value),
      );
      const kept = schema.fields.map((field) =>
        list.readable.includes(field) ? toJson(valueOf(field, current)) : undefined,
      );
      const { values: sent, errors } = await this.validation.bySchema('update', { ...read, values: patched }, kept);
      const checked = checkPatch(schema, sent, { current: (field) => valueOf(field, current) }, permissions);
      const entity = entityOf(options.entity, target.key);
      const values = await this.validation.validated(entity, checked, [...errors, ...linked.errors]);
      await this.references.assertVisible({ ...target, operation: 'update', sent: read.values, values });
      return this.update(target, values, linked.ids);
    };
    const isRead = merged.length > 0 || options.schema.update !== undefined;
    return this.explained(target, () => (isRead ? access.transacted(() => apply('for update')) : apply()));
  }

  /**
   * Keeps the row, marked as deleted, where the entity has a `@DeleteDateColumn`.
   *
   * @throws 400 for a malformed id or parameter, 404, 409 where other records refer to it
   */
  async remove(id: string, query: ListQuery = {}): Promise<void> {
    const { access } = this;
    const purges = parseDeleteQuery(query, mayChooseDeleted(access.resource));
    const target = await this.target(id, 'delete', purges ? 'with' : 'without');
    const condition = access.changeable(target);
    const remove = (): Promise<boolean> => access.store.writer('delete').remove(target.key, condition, purges);
    const removed = await this.withListeners('delete', () => access.run(remove, { operation: 'delete' }));
    if (!removed) throw await access.refusalOf(target);
  }

  /** Changes nothing where the record is not marked as deleted. @throws 400 for a malformed id, 404, 409 */
  async restore(id: string): Promise<T> {
    const { access } = this;
    const target = await this.target(id, 'restore', 'with');
    const { key, view } = target;
    const deletion = deletionOf(access.resource.schema);
    const hidden = and(access.changeable(target), ...(deletion ? [compare(deletion, 'isNotNull')] : [NOTHING]));
    const restore = (): Promise<boolean> => access.store.writer('restore').restore(key, hidden);
    const isRestored =
      deletion && (await this.withListeners('restore', () => access.run(restore, { operation: 'update' })));
    if (!isRestored) await access.assertChangeable(target);
    const request = everything(view.list);
    const fields = request.fields.filter((field) => field !== deletion);
    return withETag(await access.record(view, key, id, { request: { ...request, fields } }), view);
  }

  /** The record that an operation changes. @throws 400 for a malformed id */
  private async target(id: string, operation: ChangeName, deleted?: Deleted): Promise<Target> {
    const { access } = this;
    const key = access.readId(id);
    const view = await access.view(operation, deleted);
    return { key, id, view, guards: [...view.guards, ...versionGuards(view, access.resource, id, operation)] };
  }

  /** What is checked against the stored record, and a listener, need one. */
  private needsCurrent(sent: Values, { permissions }: View): boolean {
    const { schema } = this.access.resource;
    const sendsFixed = schema.fields.some((field, place) => sent[place] !== undefined && !permissions.canUpdate(field));
    return sendsFixed || this.access.store.callsListeners('update');
  }

  /** As the caller sees it, with further fields. @throws 404 */
  private current({ view, key, id }: Target, more: readonly Field[] = [], lock?: RowLock): Promise<T> {
    const { fields } = this.access.resource.schema;
    const read = fields.filter((field) => view.list.readable.includes(field) || more.includes(field));
    return this.access.record(view, key, id, { request: { fields: read, linked: [], includes: [] }, lock });
  }

  /** Listeners are called with a record that is read first: the transaction keeps it as it is. */
  private withListeners<R>(access: 'delete' | 'restore', work: () => Promise<R>): Promise<R> {
    return this.access.store.callsListeners(access) ? this.access.transacted(work) : work();
  }

  /** An unknown record is 404, whatever is wrong with the body. A failed transaction can check nothing. */
  private async explained<R>(target: Target, work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      if (!transactionOf(this.access.dataSource)) await this.access.assertChangeable(target);
      throw error;
    }
  }

  private async update(target: Target, values: Values, ids: SentIds): Promise<T> {
    const { access } = this;
    const { key, id, view } = target;
    const { versionColumn, updateDateColumn } = access.resource.metadata;
    // A listener must not be called for a record that a guard refuses.
    if (target.guards.length > 0 && access.store.callsListeners('update')) await access.assertChangeable(target);
    return access.writing({ isScoped: view.isScoped || ids.size > 0 }, async () => {
      const condition = access.changeable(target);
      // Other links make another version of the record.
      const hasNewVersion = ids.size > 0 && (versionColumn ?? updateDateColumn) !== undefined;
      const changes = hasNewVersion || values.some((value) => value !== undefined);
      const write = { operation: 'update', values, permissions: view.permissions } as const;
      const matched = changes
        ? await access.run(() => access.store.writer('update').update(key, condition, values), write)
        : await access.exists(condition);
      // A trigger may have ignored the statement, which changes nothing.
      if (!matched) await access.assertChangeable(target);
      await this.relationIds.write(key, ids, 'update');
      await access.assertVisible(view, key);
      return withETag(await access.record(view, key, id), view);
    });
  }

  /** @param current the record as a client sees it, where it had to be read */
  private replacement(sent: Values, current: T | undefined, { permissions, fixed }: View): CheckResult {
    const { schema, metadata } = this.access.resource;
    let blank: object | undefined;
    const known: ReplacementContext = {
      current: (field) => valueOf(field, current),
      default: ({ column }) =>
        column.getEntityValue((blank ??= metadata.create() as object)) ??
        databaseDefault(column, this.access.dataSource),
    };
    return checkReplacement(schema, sent, known, permissions, fixed);
  }

  /** The values of a body. What the path fixes may be sent too, if it is the same. */
  private read(body: JsonObject, operation: 'create' | 'update' | 'patch', { permissions, fixed }: View): CheckResult {
    const { values, errors } = this.readBody(expectJsonObject(body), operation, permissions);
    const wrong: FieldError[] = [];
    const sent = values.map((value, place) => {
      const field = this.access.resource.schema.fields[place];
      if (value === undefined || !field || !fixed.has(field)) return value;
      const expected: unknown = field.type.write(fixed.get(field));
      if (JSON.stringify(value) !== JSON.stringify(expected))
        wrong.push({ field: field.name, message: `must be ${describeJson(expected)} as in the path, or nothing` });
      return undefined;
    });
    return { values: sent, errors: [...errors, ...wrong] };
  }
}
