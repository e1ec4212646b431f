/** What the declared resources let a caller reach, from their options and the access rules: records, and columns. */
import type { INestApplication } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import { AccessRules } from '../../access/access-rules.js';
import type { CompiledAccess } from '../../access/compiled-access.js';
import { callAs, evaluateRule, findRecords, relatedVisible } from '../../crud/inspect.js';
import type { Call, Condition, InspectedOperation, Plan } from '../../crud/inspect.js';
import type { TransactionContext } from '../../database/transactions.js';
import type { ColumnMetadata } from '../../entities/column-types.js';
import type { Field } from '../../entities/entity-schema.js';
import { answersOf, generatedRoutes } from '../../reach/generated-routes.js';
import { contexts } from '../../http/request-context.js';
import { getProvider, type TestUser } from '../client.js';

export interface VisibleRecords {
  readonly metadata: EntityMetadata;
  /** The columns that the caller reads, writes, filters or sorts by. */
  readonly used: Set<ColumnMetadata>;
  /** The columns that decide which records the caller reaches. */
  readonly deciding: Set<ColumnMetadata>;
  /** What the caller reads of each record, by key. */
  readonly records: Map<string, string>;
}

export const compiledAccessOf = (app: INestApplication): CompiledAccess =>
  getProvider(app, AccessRules).compiled as CompiledAccess;

/** The visible records of entities that have resources. A resource that no rule lets the caller use shows nothing by itself. */
export async function visibleRecords(app: INestApplication, caller: TestUser): Promise<VisibleRecords[]> {
  const { roles, email = '', sub = 1, claims } = caller;
  const compiled = compiledAccessOf(app);
  const { all, plans } = generatedRoutes(app, compiled);
  const { expand } = compiled.roles;
  const granted = expand(roles);
  const { transaction } = (contexts.getStore() ?? {}) as Partial<TransactionContext>;
  const call: Call = { ...callAs({ ...claims, id: sub, email, roles: [...roles] }, expand), transaction };
  const found = new Map<EntityMetadata, VisibleRecords>(
    plans.map(({ metadata }) => [metadata, { metadata, used: new Set(), deciding: new Set(), records: new Map() }]),
  );
  const note = (kind: 'used' | 'deciding', fields: readonly Field[]): void => {
    for (const { column } of fields) found.get(column.entityMetadata)?.[kind].add(column);
  };
  const add = async (plan: Plan, conditions: readonly Condition[], fields: readonly Field[]): Promise<void> => {
    note('used', fields);
    note('deciding', conditions.flatMap(decidingFields));
    const { fields: key } = plan.schema.key;
    const records = found.get(plan.metadata)?.records;
    for (const record of await findRecords(plan, call, conditions, [...new Set([...key, ...fields])])) {
      const text = JSON.stringify(record);
      const of = keyOf(plan.metadata, record);
      records?.set(of, `${records.get(of) ?? ''}${text}`);
    }
  };
  const allowed = all.filter((each) => answersOf(each, granted).includes(true));
  for (const { operation } of allowed) {
    const { plan } = operation;
    const views = plan.viewsFor(call.request);
    const { list, permissions } = views.without;
    const { visible } = operation.undoes || list.choosesDeleted ? views.with : views.without;
    const conditions = await conditionsOf(operation, call);
    if (!conditions) continue;
    await add(plan, [visible, ...conditions], list.readable);
    note(
      'used',
      plan.schema.fields.filter((field) => permissions.canUpdate(field) || permissions.canInsert(field)),
    );
    note('used', [...list.sortable.values(), ...[...list.filterable.values()].map(({ field }) => field)]);
    for (const [path, { readable }] of list.includable) {
      const related = plan.relations.get(path);
      if (related) await add(related, [await relatedVisible(related, call)], readable);
    }
  }
  return [...found.values()];
}

export const keyOf = (metadata: EntityMetadata, record: object): string =>
  JSON.stringify(metadata.getEntityIdMap(record));

/** `undefined` where the scope refuses the caller. Paths and parents leave out records, and show no others. */
async function conditionsOf(operation: InspectedOperation, call: Call): Promise<Condition[] | undefined> {
  const rules = operation.plan.rowRules.filter(({ kind }) => kind === 'scope' || kind === 'owner');
  const evaluated = rules.map((rule) => evaluateRule(rule, operation, call));
  return Promise.all(evaluated).then(
    (all) => all.flatMap(({ reached }) => reached),
    () => undefined,
  );
}

function decidingFields(condition: Condition): Field[] {
  if ('parts' in condition) return condition.parts.flatMap(decidingFields);
  if ('part' in condition) return decidingFields(condition.part);
  return 'field' in condition ? [condition.field] : [];
}
