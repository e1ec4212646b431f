/** @typedef {{ database: 'postgres' | 'mariadb', variable: string, example: string }} Server */

/**
 * The variables with the URLs of database servers. Plain JavaScript, because Vitest does not compile reporters.
 * @type {readonly Server[]}
 */
export const SERVERS = [
  { database: 'postgres', variable: 'TEST_POSTGRES_URL', example: 'postgres://user@127.0.0.1:5432/test' },
  { database: 'mariadb', variable: 'TEST_MYSQL_URL', example: 'mysql://user@127.0.0.1:3306/test' },
];
