/** References to records that the caller may not see: they are answered as if there were no such record. */
import { ConflictException } from '@nestjs/common';
import { describeMissingReference } from '../../entities/conflicts.js';
import { initialValue } from '../../entities/entity-instances.js';
import { entityKey } from '../../entities/entity-key.js';
import type { Field, Reference } from '../../entities/entity-schema.js';
import { DATABASE_DEFAULT } from '../../entities/record-input.js';
import { relatedVisible, visibleThrough, type Task } from '../plan/plan.js';
import { exists, visibleKeys, withId } from '../read/records.js';
import { relatedPlan } from '../read/related-records.js';
import { and, compare, isEverything } from '../sql/condition.js';
import { valueOf } from '../store/entity-values.js';
import { identityOf } from '../store/linked-rows.js';
import type { Change } from './bodies.js';

type Written = Omit<Change, 'ids'>;
type WriteName = 'create' | 'update';

/** The changes in which a client chose a reference. What the server sets by itself is not checked. */
function choicesOf({ view }: Task, { fields }: Reference, changes: readonly Written[], write: WriteName): Written[] {
  const isFixed = write === 'create' && fields.some((field) => view.fixed.has(field));
  const chosen = changes.filter(({ sent }) => isFixed || fields.some((field) => sent.has(field)));
  return chosen.filter((change) => fields.every((field) => storedValue(field, change) != null));
}

/** The value after the write; `DATABASE_DEFAULT` where only the database knows it. */
function storedValue(field: Field, { kind, values, entity, current }: Written): unknown {
  const value = values.get(field);
  if (value !== undefined && value !== DATABASE_DEFAULT) return value;
  if (value === undefined && kind !== 'create') return valueOf(field, current);
  const initial: unknown = initialValue(field.column, entity) ?? field.column.default ?? undefined;
  return initial === undefined || ['string', 'number'].includes(typeof initial) ? initial : DATABASE_DEFAULT;
}

/**
 * Evaluates the scopes that a write needs, before its transaction. A scope that queries the database would wait for a
 * second connection of the pool there, and enough requests would wait for each other for ever.
 */
export async function evaluateScopes(task: Task, changes: readonly Written[], write: WriteName): Promise<void> {
  const { plan, call } = task;
  for (const { path } of plan.list.linkable) await relatedVisible(relatedPlan(plan, path), call);
  for (const reference of plan.schema.references)
    if (choicesOf(task, reference, changes, write).length > 0) await visibleThrough(plan, call, reference.relation);
}

/** @param changed the key of the changed record @throws 409 for one that is missing, or that the caller does not see */
export async function assertVisible(task: Task, changes: readonly Written[], write: WriteName, changed?: unknown) {
  const { plan, call, view } = task;
  const { schema } = plan;
  for (const reference of schema.references) {
    const { relation, fields } = reference;
    const written = choicesOf(task, reference, changes, write);
    const [related] = written.length > 0 ? plan.referenced(relation) : [];
    if (!related) continue;
    const visible = await visibleThrough(plan, call, relation);
    const referenced = relation.joinColumns.flatMap(
      ({ referencedColumn }) => related.schema.fields.find(({ column }) => column === referencedColumn) ?? [],
    );
    // If the caller sees every record, the foreign key of the database decides.
    if (referenced.length < fields.length || isEverything(visible)) continue;
    const key = entityKey(referenced);
    const keys = written.map((change) => {
      const values = fields.map((field) => storedValue(field, change));
      if (values.includes(DATABASE_DEFAULT)) return undefined;
      return key.join(values.map((value, index) => referenced[index]?.type.write(value)));
    });
    const known = keys.filter((each) => each !== undefined);
    const seen = await visibleKeys(related, call, key, known, visible);
    for (const [index, change] of written.entries()) {
      if (seen.has(identityOf(keys[index]))) continue;
      if (write === 'update' && (await mayKeep(task, changed, fields, change))) continue;
      const failed = { schema, operation: write, permissions: view.permissions };
      throw new ConflictException(describeMissingReference(failed, fields));
    }
  }
}

/** A caller who cannot read the reference must not learn by this what it is. */
async function mayKeep(task: Task, key: unknown, fields: readonly Field[], { values }: Written): Promise<boolean> {
  const kept = fields.filter((field) => values.has(field)).map((field) => compare(field, 'eq', values.get(field)));
  const { readable } = task.view.list;
  return fields.every((field) => readable.includes(field)) && exists(task, and(withId(task, key), ...kept));
}
