/**
 * The better-sqlite3 for this Node: 13 crashes on Node 20, and 12 aborts on Node 24.19 and later. Plain JavaScript,
 * because the configuration of Vitest and scripts read it.
 */
export const SQLITE_PACKAGE = Number.parseInt(process.versions.node, 10) < 22 ? 'better-sqlite3-12' : 'better-sqlite3';
