/** What the declared resources let a caller reach, from their options and the access rules: records, and columns. */
import type { INestApplication } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import { decide } from '../../access/decide.js';
import { AccessRules } from '../../access/access-rules.js';
import type { CompiledAccess } from '../../access/compiled-access.js';
import { relatedVisible, type Plan } from '../../crud/plan/plan.js';
import { run } from '../../crud/read/statements.js';
import { and, type Condition } from '../../crud/sql/condition.js';
import type { Call } from '../../crud/store/call.js';
import type { TransactionContext } from '../../database/transactions.js';
import type { ColumnMetadata } from '../../entities/column-types.js';
import type { Field } from '../../entities/entity-schema.js';
import { generatedRoutes } from '../../reach/generated-routes.js';
import { callAs } from '../../reach/symbolic-caller.js';
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

/** Of the entities that have resources. A resource that no rule lets the caller use shows nothing by itself. */
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
  const add = async (plan: Plan, condition: Condition, fields: readonly Field[]): Promise<void> => {
    note('used', fields);
    note('deciding', decidingFields(condition));
    const { fields: key } = plan.schema.key;
    const selection = { condition, fields: [...new Set([...key, ...fields])], sort: [] };
    const records = found.get(plan.metadata)?.records;
    for (const record of await run(plan, call, (within) => plan.store.reader.find(within, selection))) {
      const text = JSON.stringify(record);
      const of = keyOf(plan.metadata, record);
      records?.set(of, `${records.get(of) ?? ''}${text}`);
    }
  };
  const allowed = all.filter(({ entries }) => entries.some(({ access }) => !decide(access, granted)));
  for (const { plan, operation } of allowed) {
    const views = plan.viewsFor(call.request);
    const { list, permissions } = views.without;
    const view = views[operation.undoes === undefined && !list.choosesDeleted ? 'without' : 'with'];
    const condition = await conditionOf(plan, call, operation.name, view.visible);
    if (!condition) continue;
    await add(plan, condition, list.readable);
    note(
      'used',
      plan.schema.fields.filter((field) => permissions.canUpdate(field) || permissions.canInsert(field)),
    );
    note('used', [...list.sortable.values(), ...[...list.filterable.values()].map(({ field }) => field)]);
    for (const [path, { readable }] of list.includable) {
      const related = plan.relations.get(path);
      if (related) await add(related, await relatedVisible(related, call), readable);
    }
  }
  return [...found.values()];
}

export const keyOf = (metadata: EntityMetadata, record: object): string =>
  JSON.stringify(metadata.getEntityIdMap(record));

/** `undefined` where the scope refuses the caller. Paths and parents leave out records, and show no others. */
async function conditionOf(
  plan: Plan,
  call: Call,
  operation: string,
  visible: Condition,
): Promise<Condition | undefined> {
  const task = { plan, call, operation, view: plan.viewsFor(call.request).without };
  const conditions = [visible];
  try {
    for (const part of plan.rowRules)
      if (part.kind === 'scope' || part.kind === 'owner') conditions.push(...((await part.add(task)).conditions ?? []));
  } catch {
    return undefined;
  }
  return and(...conditions);
}

function decidingFields(condition: Condition): Field[] {
  if ('parts' in condition) return condition.parts.flatMap(decidingFields);
  if ('part' in condition) return decidingFields(condition.part);
  return 'field' in condition ? [condition.field] : [];
}
