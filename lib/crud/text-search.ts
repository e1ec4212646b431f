/** "Contains", whatever the case, in the words of each database; `!` escapes `%`, `_` and itself in the pattern. */
type Contains = (expression: string, parameter: string) => string;

const postgres: Contains = (expression, parameter) => `CAST(${expression} AS text) ILIKE ${parameter} ESCAPE '!'`;
const mysql: Contains = (expression, parameter) =>
  `LOWER(CAST(${expression} AS CHAR)) LIKE LOWER(${parameter}) ESCAPE '!'`;
/** SQLite's LIKE folds the letters A to Z only. */
const sqlite: Contains = (expression, parameter) => `${expression} LIKE ${parameter} ESCAPE '!'`;

const byDriver: Readonly<Record<string, Contains>> = {
  postgres,
  'aurora-postgres': postgres,
  cockroachdb: postgres,
  mysql,
  mariadb: mysql,
  'aurora-mysql': mysql,
};

export const containsExpression = (driver: string): Contains => byDriver[driver] ?? sqlite;

/** The text as a LIKE pattern in which it is literal. */
export const containing = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
