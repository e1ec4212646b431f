import type { EntityMetadata } from 'typeorm';
import { hasPlainNames } from '../../lib/crud/data-path.js';

const metadata = (name: { table?: string; column?: string; property?: string; relation?: string }): EntityMetadata =>
  ({
    tablePath: name.table ?? 'items',
    columns: [{ databaseName: name.column ?? 'name', propertyName: name.property ?? 'name' }],
    relations: [{ propertyName: name.relation ?? 'owner' }],
  }) as unknown as EntityMetadata;

describe('names whose statements are made when they are first asked for', () => {
  it.each([{}, { table: 'shop.items' }, { column: 'created_at' }, { property: '_hidden' }, { relation: 'Owner2' }])(
    '[4.6] are plain: %j',
    (name) => expect(hasPlainNames(metadata(name))).toBe(true),
  );

  it.each([
    ...["it's", 'a b', 'a"b', ':key', '$1', 'größe', '0', '', 'a\nb', 'shop..items'].map((table) => ({ table })),
    ...['a:b', 'a.b', '7', '', 'a,b'].map((column) => ({ column })),
    ...['0', 'a-b', 'constructor', '__proto__', 'toString', '$1'].map((property) => ({ property })),
    ...['constructor', 'a b'].map((relation) => ({ relation })),
  ])('[4.6] are tried at boot: %j', (name) => expect(hasPlainNames(metadata(name))).toBe(false));
});
