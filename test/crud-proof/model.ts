/** A resource in memory: what generated operations must answer, as plain functions. */
import { inOrder, type Kind, MATCHES } from '../crud/filter-model.js';

export type Json = Record<string, unknown>;

export interface Expected {
  readonly status: number;
  /** Of a success. */
  readonly data?: unknown;
  readonly pagination?: unknown;
  /** The fields of a 400, sorted. */
  readonly fields?: readonly string[];
}

interface ColumnModel {
  readonly kind: Kind;
  /** What an absent field becomes; a column without it is required. */
  readonly fallback?: unknown;
  accepts(value: unknown): boolean;
}

const text = (most: number) => (value: unknown) => typeof value === 'string' && [...value].length <= most;
const orNull = (accepts: (value: unknown) => boolean) => (value: unknown) => value === null || accepts(value);

/** The columns that clients write. */
export const COLUMNS: Readonly<Record<string, ColumnModel>> = {
  title: { kind: 'text', accepts: text(12) },
  note: { kind: 'text', fallback: null, accepts: orNull(text(1_000)) },
  size: { kind: 'number', fallback: null, accepts: orNull((value) => Number.isSafeInteger(value)) },
  big: {
    kind: 'digits',
    fallback: null,
    accepts: orNull((value) => (typeof value === 'string' ? /^-?\d+$/.test(value) : Number.isSafeInteger(value))),
  },
  done: { kind: 'text', fallback: false, accepts: (value) => typeof value === 'boolean' },
  at: {
    kind: 'moment',
    fallback: null,
    accepts: orNull((value) => typeof value === 'string' && !Number.isNaN(Date.parse(value))),
  },
  meta: { kind: 'text', fallback: null, accepts: () => true },
};
export const FILTERED = ['id', 'title', 'note', 'size', 'big', 'done', 'at'] as const;

const kindOf = (name: string): Kind => COLUMNS[name]?.kind ?? 'number';

export interface Filter {
  readonly field: string;
  readonly operator: string;
  readonly sent: readonly string[];
}

export interface ListOf {
  readonly filters: readonly Filter[];
  readonly sort: readonly string[];
  readonly fields?: readonly string[];
  readonly page: number;
  readonly size: number;
  readonly deleted?: 'with' | 'only';
}

interface Stored {
  record: Json;
  isDeleted: boolean;
}

const NOT_FOUND: Expected = { status: 404 };

export class ItemModel {
  private readonly stored = new Map<number, Stored>();

  get ids(): number[] {
    return [...this.stored.keys()];
  }

  private alive(id: number): Stored | undefined {
    const stored = this.stored.get(id);
    return stored?.isDeleted === false ? stored : undefined;
  }

  /** @param id as the database gave it */
  create(body: Json, id: () => number): Expected {
    const fields = wrongIn(body, { isComplete: true });
    if (fields.length > 0) return { status: 400, fields };
    const key = id();
    const record = { id: key, ...filled(body), version: 1 };
    this.stored.set(key, { record, isDeleted: false });
    return { status: 201, data: record };
  }

  replace(id: number, body: Json): Expected {
    return this.change(id, wrongIn(body, { isComplete: true }), filled(body));
  }

  patch(id: number, patch: Json): Expected {
    const stored = this.alive(id);
    const changes = Object.fromEntries(
      Object.entries(patch).map(([name, value]) => [
        name,
        name === 'meta' ? merged(stored?.record['meta'], value) : wireOf(name, value),
      ]),
    );
    const wrong = wrongIn(patch, { isComplete: false });
    // A document that stays as it is is not written.
    const isWritten = Object.entries(changes).some(
      ([name, value]) => name !== 'meta' || JSON.stringify(value) !== JSON.stringify(stored?.record['meta']),
    );
    if (isWritten || !stored) return this.change(id, wrong, changes);
    return { status: 200, data: stored.record };
  }

  private change(id: number, fields: readonly string[], changes: Json): Expected {
    const stored = this.alive(id);
    if (!stored) return NOT_FOUND;
    if (fields.length > 0) return { status: 400, fields };
    stored.record = { ...stored.record, ...changes, version: Number(stored.record['version']) + 1 };
    return { status: 200, data: stored.record };
  }

  remove(id: number): Expected {
    const stored = this.alive(id);
    if (!stored) return NOT_FOUND;
    stored.isDeleted = true;
    return { status: 200, data: null };
  }

  /** Everything, or nothing where one item fails. */
  batch(changes: readonly ((model: ItemModel) => Expected)[], status: number): Expected {
    const before = new Map([...this.stored].map(([id, stored]) => [id, { ...stored }]));
    const results = changes.map((change) => change(this));
    const failed = results.find((each) => each.status >= 400);
    if (!failed) return { status, data: results.map(({ data }) => data) };
    this.stored.clear();
    for (const [id, stored] of before) this.stored.set(id, stored);
    // A missing record comes before the wrong fields of all items, as for a single record.
    return { status: results.some((each) => each.status === 404) ? 404 : failed.status };
  }

  get(id: number): Expected {
    const stored = this.alive(id);
    return stored ? { status: 200, data: stored.record } : NOT_FOUND;
  }

  exists(id: number): Expected {
    return { status: 200, data: { exists: this.alive(id) !== undefined } };
  }

  count(filters: readonly Filter[]): Expected {
    return { status: 200, data: { count: this.matching(filters).length } };
  }

  list({ filters, sort, fields, page, size }: ListOf): Expected {
    const matching = this.matching(filters);
    const keys = [...sort, ...(sort.some((key) => key.replace('-', '') === 'id') ? [] : ['id'])];
    const sorted = matching.toSorted((a, b) => {
      for (const key of keys) {
        const name = key.replace('-', '');
        const order = inOrder(kindOf(name), a[name], b[name], key.startsWith('-'));
        if (order !== 0) return order;
      }
      return 0;
    });
    const records = sorted.slice((page - 1) * size, page * size);
    const total = matching.length;
    return {
      status: 200,
      data: fields ? records.map((record) => only(record, fields)) : records,
      pagination: { page, size, total, totalPages: Math.ceil(total / size) },
    };
  }

  private matching(filters: readonly Filter[]): Json[] {
    return [...this.stored.values()]
      .filter(({ isDeleted }) => !isDeleted)
      .map(({ record }) => record)
      .filter((record) =>
        filters.every(({ field, operator, sent }) => MATCHES[operator]!(kindOf(field), record[field], sent)),
      );
  }
}

const only = (record: Json, fields: readonly string[]): Json =>
  Object.fromEntries(Object.entries(record).filter(([name]) => fields.includes(name)));

function wrongIn(body: Json, { isComplete }: { readonly isComplete: boolean }): string[] {
  const wrong = Object.entries(body).filter(([name, value]) => !COLUMNS[name]?.accepts(value));
  const missing = Object.entries(COLUMNS).filter(
    ([name, { fallback }]) => isComplete && fallback === undefined && !(name in body),
  );
  return [...new Set([...wrong, ...missing].map(([name]) => name))].toSorted();
}

const filled = (body: Json): Json =>
  Object.fromEntries(
    Object.entries(COLUMNS).map(([name, { fallback }]) => [name, name in body ? wireOf(name, body[name]) : fallback]),
  );

const wireOf = (name: string, value: unknown): unknown =>
  name === 'at' && typeof value === 'string' && COLUMNS[name]?.accepts(value) ? new Date(value).toISOString() : value;

/** RFC 7396, section 2. */
export function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Json = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  return result;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
