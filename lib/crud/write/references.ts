/** Many-to-one references to records that the caller may not see: they are answered as if there were no such record. */
import { ConflictException } from '@nestjs/common';
import { describeMissingReference } from '../../entities/conflicts.js';
import { entityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { relatedVisible, visibleThrough, type Task } from '../plan/plan.js';
import { exists, visibleKeys, withId } from '../read/records.js';
import { relatedPlan } from '../read/related-records.js';
import { and, compare, isEverything } from '../sql/condition.js';
import { identityOf } from '../store/linked-rows.js';
import type { Change } from './bodies.js';

type Written = Pick<Change<unknown>, 'sent' | 'values'>;

type Write = 'create' | 'update';

/** The values of a reference that clients chose. What the server sets by itself is not checked. */
function chosenValues({ view }: Task, field: Field, changes: readonly Written[], write: Write): unknown[] {
  const isFixed = write === 'create' && view.fixed.has(field);
  return changes
    .filter(({ sent }) => sent.has(field) || isFixed)
    .map(({ values }) => values.get(field))
    .filter((value) => value != null);
}

/**
 * Evaluates the scopes that a write needs, before its transaction. A scope that queries the database would wait for a
 * second connection of the pool there, and enough requests would wait for each other for ever.
 */
export async function evaluateScopes(task: Task, changes: readonly Written[], write: Write): Promise<void> {
  const { plan, call } = task;
  for (const { path } of plan.list.linkable) await relatedVisible(relatedPlan(plan, path), call);
  for (const field of plan.schema.fields)
    if (field.reference && chosenValues(task, field, changes, write).length > 0)
      await visibleThrough(plan, call, field.reference);
}

/** @param changed the key of the changed record @throws 409 for one that is missing, or that the caller does not see */
export async function assertVisible(task: Task, changes: readonly Written[], write: Write, changed?: unknown) {
  const { plan, call, view } = task;
  const { schema } = plan;
  for (const field of schema.fields) {
    const written = field.reference ? chosenValues(task, field, changes, write) : [];
    const [related] = field.reference && written.length > 0 ? plan.referenced(field.reference) : [];
    if (!field.reference || !related) continue;
    const visible = await visibleThrough(plan, call, field.reference);
    const referenced = field.reference.joinColumns[0]?.referencedColumn;
    const key = related.schema.fields.find(({ column }) => column === referenced);
    // If the caller sees every record, the foreign key of the database decides.
    if (!key || isEverything(visible)) continue;
    const keys = written.map((value) => key.type.write(value));
    const seen = await visibleKeys(related, call, entityKey([key]), keys, visible);
    for (const value of written) {
      if (seen.has(identityOf(key.type.write(value)))) continue;
      if (write === 'update' && (await mayKeep(task, changed, field, value))) continue;
      const { permissions } = view;
      throw new ConflictException(describeMissingReference({ schema, operation: write, permissions }, field));
    }
  }
}

/** A caller who cannot read the reference must not learn by this what it is. */
async function mayKeep(task: Task, key: unknown, field: Field, value: unknown): Promise<boolean> {
  return task.view.list.readable.includes(field) && exists(task, and(withId(task, key), compare(field, 'eq', value)));
}
