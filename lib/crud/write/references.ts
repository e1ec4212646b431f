/** Many-to-one references to records that the caller may not see: they are answered as if there were no such record. */
import { ConflictException } from '@nestjs/common';
import { describeMissingReference } from '../../entities/conflicts.js';
import type { Field } from '../../entities/entity-schema.js';
import type { Values } from '../../entities/record-input.js';
import { and, compare, isEverything, type Relation } from '../sql/condition.js';
import type { View } from '../rows/caller-view.js';
import { visibleThrough } from '../operations/referenced-records.js';
import type { ResourceAccess } from '../operations/resource-access.js';

interface Write {
  readonly operation: 'create' | 'update';
  readonly view: View;
  /** The key of the record that is changed. */
  readonly key?: unknown;
}

interface WrittenValues {
  /** What the body contains. What the server sets by itself is not checked. */
  readonly sent: Values;
  readonly values: Values;
}

export class References<T extends object> {
  constructor(private readonly access: ResourceAccess<T>) {}

  /** @throws 409 for a record that the caller does not see, as for one that does not exist */
  async assertVisible(changes: readonly WrittenValues[], write: Write): Promise<void> {
    const { schema } = this.access.resource;
    const { operation, view } = write;
    for (const [place, field] of schema.fields.entries()) {
      if (!field.reference) continue;
      const isFixed = operation === 'create' && view.fixed.has(field);
      const written = changes
        .filter(({ sent }) => sent[place] !== undefined || isFixed)
        .map(({ values }) => values[place])
        .filter((value) => value != null);
      if (written.length === 0) continue;
      const isVisible = await this.visibility(field.reference);
      if (!isVisible) continue;
      for (const value of written) {
        if ((await isVisible(value)) || (await this.mayKeep(field, value, write))) continue;
        throw new ConflictException(
          describeMissingReference({ schema, operation, permissions: view.permissions }, field),
        );
      }
    }
  }

  /** A caller who cannot read the reference must not learn by this what it is. */
  private async mayKeep(field: Field, value: unknown, { operation, view, key }: Write): Promise<boolean> {
    if (operation === 'create' || !view.list.readable.includes(field)) return false;
    return this.access.exists(and(this.access.keyed(view, key), compare(field, 'eq', value)));
  }

  /** Nothing where the caller may see every record: then the database finds out whether there is one. */
  private async visibility(relation: Relation): Promise<((value: unknown) => Promise<boolean>) | undefined> {
    const visible = await visibleThrough(this.access, relation);
    const [related] = this.access.resourcesOf(relation);
    const referenced = relation.joinColumns[0]?.referencedColumn;
    const field = related?.resource.schema.fields.find(({ column }) => column === referenced);
    if (!related || !field || isEverything(visible)) return undefined;
    return (value) => related.run(() => related.store.reader.exists(and(compare(field, 'eq', value), visible)));
  }
}
