/** Reads and checks what a write sets: the body of a request, or the values that a hook returns in its place. */
import { CONVERTIBLE } from '../../entities/class-transformer.js';
import type { Field } from '../../entities/entity-schema.js';
import { initialValue, newEntity, valueAt } from '../../entities/entity-instances.js';
import { UNRESTRICTED, type Permissions } from '../../entities/permissions.js';
import { checkValues, DATABASE_DEFAULT, describeJson, isSame, readValue, toJson } from '../../entities/record-input.js';
import type { CheckResult, Values, WriteKind } from '../../entities/record-input.js';
import { json } from '../../entities/value-types.js';
import type { FieldError } from '../../http/failure.js';
import { expectJsonObject, type JsonObject } from '../../http/json-body.js';
import type { Plan, Task } from '../plan/plan.js';
import { newOwnerOf } from '../rows/owner.js';
import type { Source } from '../store/call.js';
import { entityOf, setAtPath, valueOf } from '../store/entity-values.js';
import { readLinks, type SentIds } from './links.js';
import { checkBySchema, validate, keyErrors } from './validation.js';

export interface Sent extends CheckResult {
  readonly body: Values;
  readonly kind: WriteKind;
  readonly source: Source;
  readonly permissions: Permissions;
  readonly ids: SentIds;
  readonly idErrors: readonly FieldError[];
}

export interface Change {
  readonly kind: WriteKind;
  readonly sent: Values;
  readonly entity: object;
  readonly values: Values;
  readonly ids: SentIds;
  /** What was read of the stored record. */
  readonly current?: object | undefined;
}

/** A body may repeat the values that the path fixes. */
export function readBody(task: Task, body: JsonObject, kind: WriteKind, source = task.call.source): Sent {
  const { plan, view } = task;
  const { permissions, fixed } = view;
  const isServer = source === 'server';
  const read = plan.readBody(expectJsonObject(body), kind, isServer ? UNRESTRICTED : permissions);
  const mayWrite = kind === 'create' ? permissions.canInsert : permissions.canUpdate;
  // An instance was made by a ValidationPipe, or by code of the application. A merge patch is transformed when it is merged.
  const isMade = isServer || body instanceof plan.options.entity;
  const isMergedLater = (value: unknown): boolean => kind === 'patch' && isMerged(value);
  const isSent = (field: Field, value: unknown): boolean => !isMade && mayWrite(field) && !isMergedLater(value);
  const { values, errors: wrong } = transform(plan, read.values, isSent);
  for (const [field, value] of values) {
    if (!fixed.has(field)) continue;
    const expected: unknown = field.type.write(fixed.get(field));
    if (!isSame(field, value, expected))
      wrong.push({ field: field.name, message: `must be ${describeJson(expected)} as in the path, or nothing` });
  }
  const free = fixed.size === 0 ? values : new Map([...values].filter(([field]) => !fixed.has(field)));
  const { ids, errors: idErrors } = readLinks(plan, body, kind);
  return {
    kind,
    source,
    body: values,
    values: free,
    errors: [...read.errors, ...wrong],
    permissions: isServer ? withWriting(free, permissions) : permissions,
    ids,
    idErrors,
  };
}

/** @throws 400 naming every wrong field, 401 for an anonymous owner, 403 where the path names another owner */
export async function checkCreated(task: Task, sent: Sent): Promise<Change> {
  const { plan, call, view } = task;
  const { owner, metadata } = plan;
  const { fixed } = view;
  const isOwned = sent.source === 'server' && owner && sent.values.has(owner.field);
  const ownerId = owner && !isOwned && newOwnerOf(owner, call.request, fixed.get(owner.field));
  const given = owner && ownerId !== undefined ? new Map([[owner.field, ownerId], ...fixed]) : fixed;
  const checked = sent.source === 'server' ? sent : await checkBySchema(plan, 'create', sent);
  return checkValuesOf(task, sent, checked, newEntity(metadata), given);
}

/** @param current the record as the caller sees it, where it has to be known @throws 400 naming every wrong field */
export async function checkChanged(task: Task, sent: Sent, current: object | undefined, key: unknown) {
  const { options, schema } = task.plan;
  const checked = sent.source === 'server' ? sent : await checkPatchBySchema(task, sent, current);
  return checkValuesOf(task, sent, checked, entityOf(options.entity, schema.key, key), task.view.fixed, current);
}

/** Whether the stored record is needed: to compare what may only stay as it is, or by a listener. */
export const needsCurrent = (plan: Plan, { values, permissions }: Sent): boolean =>
  [...values].some(([field, value]) => !permissions.canUpdate(field) || !('value' in readValue(field, value))) ||
  plan.store.mayCallListeners.has('update');

