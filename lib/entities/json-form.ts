/** `toJSON` of entities. Answers do not call it, because what they have is decided before: it hides columns. */
import { isDeepStrictEqual } from 'node:util';
import type { DataSource, EntityMetadata } from 'typeorm';
import { designOf, valueTypeOf, type ColumnMetadata } from './column-types.js';
import { fieldPath, newEntity, valueAt } from './entity-instances.js';
import type { ColumnKind } from './value-types.js';

type Members = Record<string, unknown>;

const toJsonOf = ({ target }: EntityMetadata): unknown =>
  typeof target === 'function' ? (target.prototype as { readonly toJSON?: unknown }).toJSON : undefined;

/**
 * Tries `toJSON` on a made-up record.
 * @returns whether it leaves a column out, or changes its value; `undefined` where there is none, or where it fails
 */
export function hiddenByToJson(metadata: EntityMetadata, dataSource: DataSource) {
  const toJson = toJsonOf(metadata);
  if (typeof toJson !== 'function') return undefined;
  try {
    const pairs = [true, false].map((isTrue) => {
      const sample = sampleOf(metadata, dataSource, isTrue);
      return [sample, toJson.call(sample) as Members] as const;
    });
    if (pairs.some(([, json]) => typeof json !== 'object' || json === null || 'then' in json)) return undefined;
    return (column: ColumnMetadata): boolean => {
      const path = fieldPath(column);
      // An entity of TypeORM has no other property for a foreign key than its relation.
      const relation = column.isVirtual ? column.relationMetadata?.propertyName : undefined;
      const isShown = ([sample, json]: (typeof pairs)[number]): boolean =>
        isSame(valueAt(path, sample), valueAt(path, json)) || (relation !== undefined && json[relation] !== undefined);
      return !pairs.every(isShown);
    };
  } catch {
    return undefined;
  }
}

/** The prototype of records is the entity's, for an application's serializer. @param isTried whether `toJSON` is not called */
export function recordPrototype({ target }: EntityMetadata, isTried: boolean): object {
  const prototype = typeof target === 'function' ? (target.prototype as object) : {};
  if (!isTried) return prototype;
  const toJSON = { writable: true, configurable: true, value: ownMembers };
  return Object.create(prototype, { toJSON }) as object;
}

function ownMembers(this: object): object {
  return { ...this };
}

/** A record with a value in each column, and related records in each relation. */
function sampleOf(metadata: EntityMetadata, dataSource: DataSource, isTrue: boolean, known = new Map()): Members {
  const made = known.get(metadata) as Members | undefined;
  if (made || typeof metadata.target !== 'function') return made ?? {};
  const members: Members = { ...newEntity(metadata) };
  for (const column of metadata.columns) {
    let within = members;
    const path = fieldPath(column);
    for (const name of path.slice(0, -1)) within = (within[name] ??= {}) as Members;
    within[path.at(-1) ?? ''] = valueOf(column, dataSource, isTrue);
  }
  const sample = Object.create(
    metadata.target.prototype as object,
    Object.getOwnPropertyDescriptors(members),
  ) as Members;
  known.set(metadata, sample);
  for (const { propertyName, isOneToMany, isManyToMany, isLazy, inverseEntityMetadata } of metadata.relations) {
    if (isLazy || members[propertyName] !== undefined) continue;
    const related = sampleOf(inverseEntityMetadata, dataSource, isTrue, known);
    sample[propertyName] = isOneToMany || isManyToMany ? [related] : related;
  }
  return sample;
}

function valueOf(column: ColumnMetadata, dataSource: DataSource, isTrue: boolean): unknown {
  const design = designOf(column);
  if (design === BigInt) return 1n;
  if (design === Buffer) return Buffer.from('a');
  if (design === Array) return [];
  const { comparison } = valueTypeOf(column, dataSource);
  if (comparison === undefined) return {};
  const samples: Readonly<Partial<Record<ColumnKind, unknown>>> = {
    number: 1,
    'exact number': design === Number ? 1 : '1',
    boolean: isTrue,
    moment: new Date(0),
    calendar: '2000-01-01',
  };
  return samples[comparison] ?? `sample of ${column.propertyName.toLowerCase()}`;
}

/** `1n` and `"1"` are the same, and so are a moment and its text. */
function isSame(value: unknown, shown: unknown): boolean {
  if (value instanceof Date) return new Date(shown as string).getTime() === value.getTime();
  return isDeepStrictEqual(value, shown) || (typeof value !== 'object' && String(value) === String(shown));
}
