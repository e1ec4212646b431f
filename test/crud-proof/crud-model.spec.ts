/**
 * Random sequences of operations against a model in memory, on each database. `MODEL_SEQUENCES=2000` for the full run,
 * `MODEL_SEED=7` for another one.
 */
import { Column, DeleteDateColumn, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import { type Random, seeded } from '../access/random.js';
import { type CrudService, startCrud } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { type Expected, type Filter, FILTERED, ItemModel, type Json } from './model.js';

const SEQUENCES = Number(process.env['MODEL_SEQUENCES'] ?? 100);
const SEED = Number(process.env['MODEL_SEED'] ?? 1);
const STEPS = 30;

function itemOf(database: DatabaseName) {
  @Entity('item')
  class Item {
    @PrimaryGeneratedColumn() id!: number;
    @Column({ length: 12 }) title!: string;
    @Column({ type: 'text', nullable: true }) note!: string | null;
    @Column({ type: 'int', nullable: true }) size!: number | null;
    @Column({ type: 'bigint', nullable: true }) big!: string | null;
    @Column({ default: false }) done!: boolean;
    @Column({
      type: database === 'postgres' ? 'timestamptz' : 'datetime',
      precision: database === 'sqlite' ? null : 3,
      nullable: true,
    })
    at!: Date | null;
    @Column({ type: database === 'postgres' ? 'jsonb' : 'simple-json', nullable: true }) meta!: unknown;
    @VersionColumn() version!: number;
    @DeleteDateColumn() deletedAt!: Date | null;
  }
  return Item;
}

const TITLES = ['a', 'B', 'ab', 'Ä', '', ' ', '%', 'a_b', '10', '😀'];
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  title: TITLES,
  note: [null, ...TITLES, "'; DROP TABLE item; --", 'x\ny'],
  size: [null, 0, 1, -1, 2_147_483_647],
  big: [null, 0, -7, '9007199254740993', '9223372036854775807'],
  done: [true, false],
  at: [null, '2026-01-31T09:30:00.123Z', '2026-01-31T09:30:00Z', '1999-12-31T23:59:59.999Z'],
  meta: [null, {}, { a: 1 }, { a: null }, { a: { b: 1 } }, { a: { b: null, c: 2 } }, [1, 2], 5],
};
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  title: [null, 5, 'x'.repeat(13)],
  note: [5, {}],
  size: [1.5, 'one', 2 ** 60],
  big: ['nine', 1.5],
  done: [null, 'true'],
  at: ['yesterday', 5],
  colour: ['red'],
};

const OPERATORS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'isNull'];
const WORDS = ['contains', 'startsWith', 'endsWith'];

interface Step {
  readonly request: readonly [method: string, path: string, json?: unknown];
  expect(model: ItemModel, answer: Answer): Expected;
}

class Steps {
  constructor(
    private readonly random: Random,
    private readonly model: ItemModel,
  ) {}

  next(): Step {
    const { random } = this;
    return random.of([
      () => this.create(),
      () => this.create(),
      () => this.replace(),
      () => this.patch(),
      () => this.patch(),
      () => this.remove(),
      () => this.get(),
      () => this.exists(),
      () => this.count(),
      () => this.list(),
      () => this.list(),
      () => this.list(),
      () => this.createMany(),
      () => this.patchMany(),
    ])();
  }

  private chance(percent: number): boolean {
    return this.random.below(100) < percent;
  }

  private body(isComplete: boolean): Json {
    const { random } = this;
    const names = Object.keys(VALUES).filter((name) => (isComplete && name === 'title') || this.chance(60));
    const body: Json = Object.fromEntries(names.map((name) => [name, random.of(VALUES[name]!)]));
    if (this.chance(10)) {
      const name = random.of(Object.keys(WRONG));
      body[name] = random.of(WRONG[name]!);
    }
    if (this.chance(5)) delete body['title'];
    return body;
  }

  /** Mostly one that exists, deleted ones included. */
  private id(): number {
    const { ids } = this.model;
    return ids.length > 0 && this.chance(85) ? this.random.of(ids) : 1_000_000 + this.random.below(3);
  }

  private create(): Step {
    const body = this.body(true);
    return {
      request: ['POST', '/items', body],
      expect: (model, { json }) => model.create(body, () => json.data?.id),
    };
  }

  private replace(): Step {
    const [id, body] = [this.id(), this.body(true)];
    return { request: ['PUT', `/items/${id}`, body], expect: (model) => model.replace(id, body) };
  }

  private patch(): Step {
    const [id, body] = [this.id(), this.body(false)];
    return { request: ['PATCH', `/items/${id}`, body], expect: (model) => model.patch(id, body) };
  }

  private remove(): Step {
    const id = this.id();
    return { request: ['DELETE', `/items/${id}`], expect: (model) => model.remove(id) };
  }

  private get(): Step {
    const id = this.id();
    return { request: ['GET', `/items/${id}`], expect: (model) => model.get(id) };
  }

  private exists(): Step {
    const id = this.id();
    return { request: ['GET', `/items/exists/${id}`], expect: (model) => model.exists(id) };
  }

