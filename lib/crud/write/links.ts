/** Writes the many-to-many relations that a body names by ids, such as `"tagsIds": [1, 3]`. */
import { BadRequestException, ConflictException } from '@nestjs/common';
import { databaseFailureOf } from '../../entities/database-errors.js';
import { conflictOf } from '../../entities/conflicts.js';
import type { EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { describeJson, type WriteKind } from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import type { JsonObject } from '../../http/json-body.js';
import { relatedVisible, type Plan } from '../plan/plan.js';
import type { LinkedIds } from '../query/record-request.js';
import { visibleKeys } from '../read/records.js';
import { relatedPlan } from '../read/related-records.js';
import { run } from '../read/run-with-retries.js';
import { managerOf, type Call } from '../store/call.js';
import { identityOf, toEntityKey } from '../store/linked-rows.js';

/** Limits new links only: a record may have more of them, and what GET returned can be sent back. */
const MAX_IDS = 100;

/** The requested keys of each relation, as clients see them. A relation that is absent keeps its own. */
export type SentIds = ReadonlyMap<LinkedIds, readonly unknown[]>;

/** An update replaces the whole record: a relation that its body does not name becomes empty. */
export function readLinks(plan: Plan, body: JsonObject, operation: WriteKind) {
  const ids = new Map<LinkedIds, readonly unknown[]>();
  const errors: FieldError[] = [];
  for (const linked of plan.list.linkable) {
    const sent = body[linked.name];
    if (sent === undefined && operation !== 'update') continue;
    const reading = sent === undefined ? { keys: [] } : readIds(sent, relatedPlan(plan, linked.path), operation);
    if ('keys' in reading) ids.set(linked, reading.keys);
    else errors.push({ field: linked.name, message: reading.message });
  }
  return { ids, errors };
}

/**
 * Replaces the links to records that the caller sees; others stay. Runs in the transaction that writes the record, and
 * has locked it: of two requests that replace its links, the second one waits for the first.
 * @throws 409 naming the ids of records that the caller does not see
 */
export async function writeLinks(plan: Plan, call: Call, key: unknown, ids: SentIds, operation: 'create' | 'update') {
  for (const each of ids) await replaceLinks(plan, call, key, each, operation);
}

async function replaceLinks(
  plan: Plan,
  call: Call,
  key: unknown,
  [{ name, path, relation }, keys]: readonly [LinkedIds, readonly unknown[]],
  operation: 'create' | 'update',
): Promise<void> {
  const { schema, options, database } = plan;
  const related = relatedPlan(plan, path);
  const { key: relatedKey, name: relatedName } = related.schema;
  const refuse = (reason: string, cause?: unknown): ConflictException =>
    new ConflictException(conflictOf({ schema, operation }, `refers to ${reason}`, [name]), { cause });
  const visible = await relatedVisible(related, call);
  const links = { relation, owner: schema.key, keys: [key], related: relatedKey, condition: visible };
  const found = await run(related, call, (within) => related.store.reader.findLinked(within, links, relatedKey.fields));
  const current = found.map(({ record }) => relatedKey.of(record));
  const [added, removed] = [without(keys, current), without(current, keys)];
  if (added.length > MAX_IDS) {
    const message = `must have at most ${MAX_IDS} new ids, got ${added.length}`;
    throw new BadRequestException({ message: `${schema.name} is not valid`, errors: [{ field: name, message }] });
  }
  const seen = await visibleKeys(related, call, relatedKey, added, visible);
  const missing = added.filter((each) => !seen.has(identityOf(each)));
  if (missing.length > 0) throw refuse(`${relatedName} records that do not exist: ${missing.join(', ')}`);
  try {
    await run(plan, call, async (within) => {
      const manager = managerOf(within, database) ?? database.dataSource.manager;
      const { junctionEntityMetadata, inverseRelation, inverseEntityMetadata } = relation;
      if (!junctionEntityMetadata && inverseRelation) {
        // TypeORM writes such a relation from its other side only.
        const builder = () =>
          manager.createQueryBuilder().relation(inverseEntityMetadata.target, inverseRelation.propertyPath);
        const own = keyMap(key, schema.key);
        if (removed.length > 0) await builder().of(toKeyMaps(removed, relatedKey)).remove(own);
        if (added.length > 0) await builder().of(toKeyMaps(added, relatedKey)).add(own);
        return;
      }
      const owner = keyMap(key, schema.key);
      const builder = manager.createQueryBuilder().relation(options.entity, path).of(owner);
      if (removed.length > 0) await builder.remove(toKeyMaps(removed, relatedKey));
      const maps = toKeyMaps(added, relatedKey);
      // TypeORM takes one at a time, with as many properties as the owner has, where that has a key of several columns.
      const additions = schema.key.fields.length === 1 ? [maps] : maps.map((each) => ({ ...owner, ...each }));
      if (added.length > 0) for (const each of additions) await builder.add(each);
    });
  } catch (error) {
    if (databaseFailureOf(error) !== 'conflict') throw error;
    throw refuse('records that another request changed', error);
  }
}

function readIds(sent: unknown, { schema }: Plan, operation: WriteKind) {
  const { key } = schema;
  if (!Array.isArray(sent)) return { message: `must be an array of ids, got ${describeJson(sent)}` };
  if (operation === 'create' && sent.length > MAX_IDS)
    return { message: `must have at most ${MAX_IDS} ids, got ${sent.length}` };
  const keys = new Map<string, unknown>();
  for (const each of sent as unknown[]) {
    const reading = each === null ? { expected: 'an id' } : key.read(each);
    if ('expected' in reading)
      return { message: `must be an array of ids, each ${reading.expected}, got ${describeJson(each)}` };
    const written = key.write(reading.value);
    keys.set(identityOf(written), written);
  }
  return { keys: [...keys.values()] };
}

function without(keys: readonly unknown[], others: readonly unknown[]): unknown[] {
  const known = new Set(others.map(identityOf));
  return keys.filter((key) => !known.has(identityOf(key)));
}

/** A key as TypeORM takes it. */
const keyMap = (held: unknown, { fields, parts }: EntityKey<Field>): object =>
  Object.fromEntries(fields.map(({ property }, index) => [property, parts(held)[index]]));

const toKeyMaps = (keys: readonly unknown[], key: EntityKey<Field>): object[] =>
  keys.map((each) => keyMap(toEntityKey(each, key), key));
