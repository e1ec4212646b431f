/** Reads a resource by compiled statements, without entities: one function makes the record of a row. */
import type { DataSource, SelectQueryBuilder } from 'typeorm';
import type { Term } from '../query/list-query.js';
import { addSearchConditions, PARAMETER, RECORD } from '../query/search-conditions.js';
import { containing } from '../resource/text-search.js';
import type { Resource } from '../resource/resource.js';
import type { Range, RecordReader } from './record-access.js';
import { compileRow } from './row-projection.js';
import { compileStatement, type Statement } from './statement.js';
import { StatementCache } from './statement-cache.js';

/** The statements of one set of search terms, and the term that each parameter holds. */
interface Selection {
  readonly all: Statement;
  readonly range: Statement;
  readonly count: Statement;
  readonly parameters: (terms: readonly Term[]) => unknown[];
}

export class CompiledReader<T extends object> implements RecordReader<T> {
  private readonly row: ReturnType<typeof compileRow<T>>;
  private readonly selections = new StatementCache<Selection>();
  private readonly byKey: Statement;
  private readonly existsByKey: Statement;

  constructor(
    private readonly resource: Resource<T>,
    private readonly dataSource: DataSource,
  ) {
    this.row = compileRow(resource, dataSource);
    this.byKey = this.keyed(this.row.select(this.query()));
    this.existsByKey = this.keyed(this.query().select('1', 'found'));
  }

  async find(terms: readonly Term[], range?: Range): Promise<T[]> {
    const selection = this.selectionOf(terms);
    const parameters = selection.parameters(terms);
    const { rows } = range
      ? await selection.range([...parameters, range.limit, range.offset])
      : await selection.all(parameters);
    return rows.map(this.row.recordOf);
  }

  async count(terms: readonly Term[]): Promise<number> {
    const selection = this.selectionOf(terms);
    const { rows } = await selection.count(selection.parameters(terms));
    return Number(rows[0]?.['total']);
  }

  async findByKey(key: unknown): Promise<T | undefined> {
    const { rows } = await this.byKey([key]);
    return rows[0] && this.row.recordOf(rows[0]);
  }

  async exists(key: unknown): Promise<boolean> {
    const { rows } = await this.existsByKey([key]);
    return rows.length > 0;
  }

  private query(): SelectQueryBuilder<T> {
    return this.dataSource.getRepository(this.resource.options.entity).createQueryBuilder(RECORD);
  }

  private keyed(query: SelectQueryBuilder<T>): Statement {
    const [sql] = query.where(`${RECORD}.id = :${PARAMETER}`, { [PARAMETER]: '' }).getQueryAndParameters();
    return this.statement(sql);
  }

  private statement(sql: string): Statement {
    return compileStatement(this.dataSource, this.dataSource.defaultReplicationModeForReads(), sql);
  }

  private selectionOf(terms: readonly Term[]): Selection {
    const shape = JSON.stringify(terms.map(({ field }) => field ?? null));
    return this.selections.get(shape, () => this.compileSelection(terms));
  }

  private compileSelection(terms: readonly Term[]): Selection {
    // A text of its own for each term shows which parameter holds it.
    const places = terms.map(({ field }, index) => ({ field, text: `${index}` }));
    const matching = (query: SelectQueryBuilder<T>): SelectQueryBuilder<T> =>
      addSearchConditions(query, this.resource, places);
    const [all, found] = matching(this.row.select(this.query())).orderBy(`${RECORD}.id`, 'ASC').getQueryAndParameters();
    // TypeORM writes COUNT(1), for which SQLite walks the whole table.
    const [count] = matching(this.query().select('COUNT(*)', 'total')).getQueryAndParameters();
    const indexes = (found as string[]).map((text) => places.findIndex((place) => containing(place.text) === text));
    const [limit, offset] = [0, 1].map((at) => this.dataSource.driver.createParameter('', indexes.length + at));
    return {
      all: this.statement(all),
      range: this.statement(`${all} LIMIT ${limit} OFFSET ${offset}`),
      count: this.statement(count),
      parameters: (values) => indexes.map((index) => containing(values[index]?.text ?? '')),
    };
  }
}
