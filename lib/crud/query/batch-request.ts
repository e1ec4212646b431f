/** Reads the requests of batches. */
import { BadRequestException } from '@nestjs/common';
import type { Field } from '../../entities/entity-schema.js';
import { describeJson } from '../../entities/record-input.js';
import type { FieldError } from '../../http/failure.js';
import { expectJsonObject, type JsonObject } from '../../http/json-body.js';
import { splitList } from './filter-parameter.js';
import { readFlag, readParameters } from './parameters.js';
import type { ListQuery } from '../declare/envelope.js';
import { QueryErrors } from './query-errors.js';

/** One record of a batch that changes or deletes records. */
export interface BatchTarget {
  /** As the entity holds it. */
  readonly key: unknown;
  /** For messages. */
  readonly id: string;
}

interface BatchPatch extends BatchTarget {
  readonly body: JsonObject;
}

const invalidBatch = (errors: readonly FieldError[]): BadRequestException =>
  new BadRequestException({ message: 'The batch is not valid', errors });

/** What a batch of bodies asks for; its items are not checked. @throws 400 */
export function readBatch(
  body: JsonObject,
  query: ListQuery = {},
  maxBatchSize: number,
): { readonly items: readonly unknown[]; readonly isAtomic: boolean } {
  const errors = new QueryErrors();
  const isAtomic = readAtomic(readParameters(query, ['atomic'], undefined, errors), errors);
  errors.throwIfAny();
  return { items: readItems(body, maxBatchSize), isAtomic };
}

function readItems(body: JsonObject, maxBatchSize: number): readonly unknown[] {
  const { items, ...others } = expectJsonObject(body);
  const errors = Object.keys(others).map((field) => ({ field, message: 'unknown field, expected items' }));
  const expected = `must be an array of 1 to ${maxBatchSize} objects`;
  if (!Array.isArray(items)) errors.push({ field: 'items', message: `${expected}, got ${describeJson(items)}` });
  else if (items.length === 0 || items.length > maxBatchSize)
    errors.push({ field: 'items', message: `${expected}, got ${items.length}` });
  if (errors.length > 0) throw invalidBatch(errors);
  return items as unknown[];
}

/** @throws 400 */
export function readItem(item: unknown): JsonObject {
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item as JsonObject;
  throw invalidBatch([{ field: '', message: `must be an object, got ${describeJson(item)}` }]);
}

/** An item with its `id`. @throws 400 */
export function readPatch(item: unknown, { type }: Field): BatchPatch {
  const { id, ...body } = readItem(item);
  if (id === undefined || id === null) throw invalidBatch([{ field: 'id', message: 'is required' }]);
  const reading = type.read(id);
  if ('value' in reading) return { key: reading.value, id: String(id), body };
  throw invalidBatch([{ field: 'id', message: `must be ${reading.expected}, got ${describeJson(id)}` }]);
}

/** @throws 400 where two targets are one record */
export function refuseDuplicates(
  targets: readonly BatchTarget[],
  { type }: Field,
  fieldOf: (index: number) => string,
): void {
  const known = new Set<unknown>();
  const errors: FieldError[] = [];
  for (const [index, { key, id }] of targets.entries()) {
    const written = JSON.stringify(type.write(key));
    if (known.has(written)) errors.push({ field: fieldOf(index), message: `must be another id: ${id} is there twice` });
    known.add(written);
  }
  if (errors.length > 0) throw invalidBatch(errors);
}

interface BatchDeletion {
  readonly targets: readonly BatchTarget[];
  readonly isAtomic: boolean;
  readonly purges: boolean;
}

/** @throws 400 */
export function parseBatchDeletion(
  query: ListQuery,
  { type }: Field,
  { maxBatchSize, mayPurge }: { readonly maxBatchSize: number; readonly mayPurge: boolean },
): BatchDeletion {
  const errors = new QueryErrors();
  const parameters = readParameters(query, ['ids', 'atomic', ...(mayPurge ? ['purge'] : [])], undefined, errors);
  const text = parameters.get('ids') ?? '';
  const ids = text === '' ? [] : splitList(text);
  if (ids.length === 0 || ids.length > maxBatchSize)
    errors.add('ids', `must be 1 to ${maxBatchSize} ids separated by commas, got ${ids.length}`);
  const targets = ids.flatMap((id) => {
    const reading = type.readText(id);
    if ('value' in reading) return [{ key: reading.value, id }];
    errors.add('ids', `must be ids, each ${reading.expected}, got ${describeJson(id)}`);
    return [];
  });
  const deletion = {
    targets,
    isAtomic: readAtomic(parameters, errors),
    purges: readFlag('purge', false, parameters, errors),
  };
  errors.throwIfAny();
  return deletion;
}

const readAtomic = (parameters: ReadonlyMap<string, string>, errors: QueryErrors): boolean =>
  readFlag('atomic', true, parameters, errors);
