/** Reads the related records that a request wants, one statement for each relation. */
import type { Field } from '../../entities/entity-schema.js';
import { relatedVisible } from '../plan/caller-view.js';
import type { Plan } from '../plan/plan.js';
import { selectedFields, type IncludeRequest, type RecordRequest } from '../query/record-request.js';
import { and, type Condition, type Relation } from '../sql/condition.js';
import type { Call } from '../store/call.js';
import { setAtPath, setOwn } from '../store/entity-values.js';
import { chunksOf, identityOf, keyOf } from '../store/linked-rows.js';
import { run } from './statements.js';

/** The resource of a relation. */
export function relatedPlan(plan: Plan, path: string): Plan {
  const related = plan.relations.get(path);
  if (!related) throw new TypeError(`${plan.schema.name} has no relation ${path} for its clients`);
  return related;
}

/** A related record that the caller does not see matches no filter. */
export async function restrict(plan: Plan, call: Call, condition: Condition, prefix = ''): Promise<Condition> {
  if (plan.relations.size === 0) return condition;
  switch (condition.kind) {
    case 'compare':
    case 'raw':
    case 'indexed':
      return condition;
    case 'unless':
      return { ...condition, part: await restrict(plan, call, condition.part, prefix) };
    case 'related': {
      const path = `${prefix}${condition.relation.propertyPath}`;
      const part = await restrict(plan, call, condition.part, `${path}.`);
      return { ...condition, part: and(await relatedVisible(relatedPlan(plan, path), call), part) };
    }
    default: {
      const parts: Condition[] = [];
      for (const part of condition.parts) parts.push(await restrict(plan, call, part, prefix));
      return { ...condition, parts };
    }
  }
}

/**
 * Adds what a request wants of related records, and removes the key where it was read only for them.
 *
 * @param records of the plan, or of the relation that `of` includes
 */
export async function addRelations(
  plan: Plan,
  call: Call,
  records: readonly object[],
  request: RecordRequest,
  of: Plan = plan,
): Promise<void> {
  const { id } = of.schema;
  for (const { name, path, relation } of request.linked) {
    const { schema } = relatedPlan(plan, path);
    const byOwner = await readRelated(plan, call, { records, id, path, relation, fields: [schema.id] });
    for (const record of records)
      setOwn(
        record,
        name,
        relatedTo(record, id, byOwner).map((each) => keyOf(each, schema.id)),
      );
  }
  for (const include of request.includes) await addIncluded(plan, call, records, include, id);
  if (selectedFields(request, id) !== request.fields)
    for (const record of records) delete (record as Record<string, unknown>)[id.name];
}

async function addIncluded(
  plan: Plan,
  call: Call,
  records: readonly object[],
  include: IncludeRequest,
  id: Field,
): Promise<void> {
  const { path, relation } = include.includable;
  const related = relatedPlan(plan, path);
  const isMany = relation.isOneToMany || relation.isManyToMany;
  const limit = isMany ? plan.options.maxIncluded : undefined;
  const fields = selectedFields(include, related.schema.id);
  const byOwner = await readRelated(plan, call, { records, id, path, relation, fields, limit });
  await addRelations(plan, call, [...byOwner.values()].flat(), include, related);
  for (const record of records) {
    const found = relatedTo(record, id, byOwner);
    setAtPath(record, relation.propertyPath.split('.'), isMany ? found : (found[0] ?? null));
  }
}

interface Followed {
  readonly records: readonly object[];
  /** The key of the records. */
  readonly id: Field;
  readonly path: string;
  readonly relation: Relation;
  readonly fields: readonly Field[];
  readonly limit?: number | undefined;
}

/** The related records, by the identity of the record that they belong to. */
async function readRelated(
  plan: Plan,
  call: Call,
  { records, id, path, relation, fields, limit }: Followed,
): Promise<ReadonlyMap<string, readonly object[]>> {
  const related = relatedPlan(plan, path);
  const condition = await relatedVisible(related, call);
  const byOwner = new Map<string, object[]>();
  const owners = new Set(records.map((record) => keyOf(record, id)));
  for (const keys of chunksOf(owners, id)) {
    const links = { relation, owner: id, keys, related: related.schema.id, condition };
    const selection = { ...links, ...(limit !== undefined && { limit }) };
    const found = await run(related, call, () => related.store.reader.findLinked(call, selection, fields));
    for (const { owner, record } of found) {
      const identity = identityOf(owner);
      const known = byOwner.get(identity);
      if (known) known.push(record);
      else byOwner.set(identity, [record]);
    }
  }
  return byOwner;
}

const relatedTo = (record: object, id: Field, byOwner: ReadonlyMap<string, readonly object[]>): readonly object[] =>
  byOwner.get(identityOf(keyOf(record, id))) ?? [];
