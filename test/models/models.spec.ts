/**
 * Entities of other applications, unchanged: each is created, read, filtered, sorted, sent back, changed and deleted. Nothing
 * is a 5xx, and no other value is stored than was sent.
 */
import type { Type } from '@nestjs/common';
import type { CrudResource } from 'declarest';
import type { EntityTarget } from 'typeorm';
import type { Answer } from '../harness/client.js';
import { DATABASES, type DatabaseName } from '../harness/databases.js';
import { type CrudService, startCrud } from '../crud/service.js';
import { CLASSES } from './classes.js';
import { columnsOf } from './columns.js';
import { KEYS } from './keys.js';
import type { Body, Model, ReadModel } from './model.js';
import { RELATIONS, VIEWS } from './relations.js';

/** Two classes of a name are two tables only with names of their own. */
const endpointOf = (entity: Type): string => `/${entity.name.toLowerCase()}`;

const queryOf = (field: string, value: unknown): string => `filter[${field}]=${encodeURIComponent(String(value))}`;

const dataOf = ({ status, json, text }: Answer, expected = 200): Body => {
  if (status !== expected) throw new Error(`Expected ${expected}, got ${status} ${text}`);
  return (json as { data: Body }).data;
};

const listOf = (answer: Answer): readonly Body[] => dataOf(answer) as unknown as readonly Body[];

/** What changes with every write. */
const TOUCHED = new Set(['version', 'updatedAt', 'updated_at']);
const withoutTouched = (record: object): Body =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !TOUCHED.has(name)));

const resourceOf = ({ entity, by, options }: Model | ReadModel): CrudResource => ({
  entity,
  endpoint: endpointOf(entity),
  maxListSize: 50,
  filterableFields: [by],
  sortableFields: [by],
  ...options,
});

/** What applications set beside the defaults. A subscriber makes everything go through the repository. */
const SETTINGS: Readonly<Record<DatabaseName, object>> = {
  sqlite: {},
  postgres: { parseInt8: true },
  mariadb: { timezone: '+14:00', supportBigNumbers: false },
};
const ALWAYS_CACHED = { cache: { alwaysEnabled: true, duration: 60_000 } };

describe.each(
  DATABASES.flatMap((database) => [
    [database, 'defaults', undefined, {}] as const,
    [database, 'unusual options', 'repository', { ...ALWAYS_CACHED, ...SETTINGS[database] }] as const,
  ]),
)('models on %s with %s', (database, _options, path, dataSource) => {
  const parts = { keys: KEYS, columns: columnsOf(database), classes: CLASSES, relations: RELATIONS };
  // One application starts faster than four.
  const groups = path ? { relations: Object.values(parts).flat() } : parts;

  describe.each(Object.entries(groups))('%s', (group, models) => {
    const views = group === 'relations' ? VIEWS : [];
    const kept = new Map<Type, Body[]>();
    let service: CrudService;

    beforeAll(async () => {
      service = await startCrud('fastify', {
        database,
        dataSource,
        ...(path && { path }),
        entities: [
          ...models.flatMap(({ entity, needs = [] }) => [entity, ...needs]),
          ...views.map(({ entity }) => entity),
        ],
        resources: [
          ...models.map(resourceOf),
          ...views.map((view) => ({ ...resourceOf(view), operations: ['findAll'] }) as CrudResource),
        ],
      });
    });
    afterAll(() => service?.close());

    const rowsOf = async (entity: EntityTarget<object>): Promise<string> => {
      const { driver, tablePath } = { driver: service.dataSource.driver, ...service.dataSource.getMetadata(entity) };
      const rows = (await service.dataSource.query(
        `SELECT * FROM ${driver.escape(tablePath).replace('.', '"."')}`,
      )) as object[];
      return rows
        .map((row) => JSON.stringify(withoutTouched(row)))
        .toSorted()
        .join('\n');
    };

    it.each(models.map((model) => [model.entity.name, model] as const))('%s', async (_name, model) => {
      const { entity, by, reads = {}, change } = model;
      const url = endpointOf(entity);
      const of = (other: Type, which = 0): Body => kept.get(other)?.[which] ?? {};
      const [sent, ...others] = model.records(of);

      const created = await service.post(url, sent);
      const first = dataOf(created, 201);
      expect(first).toMatchObject({ ...sent, ...reads });
      const location = created.headers['location'] ?? 'no Location';
      const rest: Body[] = [];
      for (const other of others) rest.push(dataOf(await service.post(url, other), 201));
      kept.set(entity, rest);

      expect(dataOf(await service.get(location))).toEqual(first);
      expect(listOf(await service.get(`${url}?${queryOf(by, first[by])}`))).toEqual([first]);
      expect(listOf(await service.get(`${url}?sort=${by}`))).toEqual(expect.arrayContaining([first, ...rest]));
      expect(listOf(await service.get(`${url}?sort=-${by}`)).at(-1)).toEqual(
        listOf(await service.get(`${url}?sort=${by}`))[0],
      );
      for (const query of model.queries ?? []) listOf(await service.get(`${url}?${query}`));

      const before = await rowsOf(entity);
      const back = dataOf(await service.put(location, first));
      expect(withoutTouched(back)).toEqual(withoutTouched(first));
      expect(await rowsOf(entity)).toBe(before);

      const changes = typeof change === 'function' ? change(of) : change;
      const patched = dataOf(await service.send('PATCH', location, { json: changes }));
      expect(dataOf(await service.get(location))).toEqual(patched);
      expect(Object.keys(patched)).toEqual(Object.keys(first));

      dataOf(await service.del(location), 200);
      expect((await service.get(location)).status).toBe(404);
      for (const record of rest)
        expect(listOf(await service.get(`${url}?${queryOf(by, record[by])}`))).toEqual([record]);
    });

    if (views.length === 0) return;
    it.each(views.map((view) => [view.entity.name, view] as const))(
      '%s',
      async (_name, { entity, by, queries = [] }) => {
        const url = endpointOf(entity);
        const rows = listOf(await service.get(`${url}?sort=${by}`));
        expect(rows.length).toBeGreaterThan(0);
        expect(listOf(await service.get(`${url}?${queryOf(by, rows[0]?.[by])}`))).toEqual([rows[0]]);
        for (const query of queries) listOf(await service.get(`${url}?${query}`));
      },
    );
  });
});
