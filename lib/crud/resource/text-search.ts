import type { DataSource } from 'typeorm';
import { isMysql, isPostgres } from '../../entities/database-family.js';

/** The SQL of a case-insensitive "contains"; `!` escapes `%`, `_` and itself in the pattern. */
export type Contains = (expression: string, parameter: string) => string;

const postgres: Contains = (expression, parameter) => `CAST(${expression} AS text) ILIKE ${parameter} ESCAPE '!'`;
const mysql: Contains = (expression, parameter) =>
  `LOWER(CAST(${expression} AS CHAR)) LIKE LOWER(${parameter}) ESCAPE '!'`;
/** SQLite's LIKE folds the letters A to Z only. */
const sqlite: Contains = (expression, parameter) => `${expression} LIKE ${parameter} ESCAPE '!'`;

export const containsExpression = (dataSource: DataSource): Contains =>
  isPostgres(dataSource) ? postgres : isMysql(dataSource) ? mysql : sqlite;

/** The text as a LIKE pattern in which it is literal. */
export const containing = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
