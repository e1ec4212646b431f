/** Writes the many-to-many relations that a body names by ids, such as `"tagsIds": [1, 3]`. */
import { ConflictException } from '@nestjs/common';
import { isSqlite } from '../../entities/database-family.js';
import { databaseFailureOf } from '../../entities/database-errors.js';
import type { Field } from '../../entities/entity-schema.js';
import { describeJson } from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import type { JsonObject } from '../../http/json-body.js';
import { and, compare, type Condition } from '../sql/condition.js';
import type { LinkedIds } from '../query/record-request.js';
import { boundValues, parametersOf, RECORD } from '../sql/condition-sql.js';
import { chunksOf, heldKey, identityOf, keyOf } from '../store/linked-rows.js';
import { addCondition } from '../store/query-parts.js';
import { transactionOf } from '../store/transactions.js';
import type { RelatedAccess } from '../operations/relation-views.js';
import type { ResourceAccess } from '../operations/resource-access.js';

const MAX_IDS = 100;

/** The keys that each relation shall have, as clients see them. A relation that is not here keeps its own. */
export type SentIds = ReadonlyMap<LinkedIds, readonly unknown[]>;

export class RelationIds<T extends object> {
  constructor(private readonly access: ResourceAccess<T>) {}

  /** The names of the fields. */
  get names(): string[] {
    return this.access.resource.list.linkable.map(({ name }) => name);
  }

  /** An update replaces the whole record: a relation that its body does not name becomes empty. */
  read(body: JsonObject, operation: 'create' | 'update' | 'patch'): { ids: SentIds; errors: FieldError[] } {
    const ids = new Map<LinkedIds, readonly unknown[]>();
    const errors: FieldError[] = [];
    for (const linked of this.access.resource.list.linkable) {
      const sent = body[linked.name];
      if (sent === undefined && operation !== 'update') continue;
      const reading = sent === undefined ? { keys: [] } : readIds(sent, this.access.related(linked.path));
      if ('keys' in reading) ids.set(linked, reading.keys);
      else errors.push({ field: linked.name, message: reading.message });
    }
    return { ids, errors };
  }

  /**
   * Replaces the links to records that the caller sees; others stay. Runs in the transaction that writes the record.
   *
   * @throws 409 naming the ids of records that the caller does not see
   */
  async write(key: unknown, ids: SentIds, operation: 'create' | 'update'): Promise<void> {
    if (ids.size > 0 && operation === 'update') await this.lock(key);
    for (const [linked, keys] of ids) await this.replace(key, linked, keys, operation);
  }

  /** Of two requests that replace the links of one record, the second one waits for the first. */
  private async lock(key: unknown): Promise<void> {
    const { dataSource, resource } = this.access;
    const manager = transactionOf(dataSource);
    if (!manager || isSqlite(dataSource)) return;
    const condition = compare(resource.schema.id, 'eq', key);
    const query = manager.createQueryBuilder(resource.options.entity, RECORD).select('1', 'found');
    addCondition(query, condition, parametersOf(boundValues(condition, dataSource)), dataSource);
    await this.access.run(() => query.setLock('pessimistic_write').getRawMany());
  }

  private async replace(
    key: unknown,
    { name, path, relation }: LinkedIds,
    keys: readonly unknown[],
    operation: 'create' | 'update',
  ): Promise<void> {
    const { access } = this;
    const { schema, options } = access.resource;
    const related = access.related(path);
    const { id, name: relatedName } = related.resource.schema;
    const refuse = (reason: string, cause?: unknown): ConflictException =>
      new ConflictException(`${access.name} cannot be ${operation}d: ${name} refers to ${reason}`, { cause });
    const { visible } = await related.relatedView();
    const missing = without(keys, await visibleKeys(related, keys, visible));
    if (missing.length > 0) throw refuse(`${relatedName} records that do not exist: ${missing.join(', ')}`);
    const links = { relation, owner: schema.id, keys: [key], related: id, condition: visible };
    const linked = await access.run(() => related.store.reader.findLinked(links, [id]));
    const current = linked.map(({ record }) => keyOf(record, id));
    const [added, removed] = [without(keys, current), without(current, keys)];
    try {
      await access.run(async () => {
        const manager = transactionOf(access.dataSource) ?? access.dataSource.manager;
        const builder = manager.createQueryBuilder().relation(options.entity, path).of(key);
        if (removed.length > 0) await builder.remove(held(removed, id));
        if (added.length > 0) await builder.add(held(added, id));
      });
    } catch (error) {
      if (databaseFailureOf(error) !== 'conflict') throw error;
      throw refuse('records that another request changed', error);
    }
  }
}

/** The keys of a body, without duplicates. */
function readIds(
  sent: unknown,
  { resource }: RelatedAccess,
): { readonly keys: readonly unknown[] } | { readonly message: string } {
  const { type } = resource.schema.id;
  if (!Array.isArray(sent)) return { message: `must be an array of ids, got ${describeJson(sent)}` };
  if (sent.length > MAX_IDS) return { message: `must have at most ${MAX_IDS} ids, got ${sent.length}` };
  const keys = new Map<string, unknown>();
  for (const each of sent as unknown[]) {
    const reading = each === null ? { expected: 'an id' } : type.read(each);
    if ('expected' in reading)
      return { message: `must be an array of ids, each ${reading.expected}, got ${describeJson(each)}` };
    const key = type.write(reading.value);
    keys.set(identityOf(key), key);
  }
  return { keys: [...keys.values()] };
}

async function visibleKeys(
  related: RelatedAccess,
  keys: readonly unknown[],
  visible: Condition,
): Promise<readonly unknown[]> {
  const { id } = related.resource.schema;
  const found: unknown[] = [];
  for (const chunk of chunksOf(new Set(keys), id)) {
    const condition = and(compare(id, 'in', ...chunk), visible);
    const records = await related.run(() => related.store.reader.find({ condition, fields: [id], sort: [] }));
    found.push(...records.map((record) => keyOf(record, id)));
  }
  return found;
}

function without(keys: readonly unknown[], others: readonly unknown[]): unknown[] {
  const known = new Set(others.map(identityOf));
  return keys.filter((key) => !known.has(identityOf(key)));
}

const held = (keys: readonly unknown[], id: Field): unknown[] => keys.map((key) => heldKey(key, id));
