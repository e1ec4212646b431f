import type { Type } from '@nestjs/common';
import { Column, type ColumnOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { startTwins, type Twins } from './twins.js';

let count = 0;

/** A table with these columns by their properties, and one property whose value must stay its own. */
function entityOf(table: string, columns: Record<string, ColumnOptions>): Type {
  class Named {
    id!: number;
  }
  // Nest finds the repository of an entity by the name of its class.
  Object.defineProperty(Named, 'name', { value: `Named${(count += 1)}` });
  PrimaryGeneratedColumn()(Named.prototype, 'id');
  Column({ type: 'varchar', length: 60 })(Named.prototype, 'first');
  for (const [property, options] of Object.entries(columns)) Column(options)(Named.prototype, property);
  Column({ type: 'varchar', length: 60 })(Named.prototype, 'last');
  Entity(table)(Named);
  return Named;
}

const TEXT: ColumnOptions = { type: 'varchar', length: 60 };

/** What could be taken for a part of a statement. */
const NAMES = ["it's", 'a"b', 'a`b', 'a:declarest0', '$1', '%s', 'größe', 'record.id', 'c0', 'select', '\\'];
const PROPERTIES = ['0', 'toString', 'constructor', 'toJSON', 'then', 'a,b', 'record'];
const DEFAULTS = ["it's", ':key', '?', 'a first b', 'NULL', ''];

interface Case {
  readonly what: string;
  readonly label: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly entity: Type;
}

const CASES: readonly Case[] = [
  ...NAMES.map((label) => ({ what: 'table', label, name: 'middle', entity: entityOf(label, { middle: TEXT }) })),
  ...NAMES.map((label, index) => ({
    what: 'column',
    label,
    name: 'middle',
    entity: entityOf(`column${index}`, { middle: { ...TEXT, name: label } }),
  })),
  ...PROPERTIES.map((label, index) => ({
    what: 'property',
    label,
    name: label,
    entity: entityOf(`property${index}`, { [label]: TEXT }),
  })),
  ...DEFAULTS.map((label, index) => ({
    what: 'default',
    label,
    name: 'middle',
    entity: entityOf(`default${index}`, { middle: { ...TEXT, default: label } }),
  })),
].map((each) => ({ ...each, isDefault: each.what === 'default' }));

/** On some database, TypeORM cannot create such a table. */
const mayFail = ({ label }: Case): boolean => /['"`:;\\]|record/.test(label);

describe.each(DATABASES)('on %s', (database) => {
  const start = (cases: readonly Case[]): Promise<Twins> =>
    startTwins('express', {
      database,
      entities: cases.map(({ entity }) => entity),
      resources: cases.map(({ entity, name, what, label }) => ({
        entity,
        endpoint: endpointOf({ what, label }),
        enableSearch: true,
        enableExists: true,
        enablePagination: true,
        searchableFields: ['first', name, 'last'],
      })),
    });

  /** Every operation, with texts that tell each column from another. */
  const exercise = async (twins: Twins, { name, isDefault, ...each }: Case): Promise<void> => {
    const path = endpointOf(each);
    const body = { first: "1'?:$1", [name]: '2:key', last: '3"`' };
    const made = await twins.post(path, body);
    expect([made.status, made.json.data]).toEqual([201, { id: 1, ...body }]);
    const other = { first: '4', [name]: ':term0', last: '6' };
    const put = await twins.put(`${path}/1`, other);
    expect([put.status, put.json.data]).toEqual([200, { id: 1, ...other }]);
    expect((await twins.get(path)).json.data).toEqual([{ id: 1, ...other }]);
    for (const [term, found] of [
      [`${encodeURIComponent(name)}=${encodeURIComponent(':TERM')}`, 1],
      [`first=4&${encodeURIComponent(name)}=0&last=6`, 1],
      [`first=6`, 0],
      ['q=6', 1],
      [`q=${encodeURIComponent("' OR 1=1 --")}`, 0],
    ] as const)
      expect([term, (await twins.get(`${path}/search?${term}`)).json.data]).toEqual([
        term,
        found ? [{ id: 1, ...other }] : [],
      ]);
    await twins.get(`${path}/exists/1`);
    if (isDefault) {
      const { [name]: _left, ...rest } = other;
      const defaulted = await twins.post(path, rest);
      const again = await twins.put(`${path}/1`, rest);
      expect([again.status, again.json.data]).toEqual([200, { ...defaulted.json.data, id: 1 }]);
    }
    expect((await twins.del(`${path}/1`)).status).toBe(200);
  };

  describe('in one application', () => {
    const together = CASES.filter((each) => !mayFail(each));
    let twins: Twins;
    beforeAll(async () => {
      twins = await start(together);
    });
    afterAll(() => twins.close());

    it.each(together)('[4.6] the $what "$label"', (each) => exercise(twins, each));
  });

  it.each(CASES.filter(mayFail))('[4.6] the $what "$label"', async (each) => {
    let twins;
    try {
      twins = await start([each]);
    } catch (error) {
      // A table that TypeORM cannot make.
      expect((error as Error).message).toEqual(expect.any(String));
      return;
    }
    await exercise(twins, each).finally(twins.close);
  });
});

const endpointOf = ({ what, label }: Pick<Case, 'what' | 'label'>): string =>
  `/api/${what}-${[...label].map((letter) => letter.codePointAt(0)).join('-')}`;
