/** What the caller of one operation may see through the relations of a resource. */
import type { Field } from '../../entities/entity-schema.js';
import { and, type Condition, type Relation } from '../sql/condition.js';
import { isFilter } from '../query/filter-parameter.js';
import type { ListParameters, ListQuery } from '../query/list-query.js';
import { prefixesOf, selectedFields, type RecordRequest } from '../query/record-request.js';
import { pathOf } from '../plan/relation-parameters.js';
import type { Resource } from '../plan/resource.js';
import type { View } from '../rows/caller-view.js';
import { setOwn } from '../store/entity-values.js';
import { place } from '../store/entity-projection.js';
import { chunksOf, identityOf, keyOf } from '../store/linked-rows.js';
import type { RecordReader } from '../store/record-access.js';

/** Reads the records of a related entity. */
export interface RelatedAccess {
  readonly resource: Resource<object>;
  readonly store: { readonly reader: RecordReader<object> };
  relatedView(): Promise<View>;
  run<R>(work: () => Promise<R>): Promise<R>;
}

/** By the path of the relation, such as `comments.author`. */
export type RelatedAccesses = ReadonlyMap<string, RelatedAccess>;

interface Related {
  readonly access: RelatedAccess;
  readonly view: View;
}

export class RelationViews {
  private constructor(
    private readonly resource: Resource<object>,
    private readonly own: View,
    private readonly related: ReadonlyMap<string, Related>,
  ) {}

  /** @param query names the relations that the operation follows, beside those that every record shows */
  static async of(
    resource: Resource<object>,
    own: View,
    accesses: RelatedAccesses,
    query: ListQuery,
  ): Promise<RelationViews> {
    const views = new Map<RelatedAccess, Promise<View>>();
    const related = new Map<string, Related>();
    for (const path of followedPaths(own.list, query)) {
      const access = accesses.get(path);
      if (!access) continue;
      const view = views.get(access) ?? access.relatedView();
      views.set(access, view);
      related.set(path, { access, view: await view });
    }
    return new RelationViews(resource, own, related);
  }

  /** The parameters of the caller's view, without the related fields that the caller may not read. */
  get list(): ListParameters {
    const { list } = this.own;
    if (this.related.size === 0) return list;
    const includable = [...list.includable].flatMap(([path, each]) => {
      if (!this.isReadable(path, each.relation)) return [];
      const readable = this.related.get(path)?.view.list.readable ?? each.readable;
      return [[path, { ...each, readable }] as const];
    });
    const filterable = [...list.filterable].filter(([, { relations, field }]) =>
      relations.every((relation, depth) => {
        const path = pathOf(relations.slice(0, depth + 1));
        const view = this.related.get(path)?.view;
        const isLast = depth === relations.length - 1;
        return this.isReadable(path, relation) && (!isLast || !view || has(view.list.readable, field));
      }),
    );
    return { ...list, includable: new Map(includable), filterable: new Map(filterable) };
  }

  /** Whether the caller may read the column of the relation, where it has one. */
  private isReadable(path: string, { isOwning, joinColumns, propertyPath }: Relation): boolean {
    const parent = path.slice(0, -propertyPath.length - 1);
    const view = parent === '' ? this.own : this.related.get(parent)?.view;
    const { fields } =
      parent === '' ? this.resource.schema : (this.related.get(parent)?.access.resource.schema ?? { fields: [] });
    const reference = isOwning
      ? fields.find(({ column, readable }) => readable && column === joinColumns[0])
      : undefined;
    return !reference || !view || has(view.list.readable, reference);
  }

  /** A related record that the caller does not see matches no filter. */
  restrict(condition: Condition, prefix = ''): Condition {
    switch (condition.kind) {
      case 'compare':
      case 'raw':
      case 'indexed':
        return condition;
      case 'unless':
        return { ...condition, part: this.restrict(condition.part, prefix) };
      case 'related': {
        const path = `${prefix}${condition.relation.propertyPath}`;
        const part = this.restrict(condition.part, `${path}.`);
        return { ...condition, part: and(this.at(path).view.visible, part) };
      }
      default:
        return { ...condition, parts: condition.parts.map((part) => this.restrict(part, prefix)) };
    }
  }

  /** Adds what the request wants of related records, and removes the key where it was read only for them. */
  async complete(records: readonly object[], request: RecordRequest, { schema } = this.resource): Promise<void> {
    for (const { name, path, relation } of request.linked) {
      const { id } = this.at(path).access.resource.schema;
      const byOwner = await this.linked(records, schema.id, path, relation, [id]);
      for (const record of records)
        setOwn(
          record,
          name,
          relatedTo(record, schema.id, byOwner).map((each) => keyOf(each, id)),
        );
    }
    for (const include of request.includes) {
      const { path, relation } = include.includable;
      const { resource } = this.at(path).access;
      const isMany = relation.isOneToMany || relation.isManyToMany;
      const limit = isMany ? this.resource.options.maxIncluded : undefined;
      const fields = selectedFields(include, resource.schema.id);
      const byOwner = await this.linked(records, schema.id, path, relation, fields, limit);
      await this.complete([...byOwner.values()].flat(), include, resource);
      for (const record of records) {
        const related = relatedTo(record, schema.id, byOwner);
        place(
          record as Record<string, unknown>,
          relation.propertyPath.split('.'),
          isMany ? related : (related[0] ?? null),
        );
      }
    }
    if (selectedFields(request, schema.id) !== request.fields)
      for (const record of records) delete (record as Record<string, unknown>)[schema.id.name];
  }

  private async linked(
    records: readonly object[],
    owner: Field,
    path: string,
    relation: Relation,
    fields: readonly Field[],
    limit?: number,
  ): Promise<ReadonlyMap<string, readonly object[]>> {
    const { access, view } = this.at(path);
    const byOwner = new Map<string, object[]>();
    const keys = new Set(records.map((record) => keyOf(record, owner)));
    for (const chunk of chunksOf(keys, owner)) {
      const links = { relation, owner, keys: chunk, related: access.resource.schema.id, condition: view.visible };
      const selection = { ...links, ...(limit !== undefined && { limit }) };
      for (const { owner: key, record } of await access.run(() => access.store.reader.findLinked(selection, fields))) {
        const identity = identityOf(key);
        const known = byOwner.get(identity);
        if (known) known.push(record);
        else byOwner.set(identity, [record]);
      }
    }
    return byOwner;
  }

  private at(path: string): Related {
    const related = this.related.get(path);
    if (!related) throw new TypeError(`No view of the relation ${path}`);
    return related;
  }
}

const has = (fields: readonly Field[], { name }: Field): boolean => fields.some((each) => each.name === name);

const relatedTo = (record: object, id: Field, byOwner: ReadonlyMap<string, readonly object[]>): readonly object[] =>
  byOwner.get(identityOf(keyOf(record, id))) ?? [];

function followedPaths({ includable, linkable, filterable }: ListParameters, query: ListQuery): ReadonlySet<string> {
  const names = [query['include'] ?? ''].flat().flatMap((text) => text.split(','));
  const included = names.filter((name) => includable.has(name));
  const filters = Object.keys(query).some(isFilter) ? [...filterable.values()] : [];
  return new Set([
    ...linkable.map(({ path }) => path),
    ...included.flatMap((name) => [...prefixesOf(name, includable), name]),
    ...filters.flatMap(({ relations }) => relations.map((_, depth) => pathOf(relations.slice(0, depth + 1)))),
  ]);
}
