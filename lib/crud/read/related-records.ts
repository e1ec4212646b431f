/** Reads the related records that a request wants, one statement for each relation. */
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { relatedVisible, type Plan } from '../plan/plan.js';
import { refuseParameter } from '../query/query-errors.js';
import { selectedFields, type IncludeRequest, type RecordRequest } from '../query/record-request.js';
import { and, type Condition } from '../sql/condition.js';
import type { LinkSelection } from '../sql/link-sql.js';
import type { Call } from '../store/call.js';
import { setAtPath, setOwn } from '../store/entity-values.js';
import { chunksOf, identityOf } from '../store/linked-rows.js';
import { run } from './run-with-retries.js';

export function relatedPlan(plan: Plan, path: string): Plan {
  const related = plan.relations.get(path);
  if (!related) throw new TypeError(`${plan.schema.name} has no relation ${path} for its clients`);
  return related;
}

/** A related record that the caller does not see matches no filter. */
export async function restrict(plan: Plan, call: Call, condition: Condition, prefix = ''): Promise<Condition> {
  if (plan.relations.size === 0 || !('part' in condition || 'parts' in condition)) return condition;
  switch (condition.kind) {
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

/** How many related records an answer includes, counted with repeats. */
const MAX_INCLUDED = 5_000;
const TOO_MANY = `must give at most ${MAX_INCLUDED} related records in an answer: include less of fewer records`;

/** Adds what a request wants of related records. @returns the metadata of the answer @throws 400 for too many of them */
export async function addRelations(plan: Plan, call: Call, records: readonly object[], request: RecordRequest) {
  const inclusion = { count: 0, truncated: new Set<string>() };
  await addTo(records, request, { plan, call, of: plan, inclusion });
  return inclusion.truncated.size > 0 ? { truncated: [...inclusion.truncated] } : undefined;
}

interface Adding {
  readonly plan: Plan;
  readonly call: Call;
  readonly of: Plan;
  readonly inclusion: {
    count: number;
    /** The paths of relations of which some records were left out. */
    readonly truncated: Set<string>;
  };
}

/** @param records as often as the answer has them */
async function addTo(records: readonly object[], request: RecordRequest, adding: Adding): Promise<void> {
  const { plan, call, of } = adding;
  const { key } = of.schema;
  for (const { name, path, relation } of request.linked) {
    const { key: linkedKey } = relatedPlan(plan, path).schema;
    const byOwner = await readRelated(plan, call, { records, key, path, relation, fields: linkedKey.fields });
    const keysOf = (record: object) => relatedTo(record, key, byOwner).map((each) => linkedKey.of(each));
    for (const record of records) setOwn(record, name, keysOf(record));
  }
  for (const include of request.includes) await addIncluded(records, include, adding);
  removeUnasked(records, selectedFields(request, key), request);
}

/** The key was read only to find records. */
export function removeUnasked(records: readonly object[], read: readonly Field[], { fields }: RecordRequest): void {
  if (read === fields) return;
  for (const { name } of read.filter((field) => !fields.includes(field)))
    for (const record of records) delete (record as Record<string, unknown>)[name];
}

async function addIncluded(records: readonly object[], include: IncludeRequest, adding: Adding): Promise<void> {
  const { plan, call, of, inclusion } = adding;
  const { key } = of.schema;
  const { path, relation } = include.includable;
  const related = relatedPlan(plan, path);
  const isMany = relation.isOneToMany || relation.isManyToMany;
  const { maxIncluded } = plan.options;
  const fields = selectedFields(include, related.schema.key);
  // One more of each tells whether there are more. Without these, that many rows are beyond the limit too.
  const limits = { limit: isMany ? maxIncluded + 1 : undefined, most: 2 * MAX_INCLUDED };
  const byOwner = await readRelated(plan, call, { records, key, path, relation, fields, ...limits });
  const included: object[] = [];
  for (const record of records) {
    const found = relatedTo(record, key, byOwner);
    const kept = isMany ? found.slice(0, maxIncluded) : found.slice(0, 1);
    if (isMany && found.length > maxIncluded) inclusion.truncated.add(path);
    inclusion.count += kept.length;
    if (inclusion.count > MAX_INCLUDED) refuseParameter('include', TOO_MANY);
    included.push(...kept);
    setAtPath(record, relation.propertyPath.split('.'), isMany ? kept : (kept[0] ?? null));
  }
  await addTo(included, include, { ...adding, of: related });
}

interface Followed extends Pick<LinkSelection, 'relation' | 'limit' | 'most'> {
  readonly records: readonly object[];
  readonly key: EntityKey<Field>;
  readonly path: string;
  readonly fields: readonly Field[];
}

/** The related records, by the identity of the record that they belong to. */
async function readRelated(plan: Plan, call: Call, { records, key, path, relation, fields, limit, most }: Followed) {
  const related = relatedPlan(plan, path);
  const condition = await relatedVisible(related, call);
  const byOwner = new Map<string, object[]>();
  const owners = new Set(records.map((record) => key.of(record)));
  for (const keys of chunksOf(owners, key)) {
    const links = { relation, owner: key, keys, related: related.schema.key, condition, limit, most };
    const found = await run(related, call, (within) => related.store.reader.findLinked(within, links, fields));
    for (const { owner, record } of found) {
      const identity = identityOf(owner);
      const known = byOwner.get(identity);
      if (known) known.push(record);
      else byOwner.set(identity, [record]);
    }
  }
  return byOwner;
}

const relatedTo = (record: object, { of }: EntityKey, byOwner: ReadonlyMap<string, readonly object[]>) =>
  byOwner.get(identityOf(of(record))) ?? [];