  private count(): Step {
    const filters = this.filters();
    return { request: ['GET', `/items/count?${queryOf(filters)}`], expect: (model) => model.count(filters) };
  }

  private list(): Step {
    const { random } = this;
    const filters = this.filters();
    const sort = random.shuffled([...FILTERED]).slice(0, random.below(3));
    const signed = sort.map((name) => `${this.chance(50) ? '-' : ''}${name}`);
    const fields = this.chance(30) ? random.shuffled([...FILTERED]).slice(0, 1 + random.below(4)) : undefined;
    const [page, size] = [1 + random.below(3), 1 + random.below(4)];
    const query = queryOf(filters);
    if (signed.length > 0) query.set('sort', signed.join());
    if (fields) query.set('fields', fields.join());
    query.set('page', `${page}`);
    query.set('size', `${size}`);
    return {
      request: ['GET', `/items?${query}`],
      expect: (model) => model.list({ filters, sort: signed, ...(fields && { fields }), page, size }),
    };
  }

  private filters(): Filter[] {
    const { random } = this;
    const names = random.shuffled([...FILTERED]).slice(0, random.below(3));
    return names.map((field) => {
      const isText = field === 'title' || field === 'note';
      const operator = random.of(
        isText ? [...OPERATORS, ...WORDS] : field === 'done' ? ['eq', 'ne', 'in', 'isNull'] : OPERATORS,
      );
      const values = (VALUES[field] ?? [1, 2, 3]).filter((value) => value !== null);
      const value = (): string => String(random.of(values));
      if (operator === 'isNull') return { field, operator, sent: [random.of(['true', 'false'])] };
      if (operator === 'in' || operator === 'nin') return { field, operator, sent: [value(), value()] };
      const sent = value();
      return WORDS.includes(operator) && sent === ''
        ? { field, operator, sent: ['a'] }
        : { field, operator, sent: [sent] };
    });
  }

  private createMany(): Step {
    const items = Array.from({ length: 1 + this.random.below(3) }, () => this.body(true));
    return {
      request: ['POST', '/items/batch', { items }],
      expect: (model, { json }) =>
        model.batch(
          items.map((body, place) => (each) => each.create(body, () => json.data?.[place]?.id ?? -1 - place)),
          201,
        ),
    };
  }

  private patchMany(): Step {
    const ids = [...new Set(Array.from({ length: 1 + this.random.below(3) }, () => this.id()))];
    const items = ids.map((id) => ({ id, ...this.body(false) }));
    return {
      request: ['PATCH', '/items/batch', { items }],
      expect: (model) =>
        model.batch(
          items.map(
            ({ id, ...body }) =>
              (each) =>
                each.patch(id, body),
          ),
          200,
        ),
    };
  }
}

function queryOf(filters: readonly Filter[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const { field, operator, sent } of filters)
    query.set(
      `filter[${field}][${operator}]`,
      sent.length > 1 ? sent.map((each) => each.replaceAll(',', '\\,')).join() : sent[0]!,
    );
  return query;
}

function seen({ status, json }: Answer): Expected {
  const fields = (json.errors as { field: string }[] | undefined)?.map(({ field }) => field).toSorted();
  if (status === 400) return { status, fields: [...new Set(fields)] };
  if (status >= 400) return { status };
  return { status, data: json.data, ...(json.metadata && { pagination: json.metadata.pagination }) };
}

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    const Item = itemOf(database);
    service = await startCrud('fastify', {
      database,
      entities: [Item],
      resources: [
        {
          entity: Item,
          endpoint: '/items',
          enablePagination: true,
          enableExists: true,
          enableCount: true,
          enableBatch: true,
          filterableFields: [...FILTERED],
          sortableFields: [...FILTERED],
        },
      ],
    });
  });
  afterAll(() => service.close());

  it(
    `[7] [8] answers ${SEQUENCES} sequences of ${STEPS} operations as the model does`,
    async () => {
      for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
        const seed = SEED * 1_000_000 + sequence;
        await service.dataSource.query('DELETE FROM item');
        const model = new ItemModel();
        const steps = new Steps(seeded(seed), model);
        const history: string[] = [];
        for (let step = 0; step < STEPS; step += 1) {
          const { request, expect: expected } = steps.next();
          const [method, path, json] = request;
          history.push(`${method} ${path} ${JSON.stringify(json) ?? ''}`);
          const answer = await service.send(method, path, json === undefined ? {} : { json });
          const wanted = expected(model, answer);
          const got = seen(answer);
          const compared = wanted.status === 400 && !wanted.fields ? { status: got.status } : got;
          // The whole history names the failing sequence.
          if (JSON.stringify(normal(compared)) !== JSON.stringify(normal(wanted)))
            throw new Error(
              `seed ${seed}, step ${step}\n${history.join('\n')}\nexpected ${JSON.stringify(wanted)}\ngot ${answer.text}`,
            );
        }
      }
    },
    SEQUENCES * 3_000,
  );
});

/** The order of members does not matter. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, each]) => [name, normal(each)]),
  );
}
