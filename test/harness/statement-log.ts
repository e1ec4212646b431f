/** The statements that TypeORM sends: `dataSource: { logger: new StatementLog() }`. */
import type { Logger } from 'typeorm';

export class StatementLog implements Logger {
  readonly statements: [sql: string, parameters: unknown[]][] = [];

  logQuery(sql: string, parameters: unknown[] = []): void {
    this.statements.push([sql, parameters]);
  }
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}

  /** What was sent since the last call. */
  take(): [sql: string, parameters: unknown[]][] {
    return this.statements.splice(0);
  }
}
