/** Reads the requests of batches. */
import { BadRequestException } from '@nestjs/common';
import { keyText, type EntityKey } from '../../entities/entity-key.js';
import type { Field } from '../../entities/entity-schema.js';
import { describeJson } from '../../entities/record-input.js';
import { fieldError, type FieldError } from '../../http/failure.js';
import { expectJsonObject, type JsonObject } from '../../http/json-body.js';
import { isObject } from '../../options/option-table.js';
import { splitList } from './filter-parameter.js';
import { QueryParameters } from './parameters.js';
import type { ListQuery } from '../declare/envelope.js';

export interface RecordId {
  readonly key: unknown;
  /** As the client sent it. */
  readonly id: string;
}

const invalidBatch = (errors: readonly FieldError[]): BadRequestException =>
  new BadRequestException({ message: 'The batch is not valid', errors });

/** Reads a batch of bodies; its items are not checked. @throws 400 */
export function readBatch(body: JsonObject, query: ListQuery = {}, maxBatchSize: number) {
  const parameters = new QueryParameters(query, ['atomic']);
  const isAtomic = parameters.flag('atomic', true);
  parameters.throwIfAny();
  const { items, ...others } = expectJsonObject(body);
  const errors = Object.keys(others).map((field) => fieldError(field, 'unknown field', ', expected items'));
  const expected = `must be an array of 1 to ${maxBatchSize} objects`;
  if (!Array.isArray(items)) errors.push({ field: 'items', message: `${expected}, got ${describeJson(items)}` });
  else if (items.length === 0 || items.length > maxBatchSize)
    errors.push({ field: 'items', message: `${expected}, got ${items.length}` });
  if (errors.length > 0) throw invalidBatch(errors);
  return { items: items as unknown[], isAtomic };
}

/** @throws 400 */
export function readItem(item: unknown): JsonObject {
  if (isObject(item)) return item;
  throw invalidBatch([{ field: '', message: `must be an object, got ${describeJson(item)}` }]);
}

/** An item with its key. @throws 400 */
export function readPatch(item: unknown, key: EntityKey<Field>): RecordId & { readonly body: JsonObject } {
  const body = { ...readItem(item) };
  const errors: FieldError[] = [];
  const values = key.fields.map(({ name, type }) => {
    const { [name]: sent } = body;
    delete body[name];
    const reading = sent == null ? undefined : type.read(sent);
    if (reading && 'value' in reading) return reading.value;
    const message = reading ? `must be ${reading.expected}, got ${describeJson(sent)}` : 'is required';
    return void errors.push({ field: name, message });
  });
  if (errors.length > 0) throw invalidBatch(errors);
  const held = key.hold(values);
  return { key: held, id: keyText(key.write(held)), body };
}

/** @throws 400 where two targets are one record */
export function refuseDuplicates(
  targets: readonly RecordId[],
  { write }: EntityKey,
  fieldOf: (index: number) => string,
) {
  const known = new Set<unknown>();
  const errors: FieldError[] = [];
  for (const [index, { key, id }] of targets.entries())
    if (known.size === known.add(JSON.stringify(write(key))).size)
      errors.push({ field: fieldOf(index), message: `duplicate id ${id}` });
  if (errors.length > 0) throw invalidBatch(errors);
}

/** @throws 400 */
export function parseBatchDeletion(
  query: ListQuery,
  key: EntityKey,
  { maxBatchSize, mayPurge }: { readonly maxBatchSize: number; readonly mayPurge: boolean },
): { readonly targets: readonly RecordId[]; readonly isAtomic: boolean; readonly purges: boolean } {
  const parameters = new QueryParameters(query, ['ids', 'atomic', ...(mayPurge ? ['purge'] : [])], ['ids']);
  const text = parameters.get('ids') ?? '';
  const isSingle = key.fields.length === 1;
  const ids = text === '' ? [] : isSingle ? splitList(text) : text.split(';');
  if (ids.length === 0 || ids.length > maxBatchSize)
    parameters.add(
      'ids',
      `must be 1 to ${maxBatchSize} ids separated by ${isSingle ? 'commas' : 'semicolons'}, got ${ids.length}`,
    );
  const targets = ids.flatMap((id) => {
    const reading = key.readText(id);
    if ('value' in reading) return [{ key: reading.value, id }];
    parameters.add('ids', `must be ids, each ${reading.expected}, got ${describeJson(id)}`);
    return [];
  });
  const isAtomic = parameters.flag('atomic', true);
  const purges = parameters.flag('purge', false);
  parameters.throwIfAny();
  return { targets, isAtomic, purges };
}
