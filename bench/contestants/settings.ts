/** What every contestant is told, by its environment, and how it says that it listens. */

/** A path of a SQLite file, or the URL of a PostgreSQL database. */
export const DATABASE = process.env['BENCH_DATABASE'] ?? '';
export const POSTGRES = DATABASE.startsWith('postgres');
export const RULES = Number(process.env['BENCH_RULES'] ?? 100);
/** Beside the products, for the runs that measure the start: `/api/items-1` and so on. */
export const FURTHER_RESOURCES = Number(process.env['BENCH_FURTHER_RESOURCES'] ?? 0);
export const PLATFORM = process.env['BENCH_PLATFORM'] ?? 'express';

export const SECRET = 'a-benchmark-secret-of-more-than-32-bytes';
export const ORIGIN = 'https://shop.example';
export const PRODUCTS = '/api/products';
/** The same records behind a token and the rules. */
export const PROTECTED = '/api/protected/products';
/** Connections of the pool to PostgreSQL. */
export const POOL = 10;

export function ready(port: number): void {
  if (process.send) process.send({ port });
  else console.log(`http://127.0.0.1:${port}`);
}
