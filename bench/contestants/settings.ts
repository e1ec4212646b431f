/** Settings of a contestant, read from its environment. */
/** A SQLite file, or the URL of a database of PostgreSQL or MariaDB. */
export const DATABASE = process.env['BENCH_DATABASE'] ?? '';
/** `express`, `fastify` or `own-express`: the adapter of declarest/express. */
export const ADAPTER = process.env['BENCH_ADAPTER'] ?? 'express';
export const RULES = Number(process.env['BENCH_RULES'] ?? 100);
/** Half of the rules each name one record, so that the path of every protected request decides. */
export const RECORD_RULES = process.env['BENCH_RECORD_RULES'] === '1';
/** The products and this many less one further resources: `/api/items-1` and so on. */
export const RESOURCES = Number(process.env['BENCH_RESOURCES'] ?? 1);

/** Adds the articles with their relations: `/api/articles`. */
export const HAS_ARTICLES = process.env['BENCH_ARTICLES'] === '1';

/** declarest with the option `sessions`. */
export const HAS_SESSIONS = process.env['BENCH_SESSIONS'] === '1';

export const SECRET = 'a-benchmark-secret-of-more-than-32-bytes';
export const PRODUCTS = '/api/products';
export const ARTICLES = '/api/articles';
/** The same articles with their relations, where a list cannot be asked for them. */
export const ARTICLES_WITH_RELATIONS = '/api/articles-with-relations';
/** The same articles with an owner. */
export const OWN_ARTICLES = '/api/own-articles';
/** The same records behind a token and the rules. */
export const PROTECTED = '/api/protected/products';
