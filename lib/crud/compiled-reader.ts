/** Reads a resource by statements made at boot, without entities: a row becomes the record by one function. */
import type { DataSource, Repository, SelectQueryBuilder } from 'typeorm';
import { after, type Answer } from '../http/at-once.js';
import { pagination } from './envelope.js';
import type { ListRequest, Term } from './list-query.js';
import type { RowProjection } from './row-projection.js';
import { PARAMETER, RECORD, selectMatching } from './record-selection.js';
import type { Listed, RecordReader } from './record-store.js';
import type { Resource } from './resource.js';
import type { Statement, StatementText } from './statement.js';
import { containing } from './text-search.js';
import type { UnreadRecord } from './unread.js';

type Prepare = (text: StatementText) => Statement;

/** The statements of one set of search terms, and which of the terms each parameter holds. */
interface Selection {
  readonly all: Statement;
  readonly page: Statement;
  readonly count: Statement;
  readonly parameters: (terms: readonly Term[]) => unknown[];
}

/** Sets of terms are chosen by clients: the oldest one's statements are given up for the newest one's. */
const MOST_SELECTIONS = 64;

export class CompiledReader<T extends object> implements RecordReader<T> {
  private readonly repository: Repository<T>;
  private byKeyOnceAsked?: Statement;
  private existsOnceAsked?: Statement;
  private readonly selections = new Map<string, Selection>();

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
    private readonly row: RowProjection<T>,
    private readonly prepare: Prepare,
  ) {
    this.repository = dataSource.getRepository(resource.options.entity);
  }

  /** At boot rather than at a request: the statements can be made, whatever the names in them are. */
  expectCompilable(): void {
    void [this.byKey, this.existsByKey, this.selectionOf([])];
  }

  list({ page, terms }: ListRequest): Answer<Listed<T>> {
    const selection = this.selectionOf(terms);
    const parameters = selection.parameters(terms);
    if (page)
      return after(selection.count.run(parameters), ({ rows: [counted] }) =>
        after(selection.page.run([...parameters, page.size, (page.page - 1) * page.size]), ({ rows }) => ({
          records: this.row.all(rows),
          metadata: pagination(page, Number(counted?.['total'])),
        })),
      );
    const most = this.resource.options.maxListSize;
    if (most === undefined)
      return after(selection.all.run(parameters), ({ rows }) => ({ records: this.row.all(rows) }));
    return after(selection.page.run([...parameters, most + 1, 0]), ({ rows }) => ({
      records: this.row.all(rows.slice(0, most)),
      metadata: { truncated: rows.length > most },
    }));
  }

  one(key: unknown): Answer<UnreadRecord<T> | undefined> {
    return after(this.byKey.run([key]), ({ rows: [row] }) => row && this.row.one(row));
  }

  exists(key: unknown): Answer<boolean> {
    return after(this.existsByKey.run([key]), ({ rows }) => rows.length > 0);
  }

  private get byKey(): Statement {
    return (this.byKeyOnceAsked ??= this.keyed(this.row.select(this.query())));
  }

  private get existsByKey(): Statement {
    return (this.existsOnceAsked ??= this.keyed(this.query().select('1', 'found')));
  }

  private query(): SelectQueryBuilder<T> {
    return this.repository.createQueryBuilder(RECORD);
  }

  private keyed(query: SelectQueryBuilder<T>): Statement {
    const [sql] = query.where(`${RECORD}.id = :${PARAMETER}`, { [PARAMETER]: '' }).getQueryAndParameters();
    return this.prepare({ sql, mode: 'slave', named: true, single: true });
  }

  private selectionOf(terms: readonly Term[]): Selection {
    const shape = JSON.stringify(terms.map(({ field }) => field ?? null));
    let selection = this.selections.get(shape);
    if (selection) return selection;
    selection = this.compileSelection(terms);
    this.selections.set(shape, selection);
    if (this.selections.size > MOST_SELECTIONS)
      for (const oldest of this.selections.keys()) {
        this.selections.delete(oldest);
        break;
      }
    return selection;
  }

  private compileSelection(terms: readonly Term[]): Selection {
    // Each term's place in the statement is told by a text that no other one has.
    const places = terms.map(({ field }, index) => ({ field, text: `${index}` }));
    const matching = (query: SelectQueryBuilder<T>): SelectQueryBuilder<T> =>
      selectMatching(query, this.resource, places);
    const [all, found] = matching(this.row.select(this.query())).orderBy(`${RECORD}.id`, 'ASC').getQueryAndParameters();
    // Not COUNT(1), as TypeORM writes it: SQLite walks the table for that.
    const [count] = matching(this.query().select('COUNT(*)', 'total')).getQueryAndParameters();
    const indexes = (found as string[]).map((text) => places.findIndex((place) => containing(place.text) === text));
    const [limit, offset] = [0, 1].map((at) => this.dataSource.driver.createParameter('', indexes.length + at));
    const isWhole = terms.length === 0;
    const statement = (sql: string, more: Partial<StatementText> = {}): Statement =>
      this.prepare({ sql, mode: 'slave', named: isWhole, ...more });
    return {
      all: statement(all),
      page: statement(`${all} LIMIT ${limit} OFFSET ${offset}`),
      count: statement(count, isWhole ? { rowsOf: this.repository.metadata.tablePath } : {}),
      parameters: (values) => indexes.map((index) => containing(values[index]?.text ?? '')),
    };
  }
}