/** The fields whose stored value takes part in the result: those that are merged or hide something, and the rest of a key. */
export const mergedFields = ({ schema, store }: Plan, values: Values, permissions: Permissions): Field[] => {
  const changed = schema.references.filter(({ fields }) => fields.some((field) => values.has(field)));
  const rest = changed.flatMap(({ fields }) => fields.filter((field) => !values.has(field)));
  // Compiled statements compare moments by themselves.
  const isHiding = ({ column, type }: Field): boolean =>
    column.transformer !== undefined ||
    type === json ||
    (type.comparison === 'moment' && store.mayCallListeners.has('update'));
  const isChanged = ([field, value]: [Field, unknown]): boolean =>
    permissions.canUpdate(field) && (isMerged(value) || Array.isArray(value) || isHiding(field));
  return [...[...values].filter(isChanged).map(([field]) => field), ...rest];
};

/** The values for a hook. What the database fills in is absent. */
export function hookValues({ schema }: Plan, { values, ids }: Pick<Change, 'values' | 'ids'>): JsonObject {
  const record: Record<string, unknown> = {};
  for (const field of schema.fields)
    if (values.has(field) && values.get(field) !== DATABASE_DEFAULT) setAtPath(record, field.path, values.get(field));
  for (const [{ name }, keys] of ids) record[name] = keys;
  return record;
}

/** A patch is merged into the stored record first. */
async function checkPatchBySchema({ plan, view }: Task, sent: Sent, current: object | undefined): Promise<CheckResult> {
  if (sent.kind !== 'patch') return checkBySchema(plan, 'update', sent);
  if (!plan.options.validationSchema.update && ![...sent.body.values()].some(isMerged)) return sent;
  const storedOf = (field: Field): unknown =>
    field.column.transformer ? toJson(valueOf(field, current)) : valueOf(field, current);
  const merge = (values: Values): Values =>
    new Map([...values].map(([field, value]) => [field, mergePatch(storedOf(field), value)]));
  const { values: body, errors: wrong } = transform(plan, merge(sent.body), (field) => isMerged(sent.body.get(field)));
  const values = new Map([...body].filter(([field]) => sent.values.has(field)));
  const errors = [...sent.errors, ...wrong];
  if (!plan.options.validationSchema.update) return { values, errors };
  const kept = new Map(view.list.readable.map((field) => [field, toJson(valueOf(field, current))]));
  return checkBySchema(plan, 'update', { ...sent, body, values, errors }, kept);
}

/** The types of the entity, which the application's own code may give, replace a value as a whole. */
const isMerged = (patch: unknown): patch is JsonObject =>
  typeof patch === 'object' &&
  patch !== null &&
  !Array.isArray(patch) &&
  !(patch instanceof Date || patch instanceof Uint8Array);

/** JSON merge patch (RFC 7396). */
function mergePatch(current: unknown, patch: unknown): unknown {
  if (!isMerged(patch)) return patch;
  const members = new Map(isMerged(current) ? Object.entries(current) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  // Unlike an assignment, this makes `__proto__` a member as any other.
  return Object.fromEntries(members);
}

/** Applies the decorators of class-transformer. A value that becomes `undefined` counts as not sent. */
function transform({ transformSent }: Plan, sent: Values, isChosen: (field: Field, value: unknown) => boolean) {
  const errors: FieldError[] = [];
  const chosen = [...sent].filter(([field, value]) => isChosen(field, value));
  const record = {};
  for (const [field, value] of sent) setAtPath(record, field.path, value);
  const changes = chosen.length > 0 ? transformSent?.(record) : undefined;
  if (!changes) return { values: sent, errors };
  const values = new Map(sent);
  for (const [field, value] of chosen) {
    const outcome = valueAt(field.path, changes.values);
    if (!changes.failed.has(field.path[0] ?? '')) {
      if (outcome === undefined) values.delete(field);
      // `@Type(() => Date)` makes an invalid date of other text, and a date of what a column holds as text.
      else if (!(outcome instanceof Date) || 'value' in readValue(field, outcome)) values.set(field, outcome);
    } else if ('value' in readValue(field, value))
      errors.push({ field: field.name, message: `must be ${CONVERTIBLE}` });
  }
  return { values, errors };
}

/** @param given values of fields that the body need not have */
async function checkValuesOf(
  { plan }: Task,
  { kind, source, permissions, values: sent, ids, idErrors }: Sent,
  { values, errors }: CheckResult,
  entity: object,
  given: Values,
  current?: object,
): Promise<Change> {
  let blank: object | undefined;
  const checked = checkValues(plan.schema, kind, values, {
    permissions,
    given,
    merged: kind === 'create' ? [] : mergedFields(plan, sent, permissions),
    currentOf: (field) => valueAt(field.path, current),
    defaultOf: ({ column }) => initialValue(column, (blank ??= newEntity(plan.metadata))) ?? DATABASE_DEFAULT,
  });
  const wrongKeys = kind === 'create' ? keyErrors(plan, checked.values) : [];
  const valid = await validate(plan, entity, checked, [...errors, ...idErrors, ...wrongKeys]);
  return { kind, sent: source === 'client' ? sent : new Map(), entity, values: valid, ids, current };
}

/** Lets hooks write every writable column that they set. */
const withWriting = (set: Values, { canRead, canInsert, canUpdate }: Permissions): Permissions => ({
  canRead,
  canInsert: (field) => (set.has(field) && field.insertable) || canInsert(field),
  canUpdate: (field) => (set.has(field) ? field.updatable : canUpdate(field)),
});
