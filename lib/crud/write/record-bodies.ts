/** Reads and checks what a write sets: the body of a request, or the values that a hook returns in its place. */
import type { Field } from '../../entities/entity-schema.js';
import { isMerged, mergePatch } from '../../entities/merge-patch.js';
import { UNRESTRICTED, type Permissions } from '../../entities/permissions.js';
import {
  checkNew,
  checkPatch,
  checkReplacement,
  compileInput,
  describeJson,
  isSame,
  toJson,
  type CheckResult,
  type ReplacementContext,
  type Values,
} from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import { expectJsonObject, type JsonObject } from '../../http/json-body.js';
import { newValuesOf, type View } from '../rows/caller-view.js';
import { databaseDefault } from '../sql/column-default.js';
import { place } from '../store/entity-projection.js';
import { entityOf, valueOf } from '../store/entity-values.js';
import { RecordValidation } from './record-validation.js';
import { RelationIds, type SentIds } from './relation-ids.js';
import type { ResourceAccess, Target } from '../operations/resource-access.js';

export type BodyKind = 'create' | 'update' | 'patch';

/** A hook is code of the server: it may set every column, and the schemas of `schema` check bodies only. */
export type Source = 'client' | 'hook';

/** The values of a body by fields, before they are checked. */
export interface Sent extends CheckResult {
  /** With what the path fixes. */
  readonly body: Values;
  readonly kind: BodyKind;
  readonly source: Source;
  readonly permissions: Permissions;
  readonly ids: SentIds;
  readonly idErrors: readonly FieldError[];
}

/** What a write sets. */
export interface Change<T> {
  readonly kind: BodyKind;
  /** What a client has sent of the values. */
  readonly sent: Values;
  /** For the values. */
  readonly entity: T;
  readonly values: Values;
  readonly ids: SentIds;
}

export class RecordBodies<T extends object> {
  readonly relationIds: RelationIds<T>;
  private readonly readBody: ReturnType<typeof compileInput>;
  private readonly validation: RecordValidation<T>;

  constructor(private readonly access: ResourceAccess<T>) {
    this.relationIds = new RelationIds(access);
    this.readBody = compileInput(access.resource.schema, this.relationIds.names);
    this.validation = new RecordValidation(access.resource);
  }

  /** What the path fixes may be sent too, if it is the same. */
  read(body: JsonObject, kind: BodyKind, { permissions, fixed }: View, source: Source = 'client'): Sent {
    const { fields } = this.access.resource.schema;
    const isHook = source === 'hook';
    const { values, errors } = this.readBody(expectJsonObject(body), kind, isHook ? UNRESTRICTED : permissions);
    const wrong: FieldError[] = [];
    const sent = values.map((value, index) => {
      const field = fields[index];
      if (value === undefined || !field || !fixed.has(field)) return value;
      const expected: unknown = field.type.write(fixed.get(field));
      if (!isSame(field, value, expected))
        wrong.push({ field: field.name, message: `must be ${describeJson(expected)} as in the path, or nothing` });
      return undefined;
    });
    const { ids, errors: idErrors } = this.relationIds.read(body, kind);
    const set = new Set(fields.filter((_, index) => sent[index] !== undefined));
    return {
      kind,
      source,
      body: values,
      values: sent,
      errors: [...errors, ...wrong],
      permissions: isHook ? withWriting(set, permissions) : permissions,
      ids,
      idErrors,
    };
  }

  /** @throws 400 naming every wrong field, 401 for an anonymous owner */
  async checkCreated(sent: Sent, view: View): Promise<Change<T>> {
    const { resource } = this.access;
    const given = newValuesOf(resource, view);
    const { values, errors } = sent.source === 'hook' ? sent : await this.validation.bySchema('create', sent);
    const checked = checkNew(resource.schema, values, sent.permissions, given);
    return this.validated(resource.metadata.create() as T, sent, checked, errors);
  }

  /** @param current the record as the caller sees it, where it has to be known @throws 400 naming every wrong field */
  async checkChanged(sent: Sent, current: T | undefined, { key, view }: Target): Promise<Change<T>> {
    const { schema, options } = this.access.resource;
    const { values, errors } = sent.source === 'hook' ? sent : await this.bySchema(sent, current, view);
    const checked =
      sent.kind === 'patch'
        ? checkPatch(schema, values, { current: (field) => valueOf(field, current) }, sent.permissions)
        : this.checkReplaced(sent, values, current, view);
    return this.validated(entityOf(options.entity, key), sent, checked, errors);
  }

  /** What is checked against the stored record, and a listener, need one. */
  needsCurrent({ values, permissions }: Sent): boolean {
    const { schema } = this.access.resource;
    const isFixed = (field: Field, index: number): boolean =>
      values[index] !== undefined && !permissions.canUpdate(field);
    return schema.fields.some(isFixed) || this.access.store.callsListeners('update');
  }

  /** The fields whose stored value takes part in the result of a patch. */
  mergedFields({ values, permissions }: Sent): Field[] {
    const { fields } = this.access.resource.schema;
    return fields.filter((field, index) => permissions.canUpdate(field) && isMerged(values[index]));
  }

  /** The values for a hook. What the database fills in is absent. */
  valuesOf({ values, ids }: Change<T>): JsonObject {
    const record: Record<string, unknown> = {};
    for (const [index, { path }] of this.access.resource.schema.fields.entries())
      if (values[index] !== undefined && typeof values[index] !== 'function') place(record, path, values[index]);
    for (const [{ name }, keys] of ids) record[name] = keys;
    return record;
  }

  /** A patch is merged into the stored record first. */
  private bySchema(sent: Sent, current: T | undefined, { list }: View): Promise<CheckResult> {
    if (sent.kind !== 'patch') return this.validation.bySchema('update', sent);
    const { fields } = this.access.resource.schema;
    const merge = (value: unknown, index: number): unknown =>
      value === undefined ? value : mergePatch(valueOf(fields[index], current), value);
    const merged = { ...sent, body: sent.body.map(merge), values: sent.values.map(merge) };
    const kept = fields.map((field) => (list.readable.includes(field) ? toJson(valueOf(field, current)) : undefined));
    return this.validation.bySchema('update', merged, kept);
  }

  private checkReplaced(sent: Sent, values: Values, current: T | undefined, { fixed }: View): CheckResult {
    const { schema, metadata } = this.access.resource;
    let blank: object | undefined;
    const known: ReplacementContext = {
      current: (field) => valueOf(field, current),
      default: ({ column }) =>
        column.getEntityValue((blank ??= metadata.create() as object)) ??
        databaseDefault(column, this.access.dataSource),
    };
    return checkReplacement(schema, values, known, sent.permissions, fixed);
  }

  private async validated(
    entity: T,
    { kind, source, values: sent, ids, idErrors }: Sent,
    checked: CheckResult,
    errors: readonly FieldError[],
  ): Promise<Change<T>> {
    const values = await this.validation.validated(entity, checked, [...errors, ...idErrors]);
    return { kind, sent: source === 'client' ? sent : [], entity, values, ids };
  }
}

/** Also of the fields that are set, as far as their columns can be written. */
const withWriting = (set: ReadonlySet<Field>, { canRead, canInsert, canUpdate }: Permissions): Permissions => ({
  canRead,
  canInsert: (field) => (set.has(field) ? field.insertable : canInsert(field)),
  canUpdate: (field) => (set.has(field) ? field.updatable : canUpdate(field)),
});
