/** The operations that change several records at once: all or none, unless the query says `atomic=false`. */
import { AccessRefused } from '../../http/refusal.js';
import type { JsonObject } from '../../http/json-body.js';
import type { GeneratedHooks } from '../declare/generated-hooks.js';
import { withStoredAnswer } from '../idempotency/idempotency-store.js';
import {
  parseBatchDeletion,
  parseBatchQuery,
  readItem,
  readItems,
  readPatch,
  refuseDuplicates,
  type BatchTarget,
} from '../query/batch-request.js';
import { and } from '../sql/condition.js';
import type { ListQuery } from '../query/list-query.js';
import { mayChooseDeleted } from '../rows/caller-view.js';
import {
  alone,
  checkItems,
  forItem,
  inBatch,
  writeSeparately,
  type BatchResult,
  type NameItem,
} from '../write/batch-items.js';
import type { RecordBodies, Sent } from '../write/record-bodies.js';
import type { RecordWrites } from '../write/record-writes.js';
import type { ResourceAccess, Target } from './resource-access.js';

export class Batches<T extends object> {
  constructor(
    private readonly access: ResourceAccess<T>,
    private readonly bodies: RecordBodies<T>,
    private readonly records: RecordWrites<T>,
  ) {}

  /** @param answer makes the body of the response @throws 400 naming every wrong field, 401, 403, 409 */
  async createMany<R>(
    body: JsonObject,
    query: ListQuery = {},
    hooks: GeneratedHooks<T>,
    answer: (created: T[] | BatchResult[]) => R,
  ): Promise<R> {
    const { items, isAtomic } = this.sent(body, query);
    if (isAtomic) return this.create(items, inBatch, hooks, answer);
    const write = (item: unknown) => this.create([item], alone, hooks, ([created]) => created);
    return answer(await writeSeparately(this.access.dataSource, items, 201, write));
  }

  /** @throws 400 naming every wrong field, 403, 404, 409 */
  async patchMany(
    body: JsonObject,
    query: ListQuery = {},
    hooks: GeneratedHooks<T> = {},
  ): Promise<T[] | BatchResult[]> {
    const { items, isAtomic } = this.sent(body, query);
    if (isAtomic) return this.patch(items, inBatch, hooks);
    const write = async (item: unknown) => (await this.patch([item], alone, hooks))[0];
    return writeSeparately(this.access.dataSource, items, 200, write);
  }

  /** @throws 400 for a malformed id or parameter, 403, 404, 409 */
  async deleteMany(query: ListQuery, hooks: GeneratedHooks<T> = {}): Promise<null | BatchResult[]> {
    const { schema, options } = this.access.resource;
    const limits = { maxBatchSize: options.maxBatchSize, mayPurge: mayChooseDeleted(this.access.resource) };
    const { targets, isAtomic, purges } = parseBatchDeletion(query, schema.id, limits);
    return isAtomic
      ? this.remove(targets, purges, hooks)
      : writeSeparately(this.access.dataSource, targets, 200, (target) => this.remove([target], purges, hooks));
  }

  /** @throws 400 */
  private sent(body: JsonObject, query: ListQuery): { readonly items: readonly unknown[]; readonly isAtomic: boolean } {
    const isAtomic = parseBatchQuery(query);
    return { items: readItems(body, this.access.resource.options.maxBatchSize), isAtomic };
  }

  private async create<R>(
    items: readonly unknown[],
    nameOf: NameItem,
    hooks: GeneratedHooks<T>,
    answer: (created: T[]) => R,
  ): Promise<R> {
    const { access, bodies, records } = this;
    const sent = await checkItems(items, nameOf, readItem);
    const view = await access.view('createMany');
    const changes = await checkItems(sent, nameOf, (body) =>
      bodies.checkCreated(bodies.read(body, 'create', view), view),
    );
    const insert = async (): Promise<T[]> => {
      // A hook sees the records of the items before.
      const parts = hooks.beforeCreate ? changes.map((change) => [change]) : [changes];
      const keys: unknown[] = [];
      for (const [index, part] of parts.entries())
        keys.push(...(await forItem(nameOf(index), () => records.insert(view, part, hooks))));
      const created = await records.created(view, keys);
      for (const record of created) await records.hooks.afterCreate(hooks, record);
      return created;
    };
    return withStoredAnswer(access, answer, () => access.transacted(insert));
  }

  private async patch(items: readonly unknown[], nameOf: NameItem, hooks: GeneratedHooks<T>): Promise<T[]> {
    const { access, bodies, records } = this;
    const { id } = access.resource.schema;
    const patches = await checkItems(items, nameOf, (item) => readPatch(item, id));
    refuseDuplicates(patches, id, (index) => `${nameOf(index)}.id`);
    const view = await access.view('patchMany');
    const targets = patches.map((each) => access.targetIn(view, each.key, each.id, 'patchMany'));
    const sent = patches.map(({ body }) => bodies.read(body, 'patch', view));
    return access.transacted(async () => {
      const current = await this.locked(targets, sent);
      const changes = await checkItems(targets, nameOf, (target, index) =>
        bodies.checkChanged(sent[index] as Sent, current[index], target),
      );
      for (const [index, change] of changes.entries())
        await forItem(nameOf(index), () => records.update(targets[index] as Target, change, hooks));
      const updated = await access.findAll(view, keysOf(targets));
      for (const [index, record] of updated.entries()) {
        if (!record) throw view.isScoped ? new AccessRefused() : access.missing(String(targets[index]?.id));
        await records.hooks.afterUpdate(hooks, record);
      }
      return updated as T[];
    });
  }

  private async remove(targets: readonly BatchTarget[], purges: boolean, hooks: GeneratedHooks<T>): Promise<null> {
    const { access } = this;
    refuseDuplicates(targets, access.resource.schema.id, () => 'ids');
    const view = await access.view('deleteMany', purges ? 'with' : 'without');
    const removed = targets.map(({ key, id }) => access.targetIn(view, key, id, 'deleteMany'));
    return access.transacted(async () => {
      await this.locked(removed, []);
      for (const target of removed)
        if (!(await this.records.remove(target, purges, hooks))) throw await access.refusalOf(target);
      return null;
    });
  }

  /**
   * The records of one view, which nobody else changes until the end of the transaction. They have their readable fields
   * where the patches need them.
   *
   * @throws 404, 403, 412, 428 for the first record that cannot be changed
   */
  private async locked(targets: readonly Target[], sent: readonly Sent[]): Promise<readonly (T | undefined)[]> {
    const { access, bodies } = this;
    const { schema, options } = access.resource;
    const [first] = targets;
    if (!first) return [];
    const merged = new Set(sent.flatMap((each) => bodies.mergedFields(each)));
    const isRead = merged.size > 0 || sent.some((each) => options.schema.update || bodies.needsCurrent(each));
    const readable = new Set(isRead ? first.view.list.readable : []);
    const fields = schema.fields.filter((field) => field === schema.id || readable.has(field) || merged.has(field));
    // All have the guards of the first one.
    const visible = and(first.view.visible, ...first.guards.map(({ condition }) => condition));
    const request = { fields, linked: [], includes: [] };
    const found = await access.findAll({ ...first.view, visible }, keysOf(targets), { request, lock: 'for update' });
    for (const [index, target] of targets.entries()) if (!found[index]) throw await access.refusalOf(target);
    return found;
  }
}

const keysOf = (targets: readonly Target[]): unknown[] => targets.map(({ key }) => key);
