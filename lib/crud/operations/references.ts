/** Many-to-one references to records that the caller may not see: they are answered as if there were no such record. */
import { ConflictException } from '@nestjs/common';
import { describeMissingReference } from '../../entities/conflicts.js';
import type { Values } from '../../entities/record-input.js';
import { and, compare, isEverything, type Relation } from '../query/condition.js';
import type { View } from '../rows/view.js';
import { visibleThrough } from './referenced-records.js';
import type { ResourceAccess } from './resource-access.js';

interface WrittenReferences {
  readonly operation: 'create' | 'update';
  readonly view: View;
  /** What the body contains. What the server sets by itself is not checked. */
  readonly sent: Values;
  readonly values: Values;
  /** The key of the record that is changed. */
  readonly key?: unknown;
}

export class References<T extends object> {
  constructor(private readonly access: ResourceAccess<T>) {}

  /** @throws 409 for a record that the caller does not see, as for one that does not exist */
  async assertVisible({ operation, view, sent, values, key }: WrittenReferences): Promise<void> {
    const { schema } = this.access.resource;
    const { permissions } = view;
    for (const [place, field] of schema.fields.entries()) {
      const value = values[place];
      const isSent = sent[place] !== undefined || (operation === 'create' && view.fixed.has(field));
      if (!field.reference || !isSent || value == null || (await this.isVisible(field.reference, value))) continue;
      // A caller who cannot read the reference must not learn by this what it is.
      const keeps = and(this.access.keyed(view, key), compare(field, 'eq', value));
      if (operation === 'update' && view.list.readable.includes(field) && (await this.access.exists(keeps))) continue;
      throw new ConflictException(describeMissingReference({ schema, operation, permissions }, field));
    }
  }

  /** Without a statement where the caller may see every record. The database finds out whether there is one. */
  private async isVisible(relation: Relation, value: unknown): Promise<boolean> {
    const visible = await visibleThrough(this.access, relation);
    const [related] = this.access.resourcesOf(relation);
    const referenced = relation.joinColumns[0]?.referencedColumn;
    const field = related?.resource.schema.fields.find(({ column }) => column === referenced);
    if (!related || !field || isEverything(visible)) return true;
    return related.run(() => related.store.reader.exists(and(compare(field, 'eq', value), visible)));
  }
}
