/** The operations that read. */
import { NotImplementedException, type StreamableFile } from '@nestjs/common';
import type { AggregateRow } from '../declare/record-types.js';
import { parseAggregateQuery, parseCountQuery } from '../query/aggregate-query.js';
import { QueryErrors } from '../query/query-errors.js';
import { exportList } from './exports.js';
import { and } from '../sql/condition.js';
import { parseListQuery, parseRecordQuery, type ListQuery, type ListRequest } from '../query/list-query.js';
import { selectedFields } from '../query/record-request.js';
import { withETag } from '../rows/record-version.js';
import type { View } from '../rows/caller-view.js';
import type { Selection } from '../store/record-access.js';
import { readCursorPage, readNumberedPage, type RecordList } from './pages.js';
import type { RelationViews } from './relation-views.js';
import type { ResourceAccess } from './resource-access.js';

const MAX_GROUPS = 1_000;

export class Reads<T extends object> {
  constructor(private readonly access: ResourceAccess<T>) {}

  /** @throws 400 naming every wrong parameter */
  async list(query: ListQuery, operation: 'findAll' | 'search'): Promise<RecordList<T>> {
    const { access } = this;
    const view = await access.listView(operation, query);
    const relations = await access.relationViews(view, query);
    const request = parseListQuery(query, relations.list, operation);
    const list = await this.page(request, view, relations);
    await relations.complete(list.records, request);
    return list;
  }

  private async page(request: ListRequest, view: View, relations: RelationViews): Promise<RecordList<T>> {
    const { access } = this;
    const { condition, sort, cursor, page, count } = request;
    const selection: Selection = {
      condition: and(view.visible, relations.restrict(condition)),
      sort,
      fields: selectedFields(request, access.resource.schema.id),
    };
    if (cursor) return readCursorPage(access, selection, condition, cursor);
    return access.run(async () => {
      const { reader } = access.store;
      if (page) return readNumberedPage(reader, selection, page, count);
      const { maxListSize } = access.resource.options;
      if (maxListSize === undefined) return { records: await reader.find(selection) };
      const records = await reader.find({ ...selection, range: { limit: maxListSize + 1, offset: 0 } });
      return { records: records.slice(0, maxListSize), metadata: { truncated: records.length > maxListSize } };
    });
  }

  /** @throws 400 for a malformed id or parameter, 404 for an unknown id */
  async get(id: string, query: ListQuery = {}): Promise<T> {
    const key = this.access.readId(id);
    const view = await this.access.view('findById');
    const relations = await this.access.relationViews(view, query);
    const request = parseRecordQuery(query, relations.list);
    const record = await this.access.record(view, key, id, { request, relations });
    return 'fields' in query || 'include' in query ? record : withETag(record, view);
  }

  /** @throws 400 for a malformed id */
  async exists(id: string): Promise<boolean> {
    const key = this.access.readId(id);
    return this.access.exists(this.access.keyed(await this.access.view('exists'), key));
  }

  /** @throws 400 naming every wrong parameter */
  async count(query: ListQuery): Promise<number> {
    const { access } = this;
    const view = await access.listView('count', query);
    const relations = await access.relationViews(view, query);
    const condition = and(view.visible, relations.restrict(parseCountQuery(query, relations.list)));
    return access.run(() => access.store.reader.count(condition));
  }

  /** @throws 400 naming every wrong parameter, 501 where a provider replaced the methods that read */
  async aggregate(query: ListQuery): Promise<AggregateRow[]> {
    const { access } = this;
    const view = await access.listView('aggregate', query);
    const relations = await access.relationViews(view, query);
    const asked = parseAggregateQuery(query, relations.list, access.resource.aggregatable);
    const condition = and(view.visible, relations.restrict(asked.condition));
    const rows = await access.run(async () =>
      access.store.reader.aggregate?.(condition, asked.aggregation, MAX_GROUPS + 1),
    );
    if (!rows) throw new NotImplementedException(`${access.name} cannot be aggregated: its repository is replaced`);
    if (rows.length <= MAX_GROUPS) return rows;
    const errors = new QueryErrors();
    errors.add('groupBy', `must make at most ${MAX_GROUPS} groups: narrow them with a filter`);
    throw errors.exception;
  }

  /** @throws 400 naming every wrong parameter */
  export(query: ListQuery): Promise<StreamableFile> {
    return exportList(this.access, query);
  }
}
