/** Checks the many-to-one references that a request writes, such as `"authorId": 5`. */
import { ConflictException } from '@nestjs/common';
import { describeMissingReference } from '../../entities/conflicts.js';
import type { Values } from '../../entities/record-input.js';
import { and, compare, isEverything, or, type Relation } from '../query/condition.js';
import type { View } from '../rows/view.js';
import type { RelatedAccess } from './relation-views.js';
import type { ResourceAccess } from './resource-access.js';

/** The resources that show the related records. A record exists for a caller who sees it through one of them. */
export type ReferencedResources = (relation: Relation) => readonly RelatedAccess[];

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
  constructor(
    private readonly access: ResourceAccess<T>,
    private readonly resourcesOf: ReferencedResources,
  ) {}

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
    const resources = this.resourcesOf(relation);
    const views = await Promise.all(resources.map((each) => each.relatedView()));
    const visible = or(...views.map((each) => each.visible));
    const [related] = resources;
    const referenced = relation.joinColumns[0]?.referencedColumn;
    const field = related?.resource.schema.fields.find(({ column }) => column === referenced);
    if (!related || !field || isEverything(visible)) return true;
    return related.run(() => related.store.reader.exists(and(compare(field, 'eq', value), visible)));
  }
}
