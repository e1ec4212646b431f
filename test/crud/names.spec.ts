import type { Type } from '@nestjs/common';
import { Column, type ColumnOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { startTwins } from './twins.js';

/** A table with these columns by their properties, and one property whose value must stay its own. */
function entityOf(table: string, columns: Record<string, ColumnOptions>): Type {
  class Named {
    id!: number;
  }
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

describe.each(DATABASES)('on %s', (database) => {
  /** Every operation, with texts that tell each column from another. */
  const exercise = async (label: string, entity: Type, name: string, isDefault = false): Promise<void> => {
    let twins;
    try {
      twins = await startTwins('express', {
        database,
        entities: [entity],
        resources: [
          {
            entity,
            endpoint: '/api/named',
            enableSearch: true,
            enableExists: true,
            enablePagination: true,
            searchableFields: ['first', name, 'last'],
          },
        ],
      });
    } catch (error) {
      // A table that TypeORM cannot make.
      expect([label, (error as Error).message]).toEqual([
        expect.stringMatching(/['"`:;\\\n😀]|record/u),
        expect.any(String),
      ]);
      return;
    }
    try {
      const body = { first: "1'?:$1", [name]: '2:key', last: '3"`' };
      const made = await twins.post('/api/named', body);
      expect([made.status, made.json.data]).toEqual([201, { id: 1, ...body }]);
      const other = { first: '4', [name]: ':term0', last: '6' };
      const put = await twins.put('/api/named/1', other);
      expect([put.status, put.json.data]).toEqual([200, { id: 1, ...other }]);
      expect((await twins.get('/api/named')).json.data).toEqual([{ id: 1, ...other }]);
      for (const [term, found] of [
        [`${encodeURIComponent(name)}=${encodeURIComponent(':TERM')}`, 1],
        [`first=4&${encodeURIComponent(name)}=0&last=6`, 1],
        [`first=6`, 0],
        ['q=6', 1],
        [`q=${encodeURIComponent("' OR 1=1 --")}`, 0],
      ] as const)
        expect([term, (await twins.get(`/api/named/search?${term}`)).json.data]).toEqual([
          term,
          found ? [{ id: 1, ...other }] : [],
        ]);
      await twins.get('/api/named/exists/1');
      if (isDefault) {
        const { [name]: _left, ...rest } = other;
        const defaulted = await twins.post('/api/named', rest);
        const again = await twins.put('/api/named/1', rest);
        expect([again.status, again.json.data]).toEqual([200, { ...defaulted.json.data, id: 1 }]);
      }
      expect((await twins.del('/api/named/1')).status).toBe(200);
    } finally {
      await twins.close();
    }
  };

  it.each(NAMES)('[4.6] the table %j', (name) => exercise(name, entityOf(name, { middle: TEXT }), 'middle'));
  it.each(NAMES)('[4.6] the column %j', (name) =>
    exercise(name, entityOf('plain', { middle: { ...TEXT, name } }), 'middle'),
  );
  it.each(PROPERTIES)('[4.6] the property %j', (name) => exercise(name, entityOf('plain', { [name]: TEXT }), name));
  it.each(DEFAULTS)('[4.6] the default %j', (value) =>
    exercise(value, entityOf('plain', { middle: { ...TEXT, default: value } }), 'middle', true),
  );
});
