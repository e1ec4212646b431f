/** One data source of an application, with what is kept once for it. */
import type { Type } from '@nestjs/common';
import type { DataSource, EntityManager, EntityMetadata, ObjectLiteral, Repository } from 'typeorm';
import type { ColumnMetadata } from '../../entities/column-types.js';
import type { CallerRoles } from '../../http/caller.js';
import type { ConnectionQueue } from '../../database/connections.js';
import { Semaphore } from '../../database/semaphore.js';
import { isMysql, isPostgres, isSqlite } from '../../entities/database-family.js';
import { InvalidOptionError } from '../../options/invalid-option.js';
import { memoized } from '../../http/bounded-map.js';
import type { Operator } from '../sql/operators.js';
import { escapePath } from '../sql/dialect.js';
import { describeEntity } from '../../entities/entity-schema.js';

const NONDETERMINISTIC =
  `SELECT LOWER(t.relname || '.' || a.attname) AS path FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid ` +
  'JOIN pg_collation c ON c.oid = a.attcollation WHERE NOT c.collisdeterministic';
const NARROW =
  `SELECT LOWER(CONCAT(table_name, '.', column_name)) AS path FROM information_schema.columns ` +
  `WHERE table_schema = DATABASE() AND character_set_name <> 'utf8mb4'`;

/** Tables whose rows a trigger may change after the statement. Those of MySQL cannot, nor those of a search index. */
const SQLITE_TRIGGERS = `SELECT LOWER(tbl_name) AS path FROM sqlite_master WHERE type = 'trigger' AND name NOT GLOB 'IDX_*_*'`;
const POSTGRES_TRIGGERS =
  'SELECT LOWER(c.relname) AS path FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid ' +
  'WHERE NOT t.tgisinternal AND t.tgtype & 66 = 0';

const POSTGRES_TYPES =
  'SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute WHERE attrelid = to_regclass($1)';
const MYSQL_TYPES =
  'SELECT column_name AS name, data_type AS type FROM information_schema.columns ' +
  'WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?';

export class Database {
  private narrow: ReadonlySet<string> | undefined;
  private triggered: ReadonlySet<string> = new Set();
  private readonly viewTypes = new Map<ColumnMetadata, string | undefined>();
  /** Not that of a transaction, for which `dataSource.manager` may stand later. */
  readonly manager: EntityManager;
  /** Batches of exports are read one at a time: those of many exports would keep reads waiting for connections. */
  readonly batches = new Semaphore(1, { refusal: Error });

  constructor(
    readonly dataSource: DataSource,
    readonly connections: ConnectionQueue,
    private readonly roles?: CallerRoles,
    /** The operators that the application adds. */
    readonly operators: readonly Operator[] = [],
    /** The query parameters that generated operations leave to the application. */
    readonly ignoredParameters: ReadonlySet<string> = new Set(),
  ) {
    this.manager = dataSource.manager;
  }

  repositoryOf<T extends ObjectLiteral>(entity: Type<T>): Repository<T> {
    return this.manager.getRepository(entity);
  }

  /**
   * MySQL and MariaDB do not compare a column with a text that its character set cannot hold. A nondeterministic
   * collation of PostgreSQL takes different texts for equal, and has no ILIKE. `@ViewColumn()` has no type. Must run
   * before `describe`.
   *
   * @throws InvalidOptionError for a `DateStyle` in which dates are not read as they were written
   */
  async readColumns(): Promise<void> {
    if (isSqlite(this.dataSource)) this.triggered = await this.pathsOf(SQLITE_TRIGGERS);
    if (this.narrow || !(isMysql(this.dataSource) || isPostgres(this.dataSource))) return;
    if (isPostgres(this.dataSource)) await this.assertIsoDates();
    if (isPostgres(this.dataSource)) this.triggered = await this.pathsOf(POSTGRES_TRIGGERS);
    this.narrow = await this.pathsOf(isPostgres(this.dataSource) ? NONDETERMINISTIC : NARROW);
    for (const each of this.dataSource.entityMetadatas) if (each.tableType === 'view') await this.readView(each);
  }

  /** Whether `RETURNING` may say something else than the next read. Known when the application has started. */
  hasTriggers({ tableName }: EntityMetadata): boolean {
    return this.triggered.has(tableName.toLowerCase());
  }

  private async pathsOf(sql: string): Promise<ReadonlySet<string>> {
    const rows = await this.dataSource.query<{ readonly path: string }[]>(sql);
    return new Set(rows.map(({ path }) => path));
  }

  private async readView({ tablePath, tableName, database, columns }: EntityMetadata): Promise<void> {
    const { dataSource } = this;
    const rows: readonly { readonly name: string; readonly type: string }[] = isPostgres(dataSource)
      ? await dataSource.query(POSTGRES_TYPES, [escapePath(tablePath, dataSource.driver)])
      : await dataSource.query(MYSQL_TYPES, [database, tableName]);
    for (const each of columns) this.viewTypes.set(each, rows.find(({ name }) => name === each.databaseName)?.type);
  }

  private async assertIsoDates(): Promise<void> {
    const [row] = (await this.dataSource.query('SHOW DateStyle')) as readonly { readonly DateStyle: string }[];
    if (!row || row.DateStyle.startsWith('ISO')) return;
    const advice = 'remove the setting of the database or role, or set `extra: { options: "-c DateStyle=ISO" }`';
    throw new InvalidOptionError('The PostgreSQL setting DateStyle', 'ISO', row.DateStyle, advice);
  }

  /** Described once: several resources may be related to one entity. */
  readonly describe = memoized((metadata: EntityMetadata) =>
    describeEntity(metadata, this.dataSource, this.narrow, this.roles, this.viewTypes),
  );
}
