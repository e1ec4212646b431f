/** What a resource answers, in the words of the contract: envelopes around what its operations give, before there is an object of them. */
import { after, type Answer } from '../http/at-once.js';
import type { JsonObject } from '../http/json-body.js';
import type { Locate } from './created-location.js';
import type { ResolvedCrudOptions } from './crud.options.js';
import { parseListQuery, parseSearchQuery, type ListQuery } from './list-query.js';
import type { Operations } from './operations.js';
import type { Listed } from './record-store.js';
import { envelopes, plain, type EnvelopeDraft, type UnreadRecord } from './unread.js';

type Drafted<T> = Answer<EnvelopeDraft<T>>;

export class Answers<T extends object> {
  private readonly say: ReturnType<typeof messagesOf<T>>;

  constructor(
    private readonly options: ResolvedCrudOptions<T>,
    private readonly operations: Operations<T>,
  ) {
    this.say = messagesOf<T>(options.entity.name);
  }

  findAll(query: ListQuery): Drafted<T[]> {
    return after(this.operations.list(parseListQuery(query, this.options.enablePagination)), this.say.list);
  }

  search(query: ListQuery): Drafted<T[]> {
    const { enablePagination, searchableFields } = this.options;
    const request = parseSearchQuery(query, enablePagination, searchableFields);
    return after(this.operations.list(request), this.say.search);
  }

  exists(id: string): Drafted<{ exists: boolean }> {
    return after(this.operations.exists(id), this.say.exists);
  }

  findById(id: string): Drafted<T> {
    return after(this.operations.get(id), this.say.found);
  }

  create(body: JsonObject, locate: Locate): Drafted<T> {
    return after(this.operations.create(body), (record) => {
      locate(record.id());
      return this.say.created(record);
    });
  }

  update(id: string, body: JsonObject): Drafted<T> {
    return after(this.operations.replace(id, body), this.say.updated);
  }

  delete(id: string): Drafted<null> {
    return after(this.operations.remove(id), this.say.deleted);
  }
}

function messagesOf<T>(name: string) {
  const saying = (what: string) => envelopes(`${name} ${what}`);
  const listed = (what: string) => {
    const list = saying(what);
    return ({ records, metadata }: Listed<T>) => list(records, metadata);
  };
  const record: (what: string) => (found: UnreadRecord<T>) => EnvelopeDraft<T> = saying;
  const [there, nowhere, deleted] = [saying('exists'), saying('does not exist'), saying('deleted')];
  return {
    list: listed('list'),
    search: listed('search'),
    exists: (exists: boolean) => (exists ? there : nowhere)(plain({ exists })),
    found: record('found'),
    created: record('created'),
    updated: record('updated'),
    deleted: () => deleted(plain(null)),
  };
}
